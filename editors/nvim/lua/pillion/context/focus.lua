--- Whether the focus is on a file.
---
--- A terminal, a view of a diff, a list, a floating window or the command-line window leaves the
--- file active that was so before.

local file = require("pillion.context.file")

local M = {}

local function is_part_of_diff(win)
  return (pcall(vim.api.nvim_win_get_var, win, "pillion_diff"))
end

local function is_floating(win)
  return vim.api.nvim_win_get_config(win).relative ~= ""
end

--- Whether a buffer that was entered in this window was focused by it.
function M.is_for_files(win)
  return not (is_floating(win) or is_part_of_diff(win))
end

--- The buffer in focus if it is a file on disk.
function M.file()
  if vim.fn.getcmdwintype() ~= "" or not M.is_for_files(vim.api.nvim_get_current_win()) then
    return nil
  end
  local buf = vim.api.nvim_get_current_buf()
  local path = file.path(buf)
  return path and file.is_on_disk(path) and buf or nil
end

return M
