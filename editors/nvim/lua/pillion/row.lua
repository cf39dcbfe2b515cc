--- How the line under the cursor of the list came there, and since when it stands there: a key that is held down is not
--- to decide about the lines that move up under it. Pillion rules on that.

local M = {}

--- The line: `what` it is, `since` when it stands there or a key last decided, and whether the person went to it.
local row = { since = 0 }

--- `what` is under the cursor now. `by_itself`: the list was filled anew.
function M.note(what, by_itself)
  if what ~= row.what then
    row = { what = what, since = vim.uv.now(), is_chosen = not by_itself }
  end
end

--- For how many milliseconds the line stands there.
function M.rested()
  return vim.uv.now() - row.since
end

--- What Pillion is told with a decision about what is under the cursor: the next one begins anew.
function M.decide(what)
  M.note(what)
  local told = { restedMs = M.rested(), isChosen = row.is_chosen }
  row.since, row.is_chosen = vim.uv.now(), false
  return told
end

return M
