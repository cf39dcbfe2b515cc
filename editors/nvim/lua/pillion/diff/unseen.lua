--- The hunks of a proposal that have not been on the screen yet, wherever the person's edits move them.

local part = require("pillion.diff.part")

local M = {}

--- Follows the hunks that came with the proposal (`hunks` of `pillion/openDiff`) through the edits that follow.
function M.follow(diff)
  diff.unseen = {}
  for index, hunk in ipairs(diff.hunks) do
    local first, needed = hunk.after.start, {}
    for _, it in ipairs(hunk.parts or {}) do
      local offset = it.line - first
      needed[offset] = needed[offset] or {}
      table.insert(needed[offset], it)
    end
    local count = hunk.after["end"] - first
    -- `rows`, by row: true once it was seen, or what has to be seen of it, and what was.
    table.insert(
      diff.unseen,
      { index = index - 1, first = first, count = count, needed = needed, rows = {}, left = count }
    )
  end
end

--- Takes those out for which `is_seen` holds.
local function take_out(diff, is_seen)
  diff.unseen = vim.tbl_filter(function(hunk)
    return not is_seen(hunk)
  end, diff.unseen)
end

--- The person put other lines in place of these: what they changed they saw.
local function edited(diff, first, last, new_last)
  take_out(diff, function(hunk)
    local stop = hunk.first + hunk.count
    local is_changed
    if hunk.count == 0 then
      is_changed = first <= stop and last >= stop
    else
      is_changed = first < stop and last > hunk.first
    end
    if not is_changed and hunk.first >= last then
      hunk.first = hunk.first + new_last - last
    end
    return is_changed
  end)
end

--- Listens to what happens to the lines of a proposal.
function M.attach(diff)
  vim.api.nvim_buf_attach(diff.right, false, {
    on_lines = function(_, _, _, first, last, new_last)
      if #diff.unseen > 0 then
        edited(diff, first, last, new_last)
      end
      return diff.outcome ~= nil
    end,
    -- It stays attached, and `follow` begins anew.
    on_reload = function() end,
  })
end

local function is_near(hunk, lines)
  -- Where lines are only removed, one beside them must be there; of others, a part.
  return hunk.first <= lines.last + 1 and hunk.first + hunk.count >= lines.first
end

--- Of a line that does not fit, what has to be on the screen: bytes.
local function needed(hunk, offset, line)
  return vim.tbl_map(function(it)
    return { vim.fn.byteidxcomp(line, it.start), vim.fn.byteidxcomp(line, it["end"]) }
  end, hunk.needed[offset] or { { start = 0, ["end"] = vim.fn.strchars(line) } })
end

--- True if all that matters of a row of a hunk has been on the screen, now that it is drawn once more.
local function sees_row(hunk, row, win, lines)
  local offset = row - hunk.first
  local line, from, to = part.on_screen(win, row, lines)
  if not from then
    return false
  elseif from == 0 and to >= #line then
    return true
  end
  local known = hunk.rows[offset] or { needed = needed(hunk, offset, line), seen = {} }
  known.seen = part.add(known.seen, from, to)
  hunk.rows[offset] = known
  return part.first_gap(known.needed, known.seen) == nil
end

--- A window was drawn with the rows from `lines.first` to `lines.last`.
function M.drawn(diff, win, lines)
  local function is_in_reach(hunk)
    return is_near(hunk, lines)
  end
  local is_there = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == diff.right
  if
    not is_there
    or not vim.deep_equal(lines.view, M.view(win))
    or lines.tick ~= vim.api.nvim_buf_get_changedtick(diff.right)
    or not vim.iter(diff.unseen):any(is_in_reach)
  then
    return
  end
  vim.api.nvim_win_call(win, function()
    take_out(diff, function(hunk)
      if hunk.count == 0 then
        return is_near(hunk, lines)
      end
      -- Of the line below the last, a part may be there.
      for row = math.max(hunk.first, lines.first), math.min(hunk.first + hunk.count - 1, lines.last + 1) do
        local is_news = hunk.rows[row - hunk.first] ~= true and vim.fn.foldclosed(row + 1) == -1
        if is_news and sees_row(hunk, row, win, lines) then
          hunk.rows[row - hunk.first] = true
          hunk.left = hunk.left - 1
        end
      end
      return hunk.left == 0
    end)
  end)
end

--- The scroll position of a window.
function M.view(win)
  local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  return { topline = view.topline, leftcol = view.leftcol, skipcol = view.skipcol }
end

--- Where the first of what was not on the screen is, as a phrase; nil if all was.
function M.first_place(diff)
  local hunk = diff.unseen[1]
  if not hunk then
    return nil
  end
  local offset = 0
  while offset < hunk.count and hunk.rows[offset] == true do
    offset = offset + 1
  end
  local row = math.min(hunk.first + offset, vim.api.nvim_buf_line_count(diff.right) - 1)
  local known = hunk.rows[offset]
  local at = type(known) == "table" and part.first_gap(known.needed, known.seen)
  if not at then
    return ("line %d"):format(row + 1)
  end
  local line = vim.api.nvim_buf_get_lines(diff.right, row, row + 1, false)[1] or ""
  return ("line %d, column %d"):format(row + 1, vim.fn.strdisplaywidth(line:sub(1, at)) + 1)
end

--- The numbers of the hunks that were on the screen, from 0.
function M.seen_hunks(diff)
  local is_unseen, seen = {}, {}
  for _, hunk in ipairs(diff.unseen) do
    is_unseen[hunk.index] = true
  end
  for index = 0, #diff.hunks - 1 do
    if not is_unseen[index] then
      table.insert(seen, index)
    end
  end
  return seen
end

return M
