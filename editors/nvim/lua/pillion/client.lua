--- `pillion lsp`: its life, and what is said to and by it.

local config = require("pillion.config")
local events = require("pillion.events")
local notify = require("pillion.notify")
local transport = require("pillion.client.transport")

local M = {}

--- The time that Pillion may take to start, and to end when it is asked to.
local START_MS, END_MS = 10000, 2000

--- `stopped`, `starting`, `running` or `stopping`.
local phase = "stopped"
local connection
local restart_wanted = false
--- True if Neovim has had a user interface since it is served.
local had_ui = false

--- The end of the last one, for `:checkhealth`.
M.last_end = nil

local function fresh_state()
  return {
    agents = {},
    mentions = {},
    warnings = {},
    notes = {},
    review = {},
    files = {},
    pendingDiffs = 0,
    unseen = 0,
    environment = {},
  }
end

--- The facts about the running companion; for the status line, `:checkhealth` and the like.
M.state = fresh_state()

function M.phase()
  return phase
end

function M.is_running()
  return phase == "running"
end

--- Sends a notification; false if the companion is not running.
function M.notify(method, params)
  return phase == "running" and connection:notify(method, params) or false
end

--- Sends a request; `callback(error, result)` runs when the answer is there. False if nobody is there to
--- answer.
function M.request(method, params, callback)
  return phase == "running" and connection:request(method, params, callback) or false
end

--- The same as `notify` with parameters that are JSON already.
function M.notify_encoded(method, params)
  return phase == "running" and connection:notify_encoded(method, params) or false
end

local function show_message(params)
  local level = ({ "error", "warn", "info" })[params.type] or "info"
  local text = tostring(params.message or ""):gsub("^Pillion: ", "")
  notify.unasked(level, text)
end

--- The message types of the language-server protocol that each `log_level` lets through.
local LOGGED = { error = 1, warn = 2, info = 3, debug = 4, trace = 4 }

local function log_message(params)
  if (params.type or 4) <= LOGGED[config.get().log_level] then
    show_message(params)
  end
end

--- So long after an agent has connected, or later: what shows its first proposal is loaded, as that takes longer than
--- showing it.
local LOAD_MS = 100

local function load_diffs_later()
  if not package.loaded["pillion.diff"] then
    vim.defer_fn(function()
      require("pillion.diff")
    end, LOAD_MS)
  end
end

local notifications = {
  ["pillion/environment"] = function(params)
    M.state.port = params.port
    M.state.pid = params.pid
    M.state.files = params.discoveryFiles or {}
    M.state.roots = params.roots
    M.state.start_folder = type(params.startFolder) == "string" and params.startFolder or nil
    M.state.environment = params.variables or {}
    require("pillion.agents").set(params.agents or {})
    require("pillion.environment").set(M.state.environment)
    require("pillion.roots").on_known()
  end,
  ["pillion/didChangeStatus"] = function(params)
    M.state.agents = params.agents or {}
    if #M.state.agents > 0 then
      load_diffs_later()
    end
    M.state.mentions = params.mentions or {}
    M.state.warnings = params.warnings or {}
    M.state.notes = params.notes or {}
    M.state.review = type(params.review) == "table" and params.review or {}
    M.state.pendingDiffs = params.pendingDiffs or 0
    M.state.unseen = params.unseen or 0
    M.state.decided = type(params.decided) == "string" and params.decided or nil
    M.state.at_quit = type(params.atQuit) == "string" and params.atQuit or nil
    if params.changes ~= M.state.changes then
      M.state.changes = params.changes
      require("pillion.written").refresh()
    end
    require("pillion.status").update(params)
  end,
  ["pillion/didChangeFile"] = function(params)
    require("pillion.reload").changed(params)
  end,
  ["pillion/offerText"] = function(params)
    require("pillion.diff.draft").offer(params)
  end,
  ["window/showMessage"] = show_message,
  ["window/logMessage"] = log_message,
}

local requests = {
  ["pillion/openDiff"] = function(params, has_waited)
    return require("pillion.diff").open(params, has_waited)
  end,
  ["pillion/closeDiff"] = function(params)
    return require("pillion.diff").close(params)
  end,
  ["pillion/diffText"] = function(params)
    return require("pillion.diff").text(params)
  end,
  ["pillion/diagnostics"] = function(params)
    return require("pillion.diagnostics").answer(params)
  end,
}

local function on_notification(method, params)
  local handle = notifications[method]
  if handle and phase ~= "stopped" then
    handle(params)
  end
end

local function on_request(method, params, has_waited)
  local handle = requests[method]
  if not handle then
    return nil, { code = -32601, message = ("the plugin does not support %s"):format(method) }
  end
  local result, message = handle(params, has_waited)
  if not result then
    return nil, { code = -32603, message = message or "it failed" }
  end
  return result
end

--- A proposal that was answered while Neovim waited for a key, and cannot be shown at all.
local function on_late_problem(_, params, message)
  M.request("pillion/decide", { id = params.id, revision = params.revision, decision = "reject" }, function() end)
  notify.unasked("error", ("rejected a change to %s: %s"):format(params.path or "?", message))
end

local function after_the_end()
  require("pillion.context").detach()
  require("pillion.reload").detach()
  require("pillion.diff").close_all()
  if package.loaded["pillion.written"] then
    require("pillion.written").detach()
  end
  require("pillion.environment").clear()
  M.state = fresh_state()
  require("pillion.status").update(M.state)
end

local function describe_end(code, signal)
  local how = signal ~= 0 and ("signal %d"):format(signal) or ("exit code %d"):format(code)
  return { how = how, said = vim.trim(connection:said()) }
end

local function say_how_it_ended(was, how)
  if was == "starting" then
    notify.unasked("error", "`pillion lsp` failed. Hint: :checkhealth pillion")
  elseif was == "running" then
    notify.unasked("error", ("pillion exited (%s). Hint: :Pillion start"):format(how))
  end
end

local function on_exit(code, signal)
  local was = phase
  local ended = describe_end(code, signal)
  phase = "stopped"
  connection = nil
  M.last_end = was ~= "stopping" and ended or M.last_end
  say_how_it_ended(was, ended.how)
  after_the_end()
  events.emit("PillionStopped", { code = code, signal = signal, expected = was == "stopping" })
  if restart_wanted then
    restart_wanted = false
    M.start()
  end
end

local function on_initialized(err, result)
  if phase ~= "starting" then
    return
  end
  if err then
    phase = "stopping"
    local reason = err.message or "no reason was given"
    M.last_end = { how = "an error", said = reason }
    notify.unasked("error", ("cannot start pillion: %s"):format(reason))
    connection:terminate()
    return
  end
  phase = "running"
  M.state.version = result.serverInfo and result.serverInfo.version
  connection:notify("initialized", vim.empty_dict())
  require("pillion.context").attach()
  require("pillion.reload").attach()
  require("pillion.status").update(M.state)
  events.emit("PillionStarted", { version = M.state.version })
end

local function initialize_params()
  local version = vim.version()
  return {
    processId = vim.fn.getpid(),
    clientInfo = {
      name = "Neovim",
      version = ("%d.%d.%d"):format(version.major, version.minor, version.patch),
    },
    capabilities = {
      general = { positionEncodings = { "utf-16" } },
      experimental = {
        pillion = {
          version = require("pillion.version"),
          diffs = config.get().diff.enabled and "lastUsed" or "never",
          workspace = require("pillion.roots").start(),
        },
      },
    },
  }
end

local function missing(automatic)
  local text = "`pillion` was not found. Hint: :checkhealth pillion"
  if automatic then
    notify.once("warn", text)
  else
    notify.error(text)
  end
end

local function give_up_if_silent()
  local starting = connection
  vim.defer_fn(function()
    if connection == starting and phase == "starting" then
      starting:give_up(("it did not respond within %d s"):format(START_MS / 1000))
    end
  end, START_MS)
end

--- Starts the companion if it does not run. `options.automatic`: without being asked to.
function M.start(options)
  if phase ~= "stopped" then
    restart_wanted = restart_wanted or phase == "stopping"
    return
  end
  local command = vim.deepcopy(config.get().command)
  local program = vim.fn.exepath(command[1])
  if program == "" then
    missing(options and options.automatic)
    return
  end
  command[1] = program
  table.insert(command, "lsp")
  if config.get().log_file then
    vim.list_extend(command, { "--log", config.get().log_file })
  end
  local problem
  phase = "starting"
  require("pillion.others").attach()
  had_ui = had_ui or #vim.api.nvim_list_uis() > 0
  connection, problem = transport.open(command, {
    notification = on_notification,
    request = on_request,
    late_problem = on_late_problem,
    exit = on_exit,
  })
  if not connection then
    phase = "stopped"
    notify.unasked("error", ("cannot start `%s`: %s"):format(program, problem))
    return
  end
  M.state, M.last_end = fresh_state(), nil
  connection:request("initialize", initialize_params(), on_initialized)
  give_up_if_silent()
end

--- Asks the companion to end. Pending diffs then count as rejected.
function M.stop()
  restart_wanted = false
  if phase ~= "starting" and phase ~= "running" then
    return
  end
  phase = "stopping"
  local ending = connection
  ending:request("shutdown", nil, function()
    ending:notify("exit")
  end)
  vim.defer_fn(function()
    if connection == ending then
      ending:terminate()
    end
  end, END_MS)
end

function M.restart()
  M.stop()
  M.start()
end

--- True if Neovim is ended by a signal, with its user interface, or by another program: not by the person.
local function is_killed()
  local is_alone = had_ui and #vim.api.nvim_list_uis() == 0
  return vim.v.dying > 0 or is_alone or require("pillion.others").may_be_calling()
end

--- Neovim quits: waits for nothing but what was just decided.
local function leave()
  if connection then
    if package.loaded["pillion.diff"] then
      require("pillion.diff.pending").finish()
    end
    phase = "stopping"
    if not is_killed() then
      connection:request("shutdown", nil, function() end)
    end
    connection:notify("exit")
  end
end

local group = vim.api.nvim_create_augroup("PillionClient", {})
vim.api.nvim_create_autocmd("ExitPre", {
  group = group,
  desc = "Stay for a proposal that waits",
  callback = function()
    local function has_diffs()
      return package.loaded["pillion.diff"] and not require("pillion.diff.pending").is_empty()
    end
    -- While the second key of `ZZ` is awaited, Neovim hears nothing: what has come by then is heard now. Where notes
    -- hold it anyway, that can wait.
    if phase == "running" and not M.state.at_quit then
      vim.wait(20, has_diffs, 1)
    end
    if has_diffs() then
      require("pillion.diff").on_exit()
    end
  end,
})
vim.api.nvim_create_autocmd({ "CmdlineLeave", "ExitPre" }, {
  group = group,
  desc = "Say what waits for agents",
  callback = function(event)
    if M.state.at_quit or package.loaded["pillion.quitting"] then
      require("pillion.quitting")[event.event](M.state.at_quit)
    end
  end,
})
vim.api.nvim_create_autocmd("VimLeavePre", { group = group, desc = "End Pillion", callback = leave })
vim.api.nvim_create_autocmd("UIEnter", {
  group = group,
  desc = "Note that Neovim is seen",
  callback = function()
    had_ui = true
  end,
})

return M
