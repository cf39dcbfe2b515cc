--- Proposals that cannot be shown yet: somebody types, a prompt or the command-line window is open, a terminal
--- fills the screen. They are pending like all others, and open once the person is done and pauses.

local float = require("pillion.notify.float")
local focus = require("pillion.diff.focus")
local label = require("pillion.diff.label")
local view = require("pillion.diff.view")

local M = {}

--- So long after the last key: the next one would go to the proposal.
local PAUSE_MS = 400

local keys = vim.api.nvim_create_namespace("pillion_waiting")

local group
local last_key = 0
local is_due = false

--- The line over a terminal that says what waits.
local notice

local function waiting(sorted)
  return vim.tbl_filter(function(diff)
    return diff.waits ~= nil
  end, sorted())
end

local function take_notice_away()
  if notice and vim.api.nvim_win_is_valid(notice) then
    vim.api.nvim_win_close(notice, true)
  end
  notice = nil
end

--- Says in a terminal what waits: its mode covers every message, and what runs there keeps its rows.
local function note_in_terminal(diffs)
  if diffs[1].waits == "terminal" then
    take_notice_away()
    local win = vim.api.nvim_get_current_win()
    notice = float.over(win, label.notice(diffs[1], #diffs, vim.api.nvim_win_get_width(win)))
  end
end

local function stop()
  take_notice_away()
  vim.on_key(nil, keys)
  if group then
    vim.api.nvim_del_augroup_by_id(group)
    group = nil
  end
end

local look_later

--- Shows the oldest that waits, if it can be shown now; the others follow.
local function look(pending)
  is_due = false
  local diffs = waiting(pending.sorted)
  if #diffs == 0 then
    stop()
    return
  end
  if view.obstacle() then
    note_in_terminal(diffs)
    return
  end
  local pause = PAUSE_MS - (vim.uv.now() - last_key)
  if pause > 0 and focus.activity() == "normal" then
    look_later(pending, pause)
    return
  end
  take_notice_away()
  M.show(diffs[1], pending, { waited = diffs[1].waits })
  look_later(pending, 0)
end

function look_later(pending, after)
  if is_due then
    return
  end
  is_due = true
  vim.defer_fn(function()
    look(pending)
  end, after)
end

local function start(pending)
  if group then
    return
  end
  group = vim.api.nvim_create_augroup("PillionWaiting", {})
  last_key = vim.uv.now()
  vim.on_key(function(_, typed)
    if typed ~= "" then
      last_key = vim.uv.now()
    end
  end, keys)
  local function may_look()
    -- What is scheduled is itself the end of a pause: only what may be shown is looked at.
    if not view.obstacle(true) then
      look_later(pending, 0)
    end
  end
  vim.api.nvim_create_autocmd({ "ModeChanged", "SafeState", "TermLeave" }, { group = group, callback = may_look })
  vim.api.nvim_create_autocmd({ "CmdwinLeave", "RecordingLeave", "TermEnter" }, {
    group = group,
    callback = function()
      look_later(pending, 0)
    end,
  })
end

local function wait(diff, obstacle, pending)
  local is_told = diff.waits ~= nil
  diff.waits, diff.is_hidden = obstacle, true
  diff.windows, diff.saved_options = diff.windows or {}, diff.saved_options or {}
  start(pending)
  if obstacle == "terminal" or obstacle == "pause" then
    look_later(pending, 0)
  elseif not is_told then
    label.announce_waiting(diff)
  end
end

--- Shows a proposal, or keeps it until it can be shown. `how`: see `view.show`; `waited`, for what; `has_waited`, until
--- the person had typed the last key of a command, and a pause is missing. What goes wrong is said, and the proposal
--- stays pending.
function M.show(diff, pending, how)
  local obstacle = view.obstacle() or (how.has_waited and "pause" or nil)
  if obstacle then
    wait(diff, obstacle, pending)
    return
  end
  diff.waits = nil
  how.in_view = pending.focused() ~= nil
  local done, problem = view.show(diff, how)
  pending.guard()
  if not done then
    diff.windows, diff.is_hidden = {}, true
    label.announce_problem(diff, problem)
  elseif how.waited then
    label.announce_opened(diff)
  end
end

return M
