--- The agents that can be started: those that the program names when it starts, and those of the option `agents`.

local M = {}

--- The agents as the program named them last, by name. It stays when the program ends.
local known = {}

--- Takes over the agents of `pillion/environment`.
function M.set(agents)
  known = {}
  for _, agent in ipairs(agents) do
    known[agent.name] = agent
  end
end

--- The program's facts about an agent: an empty table of one that it does not know.
function M.about(name)
  return known[name] or {}
end

--- The command of each, by name.
function M.commands()
  local commands = vim.tbl_map(function(agent)
    return agent.command
  end, known)
  return vim.tbl_extend("force", commands, require("pillion.config").get().agents)
end

function M.names()
  local names = vim.tbl_keys(M.commands())
  table.sort(names)
  return names
end

--- A name for a hint.
function M.example()
  return M.names()[1] or "{agent}"
end

return M
