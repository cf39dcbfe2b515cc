--- Agents in terminal windows: `:Pillion run`.
---
--- A session is one run of an agent. It goes on while its window is hidden.

local agents = require("pillion.agents")
local elsewhere = require("pillion.terminal.elsewhere")
local notify = require("pillion.notify")
local window = require("pillion.terminal.window")

local M = {}

--- The time that an agent waits for Pillion's variables, in milliseconds.
local TIMEOUT_MS = 3000

local sessions = {}

local clock = 0

local function tick()
  clock = clock + 1
  return clock
end

local function options()
  return require("pillion.config").get().terminal
end

local function find(agent, number)
  for _, session in ipairs(sessions) do
    if session.agent == agent and session.number == number then
      return session
    end
  end
end

local function free_number(agent)
  local number = 1
  while find(agent, number) do
    number = number + 1
  end
  return number
end

local function forget(session)
  sessions = vim.tbl_filter(function(other)
    return other ~= session
  end, sessions)
end

local function command_of(agent)
  local command = agents.commands()[agent or ""]
  if not command then
    local names = agents.names()
    local problem = agent and ("unknown agent %s"):format(agent) or "an agent is missing"
    local hint = #names > 0 and ":Pillion run " .. table.concat(names, "|") or ":checkhealth pillion"
    error({ message = ("%s. Hint: %s"):format(problem, hint) })
  end
  if vim.fn.executable(command[1]) == 0 then
    local package = agents.about(agent).package
    local how = package and ("npm install -g " .. package) or ("see the option agents.%s"):format(agent)
    error({ message = ("%s is not installed: %s"):format(command[1], how) })
  end
  return command
end

--- Agents look for Pillion when they start, so they start after it; and it says which there are.
local function wait_for_pillion()
  local environment = require("pillion.environment")
  if environment.is_set() then
    return
  end
  local client = require("pillion.client")
  client.start()
  vim.wait(TIMEOUT_MS, function()
    return environment.is_set() or client.phase() == "stopped"
  end, 10)
end

local function warn_if_without_pillion(agent)
  -- If it could not start, the person knows why already.
  if not require("pillion.environment").is_set() and require("pillion.client").phase() ~= "stopped" then
    notify.warn(("%s is starting without Pillion. Hint: :checkhealth pillion"):format(agent))
  end
end

--- The command behind `pillion run`, for an agent to which the variables are not enough.
local function through_run(agent, command)
  local program = vim.fn.exepath(require("pillion.config").get().command[1])
  local port = require("pillion.client").state.port
  local about = agents.about(agent)
  local is_known = about.needsRun and vim.fn.fnamemodify(command[1], ":t") == about.command[1]
  if not is_known or program == "" or not port or not require("pillion.environment").is_set() then
    return command
  end
  local words = { program }
  vim.list_extend(words, require("pillion.config").get().command, 2)
  vim.list_extend(words, { "run", "--port", tostring(port) })
  return vim.list_extend(words, command)
end

local function hide_everywhere(session)
  for _, win in ipairs(vim.fn.win_findbuf(session.buf)) do
    window.hide(win, session.back)
  end
end

local function dispose(session)
  forget(session)
  if vim.api.nvim_buf_is_valid(session.buf) then
    hide_everywhere(session)
    vim.api.nvim_buf_delete(session.buf, { force = true })
  end
end

--- In the command-line window no other window can be closed.
local function outside_command_line_window(act)
  if vim.fn.getcmdwintype() == "" then
    act()
    return
  end
  vim.api.nvim_create_autocmd("CmdwinLeave", {
    once = true,
    callback = function()
      vim.schedule(act)
    end,
  })
end

local function ended(session, status)
  session.status = status
  if not vim.api.nvim_buf_is_valid(session.buf) then
    forget(session)
  elseif status == 0 and options().auto_close then
    outside_command_line_window(function()
      dispose(session)
    end)
  elseif status ~= 0 then
    if session.buf == vim.api.nvim_get_current_buf() then
      -- In terminal mode the next key would take away what the agent said last.
      vim.cmd("stopinsert")
    end
    notify.unasked("warn", ("%s exited with status %d; its terminal shows why"):format(session.agent, status))
  end
end

local function run_in_terminal(session, command)
  local settings = {
    cwd = session.cwd,
    on_exit = function(_, status)
      if vim.v.exiting == vim.NIL then
        vim.schedule(function()
          ended(session, status)
        end)
      end
    end,
  }
  if vim.fn.has("nvim-0.11") == 1 then
    settings.term = true
    return vim.fn.jobstart(command, settings)
  end
  return vim.fn.termopen(command, settings)
end

local function follow(session)
  vim.api.nvim_create_autocmd("BufEnter", {
    buffer = session.buf,
    callback = function()
      session.used = tick()
    end,
  })
  vim.api.nvim_create_autocmd("WinLeave", {
    buffer = session.buf,
    callback = function()
      session.size = window.size(0)
    end,
  })
end

--- The window to go back to when a terminal is hidden: none of a terminal, that may go itself.
function M.where_from()
  local buf = vim.api.nvim_get_current_buf()
  for _, session in ipairs(sessions) do
    if session.buf == buf then
      return session.back
    end
  end
  return vim.api.nvim_get_current_win()
end

--- A `<Cmd>` map may come from Visual mode, which would go along into the terminal.
local function end_selecting()
  if vim.fn.mode():find("^[vVsS\22\19]") then
    vim.cmd("normal! \27")
  end
end

--- Or from Insert mode: keys would change the terminal's buffer.
local function type_here()
  if vim.fn.mode():find("^[iR]") then
    local keys = vim.api.nvim_replace_termcodes("<C-\\><C-n>i", true, false, true)
    -- Before what was typed ahead.
    vim.api.nvim_feedkeys(keys, "ni", false)
  else
    vim.cmd("startinsert")
  end
end

local function start(session, command)
  end_selecting()
  session.back = M.where_from()
  session.buf = vim.api.nvim_create_buf(false, false)
  vim.bo[session.buf].bufhidden = "hide"
  local opened, problem = pcall(window.open, session.buf)
  if opened then
    opened, session.job = pcall(run_in_terminal, session, command)
    problem = ("cannot start %s: %s"):format(command[1], session.job)
  end
  if not opened or session.job <= 0 then
    dispose(session)
    error(type(problem) == "table" and problem or { message = problem })
  end
  vim.b[session.buf].pillion_agent = session.agent
  follow(session)
  table.insert(sessions, session)
end

--- Makes the terminal visible and goes on typing there, unless the person is to read.
function M.show(terminal, is_to_read)
  end_selecting()
  local win = window.find(terminal.buf)
  if win then
    vim.api.nvim_set_current_win(win)
  else
    terminal.back = M.where_from()
    window.open(terminal.buf, terminal.size)
  end
  terminal.used = tick()
  if not is_to_read then
    type_here()
  end
end

local function open(agent, number, arguments)
  wait_for_pillion()
  local command = vim.list_extend(vim.deepcopy(command_of(agent)), arguments)
  local provider = options().provider
  if provider == "none" then
    notify.info(('terminal.provider is "none": start %s yourself'):format(agent))
    return
  end
  warn_if_without_pillion(agent)
  command = through_run(agent, command)
  require("pillion.context").flush()
  local cwd = require("pillion.roots").for_terminal()
  if type(provider) == "function" then
    local details = { agent = agent, number = number, cwd = cwd }
    provider(
      command,
      require("pillion.environment").get(),
      vim.tbl_extend("error", details, {
        split_side = options().split_side,
        split_width_percentage = options().split_width_percentage,
      })
    )
    return
  end
  local session = { agent = agent, number = number, arguments = arguments, cwd = cwd }
  start(session, command)
  M.show(session)
end

--- Opens the agent's terminal, or hides it, or shows it again. `number` tells apart several
--- sessions of one agent.
function M.toggle(agent, arguments, number)
  arguments, number = arguments or {}, number or 1
  local session = find(agent, number)
  if session and (session.status or not vim.api.nvim_buf_is_valid(session.buf)) then
    dispose(session)
    session = nil
  end
  if not session then
    open(agent, number, arguments)
    return
  end
  local is_other = #arguments > 0 and not vim.deep_equal(arguments, session.arguments)
  local win = window.find(session.buf)
  if win and not is_other then
    session.size = window.size(win)
    window.hide(win, session.back)
  else
    M.show(session)
  end
  if is_other then
    notify.warn(("%s is already running. Hint: :Pillion run %s %d"):format(agent, agent, free_number(agent)))
  end
end

--- `:Pillion run {agent} [number] [arguments]`. A count before the command would be a line number, an
--- error in a short buffer.
function M.run(arguments)
  local number = (arguments[2] or ""):match("^[1-9]%d*$")
  M.toggle(arguments[1], vim.list_slice(arguments, number and 3 or 2), tonumber(number or 1))
end

--- True if an agent runs in a terminal that was opened here.
function M.is_any_running()
  for _, session in ipairs(sessions) do
    if not session.status then
      return true
    end
  end
  return false
end

--- The terminals with a running agent: `{ agent, buf, job, cwd }`, the last used first, and those
--- that people opened themselves after ours.
function M.list()
  local running, known = {}, {}
  for _, session in ipairs(sessions) do
    known[session.buf] = true
    if not session.status and vim.api.nvim_buf_is_valid(session.buf) then
      table.insert(running, session)
    end
  end
  table.sort(running, function(one, other)
    return one.used > other.used
  end)
  return vim.list_extend(running, elsewhere.list(known))
end

return M
