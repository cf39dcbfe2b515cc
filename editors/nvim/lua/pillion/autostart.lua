--- Starting on the first real file, once in the life of a Neovim.

local file = require("pillion.context.file")

local M = {}

local done = false

--- So many listed buffers are looked at: a session may list thousands.
local LOOKED_AT = 64

--- The buffers that are in windows or listed: after a session was loaded, the focus may be in a terminal, or in
--- a help page beside the files.
local function all_buffers()
  local bufs = {}
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    table.insert(bufs, vim.api.nvim_win_get_buf(win))
  end
  local listed = vim.tbl_filter(function(buf)
    return vim.bo[buf].buflisted
  end, vim.api.nvim_list_bufs())
  return vim.list_extend(bufs, listed, 1, math.min(#listed, LOOKED_AT))
end

--- True if the buffer in focus is a file or may become one (`may_be_new`), or any other is (`everywhere`).
local function finds_file(may_be_new, everywhere)
  local path = file.path(vim.api.nvim_get_current_buf())
  if path and (file.is_on_disk(path) or may_be_new and not file.exists(path)) then
    return true
  end
  for _, buf in ipairs(everywhere and all_buffers() or {}) do
    path = file.path(buf)
    if path and file.is_on_disk(path) then
      return true
    end
  end
  return false
end

--- Starts Pillion if there is a file, and then never looks again.
function M.consider(group, may_be_new, everywhere)
  if done or not require("pillion.config").get().auto_start or vim.v.vim_did_enter == 0 then
    return
  end
  if finds_file(may_be_new, everywhere) then
    done = true
    pcall(vim.api.nvim_del_augroup_by_id, group)
    require("pillion.client").start({ automatic = true })
  end
end

return M
