--- What the person made of a proposal, in case Neovim, the hub or the agent ends before they decide: Pillion
--- hears of it a moment after each change, and when the file is proposed again, `u` brings it back. It decides
--- nothing.

local buffers = require("pillion.buffers")
local notify = require("pillion.notify")
local pending = require("pillion.diff.pending")
local proposal = require("pillion.diff.proposal")
local quit = require("pillion.diff.quit")
local seen = require("pillion.diff.seen")
local unseen = require("pillion.diff.unseen")
local utf8 = require("pillion.utf8")

local M = {}

--- The time for which nothing changes before Pillion hears of it.
local PAUSE_MS = 300

--- What stands in a proposal that the person has changed; nil if they have not, or if it cannot be told.
local function changed_text(diff)
  local content = quit.is_edited(diff) and buffers.text(diff.right) or nil
  return content and not utf8.first_invalid(content) and content or nil
end

local function tell(diff)
  if pending.get(diff.id) ~= diff or not vim.api.nvim_buf_is_loaded(diff.right) then
    return
  end
  local content = changed_text(diff)
  local key = { diff.revision, content }
  if vim.deep_equal(key, diff.told_draft or { diff.revision }) then
    return
  end
  diff.told_draft = key
  require("pillion.client").notify("pillion/didChangeDiff", {
    id = diff.id,
    revision = diff.revision,
    content = content,
  })
end

local function tell_later(diff)
  diff.draft_changes = (diff.draft_changes or 0) + 1
  local change = diff.draft_changes
  vim.defer_fn(function()
    if diff.draft_changes == change then
      tell(diff)
    end
  end, PAUSE_MS)
end

--- Follows what becomes of a proposal.
function M.attach(diff)
  vim.api.nvim_buf_attach(diff.right, false, {
    on_lines = function()
      if pending.get(diff.id) ~= diff then
        return true
      end
      tell_later(diff)
    end,
  })
end

--- Puts what the person had made of an earlier proposal of the file where `u` finds it (`pillion/offerText`).
function M.offer(params)
  local diff = pending.get(params.id)
  if not diff or diff.revision ~= params.revision or not vim.api.nvim_buf_is_loaded(diff.right) then
    return
  end
  diff.offered = diff.offered or {}
  local is_known = vim.list_contains(diff.offered, params.content) or buffers.text(diff.right) == params.content
  if is_known or quit.is_edited(diff) or (diff.over_edits and #diff.offered == 0) then
    return
  end
  table.insert(diff.offered, params.content)
  proposal.edit(diff, params.content)
  if proposal.replace(diff, true) then
    unseen.follow(diff)
    seen.draw_again(diff)
    local name = vim.fn.fnamemodify(diff.path, ":t")
    notify.unasked("info", ("what you had changed in %s was kept; u brings it back"):format(name), diff)
  end
end

return M
