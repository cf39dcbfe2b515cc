--- What stands in a view, for who asks.

local buffers = require("pillion.buffers")
local pending = require("pillion.diff.pending")
local utf8 = require("pillion.utf8")

local M = {}

--- What stands in the view of a diff: { content }, or nil and why not.
function M.of(diff, params)
  if not diff or not vim.api.nvim_buf_is_loaded(diff.right) then
    return nil, ("diff %s has no view"):format(params.id)
  end
  local content = buffers.text(diff.right)
  if utf8.first_invalid(content) then
    return nil, "the text in the view is not valid UTF-8"
  end
  return { content = content }
end

--- The same of the revision that is asked about (`pillion/diffText`).
function M.answer(params)
  local diff = pending.get(params.id)
  return M.of(diff and diff.revision == params.revision and diff or nil, params)
end

return M
