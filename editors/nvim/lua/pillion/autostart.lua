--- Starting on the first real file, once in the life of a Neovim.

local M = {}

local done = false

--- Starts Pillion if the buffer in focus is a file, and then never looks again.
function M.consider(group)
  if done or not require("pillion.config").get().auto_start or vim.v.vim_did_enter == 0 then
    return
  end
  if require("pillion.context.file").could_be_real(vim.api.nvim_get_current_buf()) then
    done = true
    pcall(vim.api.nvim_del_augroup_by_id, group)
    require("pillion.client").start({ automatic = true })
  end
end

return M
