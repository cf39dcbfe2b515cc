--- The text that is selected in the current window.
---
--- Computed by hand, because `getregion()` exists only since Neovim 0.10 and reads the whole
--- selection: no more is read here than agents are shown. A test compares hundreds of random selections with
--- what a yank takes.

local block = require("pillion.context.block")
local utf16 = require("pillion.context.utf16")

local M = {}

--- Agents get 16,384 UTF-16 units at most. One more tells Pillion that something is missing.
local UNITS = 16385

--- A unit never takes more than three bytes of UTF-8.
local BYTES = 3 * UNITS

local BLOCKWISE = { ["\22"] = true, ["\19"] = true }
local LINEWISE = { V = true, S = true }
local CHARWISE = { v = true, s = true }

local endings = { dos = "\r\n", mac = "\r", unix = "\n" }

local function before(a, b)
  if a.line ~= b.line then
    return a.line < b.line
  end
  if a.col ~= b.col then
    return a.col < b.col
  end
  return a.off < b.off
end

--- Lines and columns count from 0; `off` is how far `virtualedit` let it go beyond `col`.
local function position(expression)
  local found = vim.fn.getpos(expression)
  return { expression = expression, line = found[2] - 1, col = found[3] - 1, off = found[4] }
end

local function line_length(line)
  return vim.api.nvim_buf_get_offset(0, line + 1) - vim.api.nvim_buf_get_offset(0, line) - 1
end

--- Where `BYTES` bytes after `from` are reached, if that is before `to`.
local function within_budget(buf, from, to)
  local function offset(line)
    return vim.api.nvim_buf_get_offset(buf, line)
  end
  local limit = offset(from.line) + from.col + BYTES
  if offset(to.line) + to.col <= limit then
    return to
  end
  local low, high = from.line, to.line
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if offset(middle) <= limit then
      low = middle
    else
      high = middle - 1
    end
  end
  local length = offset(low + 1) - offset(low) - 1
  return { line = low, col = math.min(limit - offset(low), length) }
end

--- The byte after the character at `at`, with what combines with it.
local function after_char(at)
  local length = line_length(at.line)
  if at.col >= length then
    return length
  end
  local rest = vim.api.nvim_buf_get_text(0, at.line, at.col, at.line, math.min(length, at.col + 64), {})[1]
  local size = vim.fn.byteidx(rest, 1)
  return at.col + (size > 0 and size or #rest)
end

local function charwise(from, to)
  local is_exclusive = vim.o.selection == "exclusive" and before(from, to)
  from.col = math.min(from.col, line_length(from.line))
  if is_exclusive and to.col == 0 and to.line > from.line then
    to = { line = to.line - 1, col = line_length(to.line - 1) }
  end
  local stop = is_exclusive and math.min(to.col, line_length(to.line)) or after_char(to)
  return from, { line = to.line, col = math.max(stop, from.line == to.line and from.col or 0) }
end

--- A closed fold is selected as a whole.
local function linewise(from, to)
  local first, last = vim.fn.foldclosed(from.line + 1), vim.fn.foldclosedend(to.line + 1)
  local start = first > 0 and first - 1 or from.line
  local stop = last > 0 and last - 1 or to.line
  return { line = start, col = 0 }, { line = stop, col = line_length(stop) }
end

--- Lines joined as in the file and without the last line's ending; nil if that is nothing.
local function joined(buf, lines)
  for index, line in ipairs(lines) do
    -- Neovim shows a NUL of the file as a line break inside a line.
    lines[index] = line:gsub("\n", "\0")
  end
  local text = table.concat(lines, endings[vim.bo[buf].fileformat])
  return text ~= "" and utf16.cut(utf16.valid(text), UNITS) or nil
end

--- The text of a place that `read` found; nil for one of a block.
function M.text_at(buf, place)
  if place.is_block then
    return nil
  end
  local to = within_budget(buf, place.from, place.to)
  local from = place.from
  return joined(buf, vim.api.nvim_buf_get_text(buf, from.line, from.col, to.line, to.col, {}))
end

local function read_between(mode, from, to, is_to_the_end)
  if before(to, from) then
    from, to = to, from
  end
  if BLOCKWISE[mode] then
    local pieces, place = block.read(from, to, UNITS, is_to_the_end)
    return joined(0, pieces), place
  end
  from, to = (LINEWISE[mode] and linewise or charwise)(from, to)
  local place = { from = { line = from.line, col = from.col }, to = to }
  return M.text_at(0, place), place
end

--- True if this is a mode in which something is selected.
function M.is_mode(mode)
  return CHARWISE[mode] or LINEWISE[mode] or BLOCKWISE[mode] or false
end

--- True if a block goes to the end of every line: `$` was pressed.
function M.is_to_the_end()
  return vim.fn.winsaveview().curswant == block.TO_THE_END
end

--- The selected text, and its place `{ from, to, is_block }`, `to.col` being the byte after it; nil if
--- nothing is.
function M.read(mode)
  if M.is_mode(mode) then
    return read_between(mode, position("v"), position("."), M.is_to_the_end())
  end
end

--- The same of what was selected last in the current buffer, in this mode.
function M.read_last(mode, is_to_the_end)
  local from, to = position("'<"), position("'>")
  if M.is_mode(mode) and from.line >= 0 then
    return read_between(mode, from, to, is_to_the_end)
  end
end

return M
