--- The pending diffs: opened and closed for agents, decided by the person.

local buffers = require("pillion.buffers")
local decide = require("pillion.diff.decide")
local draft = require("pillion.diff.draft")
local label = require("pillion.diff.label")
local list = require("pillion.diff.list")
local merge = require("pillion.diff.merge")
local navigation = require("pillion.diff.navigation")
local new_file = require("pillion.diff.new_file")
local notes = require("pillion.diff.notes")
local notify = require("pillion.notify")
local original = require("pillion.diff.original")
local others = require("pillion.others")
local pending = require("pillion.diff.pending")
local proposal = require("pillion.diff.proposal")
local quit = require("pillion.diff.quit")
local seen = require("pillion.diff.seen")
local session = require("pillion.diff.session")
local text = require("pillion.diff.text")
local typed = require("pillion.diff.typed")
local unseen = require("pillion.diff.unseen")
local utf8 = require("pillion.utf8")
local view = require("pillion.diff.view")
local waiting = require("pillion.diff.waiting")
local write = require("pillion.diff.write")

local M = {}

local NOBODY = "Pillion is not running, so the agent cannot get this. Hint: :Pillion start; :w NAME writes a copy"

--- `sight`: what had been on the screen when the person began to type this.
local function accept(diff, sight)
  local content = buffers.text(diff.right)
  local invalid = utf8.first_invalid(content)
  if invalid then
    local _, line = content:sub(1, invalid):gsub("\n", "")
    return decide.refuse(("line %d is not valid UTF-8, so the text cannot be sent"):format(line + 1))
  end
  if not decide.ask(diff, "accept", sight, content) then
    return decide.refuse(NOBODY)
  end
  vim.bo[diff.right].modified = false
  merge.carry(diff, content)
  require("pillion.reload").expect(diff.path)
  if diff.is_new then
    new_file.expect(diff.path)
  end
  return true
end

local function reject(diff, sight, reason)
  if not decide.ask(diff, "reject", sight, nil, reason) then
    decide.close(diff)
  end
  return true
end

--- Rejects a diff whose buffer is gone, or whose last window was closed. `is_wanted`: with all edits.
local function check(diff, was_closed, is_wanted)
  if pending.get(diff.id) ~= diff then
    return
  end
  local is_gone = not vim.api.nvim_buf_is_loaded(diff.right)
  if is_gone or (was_closed and not view.is_shown(diff)) then
    diff.keeps_edits = not is_gone and not is_wanted
    decide.close(diff)
  else
    diff.was_inside = nil
  end
end

local function check_later(diff, was_closed)
  diff.was_inside = pending.is_inside(diff)
  if diff.deciding and was_closed then
    -- What they decided before they closed it is under way.
    diff.deciding.was_closed = true
    return
  end
  local is_wanted = diff.is_quit
  vim.schedule(function()
    check(diff, was_closed, is_wanted)
  end)
end

--- The text in the view of a diff: { content }, or nil and why there is none.
local function text_in_view(diff, params)
  if not diff or not vim.api.nvim_buf_is_loaded(diff.right) then
    return nil, ("diff %s has no view"):format(params.id)
  end
  local content = buffers.text(diff.right)
  if utf8.first_invalid(content) then
    return nil, "the text in the view is not valid UTF-8"
  end
  return { content = content }
end

local function attach()
  local group = vim.api.nvim_create_augroup("PillionDiff", {})
  local function on(event, callback)
    vim.api.nvim_create_autocmd(event, { group = group, callback = callback })
  end
  on({ "WinEnter", "BufEnter", "TabEnter" }, pending.guard)
  on({ "WinEnter", "BufEnter", "TabEnter", "FocusLost", "FocusGained" }, function(event)
    pending.follow_person(event.event)
  end)
  on({ "InsertLeave", "WinEnter", "TabEnter" }, function()
    vim.tbl_map(view.refresh_folds, pending.sorted())
  end)
  on("WinClosed", function(event)
    local win = tonumber(event.match)
    local diff = vim.api.nvim_win_is_valid(win) and pending.of_buffer(vim.api.nvim_win_get_buf(win))
    if diff then
      check_later(diff, true)
    end
  end)
  on({ "BufUnload", "BufWipeout" }, function(event)
    local diff = pending.of_buffer(event.buf)
    if diff then
      notes.keep(diff)
      check_later(diff)
    end
  end)
  seen.attach(group, pending.of_buffer, pending.sorted)
  typed.attach(group, pending.sights, function(kind, buf, argument, is_forced, is_plain)
    local diff = pending.of_buffer(buf)
    if diff and typed.is_others() then
      decide.refuse(others.REFUSAL)
      return true
    end
    if diff and kind == "exit" and is_plain then
      -- The view goes when it counts, and not before.
      accept(diff, typed.sight(diff))
      return true
    end
    if quit.prepare(kind, buf, is_forced, pending) then
      return true
    end
    if diff and kind == "write_all" then
      -- It passes an unedited proposal over without a word.
      write.pass_over(diff)
    end
    local refusal = diff and write.refusal(kind, argument)
    if refusal then
      decide.refuse(refusal)
    end
    return refusal ~= nil
  end)
  quit.attach(group, pending)
  session.attach(group, pending.sorted)
  label.attach(group, pending.sorted)
  write.attach(group, pending, function(diff)
    accept(diff, typed.sight(diff))
  end, function(diff)
    proposal.fill(diff.right, diff.pristine)
    unseen.follow(diff)
    seen.draw_again(diff)
  end)
end

local function read(diff, params)
  diff.revision = params.revision
  diff.path = params.path
  diff.agent = params.agent.displayName
  diff.does = params.does or "proposes"
  diff.notes = vim.tbl_map(tostring, params.notes or {})
  diff.hunks = params.hunks or {}
  diff.place = type(params.set) == "table" and (" (%s)"):format(params.set.label) or ""
  diff.is_merged = nil
  diff.is_new = params.original == nil or params.original == vim.NIL
  diff.is_lossy = params.originalIsLossy == true
  diff.original_is_other = params.originalIsOther == true
  diff.original_content = diff.is_new and "" or params.original
  diff.original = text.decode(diff.original_content)
  diff.pristine = text.decode(params.proposed)
  return diff
end

local function replace(diff, params)
  local was_edited = quit.is_edited(diff)
  read(diff, params)
  original.refresh(diff)
  local is_over_edits = view.replace(diff, was_edited)
  unseen.follow(diff)
  seen.draw_again(diff)
  if is_over_edits or pending.is_inside(diff) then
    label.announce_anew(diff, is_over_edits)
  end
  if not view.is_shown(diff) then
    view.close_windows(diff, diff.windows)
    waiting.show(diff, pending, {})
  end
  return true
end

--- Takes a proposed change (`pillion/openDiff`), and shows it as soon as it can be shown. `has_waited`: for the end of
--- a command that the person was typing. True, or nil and why it cannot be taken.
function M.open(params, has_waited)
  pending.make_room(params.id)
  local shown = pending.get(params.id)
  if shown then
    return replace(shown, params)
  end
  local diff = read({ id = params.id }, params)
  local done, problem = view.make(diff)
  if not done then
    return nil, problem
  end
  if pending.is_empty() then
    attach()
  end
  pending.add(diff)
  unseen.follow(diff)
  unseen.attach(diff)
  draft.attach(diff)
  typed.repeat_maps(diff.right)
  waiting.show(diff, pending, { has_waited = has_waited })
  pending.emit("PillionDiffOpened", diff)
  return true
end

--- Neovim is about to end.
function M.on_exit()
  quit.on_exit(pending)
end

--- Answers with the text in the view of a revision (`pillion/diffText`).
function M.text(params)
  local diff = pending.get(params.id)
  return text_in_view(diff and diff.revision == params.revision and diff or nil, params)
end

--- Takes a view away for the agent (`pillion/closeDiff`), and answers with the text that was in it.
function M.close(params)
  local diff = pending.get(params.id)
  local content, why = text_in_view(diff, params)
  if diff and vim.api.nvim_buf_is_loaded(diff.right) then
    diff.is_orphan = params.reason == "agentGone"
    diff.message = type(params.message) == "string" and params.message or nil
    diff.is_undecided = diff.message ~= nil
    pending.settle(diff, "closed")
  end
  return content, why
end

--- Calls `act(diff, sight)` with the diff that is meant: by id, the one in focus, the only one, or the
--- one that the person chooses; and with what of it they had on the screen then.
local function with_diff(id, prompt, act)
  local sights = {}
  for _, diff in ipairs(pending.sorted()) do
    sights[diff.id] = typed.sight(diff)
  end
  local function act_on(diff)
    return act(diff, sights[diff.id])
  end
  local diff = id and pending.get(id) or not id and pending.focused()
  local diffs = pending.sorted()
  if not id and pending.leave() then
    return
  elseif diff then
    return act_on(diff)
  elseif id then
    notify.error(("no diff %s is pending. Hint: :PillionDiffs lists them"):format(id))
  elseif #diffs == 0 then
    notify.info("no diff is pending")
  elseif #diffs == 1 then
    return act_on(diffs[1])
  else
    list.select(diffs, nil, prompt, function(chosen)
      if pending.get(chosen.id) == chosen then
        act_on(chosen)
      end
    end)
  end
end

local function go_to(diff)
  local inside = pending.focused()
  local done, problem = view.go_to(diff, inside)
  pending.guard()
  if not done then
    notify.error(("cannot open the view of %s: %s"):format(diff.path, problem))
  end
  return done
end

--- Calls `act` unless another program asks for it.
local function by_person(act)
  return function(...)
    if typed.is_others() then
      return decide.refuse(others.REFUSAL)
    end
    return act(...)
  end
end

--- Neither a macro accepts, which goes on typing whatever is on the screen.
local function accept_typed(diff, sight)
  if vim.fn.reg_executing() ~= "" then
    return decide.refuse("a running macro cannot accept")
  elseif typed.is_repeating() then
    return decide.refuse("a command for many buffers cannot accept. Hint: :w or :PillionAccept in the proposal")
  end
  return accept(diff, sight)
end

function M.accept(id)
  return with_diff(id, "Accept which diff?", by_person(accept_typed))
end

--- `reason`: what the agent is told besides.
function M.reject(id, reason)
  local function reject_with_reason(diff, sight)
    return reject(diff, sight, reason)
  end
  return with_diff(id, "Reject which diff?", by_person(reject_with_reason))
end

--- `:PillionNote`: `call` is what Neovim knows about it (`line1`, `line2`, `bang`).
function M.note(call, words)
  local diff = pending.focused()
  if not diff or vim.api.nvim_get_current_buf() ~= diff.right then
    notify.error("notes are about the lines of a proposal: move the cursor to one. Hint: :PillionDiffs")
    return
  end
  local first, last, said = call.line1 - 1, call.line2 - 1, vim.trim(words)
  local removed = call.bang and notes.remove(diff, first, last) or 0
  if said ~= "" then
    notes.add(diff, first, last, said)
  end
  if said ~= "" or removed > 0 then
    notes.tell(diff)
  elseif call.bang and removed == 0 then
    notify.info("there is no note on these lines")
  elseif not call.bang and notes.count(diff) == 0 then
    notify.info("there are no notes on this proposal. Hint: :PillionNote TEXT adds one to the line")
  elseif not call.bang then
    notes.choose(diff)
  end
  label.show(diff)
end

--- The pending diffs: a list of { id, agent, path, added, removed }, the oldest first.
function M.list()
  return vim.tbl_map(list.item, pending.sorted())
end

--- Closes all views: the program exited, so no agent waits for an answer. What the person wrote into
--- a proposal is kept.
function M.close_all()
  for _, diff in ipairs(pending.sorted()) do
    M.close({ id = diff.id, reason = "agentGone" })
  end
end

--- Brings the person to the view of a diff.
function M.jump(id)
  return with_diff(id, "Go to which diff?", go_to)
end

--- `:PillionDiffs`: brings the person to the only diff, or to the one that they choose.
function M.pick(id)
  local diffs = pending.sorted()
  if id or #diffs == 0 then
    return M.jump(id)
  elseif #diffs == 1 and diffs[1].right == vim.api.nvim_get_current_buf() then
    notify.info("this is the only pending diff")
    return
  elseif #diffs == 1 then
    -- Also from the agent's terminal beside it, which is a window of the same view.
    return go_to(diffs[1])
  end
  list.select(diffs, pending.focused(), "Go to which diff?", function(chosen)
    if pending.get(chosen.id) == chosen then
      go_to(chosen)
    end
  end)
end

--- For what is done at the cursor: only a view in focus will do.
local function at_cursor(act)
  return function()
    local diff = pending.focused()
    if not diff then
      notify.error("the cursor is not in a diff. Hint: :PillionDiffs goes to one")
      return
    end
    return act(diff)
  end
end

--- Takes the person's unsaved changes along into a proposal that was made without them.
function M.merge(id)
  return with_diff(id, "Merge your unsaved changes into which diff?", merge.ask)
end

M.take_hunk = at_cursor(navigation.take)
M.drop_hunk = at_cursor(navigation.drop)
M.next_hunk = at_cursor(navigation.next)
M.previous_hunk = at_cursor(navigation.previous)

return M
