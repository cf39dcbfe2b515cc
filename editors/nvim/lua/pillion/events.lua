--- The `User` autocommands, for people's own configuration.

local M = {}

--- Runs the `User` autocommands of `pattern`.
function M.emit(pattern, data)
  local options = { pattern = pattern, modeline = false, data = data }
  local ok, message = pcall(vim.api.nvim_exec_autocmds, "User", options)
  if not ok then
    require("pillion.notify").unasked("warn", ("an autocommand for %s failed: %s"):format(pattern, message))
  end
end

return M
