--- The left side of a view: what the proposal is compared with.
---
--- The user's own buffer where the file is open; it must not be changed from the view, so it is not
--- modifiable while a window of the view has the focus, and as it was everywhere else.

local buffers = require("pillion.buffers")
local proposal = require("pillion.diff.proposal")
local text = require("pillion.diff.text")

local M = {}

--- The 'modifiable' of the user's buffers that are guarded at the moment.
local guarded = {}

local function scratch(diff)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].swapfile = false
  vim.b[buf].pillion_diff = diff.id
  local kind = diff.is_new and " (new file)" or diff.is_lossy and " (not UTF-8)" or ""
  proposal.set_name(buf, ("pillion-original://%d/%s%s"):format(diff.id, proposal.tail(diff), kind))
  proposal.fill(buf, diff.original)
  return buf
end

--- Finds or makes the original's buffer: `diff.left`, and `diff.left_is_users`.
function M.attach(diff)
  local found = not diff.original_is_other and buffers.find(diff.path) or nil
  diff.left_is_users = found ~= nil
  diff.left = found or scratch(diff)
end

--- Once the proposal's filetype is known, the text from Pillion is shown in the same colours.
function M.adopt_filetype(diff)
  if not diff.left_is_users then
    proposal.keep_text(diff.left, diff.original, function()
      proposal.set_filetype(diff.left, vim.bo[diff.right].filetype)
    end)
    vim.bo[diff.left].modifiable = false
  end
end

--- The text on disk may be another when the agent proposes again.
function M.refresh(diff)
  if not diff.left_is_users and vim.api.nvim_buf_is_valid(diff.left) then
    proposal.fill(diff.left, diff.original)
    vim.bo[diff.left].modifiable = false
  end
end

--- The lines that the proposal is compared with now.
function M.lines(diff)
  if diff.left_is_users and vim.api.nvim_buf_is_loaded(diff.left) then
    return text.lines(diff.left)
  end
  return diff.original.lines
end

--- The shape that the proposal is compared with now.
function M.shape(diff)
  if diff.left_is_users and vim.api.nvim_buf_is_loaded(diff.left) then
    return text.of_buffer(diff.left)
  end
  return diff.original
end

--- Guards the user's buffers of the view in focus, if one is, and gives all others back.
function M.guard(focused)
  local target = focused and focused.left_is_users and focused.left
  for buf, modifiable in pairs(guarded) do
    if buf ~= target then
      guarded[buf] = nil
      if vim.api.nvim_buf_is_valid(buf) then
        vim.bo[buf].modifiable = modifiable
      end
    end
  end
  if target and guarded[target] == nil and vim.api.nvim_buf_is_valid(target) then
    guarded[target] = vim.bo[target].modifiable
    vim.bo[target].modifiable = false
  end
end

--- Takes away the buffer that `attach` made, if it made one.
function M.remove(diff)
  if not diff.left_is_users and vim.api.nvim_buf_is_valid(diff.left) then
    vim.api.nvim_buf_delete(diff.left, { force = true })
  end
end

return M
