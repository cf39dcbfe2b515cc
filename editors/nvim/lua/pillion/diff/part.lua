--- Which part of a line is on the screen, where a window does not show all of it.

local M = {}

--- True if a byte of a row is on the screen, counted from 1.
function M.is_there(win, row, byte)
  return byte > 0 and vim.fn.screenpos(win, row + 1, byte).row > 0
end

--- The bytes of a line that is not wrapped.
local function beside(win, number, line, columns, view)
  local last = view.leftcol + columns
  local width = vim.fn.virtcol({ number, "$" }) - 1
  if width > 0 and width <= view.leftcol then
    return nil
  end
  local from = view.leftcol > 0 and vim.fn.virtcol2col(win, number, view.leftcol + 1) - 1 or 0
  if width <= last then
    return from, #line
  end
  return from, vim.fn.virtcol2col(win, number, last + 1) - 1
end

--- The same of one that is wrapped, and does not end on the screen, or does not begin there.
local function below(win, number, line, view, is_top)
  local from = is_top and view.skipcol > 0 and vim.fn.virtcol2col(win, number, view.skipcol + 1) - 1 or 0
  local seen, unseen = from, #line + 1
  while seen + 1 < unseen do
    local middle = math.floor((seen + unseen) / 2)
    if M.is_there(win, number - 1, middle) then
      seen = middle
    else
      unseen = middle
    end
  end
  if seen > from then
    return from, seen
  end
end

--- A row of the current window, and which of its bytes are on the screen: from the first to the one behind the last;
--- none if it is not there. `lines`: what was drawn, see `diff/seen.lua`.
function M.on_screen(win, row, lines)
  local line = vim.api.nvim_buf_get_lines(0, row, row + 1, false)[1] or ""
  local is_top = row == lines.first
  if row > lines.last and not (vim.wo[win].wrap and vim.o.display:find("lastline", 1, true)) then
    return line, nil
  elseif not vim.wo[win].wrap then
    local info = vim.fn.getwininfo(win)[1]
    return line, beside(win, row + 1, line, info.width - info.textoff, lines.view)
  end
  local begins = not (is_top and lines.view.skipcol > 0)
  -- What Neovim calls the last line that is there as a whole may be taller than the window.
  local ends = row < lines.last or (line == "" and row <= lines.last) or M.is_there(win, row, #line)
  if begins and ends then
    return line, 0, #line
  end
  return line, below(win, row + 1, line, lines.view, is_top)
end

--- A list of ranges, and what was seen from `from` to `to`.
function M.add(seen, from, to)
  table.insert(seen, { from, to })
  table.sort(seen, function(a, b)
    return a[1] < b[1]
  end)
  local merged = {}
  for _, range in ipairs(seen) do
    local last = merged[#merged]
    if last and range[1] <= last[2] then
      last[2] = math.max(last[2], range[2])
    else
      table.insert(merged, range)
    end
  end
  return merged
end

--- Where the first of the ranges begins that is not among those that were seen; nil if all are.
function M.first_gap(needed, seen)
  for _, range in ipairs(needed) do
    local at = range[1]
    local is_covered = false
    for _, part in ipairs(seen) do
      is_covered = is_covered or (part[1] <= range[1] and part[2] >= range[2])
      at = part[1] <= at and part[2] > at and part[2] or at
    end
    if not is_covered then
      return at
    end
  end
end

return M
