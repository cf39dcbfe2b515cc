--- Hunks: where two texts differ, and taking one of them from the other text.
---
--- A hunk is { old, old_count, new, new_count }, lines counted from 1; with a count of 0 the line is
--- the one before the gap.

local text = require("pillion.diff.text")

local M = {}

--- What 'diffopt' says of lines that look the same although they are not.
local IGNORED = {
  iblank = "ignore_blank_lines",
  iwhite = "ignore_whitespace_change",
  iwhiteall = "ignore_whitespace",
  iwhiteeol = "ignore_whitespace_change_at_eol",
}

local function options(is_as_shown)
  local chosen = { result_type = "indices" }
  for item in vim.gsplit(vim.o.diffopt, ",", { plain = true }) do
    chosen.algorithm = item:match("^algorithm:(.+)$") or chosen.algorithm
    chosen.indent_heuristic = chosen.indent_heuristic or item == "indent-heuristic"
    if is_as_shown then
      chosen.linematch = tonumber(item:match("^linematch:(%d+)$")) or chosen.linematch
      chosen[IGNORED[item] or 0] = IGNORED[item] and true
    end
  end
  return chosen
end

local function joined(lines)
  return #lines == 0 and "" or table.concat(lines, "\n") .. "\n"
end

local function compare(old, new, chosen)
  local diff = vim.fn.has("nvim-0.12") == 1 and vim.text.diff or vim.diff
  return vim.tbl_map(function(hunk)
    return { old = hunk[1], old_count = hunk[2], new = hunk[3], new_count = hunk[4] }
  end, diff(joined(old), joined(new), chosen))
end

--- The hunks between two lists of lines.
function M.between(old, new)
  return compare(old, new, options(false))
end

--- The same as |diff-mode| shows them: 'diffopt' may divide them (`linematch`) or leave some out (`iwhite`).
function M.shown(old, new)
  return compare(old, new, options(true))
end

--- Those that came with a proposal (`hunks` of `pillion/openDiff`).
function M.told(hunks)
  return vim.tbl_map(function(hunk)
    local before, after = hunk.before, hunk.after
    local old_count, new_count = before["end"] - before.start, after["end"] - after.start
    return {
      old = before.start + (old_count > 0 and 1 or 0),
      old_count = old_count,
      new = after.start + (new_count > 0 and 1 or 0),
      new_count = new_count,
    }
  end, hunks)
end

--- The numbers of lines that are added and removed.
function M.counts(list)
  local added, removed = 0, 0
  for _, hunk in ipairs(list) do
    added, removed = added + hunk.new_count, removed + hunk.old_count
  end
  return added, removed
end

--- The hunk that leads back.
function M.inverse(hunk)
  return { old = hunk.new, old_count = hunk.new_count, new = hunk.old, new_count = hunk.old_count }
end

--- The first line of a hunk on one side, as a place where a cursor can stand.
function M.first_line(start, count, line_count)
  return math.max(1, math.min(count == 0 and start + 1 or start, line_count))
end

--- The hunk at a line of one side ("old" or "new"), or nil. One that the line belongs to, rather than a gap
--- beside it.
function M.at(list, line, side)
  local beside
  for _, hunk in ipairs(list) do
    local start, count = hunk[side], hunk[side .. "_count"]
    if count > 0 and line >= start and line < start + count then
      return hunk
    elseif count == 0 and (line == start or line == start + 1) then
      beside = beside or hunk
    end
  end
  return beside
end

--- Puts the "new" lines of a hunk in place of its "old" ones, which are in `buf`.
function M.put(buf, hunk, new)
  local from = hunk.old_count == 0 and hunk.old or hunk.old - 1
  local to = from + hunk.old_count
  local lines = {}
  for number = hunk.new, hunk.new + hunk.new_count - 1 do
    table.insert(lines, new[number])
  end
  -- An emptied buffer shows one line that is not there.
  if vim.api.nvim_buf_line_count(buf) == 1 and #text.lines(buf) == 0 then
    from, to = 0, -1
  end
  vim.api.nvim_buf_set_lines(buf, from, to, false, lines)
end

return M
