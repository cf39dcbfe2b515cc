--- Agents that people started by themselves, in a `:terminal` of Neovim.

local M = {}

--- Processes by parent, as `{ pid, words }`. Empty where there is no `ps`.
local function processes()
  local children = {}
  if vim.fn.executable("ps") == 0 then
    return children
  end
  for _, line in ipairs(vim.fn.systemlist({ "ps", "-A", "-o", "pid=,ppid=,args=" })) do
    local pid, parent, command = line:match("^%s*(%d+)%s+(%d+)%s+(.*)$")
    if pid then
      parent = tonumber(parent)
      children[parent] = children[parent] or {}
      table.insert(children[parent], { pid = tonumber(pid), words = vim.split(command, "%s+") })
    end
  end
  return children
end

local function basename(word)
  return word and word:match("[^/\\]+$")
end

--- Agents are scripts: their name is the first word, or follows the interpreter's
--- (`node /usr/bin/gemini`, `sh -c gemini`).
local function agent_of(words)
  for agent, command in pairs(require("pillion.config").get().agents) do
    for index = 1, 3 do
      if basename(words[index]) == basename(command[1]) then
        return agent
      end
    end
  end
end

local function agent_below(pid, children, depth)
  for _, child in ipairs(children[pid] or {}) do
    local agent = agent_of(child.words)
    if agent then
      return agent, child.pid
    end
    if depth > 1 then
      local below, below_pid = agent_below(child.pid, children, depth - 1)
      if below then
        return below, below_pid
      end
    end
  end
end

local function working_folder(pid, buf)
  local folder = vim.loop.fs_readlink(("/proc/%d/cwd"):format(pid))
  return folder
    or vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf):match("^term://(.-)//") or ".", ":p")
end

local function is_running(job)
  return vim.fn.jobwait({ job }, 0)[1] == -1
end

local function look_into(buf, children)
  local job = vim.bo[buf].channel
  if job == 0 or not is_running(job) then
    return
  end
  local shell = vim.fn.jobpid(job)
  local command = vim.api.nvim_buf_get_name(buf):match("^term://.-//%d+:(.*)$") or ""
  local agent, pid = agent_of(vim.split(command, "%s+")), shell
  if not agent then
    agent, pid = agent_below(shell, children, 4)
  end
  if agent then
    local used = vim.fn.getbufinfo(buf)[1].lastused
    return { agent = agent, buf = buf, job = job, cwd = working_folder(pid, buf), used = used }
  end
end

--- The terminals in which an agent runs, the last used first. `known` are buffers to leave out.
function M.list(known)
  local found = {}
  local children
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buf].buftype == "terminal" and not known[buf] then
      children = children or processes()
      local terminal = look_into(buf, children)
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
