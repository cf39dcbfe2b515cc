--- Hunks under the cursor: going to them, taking them back from the agent's proposal, dropping them.

local astray = require("pillion.diff.astray")
local hunks = require("pillion.diff.hunks")
local notify = require("pillion.notify")
local original = require("pillion.diff.original")
local text = require("pillion.diff.text")

local M = {}

--- Puts the lines of `target` in place of a hunk of the proposal.
local function put(diff, hunk, target)
  if not hunk then
    notify.info("there is no such hunk under the cursor")
    return false
  elseif not vim.bo[diff.right].modifiable then
    notify.info(astray.JUST_OPENED)
    return false
  end
  hunks.put(diff.right, hunk, target)
  return true
end

--- The hunk under the cursor becomes the agent's again.
function M.take(diff)
  if vim.api.nvim_get_current_buf() ~= diff.right then
    notify.info("move the cursor to the proposal first")
    return false
  end
  local changes = hunks.between(text.lines(diff.right), diff.pristine.lines)
  return put(diff, hunks.at(changes, vim.fn.line("."), "old"), diff.pristine.lines)
end

--- Into how many hunks 'diffopt' divides the one at this line: who drops one of them may mean all.
local function parts(old, new, shown, side)
  local whole = hunks.at(hunks.between(old, new), vim.fn.line("."), side)
  if not whole then
    return 0
  end
  local function is_in(hunk, name)
    return hunk[name] >= whole[name] - 1 and hunk[name] <= whole[name] + whole[name .. "_count"]
  end
  local within = vim.tbl_filter(function(hunk)
    return is_in(hunk, "old") and is_in(hunk, "new")
  end, shown)
  return #within
end

--- The hunk under the cursor becomes the original's again.
function M.drop(diff)
  local side = vim.api.nvim_get_current_buf() == diff.right and "new" or "old"
  local old, new = original.lines(diff), text.lines(diff.right)
  local shown = hunks.shown(old, new)
  local hunk = hunks.at(shown, vim.fn.line("."), side)
  local count = hunk and parts(old, new, shown, side) or 0
  if count > 1 then
    notify.info(("1 of %d adjoining hunks is dropped: 'diffopt' has linematch, which divides them"):format(count))
  end
  return put(diff, hunk and hunks.inverse(hunk), old)
end

local function go(diff, is_ahead)
  local line, target = vim.fn.line("."), nil
  local side = vim.api.nvim_get_current_buf() == diff.right and "new" or "old"
  local count = vim.api.nvim_buf_line_count(0)
  for _, hunk in ipairs(hunks.shown(original.lines(diff), text.lines(diff.right))) do
    local first = hunks.first_line(hunk[side], hunk[side .. "_count"], count)
    if is_ahead and first > line then
      target = first
      break
    elseif not is_ahead and first < line then
      target = first
    end
  end
  if target then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { target, 0 })
  end
  return target ~= nil
end

function M.next(diff)
  return go(diff, true)
end

function M.previous(diff)
  return go(diff, false)
end

return M
