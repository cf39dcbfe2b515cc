--- Agents that people started by themselves, in a `:terminal` of Neovim.

local processes = require("pillion.terminal.processes")

local M = {}

--- The number of steps below the terminal's shell at which an agent is still looked for.
local DEPTH = 4

local function working_folder(pid, buf)
  return processes.working_folder(pid)
    or vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf):match("^term://(.-)//") or ".", ":p")
end

local function is_running(job)
  return vim.fn.jobwait({ job }, 0)[1] == -1
end

local function look_into(buf, list)
  local job = vim.bo[buf].channel
  if job == 0 or not is_running(job) then
    return
  end
  local shell = vim.fn.jobpid(job)
  local command = vim.api.nvim_buf_get_name(buf):match("^term://.-//%d+:(.*)$") or ""
  local agent, pid = processes.agent_of(vim.split(command, "%s+")), shell
  if not agent then
    agent, pid = processes.agent_at(shell, list, DEPTH)
  end
  if agent then
    local used = vim.fn.getbufinfo(buf)[1].lastused
    return { agent = agent, buf = buf, job = job, cwd = working_folder(pid, buf), used = used }
  end
end

--- The terminals in which an agent runs, the last used first. `known` are buffers to leave out.
function M.list(known)
  local found = {}
  local list
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buf].buftype == "terminal" and not known[buf] then
      list = list or processes.list()
      local terminal = look_into(buf, list)
      if terminal then
        table.insert(found, terminal)
      end
    end
  end
  table.sort(found, function(one, other)
    return one.used > other.used
  end)
  return found
end

return M
