--- The pending diffs: opened and closed for agents, decided by the person.

local client = require("pillion.client")
local events = require("pillion.events")
local list = require("pillion.diff.list")
local navigation = require("pillion.diff.navigation")
local notify = require("pillion.notify")
local original = require("pillion.diff.original")
local proposal = require("pillion.diff.proposal")
local text = require("pillion.diff.text")
local utf8 = require("pillion.diff.utf8")
local view = require("pillion.diff.view")
local write = require("pillion.diff.write")

local M = {}

--- By id: the diffs that wait for a decision.
local pending = {}
--- By id: the settled ones whose view is about to go.
local leaving = {}

--- How often to look whether a person in a view that shall go is done with typing.
local LOOK_MS = 50

local function sorted()
  local diffs = vim.tbl_values(pending)
  table.sort(diffs, function(a, b)
    return a.id < b.id
  end)
  return diffs
end

local function of_buffer(buf)
  for _, diff in pairs(pending) do
    if diff.right == buf then
      return diff
    end
  end
end

local function is_inside(diff)
  return view.has_window(diff, vim.api.nvim_get_current_win())
end

--- The pending diff whose view has the focus.
local function focused()
  for _, diff in pairs(pending) do
    if is_inside(diff) then
      return diff
    end
  end
end

local function guard()
  original.guard(focused())
end

local function emit(pattern, diff, outcome)
  events.emit(pattern, { id = diff.id, path = diff.path, agent = diff.agent, outcome = outcome })
end

--- A diff whose view was opened from the view of `gone` leads back to where that one came from.
local function inherit_origin(gone)
  for _, diff in pairs(pending) do
    if vim.api.nvim_win_is_valid(diff.origin.win) and view.has_window(gone, diff.origin.win) then
      diff.origin = gone.origin
    end
  end
end

--- Keeps what the person wrote for an agent that is gone.
local function rescue(diff)
  if diff.is_orphan and vim.api.nvim_buf_is_loaded(diff.right) and vim.bo[diff.right].modified then
    local buf = proposal.rescue(diff)
    notify.warn(("your edited proposal for %s is in buffer %d"):format(vim.fn.fnamemodify(diff.path, ":t"), buf))
  end
end

local function take_away(diff)
  leaving[diff.id] = nil
  rescue(diff)
  inherit_origin(diff)
  -- With the window closed, Neovim chose where the person is now; with the window there, the person did.
  local was_put_elsewhere = diff.was_inside and not vim.api.nvim_win_is_valid(diff.windows.right)
  local ok, problem = pcall(view.finish, diff, was_put_elsewhere or is_inside(diff))
  guard()
  if not ok then
    notify.error(("the view of %s could not be closed: %s"):format(diff.path, problem))
  end
  emit("PillionDiffClosed", diff, diff.outcome)
end

--- Whether the person is in the middle of typing in a view that somebody else takes away: the rest of
--- the keys would go to a buffer of theirs.
local function is_in_the_middle(diff)
  local mode = vim.api.nvim_get_mode()
  local is_idle = not mode.blocking and (mode.mode == "n" or mode.mode == "nt" or mode.mode == "t")
  return diff.outcome == "closed" and is_inside(diff) and not is_idle
end

local function take_away_later(diff)
  vim.schedule(function()
    if leaving[diff.id] ~= diff then
      return
    end
    if vim.fn.getcmdwintype() ~= "" then
      -- No window can be closed from the command-line window.
      vim.api.nvim_create_autocmd("CmdwinLeave", {
        once = true,
        callback = function()
          take_away_later(diff)
        end,
      })
      return
    end
    if is_in_the_middle(diff) then
      -- No event tells of the end of every kind of typing.
      vim.defer_fn(function()
        take_away_later(diff)
      end, LOOK_MS)
      return
    end
    take_away(diff)
  end)
end

--- A settled diff is no longer pending. Its view goes once the command that decided is done: `:wq`
--- still has a window to close, and it must be the proposal's.
local function settle(diff, outcome)
  pending[diff.id] = nil
  if next(pending) == nil then
    write.detach()
  end
  leaving[diff.id] = diff
  diff.outcome = outcome
  diff.was_inside = diff.was_inside or is_inside(diff)
  take_away_later(diff)
end

local function send(diff, outcome, content)
  return client.notify(
    "pillion/didResolveDiff",
    { id = diff.id, revision = diff.revision, outcome = outcome, content = content }
  )
end

--- Keeps `:wq` from closing the window of what could not be accepted.
local function keep(diff, problem)
  vim.bo[diff.right].modified = true
  notify.error(problem)
  return nil, problem
end

local function accept(diff)
  local content = proposal.text(diff.right)
  local invalid = utf8.first_invalid(content)
  if invalid then
    local _, line = content:sub(1, invalid):gsub("\n", "")
    return keep(diff, ("line %d is not valid UTF-8, so the text cannot be sent"):format(line + 1))
  end
  if content == "" and #diff.pristine.lines > 0 and not diff.is_warned then
    diff.is_warned = true
    return keep(diff, "agents take an empty text for none: :q! rejects, :w again accepts")
  end
  if not send(diff, "accepted", content) then
    return keep(diff, "Pillion does not run, so nobody hears that. Hint: :Pillion start; :w NAME writes a copy")
  end
  vim.bo[diff.right].modified = false
  require("pillion.reload").expect(diff.path)
  settle(diff, "accepted")
  return true
end

local function reject(diff)
  send(diff, "rejected")
  settle(diff, "rejected")
  return true
end

--- Rejects a diff whose buffer is gone, or whose last window was closed.
local function check(diff, was_closed)
  if pending[diff.id] ~= diff then
    return
  end
  if not vim.api.nvim_buf_is_loaded(diff.right) or (was_closed and not view.is_shown(diff)) then
    reject(diff)
  else
    diff.was_inside = nil
  end
end

local function check_later(diff, was_closed)
  diff.was_inside = is_inside(diff)
  vim.schedule(function()
    check(diff, was_closed)
  end)
end

local function attach()
  local group = vim.api.nvim_create_augroup("PillionDiff", {})
  local function on(event, callback)
    vim.api.nvim_create_autocmd(event, { group = group, callback = callback })
  end
  on({ "WinEnter", "BufEnter", "TabEnter" }, guard)
  on("WinClosed", function(event)
    local win = tonumber(event.match)
    local diff = vim.api.nvim_win_is_valid(win) and of_buffer(vim.api.nvim_win_get_buf(win))
    if diff then
      check_later(diff, true)
    end
  end)
  on({ "BufUnload", "BufWipeout" }, function(event)
    local diff = of_buffer(event.buf)
    if diff then
      check_later(diff)
    end
  end)
  write.attach(group, of_buffer, accept, function(diff)
    proposal.fill(diff.right, diff.pristine)
  end)
end

local function read(diff, params)
  diff.revision = params.revision
  diff.is_warned = false
  diff.path = params.path
  diff.agent = params.agent.displayName
  diff.is_new = params.original == nil or params.original == vim.NIL
  diff.is_lossy = params.originalIsLossy == true
  diff.original = text.decode(diff.is_new and "" or params.original)
  diff.pristine = text.decode(params.proposed)
  return diff
end

local function replace(diff, params)
  read(diff, params)
  original.refresh(diff)
  view.replace(diff)
  if not view.is_shown(diff) then
    view.close_windows(diff, diff.windows)
    return view.show(diff, { in_view = focused() ~= nil })
  end
  return true
end

--- Shows a proposed change (`pillion/openDiff`). True, or nil and why it cannot be shown.
function M.open(params)
  if vim.fn.getcmdwintype() ~= "" then
    return nil, "the command-line window of Neovim is open, and no other window can be opened from it"
  end
  if leaving[params.id] then
    take_away(leaving[params.id])
  end
  if pending[params.id] then
    return replace(pending[params.id], params)
  end
  local diff = read({ id = params.id }, params)
  local done, problem = view.open(diff, { in_view = focused() ~= nil })
  if not done then
    return nil, problem
  end
  if next(pending) == nil then
    attach()
  end
  pending[diff.id] = diff
  guard()
  emit("PillionDiffOpened", diff)
  return true
end

--- Takes a view away for the agent (`pillion/closeDiff`): { content }, or nil and why not.
function M.close(params)
  local diff = pending[params.id]
  if not diff or not vim.api.nvim_buf_is_loaded(diff.right) then
    return nil, ("diff %s has no view"):format(params.id)
  end
  local content = proposal.text(diff.right)
  local invalid = utf8.first_invalid(content)
  diff.is_orphan = params.reason == "agentGone"
  settle(diff, "closed")
  if invalid then
    return nil, "the text in the view is not valid UTF-8"
  end
  return { content = content }
end

--- Calls `act(diff)` with the diff that is meant: by id, the one in focus, the only one, or the one
--- that the person chooses.
local function with_diff(id, prompt, act)
  local diff = id and pending[id] or not id and focused()
  local diffs = sorted()
  if diff then
    return act(diff)
  elseif id then
    notify.error(("there is no diff %s. Hint: :PillionDiffs lists them"):format(id))
  elseif #diffs == 0 then
    notify.info("no diff is pending")
  elseif #diffs == 1 then
    return act(diffs[1])
  else
    list.select(diffs, nil, prompt, function(chosen)
      if pending[chosen.id] == chosen then
        act(chosen)
      end
    end)
  end
end

function M.accept(id)
  return with_diff(id, "Accept which diff?", accept)
end

function M.reject(id)
  return with_diff(id, "Reject which diff?", reject)
end

--- What is pending: a list of { id, agent, path, added, removed }, the oldest first.
function M.list()
  return vim.tbl_map(list.item, sorted())
end

local function go_to(diff)
  local inside = focused()
  local done, problem = view.go_to(diff, inside)
  guard()
  if not done then
    notify.error(("the view of %s could not be opened: %s"):format(diff.path, problem))
  end
  return done
end

--- Brings the person to the view of a diff.
function M.jump(id)
  return with_diff(id, "Go to which diff?", go_to)
end

--- `:PillionDiffs`: brings the person to the only diff, or to the one that they choose.
function M.pick(id)
  local diffs = sorted()
  local is_elsewhere = focused() == nil
  if id or #diffs == 0 or (#diffs == 1 and is_elsewhere) then
    return M.jump(id)
  end
  list.select(diffs, focused(), "Go to which diff?", function(chosen)
    if pending[chosen.id] == chosen then
      go_to(chosen)
    end
  end)
end

--- For what is done at the cursor: only a view in focus will do.
local function at_cursor(act)
  return function()
    local diff = focused()
    if not diff then
      notify.error("the cursor is not in a diff. Hint: :PillionDiffs goes to one")
      return
    end
    return act(diff)
  end
end

M.take_hunk = at_cursor(navigation.take)
M.drop_hunk = at_cursor(navigation.drop)
M.next_hunk = at_cursor(navigation.next)
M.previous_hunk = at_cursor(navigation.previous)

return M
