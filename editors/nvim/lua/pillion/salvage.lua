--- Views of diffs whose program ended: nobody waits for an answer, and the numbers of the diffs will be
--- given again. What a person typed into a proposal stays, in a buffer of its own.

local M = {}

--- Takes all views away.
function M.close_views()
  local diff = require("pillion.diff")
  for _, item in ipairs(diff.list()) do
    diff.close({ id = item.id, reason = "agentGone" })
  end
end

return M
