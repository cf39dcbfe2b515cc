--- What was decided in this project, and what came of it, in a window: the program lists it.

local notify = require("pillion.notify")

local M = {}

local function open(lines)
  vim.cmd("botright new")
  local buf = vim.api.nvim_get_current_buf()
  vim.bo[buf].buftype = "nofile"
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].swapfile = false
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
end

function M.show()
  local command = vim.list_extend({}, require("pillion.config").get().command)
  local started, problem = pcall(vim.system, vim.list_extend(command, { "log" }), { text = true }, function(done)
    local said = vim.trim(done.code == 0 and done.stdout or done.stderr)
    vim.schedule(function()
      open(vim.split(said, "\n"))
    end)
  end)
  if not started then
    notify.error(("cannot run %s: %s"):format(command[1], problem))
  end
end

return M
