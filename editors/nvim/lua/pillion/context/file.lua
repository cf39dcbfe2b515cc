--- The buffers that are files which agents should know of, and the one of them that has the focus.
---
--- A terminal, a view of a diff, a list, a floating window or the command-line window leaves the
--- file active that was so before.

local M = {}

--- The path of the buffer if, by all that Neovim knows, it is a file: no terminal, help, list,
--- URL, or part of a diff.
function M.path(buf)
  if not vim.api.nvim_buf_is_valid(buf) or vim.bo[buf].buftype ~= "" or not vim.bo[buf].buflisted then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(buf)
  if name == "" or name:find("^%a[%w+.-]*://") then
    return nil
  end
  if vim.b[buf].pillion_diff ~= nil then
    return nil
  end
  return name
end

--- True if there is anything at `path`.
function M.exists(path)
  return vim.uv.fs_stat(path) ~= nil
end

--- True if the file at `path` is on disk, and a regular one.
function M.is_on_disk(path)
  local found = vim.uv.fs_stat(path)
  return found ~= nil and found.type == "file"
end

local function is_part_of_diff(win)
  return (pcall(vim.api.nvim_win_get_var, win, "pillion_diff"))
end

local function is_floating(win)
  return vim.api.nvim_win_get_config(win).relative ~= ""
end

--- True if entering a buffer in this window gives it the focus.
function M.is_window_for_files(win)
  return not (is_floating(win) or is_part_of_diff(win))
end

--- The buffer in focus if it is a file on disk.
function M.in_focus()
  if vim.fn.getcmdwintype() ~= "" or not M.is_window_for_files(vim.api.nvim_get_current_win()) then
    return nil
  end
  local buf = vim.api.nvim_get_current_buf()
  local path = M.path(buf)
  return path and M.is_on_disk(path) and buf or nil
end

return M
