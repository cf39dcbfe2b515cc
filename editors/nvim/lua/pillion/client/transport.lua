--- A child process, and JSON-RPC with it over its standard input and output.
---
--- Neovim's own (`vim.lsp.rpc`) is not used: it differs between versions, keeps what the process
--- says on standard error to itself, and some versions write each message out for a log that
--- nobody asked for, which costs more than the rest of a cursor move.

local framing = require("pillion.client.framing")

local uv = vim.uv

local M = {}

--- The amount of standard error that is kept, in bytes.
local KEPT = 4096

--- The time after the end of the process that its last words may take, in milliseconds. They come at
--- once, unless a child of its own holds the pipes.
local LAST_WORDS_MS = 200

local INTERNAL_ERROR = -32603

--- The time that Neovim may wait for a key, and do nothing else, before a proposal is answered without it: it is
--- taken, and shown afterwards. An agent would be told that it cannot be shown. Milliseconds.
local ANSWER_MS = 2000

--- Requests that may be answered so stand at the beginning of their message: a text of megabytes is not searched.
local BEGINNING = 200

--- Starts a process with three pipes. Returns it and them, or nil and what is wrong.
local function spawn(command, on_exit)
  local pipes = { uv.new_pipe(false), uv.new_pipe(false), uv.new_pipe(false) }
  local process, pid = uv.spawn(command[1], {
    args = vim.list_slice(command, 2),
    stdio = pipes,
    -- Not stopped together with Neovim by Ctrl-Z: agents would wait for it.
    detached = vim.fn.has("win32") == 0,
    hide = true,
  }, on_exit)
  if not process then
    for _, pipe in ipairs(pipes) do
      pipe:close()
    end
    return nil, tostring(pid)
  end
  return process, pipes
end

local function close(handle)
  if not handle:is_closing() then
    handle:close()
  end
end

--- What arrived for a `Connection`, in order, outside of libuv's callbacks. `is_answered`: a request is; `has_waited`:
--- for a key that the person had to type.
local function dispatch(connection, message, is_answered, has_waited)
  local handlers = connection.handlers
  if message.method and message.id ~= nil then
    local ok, result, problem = pcall(handlers.request, message.method, message.params or {}, has_waited)
    if not ok then
      result, problem = nil, { code = INTERNAL_ERROR, message = tostring(result) }
    end
    if not is_answered then
      connection:send({ id = message.id, result = result, error = problem })
    elseif problem then
      handlers.late_problem(message.method, message.params or {}, problem.message)
    end
  elseif message.method then
    handlers.notification(message.method, message.params or {})
  elseif connection.waiting[message.id] then
    local callback = connection.waiting[message.id]
    connection.waiting[message.id] = nil
    callback(message.error, message.result)
  end
end

local Connection = {}
Connection.__index = Connection

--- Sends the JSON of a message; false if the companion is not running.
function Connection:write(body)
  local stdin = self.pipes[1]
  if stdin:is_closing() then
    return false
  end
  stdin:write(framing.frame(body))
  return true
end

function Connection:send(message)
  message.jsonrpc = "2.0"
  return self:write(vim.json.encode(message))
end

--- A notification whose parameters are JSON already.
function Connection:notify_encoded(method, params)
  return self:write(('{"jsonrpc":"2.0","method":"%s","params":%s}'):format(method, params))
end

function Connection:notify(method, params)
  return self:send({ method = method, params = params })
end

--- `callback(error, result)` runs when the answer is there.
function Connection:request(method, params, callback)
  self.last_id = self.last_id + 1
  self.waiting[self.last_id] = callback
  return self:send({ id = self.last_id, method = method, params = params })
end

function Connection:terminate()
  if not self.process:is_closing() then
    self.process:kill("sigterm")
  end
end

--- The last lines of its standard error.
function Connection:said()
  return self.errors
end

--- Ends a connection over which comes what is not a message.
function Connection:give_up(problem)
  self.errors = problem
  close(self.pipes[2])
  close(self.pipes[3])
  self:terminate()
end

--- Answers a proposal for a Neovim that does nothing but wait for a key. Returns what to call when it does more:
--- whether that was too late.
function Connection:answer_in_time(body)
  local beginning = body:sub(1, BEGINNING)
  local id = beginning:find('"method":"pillion/openDiff"', 1, true) and beginning:match('"id":(%d+)')
  local timer = id and uv.new_timer()
  local is_answered = false
  if timer then
    timer:start(ANSWER_MS, 0, function()
      is_answered = true
      self:write(('{"jsonrpc":"2.0","id":%s,"result":true}'):format(id))
    end)
  end
  return function()
    if timer then
      timer:close()
    end
    return is_answered
  end
end

function Connection:read_messages()
  local parse = framing.parser()
  self.pipes[2]:read_start(function(problem, piece)
    local bodies = piece and parse(piece)
    if not piece then
      close(self.pipes[2])
      self:finish_if_over()
    elseif problem or not bodies then
      self:give_up("it does not speak the protocol")
    else
      for _, body in ipairs(bodies) do
        local arrive = self:answer_in_time(body)
        local has_waited = vim.api.nvim_get_mode().blocking
        vim.schedule(function()
          local is_answered = arrive()
          local ok, message = pcall(vim.json.decode, body, { luanil = { object = true } })
          if ok and type(message) == "table" then
            dispatch(self, message, is_answered, has_waited)
          else
            self:give_up("it does not speak the protocol")
          end
        end)
      end
    end
  end)
end

function Connection:read_errors()
  self.pipes[3]:read_start(function(_, piece)
    if piece then
      self.errors = (self.errors .. piece):sub(-KEPT)
    else
      close(self.pipes[3])
      self:finish_if_over()
    end
  end)
end

--- Reports the end once the process is gone and all that it said is read.
function Connection:finish_if_over()
  if self.ended and self.pipes[2]:is_closing() and self.pipes[3]:is_closing() then
    local ended = self.ended
    self.ended = nil
    vim.schedule(function()
      self.handlers.exit(ended.code, ended.signal)
    end)
  end
end

function Connection:on_exit(code, signal)
  self.ended = { code = code, signal = signal }
  close(self.process)
  close(self.pipes[1])
  self:finish_if_over()
  vim.defer_fn(function()
    close(self.pipes[2])
    close(self.pipes[3])
    self:finish_if_over()
  end, LAST_WORDS_MS)
end

--- Starts `command`. `handlers` are `notification(method, params)`, `request(method, params, has_waited)`, which
--- returns a result or nil and an error, `late_problem(method, params, message)` for an error after the answer, and
--- `exit(code, signal)`. Returns a connection, or nil and
--- what is wrong.
function M.open(command, handlers)
  local connection = setmetatable({ handlers = handlers, waiting = {}, last_id = 0, errors = "" }, Connection)
  local process, pipes = spawn(command, function(code, signal)
    connection:on_exit(code, signal)
  end)
  if not process then
    return nil, pipes
  end
  connection.process, connection.pipes = process, pipes
  connection:read_messages()
  connection:read_errors()
  return connection
end

return M
