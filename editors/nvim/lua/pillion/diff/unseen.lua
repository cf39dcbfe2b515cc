--- The hunks of a proposal that have not been on the screen yet, wherever the person's edits move them.

local M = {}

--- Follows the hunks that came with the proposal (`hunks` of `pillion/openDiff`) through the edits that follow.
function M.follow(diff)
  diff.unseen = {}
  for index, hunk in ipairs(diff.hunks) do
    local count = hunk.after["end"] - hunk.after.start
    table.insert(diff.unseen, { index = index - 1, first = hunk.after.start, count = count, rows = {}, left = count })
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
  -- Where lines are only removed, one beside them must be there.
  return hunk.first <= lines.last + (hunk.count == 0 and 1 or 0) and hunk.first + hunk.count >= lines.first
end

--- A window was drawn with the rows from `lines.first` to `lines.last`.
function M.drawn(diff, win, lines)
  local function is_in_reach(hunk)
    return is_near(hunk, lines)
  end
  local is_there = vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == diff.right
  if
    not is_there
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
      for row = math.max(hunk.first, lines.first), math.min(hunk.first + hunk.count - 1, lines.last) do
        if not hunk.rows[row - hunk.first] and vim.fn.foldclosed(row + 1) == -1 then
          hunk.rows[row - hunk.first] = true
          hunk.left = hunk.left - 1
        end
      end
      return hunk.left == 0
    end)
  end)
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
