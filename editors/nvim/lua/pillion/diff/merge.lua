--- The person's unsaved changes of a file, or what has changed in it on disk, taken along into a proposal that was made
--- without them. Pillion merges.

local buffers = require("pillion.buffers")
local client = require("pillion.client")
local label = require("pillion.diff.label")
local notify = require("pillion.notify")
local pending = require("pillion.diff.pending")
local proposal = require("pillion.diff.proposal")
local utf8 = require("pillion.utf8")

local M = {}

local function has_unsaved(diff)
  return diff.left_is_users and vim.api.nvim_buf_is_loaded(diff.left) and vim.bo[diff.left].modified
end

--- What came of it. `is_mine`: with the person's unsaved changes; `conflicts`: in how many places both sides changed
--- the same lines.
local function said(is_mine, conflicts)
  if conflicts == 0 then
    local what = is_mine and "your unsaved changes are" or "what has changed on disk is"
    return what .. " in the proposal: look, then :w; u takes them out"
  end
  local places = conflicts == 1 and "one place" or ("%d places"):format(conflicts)
  local lines = is_mine and "your own lines" or "the lines on disk"
  return ("merged: %s stand in %s that the agent changed, too"):format(lines, places)
end

local function on_answer(diff, before, is_mine, err, merged)
  if pending.get(diff.id) ~= diff or not vim.api.nvim_buf_is_loaded(diff.right) then
    return
  end
  if err then
    notify.error(err.message)
  elseif diff.deciding or buffers.text(diff.right) ~= before then
    notify.warn("the proposal has changed meanwhile. Hint: :PillionMerge again")
  else
    proposal.edit(diff, merged.content)
    diff.is_merged = is_mine
    label.show(diff)
    notify.info(said(is_mine, merged.conflicts))
  end
end

--- `content`: the person's unsaved text; nil for the file on disk.
local function ask(diff, proposed, content, callback)
  return client.request("pillion/merge", {
    id = diff.id,
    revision = diff.revision,
    original = diff.original_content,
    proposed = proposed,
    content = content,
  }, callback)
end

--- The person accepts `content`. If that has all of their unsaved changes, which merging it once more tells, their
--- buffer is read again once the file is written.
function M.carry(diff, content)
  if not has_unsaved(diff) or diff.is_lossy then
    return
  end
  local buf, tick = diff.left, vim.api.nvim_buf_get_changedtick(diff.left)
  ask(diff, content, buffers.text(buf), function(err, merged)
    if not err and merged.content == content then
      require("pillion.reload.check").carry(buf, tick, content)
    end
  end)
end

--- Asks Pillion to merge what stands in the person's buffer, if they have not saved it, or else in the file.
function M.ask(diff)
  local is_mine = has_unsaved(diff)
  local content = is_mine and buffers.text(diff.left) or nil
  if diff.is_lossy or (content and utf8.first_invalid(content)) then
    return notify.error("a file that is not UTF-8 cannot be merged")
  end
  local before = buffers.text(diff.right)
  local is_sent = ask(diff, before, content, function(err, merged)
    on_answer(diff, before, is_mine, err, merged)
  end)
  if not is_sent then
    notify.error("Pillion is not running. Hint: :Pillion start")
  end
end

return M
