--- The person's unsaved changes of a file, taken along into a proposal that was made without them. Pillion merges.

local buffers = require("pillion.buffers")
local client = require("pillion.client")
local label = require("pillion.diff.label")
local notify = require("pillion.notify")
local pending = require("pillion.diff.pending")
local proposal = require("pillion.diff.proposal")

local M = {}

--- What came of it. `conflicts`: in how many places both sides changed the same lines.
local function said(conflicts)
  if conflicts == 0 then
    return "your unsaved changes are in the proposal: look, then :w; u takes them out"
  end
  local places = conflicts == 1 and "one place" or ("%d places"):format(conflicts)
  return ("merged: your own lines stand in %s that the agent changed, too"):format(places)
end

local function on_answer(diff, before, err, merged)
  if pending.get(diff.id) ~= diff or not vim.api.nvim_buf_is_loaded(diff.right) then
    return
  end
  if err then
    notify.error(err.message)
  elseif diff.deciding or buffers.text(diff.right) ~= before then
    notify.warn("the proposal has changed meanwhile. Hint: :PillionMerge again")
  else
    proposal.edit(diff, merged.content)
    diff.is_merged = true
    label.show(diff)
    notify.info(said(merged.conflicts))
  end
end

local function has_unsaved(diff)
  return diff.left_is_users and vim.api.nvim_buf_is_loaded(diff.left) and vim.bo[diff.left].modified
end

local function ask(diff, proposed, callback)
  return client.request("pillion/merge", {
    original = diff.original_content,
    proposed = proposed,
    content = buffers.text(diff.left),
  }, callback)
end

--- The person accepts `content`. If that has all of their unsaved changes, which merging it once more tells, their
--- buffer is read again once the file is written.
function M.carry(diff, content)
  if not has_unsaved(diff) or diff.is_lossy then
    return
  end
  local buf, tick = diff.left, vim.api.nvim_buf_get_changedtick(diff.left)
  ask(diff, content, function(err, merged)
    if not err and merged.content == content then
      require("pillion.reload.check").carry(buf, tick, content)
    end
  end)
end

--- Asks Pillion to merge what stands in the person's buffer.
function M.ask(diff)
  if not has_unsaved(diff) then
    return notify.info("your buffer has no unsaved changes")
  elseif diff.is_lossy then
    return notify.error("a file that is not UTF-8 cannot be merged")
  end
  local before = buffers.text(diff.right)
  local is_sent = ask(diff, before, function(err, merged)
    on_answer(diff, before, err, merged)
  end)
  if not is_sent then
    notify.error("Pillion is not running. Hint: :Pillion start")
  end
end

return M
