--- The `User` autocommands, for people's own configuration.

local M = {}

--- Neovim 0.7 has no `data` for autocommands: there it is in `g:pillion_event` while they run.
local has_data = vim.fn.has("nvim-0.8") == 1

--- Runs the `User` autocommands of `pattern`.
function M.emit(pattern, data)
  local options = { pattern = pattern, modeline = false }
  if has_data then
    options.data = data
  else
    vim.g.pillion_event = data or vim.empty_dict()
  end
  local ok, message = pcall(vim.api.nvim_exec_autocmds, "User", options)
  if not has_data then
    vim.g.pillion_event = nil
  end
  if not ok then
    require("pillion.notify").unasked("warn", ("an autocommand for %s failed: %s"):format(pattern, message))
  end
end

return M
