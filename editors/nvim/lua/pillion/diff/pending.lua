--- Which diffs wait for a decision, and how the settled ones go.

local astray = require("pillion.diff.astray")
local events = require("pillion.events")
local focus = require("pillion.diff.focus")
local label = require("pillion.diff.label")
local notes = require("pillion.diff.notes")
local notify = require("pillion.notify")
local original = require("pillion.diff.original")
local proposal = require("pillion.diff.proposal")
local quit = require("pillion.diff.quit")
local seen = require("pillion.diff.seen")
local typed = require("pillion.diff.typed")
local view = require("pillion.diff.view")

local M = {}

--- By id: the diffs that wait for a decision.
local pending = {}
--- By id: the settled ones whose view is about to go.
local leaving = {}

--- The time between two looks whether a person in a view that shall go is done with typing.
local LOOK_MS = 50

--- The time that Neovim waits for an answer before it quits.
local FINISH_MS = 2000

function M.is_empty()
  return next(pending) == nil
end

--- The pending diff with this number.
function M.get(id)
  return pending[id]
end

function M.add(diff)
  pending[diff.id] = diff
end

--- All of them, the oldest first.
function M.sorted()
  local diffs = vim.tbl_values(pending)
  table.sort(diffs, function(a, b)
    return a.id < b.id
  end)
  return diffs
end

--- The pending diff whose proposal a buffer holds.
function M.of_buffer(buf)
  for _, diff in pairs(pending) do
    if diff.right == buf then
      return diff
    end
  end
end

--- True if a window of its view has the focus.
function M.is_inside(diff)
  return view.has_window(diff, vim.api.nvim_get_current_win())
end

--- The pending diff whose view has the focus.
function M.focused()
  for _, diff in pairs(pending) do
    if M.is_inside(diff) then
      return diff
    end
  end
end

--- What is on the screen, by the id of the diff; see `seen.sight`.
function M.sights()
  return vim.tbl_map(seen.sight, pending)
end

--- Keeps the original of the view in focus from being changed, and no other.
function M.guard()
  original.guard(M.focused())
end

--- Tells the user's autocommands.
function M.emit(pattern, diff, outcome)
  local data = { id = diff.id, path = diff.path, agent = diff.agent, outcome = outcome, windows = diff.windows or {} }
  events.emit(pattern, data)
end

--- A diff whose view was opened from the view of `gone` leads back to where that one came from.
local function inherit_origin(gone)
  for _, diff in pairs(pending) do
    if diff.origin and vim.api.nvim_win_is_valid(diff.origin.win) and view.has_window(gone, diff.origin.win) then
      diff.origin = gone.origin
    end
  end
end

--- Keeps what the person wrote for an agent that is gone, or into a view that they closed without a word; and says
--- that, after what the program says of the end.
local function rescue(diff)
  local said = { not diff.is_said and diff.message or nil }
  diff.is_said = true
  local is_edited = vim.api.nvim_buf_is_loaded(diff.right) and quit.is_edited(diff)
  if is_edited and (diff.is_orphan or diff.keeps_edits) then
    local name, buf = vim.fn.fnamemodify(diff.path, ":t"), proposal.rescue(diff)
    local where = diff.is_orphan and "your edits of %s are" or "rejected %s; edits are"
    -- What they threw away does not keep Neovim from quitting.
    vim.bo[buf].modified = diff.is_orphan
    table.insert(said, (where .. " in buffer %d (:w NAME saves)"):format(name, buf))
  end
  if #said > 0 then
    notify.unasked("warn", table.concat(said, "; "))
  end
end

--- The person has decided in a view: what came next has the focus next, as soon as it comes.
local function follow()
  local next = M.sorted()[1]
  if not next then
    focus.follow()
  elseif not next.waits and not view.obstacle() then
    local done, problem = view.go_to(next)
    M.guard()
    if not done then
      notify.unasked("error", ("cannot open the view of %s: %s"):format(next.path, problem))
    end
  end
end

local function take_away(diff)
  leaving[diff.id] = nil
  rescue(diff)
  notes.say_lost(diff)
  inherit_origin(diff)
  -- With the window closed, Neovim chose where the person is now; with the window there, the person did.
  local was_put_elsewhere = diff.was_inside and not vim.api.nvim_win_is_valid(diff.windows.right or -1)
  local is_inside = was_put_elsewhere or M.is_inside(diff)
  -- Who decides by a map of Terminal mode stays there.
  local is_in_terminal = vim.bo.buftype == "terminal"
  local ok, problem = pcall(view.finish, diff, is_inside)
  M.guard()
  if not ok then
    notify.unasked("error", ("cannot close the view of %s: %s"):format(diff.path, problem))
  end
  if is_inside then
    astray.left(vim.fn.fnamemodify(diff.path, ":t"), M.of_buffer)
  end
  M.emit("PillionDiffClosed", diff, diff.outcome)
  if is_inside and not is_in_terminal and diff.outcome ~= "closed" then
    follow()
  end
end

--- True if the person is in the middle of typing in a view that the other side closes: the rest of
--- the keys would go to a buffer of theirs.
local function is_in_the_middle(diff)
  return diff.outcome == "closed" and M.is_inside(diff) and focus.activity() == "busy"
end

--- While Neovim is about to quit, no window is closed.
local is_finishing = false

--- False while another program has the keyboard, as far as the terminal tells.
local has_keyboard = true

--- True if what the person types next goes to a view that the other side closes.
local function is_typed_into(diff)
  local is_in_text = vim.api.nvim_get_current_buf() == diff.right or vim.api.nvim_get_current_win() == diff.windows.left
  return diff.outcome == "closed" and has_keyboard and is_in_text and view.is_shown(diff)
end

--- Nobody has decided, and the person would type into what is below it: it stays as it is until they leave it.
local function stay(diff)
  astray.finish(diff.right)
  if vim.bo[diff.right].modifiable then
    rescue(diff)
    vim.bo[diff.right].modified = false
    vim.bo[diff.right].modifiable = false
  end
end

local function take_away_later(diff)
  vim.schedule(function()
    if leaving[diff.id] ~= diff or vim.v.exiting ~= vim.NIL then
      return
    end
    if is_finishing then
      vim.defer_fn(function()
        take_away_later(diff)
      end, LOOK_MS)
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
    elseif is_typed_into(diff) and diff.is_undecided then
      stay(diff)
    elseif not (is_typed_into(diff) and astray.holds(diff, function()
      take_away_later(diff)
    end)) then
      take_away(diff)
    end
  end)
end

--- The person is elsewhere, or another program has the keyboard: views that stayed for them go.
function M.follow_person(event)
  has_keyboard = event == "FocusGained" or (has_keyboard and event ~= "FocusLost")
  vim.tbl_map(take_away_later, vim.tbl_values(leaving))
end

--- True if the person was in a view that stayed only for them. It goes: what they do in it is meant for nothing else.
function M.leave()
  for _, diff in pairs(leaving) do
    if is_typed_into(diff) and diff.is_undecided then
      diff.is_undecided = false
      take_away_later(diff)
      return true
    end
  end
  return false
end

--- A settled diff is no longer pending. Its view goes once the command that decided is done: `:wq`
--- still has a window to close, and it must be the proposal's.
function M.settle(diff, outcome)
  pending[diff.id] = nil
  if M.is_empty() then
    seen.detach()
    typed.detach()
  end
  leaving[diff.id] = diff
  diff.outcome = outcome
  -- That nothing was decided.
  notify.clear(diff)
  diff.was_inside = diff.was_inside or M.is_inside(diff)
  if is_typed_into(diff) then
    label.show(diff)
  end
  take_away_later(diff)
end

--- Waits until what the person decided counts, or does not: Neovim is about to quit.
function M.finish()
  is_finishing = true
  vim.wait(FINISH_MS, function()
    return not vim.iter(M.sorted()):any(function(diff)
      return diff.deciding ~= nil
    end)
  end, 5)
  is_finishing = false
end

--- Takes away at once what is left of the view of a settled diff.
function M.make_room(id)
  if leaving[id] then
    take_away(leaving[id])
  end
end

return M
