--- Asking Pillion whether a decision counts (`pillion/decide`). The view stays until the answer is there.

local client = require("pillion.client")
local label = require("pillion.diff.label")
local notes = require("pillion.diff.notes")
local notify = require("pillion.notify")
local pending = require("pillion.diff.pending")
local unseen = require("pillion.diff.unseen")
local view = require("pillion.diff.view")

local M = {}

--- The outcomes of `accept` and `reject` once they count.
local OUTCOMES = { accept = "accepted", reject = "rejected" }

--- Says later why nothing was decided: `:silent w` is a decision, too.
function M.refuse(problem)
  vim.schedule(function()
    notify.error(problem)
  end)
  return nil, problem
end

--- The decision does not count: everything is as it was before, and they see it.
local function stay(diff, asked, ruling)
  if not vim.api.nvim_buf_is_loaded(diff.right) then
    M.close(diff)
    return
  end
  if asked.was_modified then
    vim.bo[diff.right].modified = true
  end
  diff.is_refused, diff.was_inside = true, nil
  local is_closed = asked.was_closed and not view.is_shown(diff)
  local is_out_of_sight = is_closed or (ruling.code == "notSeen" and not pending.is_inside(diff))
  if is_out_of_sight and vim.fn.getcmdwintype() == "" then
    local done, problem = view.go_to(diff, pending.focused())
    pending.guard()
    if not done then
      label.announce_problem(diff, problem)
    end
  end
  local place = asked.decision == "accept" and ruling["repeat"] and unseen.first_place(diff)
  vim.schedule(function()
    if pending.get(diff.id) == diff then
      local message = ruling.message or "it does not count"
      notify.warn(place and ("%s (not seen: %s)"):format(message, place) or message, diff)
    end
  end)
end

local function on_answer(diff, asked, err, ruling)
  diff.deciding = nil
  if pending.get(diff.id) == diff then
    ruling = err and { message = err.message } or ruling
    if ruling.settled and diff.revision == asked.revision then
      notes.forget(diff)
      notes.say_told(asked.notes, ruling)
      pending.settle(diff, OUTCOMES[asked.decision])
    elseif not ruling.settled then
      stay(diff, asked, ruling)
    end
  end
end

--- When a decision was typed last, and the pauses before each since the last one that was sent: what is typed while an
--- answer is awaited shows that a key is held down.
local typed_at
local pauses = {}

local function note_typed()
  local now = vim.uv.hrtime()
  if typed_at then
    table.insert(pauses, math.floor((now - typed_at) / 1e6))
  end
  typed_at = now
end

--- Asks. `sight`: what had been on the screen when the person began to type this; `reason`: what the agent is told
--- besides. Nil and why not, if nobody can be asked.
function M.ask(diff, decision, sight, content, reason)
  note_typed()
  if diff.deciding then
    return true
  end
  local asked = {
    decision = decision,
    revision = sight and sight.revision or diff.revision,
    was_modified = vim.bo[diff.right].modified,
    notes = notes.params(diff, reason),
  }
  local is_sent = client.request("pillion/decide", {
    id = diff.id,
    revision = asked.revision,
    decision = decision,
    content = content,
    notes = asked.notes,
    seen = {
      drawnMs = sight and sight.drawn_ms,
      typed = true,
      pausesMs = #pauses > 0 and pauses or nil,
      hunks = unseen.seen_hunks(diff),
    },
  }, function(err, ruling)
    on_answer(diff, asked, err, ruling)
  end)
  if not is_sent then
    return nil
  end
  pauses = {}
  diff.deciding = asked
  return true
end

--- The view is gone, which rejects whatever was seen.
function M.close(diff)
  local params = { id = diff.id, revision = diff.revision, decision = "reject", notes = notes.params(diff) }
  client.request("pillion/decide", params, function(_, ruling)
    ruling = ruling or {}
    if params.notes and not ruling.settled then
      -- They are too long, and there is no view any more in which they could be shortened.
      client.request("pillion/decide", vim.tbl_extend("force", params, { notes = vim.NIL }), function() end)
    end
    notes.say_told(params.notes, ruling)
  end)
  notes.forget(diff)
  pending.settle(diff, "rejected")
end

return M
