--- Runs code without the user's autocommands, and without traces in what the user can look at.

local M = {}

--- All events but the one that answers for us when Neovim finds that a file has changed: a question would hold
--- up the person and the agent.
local IGNORED = table.concat(
  vim.tbl_filter(function(event)
    return event ~= "FileChangedShell"
  end, vim.fn.getcompletion("", "event")),
  ","
)

--- Runs `action` without the user's events; what it returns, or nil and the error's message.
function M.run(action)
  local ignored = vim.o.eventignore
  local errmsg = vim.v.errmsg
  vim.o.eventignore = IGNORED
  local shortmess = vim.o.shortmess
  -- Otherwise Neovim describes each buffer that gets a window, and asks for Enter after two of them.
  vim.opt.shortmess:append("F")
  local ok, result, second = pcall(action)
  vim.o.shortmess = shortmess
  vim.o.eventignore = ignored
  vim.v.errmsg = errmsg
  if ok then
    return result, second
  end
  return nil, tostring(result)
end

return M
