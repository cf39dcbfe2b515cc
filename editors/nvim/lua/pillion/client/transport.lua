--- A child process and JSON-RPC with it, by means of `vim.lsp.rpc`, the same in every Neovim.

local M = {}

--- Only these reach people's programs: other codes are refused by older Neovims.
local function start(command, dispatchers)
  if vim.fn.has("nvim-0.8") == 1 then
    return vim.lsp.rpc.start(command, dispatchers)
  end
  return vim.lsp.rpc.start(command[1], vim.list_slice(command, 2), dispatchers)
end

--- Starts `command`. `handlers` are `notification(method, params)`, `request(method, params)`, which
--- returns a result or nil and an error, and `exit(code, signal)`; all run where the API may be used.
--- Returns `{ request, notify, terminate, pid }`, or nil and what is wrong.
function M.open(command, handlers)
  local ok, rpc = pcall(start, command, {
    notification = vim.schedule_wrap(handlers.notification),
    server_request = handlers.request,
    on_exit = vim.schedule_wrap(handlers.exit),
    on_error = function() end,
  })
  if not ok or not rpc then
    return nil, ok and "see :messages" or tostring(rpc)
  end
  return {
    request = rpc.request,
    notify = rpc.notify,
    terminate = rpc.terminate or function()
      rpc.handle:kill(15)
    end,
  }
end

return M
