--- Which agents run below a process.

local M = {}

--- All processes: `words` of the command line by pid, `children` by parent. Empty where there is no
--- `ps`.
function M.list()
  local list = { words = {}, children = {} }
  if vim.fn.executable("ps") == 0 then
    return list
  end
  for _, line in ipairs(vim.fn.systemlist({ "ps", "-A", "-o", "pid=,ppid=,args=" })) do
    local pid, parent, command = line:match("^%s*(%d+)%s+(%d+)%s+(.*)$")
    if pid then
      pid, parent = tonumber(pid), tonumber(parent)
      list.words[pid] = vim.split(command, "%s+")
      list.children[parent] = list.children[parent] or {}
      table.insert(list.children[parent], pid)
    end
  end
  return list
end

local function basename(word)
  return word and word:match("[^/\\]+$")
end

--- The agent that a command line starts. Agents are scripts: their name is the first word, or follows
--- the interpreter's (`node /usr/bin/gemini`, `sh -c gemini`).
function M.agent_of(words)
  for agent, command in pairs(require("pillion.agents").commands()) do
    for index = 1, 3 do
      if basename(words[index]) == basename(command[1]) then
        return agent
      end
    end
  end
end

--- The agent that runs in a process or, `depth` steps, below it; and its pid.
function M.agent_at(pid, list, depth)
  local agent = M.agent_of(list.words[pid] or {})
  if agent then
    return agent, pid
  end
  for _, child in ipairs(depth > 0 and list.children[pid] or {}) do
    local below, below_pid = M.agent_at(child, list, depth - 1)
    if below then
      return below, below_pid
    end
  end
end

--- The folder that a process works in, or nil.
function M.working_folder(pid)
  return vim.uv.fs_readlink(("/proc/%d/cwd"):format(pid))
end

return M
