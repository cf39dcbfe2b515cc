--- Runs code without the user's autocommands, and without traces in what the user can look at.

local M = {}

--- Runs `action` with all events ignored; what it returns, or nil and the error's message.
function M.run(action)
  local ignored = vim.o.eventignore
  local errmsg = vim.v.errmsg
  vim.o.eventignore = "all"
  local ok, result, second = pcall(action)
  vim.o.eventignore = ignored
  vim.v.errmsg = errmsg
  if ok then
    return result, second
  end
  return nil, tostring(result)
end

return M
