--- What a person has seen: which revision of a proposal was drawn, and since when it stands there.

local M = {
  --- A decision that comes sooner is about what was there before; so is one that comes as soon after a
  --- refused one, as from a key that is held down.
  REVIEW_DELAY_MS = 1000,
}

local namespace = vim.api.nvim_create_namespace("pillion_seen")

local function now()
  return vim.uv.hrtime() / 1e6
end

--- Keys that were typed before the screen was drawn come before what is scheduled then.
local function note_later(drawn)
  vim.schedule(function()
    for diff, revision in pairs(drawn) do
      local seen = diff.seen
      if diff.revision == revision and not (seen and seen.revision == revision) then
        diff.seen = { revision = revision, since = now() }
      end
    end
  end)
end

--- Looks what is drawn; `find(buf)` gives the pending diff of a buffer.
function M.attach(find)
  local drawn = {}
  vim.api.nvim_set_decoration_provider(namespace, {
    on_win = function(_, _, buf)
      local diff = find(buf)
      if diff then
        drawn[diff] = diff.revision
      end
      return false
    end,
    on_end = function()
      if next(drawn) then
        note_later(drawn)
        drawn = {}
      end
    end,
  })
end

function M.detach()
  vim.api.nvim_set_decoration_provider(namespace, {})
end

--- Has the windows of a proposal drawn anew, even where another revision looks the same.
function M.draw_again(diff)
  local mark = vim.api.nvim_buf_set_extmark(diff.right, namespace, 0, 0, {
    end_row = vim.api.nvim_buf_line_count(diff.right),
    strict = false,
    hl_group = "Normal",
  })
  vim.api.nvim_buf_del_extmark(diff.right, namespace, mark)
end

--- The revision that was drawn last.
function M.revision(diff)
  return diff.seen and diff.seen.revision
end

--- Whether the proposal as it is now has never been on the screen.
function M.is_unseen(diff)
  return M.revision(diff) ~= diff.revision
end

--- Why a decision does not count now, or nil. `begun`: the revision that was on the screen when the person
--- began to type it.
function M.problem(diff, begun)
  if M.is_unseen(diff) then
    return diff.revision > 1 and "a newer proposal just opened" or "not seen yet"
  elseif begun ~= diff.revision then
    return "a newer proposal opened meanwhile"
  elseif now() - math.max(diff.seen.since, diff.refused_at or 0) < M.REVIEW_DELAY_MS then
    return diff.revision > 1 and "a newer proposal just opened" or "just opened"
  end
end

--- The same for a decision that was made, as a sentence.
function M.refusal(diff, begun)
  local problem = M.problem(diff, begun)
  if problem then
    diff.refused_at = now()
    return problem .. ": look first, then :w again"
  end
end

return M
