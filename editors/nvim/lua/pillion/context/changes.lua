--- Where a part of a buffer is after others changed the buffer, also as a whole: what is read again
--- from the disk has no marks to follow.

local hunks = require("pillion.diff.hunks")

local M = {}

--- In a larger file a change ends what was selected.
local MAX_BYTES = 1024 * 1024

--- The lines of a buffer, to be compared later; empty if there are too many.
function M.lines(buf)
  local count = vim.api.nvim_buf_line_count(buf)
  if vim.api.nvim_buf_get_offset(buf, count) > MAX_BYTES then
    return {}
  end
  return vim.api.nvim_buf_get_lines(buf, 0, -1, false)
end

--- A NUL of the file is a line break inside a line.
local function whole(lines)
  return vim.tbl_map(function(line)
    return (line:gsub("\n", "\0"))
  end, lines)
end

--- Where a line (from 1) is now; nil and the hunk if it is one of those that changed.
local function moved(line, list)
  local shift = 0
  for _, hunk in ipairs(list) do
    -- Lines that come in stand after `old`.
    local last = hunk.old_count == 0 and hunk.old or hunk.old + hunk.old_count - 1
    if last < line then
      shift = shift + hunk.new_count - hunk.old_count
    elseif hunk.old_count > 0 and hunk.old <= line then
      return nil, hunk
    end
  end
  return line + shift
end

local function first_of(hunk)
  return hunk.new_count == 0 and hunk.new + 1 or hunk.new
end

local function last_of(hunk)
  return hunk.new_count == 0 and hunk.new or hunk.new + hunk.new_count - 1
end

local function has_same_lines(place, lines, other, now)
  local function between(from, to, all)
    return vim.list_slice(all, from.line + 1, to.line + 1)
  end
  return vim.deep_equal(between(place.from, place.to, lines), between(other.from, other.to, now))
end

--- The place now, `place` being that in `lines`, and the lines now; nil if nothing of it is left, or
--- it is one of a block and not as it was. Of a line that changed all is taken.
function M.move(buf, place, lines)
  local now = M.lines(buf)
  if not lines or #lines == 0 or #now == 0 then
    return nil
  end
  local list = hunks.between(whole(lines), whole(now))
  local first, first_hunk = moved(place.from.line + 1, list)
  local last, last_hunk = moved(place.to.line + 1, list)
  local from = { line = (first or first_of(first_hunk)) - 1, col = first and place.from.col or 0 }
  local to = { line = (last or last_of(last_hunk)) - 1, col = place.to.col }
  if from.line > to.line then
    return nil
  end
  if not last then
    to.col = #now[to.line + 1]
  end
  local there = { from = from, to = to, is_block = place.is_block }
  if place.is_block and not has_same_lines(place, lines, there, now) then
    return nil
  end
  return there, now
end

return M
