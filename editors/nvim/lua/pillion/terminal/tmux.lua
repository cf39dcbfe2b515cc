--- Agents in other panes of the tmux that Neovim runs in. tmux is called word by word, without a shell,
--- and what is sent goes through its standard input.

local processes = require("pillion.terminal.processes")

local M = {}

--- The number of steps below a pane's shell at which an agent is still looked for.
local DEPTH = 4

--- Names the paste buffer, which is gone after it was used.
local BUFFER = "pillion"

local FORMAT = "#{pane_id} #{pane_pid} #{window_id} #{session_id} #{pane_current_path}"

local function is_inside()
  return (vim.env.TMUX or "") ~= "" and (vim.env.TMUX_PANE or "") ~= "" and vim.fn.executable("tmux") == 1
end

local function tmux(words, input)
  local command = vim.list_extend({ "tmux" }, words)
  -- Without input it does not wait for what would read none.
  local said = input and vim.fn.system(command, input) or vim.fn.system(command)
  if vim.v.shell_error ~= 0 then
    error({ message = "tmux: " .. vim.trim(said) })
  end
  return said
end

local function parsed(line)
  local id, pid, window, session, folder = line:match("^(%%%d+) (%d+) (@%d+) (%$%d+) (.*)$")
  return id and { pane = id, pid = tonumber(pid), window = window, session = session, folder = folder }
end

local function in_session()
  local ok, said = pcall(tmux, { "list-panes", "-s", "-t", vim.env.TMUX_PANE, "-F", FORMAT })
  local panes = {}
  for _, line in ipairs(ok and vim.split(said, "\n") or {}) do
    table.insert(panes, parsed(line))
  end
  return panes
end

local function with_agent(pane, list)
  local agent, pid = processes.agent_at(pane.pid, list, DEPTH)
  pane.agent = agent
  pane.cwd = pid and processes.working_folder(pid) or pane.folder
  return pane
end

--- The panes `{ agent, pane, cwd }` of this session in which an agent runs, those of this window first.
function M.list()
  local own = vim.env.TMUX_PANE
  local panes = is_inside() and in_session() or {}
  if #panes < 2 then
    return {}
  end
  local list, here, elsewhere, window = processes.list(), {}, {}, nil
  for _, pane in ipairs(panes) do
    window = pane.pane == own and pane.window or window
  end
  for _, pane in ipairs(panes) do
    if pane.pane ~= own and with_agent(pane, list).agent then
      table.insert(pane.window == window and here or elsewhere, pane)
    end
  end
  return vim.list_extend(here, elsewhere)
end

--- The pane that the option `terminal.tmux_pane` names, whatever runs there.
function M.chosen(target)
  if vim.fn.executable("tmux") == 0 then
    error({ message = "terminal.tmux_pane is set, but tmux is not available" })
  end
  local pane = parsed(vim.trim(tmux({ "display-message", "-p", "-t", target, FORMAT })))
  if not pane then
    error({ message = ("terminal.tmux_pane: tmux has no pane %s"):format(target) })
  end
  return with_agent(pane, processes.list())
end

--- Pastes: line breaks stay what they are, and for a program that asked for it, they are marked as a paste.
function M.paste(pane, text)
  tmux({ "load-buffer", "-b", BUFFER, "-" }, text)
  tmux({ "paste-buffer", "-p", "-r", "-d", "-b", BUFFER, "-t", pane.pane })
end

--- Goes there.
function M.show(pane)
  tmux({ "select-window", "-t", pane.pane })
  tmux({ "select-pane", "-t", pane.pane })
end

return M
