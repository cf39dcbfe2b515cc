--- Starting on the first real file, once in the life of a Neovim.

local M = {}

local done = false

--- Starts Pillion if the buffer in focus is a file, or may become one, and then never looks again.
function M.consider(group, may_be_new)
  if done or not require("pillion.config").get().auto_start or vim.v.vim_did_enter == 0 then
    return
  end
  local file = require("pillion.context.file")
  local path = file.path(vim.api.nvim_get_current_buf())
  if path and (file.is_on_disk(path) or may_be_new and not file.exists(path)) then
    done = true
    pcall(vim.api.nvim_del_augroup_by_id, group)
    require("pillion.client").start({ automatic = true })
  end
end

return M
