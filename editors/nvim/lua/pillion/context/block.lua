--- Blockwise selections: columns of the screen, in which a tab or a wide character takes several.
---
--- Of a character that the block cuts, as many spaces remain as the block covers of it, like
--- when it is yanked.

local M = {}

local fn = vim.fn

--- `$` was pressed: every line to its end.
local TO_THE_END = 2147483647

M.TO_THE_END = TO_THE_END

local function is_virtual()
  local virtualedit = vim.o.virtualedit
  return virtualedit:find("all") ~= nil or virtualedit:find("block") ~= nil
end

local function char_at(line, byte)
  return fn.strcharpart(line:sub(byte, byte + 63), 0, 1)
end

--- The first column of the character at `byte`; the one after the last at the end of the line.
--- `virtcol()` knows the last one, but with `virtualedit` the first one of a tab or of an unprintable
--- character.
local function first_column(number, line, byte, virtual)
  local column = fn.virtcol({ number, byte })
  if byte > #line then
    return column
  end
  local char = char_at(line, byte)
  local width = fn.strdisplaywidth(char)
  if virtual and (char:find("^%c") or width > 2) then
    return column
  elseif char == "\t" then
    return byte == 1 and 1 or fn.virtcol({ number, byte - 1 }) + 1
  end
  return column - width + 1
end

--- The last character that starts at or before `column`, with what combines with it.
local function char_at_column(number, line, column, virtual)
  local function starts_in_time(index)
    return first_column(number, line, fn.byteidx(line, index) + 1, virtual) <= column
  end
  local low, high, count = 0, 1, fn.strchars(line, 1)
  -- In steps that grow, because what follows in a long line costs time.
  while high <= count and starts_in_time(high) do
    low, high = high, 2 * high
  end
  high = math.min(high - 1, count)
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if starts_in_time(middle) then
      low = middle
    else
      high = middle - 1
    end
  end
  return fn.byteidx(line, low) + 1
end

local function next_char(line, byte)
  local size = fn.byteidx(line:sub(byte, byte + 63), 1)
  return byte + (size > 0 and size or 1)
end

--- As `slice`.
local function slice_slowly(number, line, left, right, virtual)
  if first_column(number, line, #line + 1, virtual) <= left then
    return "", #line, #line
  end
  local from = char_at_column(number, line, left, virtual)
  local start = first_column(number, line, from, virtual)
  local before = ""
  if start < left then
    from = next_char(line, from)
    start = first_column(number, line, from, virtual)
    before = (" "):rep(math.min(start - 1, right) - left + 1)
  end
  if start > right then
    return before, from - 1, from - 1
  elseif right == TO_THE_END then
    return before .. line:sub(from), from - 1, #line
  end
  local to = char_at_column(number, line, right, virtual)
  if to > #line then
    return before .. line:sub(from), from - 1, #line
  end
  local after = next_char(line, to)
  if first_column(number, line, after, virtual) - 1 > right then
    local covered = right - first_column(number, line, to, virtual) + 1
    return before .. line:sub(from, to - 1) .. (" "):rep(covered), from - 1, to - 1
  end
  return before .. line:sub(from, after - 1), from - 1, after - 1
end

--- What the block covers of a line; the byte where that begins, from 0, and the one after it. Where all
--- up to the block takes one column each, columns are bytes.
local function slice(number, line, left, right, virtual)
  local stop = math.min(right, #line)
  -- What follows could combine with the last character.
  local is_plain = not line:sub(1, stop + 1):find("[^ -~]")
  if is_plain and fn.virtcol({ number, stop }) == stop then
    return line:sub(left, right), math.min(left - 1, #line), stop
  end
  return slice_slowly(number, line, left, right, virtual)
end

--- The first and the last column that a corner of the block takes.
local function columns(corner, virtual)
  local last = fn.virtcol(corner.expression)
  if corner.off > 0 then
    return last, last
  end
  local number = corner.line + 1
  local line = vim.api.nvim_buf_get_lines(0, corner.line, number, false)[1] or ""
  return first_column(number, line, corner.col + 1, virtual), last
end

--- The pieces of the lines that the block between two corners covers: all, or enough of them for
--- `units` UTF-16 units. And its place: from where it begins in its first line to where it ends in its
--- last.
function M.read(from, to, units, is_to_the_end)
  local virtual = is_virtual()
  local from_left, from_right = columns(from, virtual)
  local to_left, to_right = columns(to, virtual)
  local left, right = math.min(from_left, to_left), from_right
  if to_right > from_right then
    local is_exclusive = vim.o.selection == "exclusive" and to_left - 1 >= from_right
    right = is_exclusive and to_left - 1 or to_right
  end
  if is_to_the_end then
    right = TO_THE_END
  end
  local function piece(line)
    local text = vim.api.nvim_buf_get_lines(0, line, line + 1, false)[1] or ""
    return slice(line + 1, text, left, right, virtual)
  end
  local pieces, size = {}, 0
  local start, stop
  for line = from.line, to.line do
    local text, first, last = piece(line)
    pieces[#pieces + 1] = text
    start, stop = start or first, last
    -- A unit takes three bytes at most, and each line ends.
    size = size + #text / 3 + 1
    if size > units and line < to.line then
      stop = select(3, piece(to.line))
      break
    end
  end
  local place = { from = { line = from.line, col = start }, to = { line = to.line, col = stop }, is_block = true }
  return pieces, place
end

return M
