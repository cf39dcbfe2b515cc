--- Cursor positions as agents count them: lines from 0, characters in UTF-16 units from 0.

local utf16 = require("pillion.context.utf16")

local M = {}

local function position(buf, line, col)
  local text = vim.api.nvim_buf_get_text(buf, line - 1, 0, line - 1, col, {})[1]
  return { line = line - 1, character = utf16.length(text) }
end

--- Of the current window.
function M.current()
  local at = vim.api.nvim_win_get_cursor(0)
  return position(0, at[1], at[2])
end

--- A place `{ from, to }`, lines and bytes from 0, as a range of positions.
function M.range(buf, place)
  return {
    start = position(buf, place.from.line + 1, place.from.col),
    ["end"] = position(buf, place.to.line + 1, place.to.col),
  }
end

--- In the window `win` if it still shows the buffer; else as `last` says.
function M.of(win, buf)
  if vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf then
    local at = vim.api.nvim_win_get_cursor(win)
    return position(buf, at[1], at[2])
  end
  return M.last(buf)
end

--- Where the cursor of a buffer is that is not in focus, or was last; nil if unknown.
function M.last(buf)
  local win = vim.fn.bufwinid(buf)
  local at = win ~= -1 and vim.api.nvim_win_get_cursor(win) or vim.api.nvim_buf_get_mark(buf, '"')
  local ok, found = pcall(position, buf, at[1], at[2])
  return ok and found or nil
end

return M
