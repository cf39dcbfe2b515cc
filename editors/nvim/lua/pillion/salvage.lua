--- Views of diffs whose program ended: nobody waits for an answer, and the numbers of the diffs will be
--- given again. What a person typed into a proposal stays, in a buffer of its own.

local M = {}

local function is_edited(id)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.b[buf].pillion_diff == id and vim.bo[buf].modified then
      return true
    end
  end
  return false
end

local function keep(path, content)
  local buf = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split((content:gsub("\n$", "")), "\n", { plain = true }))
  -- Neovim does not quit before it is written or thrown away.
  vim.bo[buf].modified = true
  local name = vim.fn.fnamemodify(path, ":t")
  require("pillion.notify").unasked("warn", ("your edited proposal for %s is in buffer %d"):format(name, buf))
end

--- Takes all views away.
function M.close_views()
  local diff = require("pillion.diff")
  for _, item in ipairs(diff.list()) do
    local edited = is_edited(item.id)
    local closed = diff.close({ id = item.id, reason = "agentGone" })
    if closed and edited then
      keep(item.path, closed.content)
    end
  end
end

return M
