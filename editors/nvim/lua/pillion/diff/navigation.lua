--- Hunks under the cursor: going to them, taking them back from the agent's proposal, dropping them.

local hunks = require("pillion.diff.hunks")
local notify = require("pillion.notify")
local original = require("pillion.diff.original")
local text = require("pillion.diff.text")

local M = {}

--- Puts the lines of `target` in place of the hunk under the cursor.
local function put(diff, target, side)
  local hunk = hunks.at(hunks.between(text.lines(diff.right), target), vim.fn.line("."), side)
  if not hunk then
    notify.info("there is no such hunk under the cursor")
    return false
  end
  hunks.put(diff.right, hunk, target)
  return true
end

--- The hunk under the cursor becomes the agent's again.
function M.take(diff)
  if vim.api.nvim_get_current_buf() ~= diff.right then
    notify.info("move the cursor to the proposal first")
    return false
  end
  return put(diff, diff.pristine.lines, "old")
end

--- The hunk under the cursor becomes the original's again.
function M.drop(diff)
  local in_proposal = vim.api.nvim_get_current_buf() == diff.right
  return put(diff, original.lines(diff), in_proposal and "old" or "new")
end

local function go(diff, is_ahead)
  local line, target = vim.fn.line("."), nil
  local side = vim.api.nvim_get_current_buf() == diff.right and "new" or "old"
  local count = vim.api.nvim_buf_line_count(0)
  for _, hunk in ipairs(hunks.between(original.lines(diff), text.lines(diff.right))) do
    local first = hunks.first_line(hunk[side], hunk[side .. "_count"], count)
    if is_ahead and first > line then
      target = first
      break
    elseif not is_ahead and first < line then
      target = first
    end
  end
  if target then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { target, 0 })
  end
  return target ~= nil
end

function M.next(diff)
  return go(diff, true)
end

function M.previous(diff)
  return go(diff, false)
end

return M
