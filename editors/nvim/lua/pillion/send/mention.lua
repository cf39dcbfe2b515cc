--- Mentions: an agent that knows them puts a file and its lines into its own prompt, in whatever
--- terminal it runs.

local uri = require("pillion.uri")

local M = {}

--- The time that Pillion may take to say which agent it was. Then the text is pasted.
local ANSWER_MS = 1000

local function basename(word)
  return word:match("[^/\\]+$")
end

--- The connected agents that know mentions, by what Pillion calls them: one name for each session.
local function connected()
  local state = require("pillion.client").state
  local names = vim.tbl_map(function(agent)
    return agent.name
  end, state.agents)
  return vim.tbl_filter(function(name)
    return vim.tbl_contains(state.mentions, name)
  end, names)
end

--- Pillion's name for an agent of the options: its own name, or that of its program.
local function name_of(agent)
  local command = require("pillion.agents").commands()[agent]
  return command and basename(command[1]) or agent
end

--- True if an agent is to be mentioned: Pillion chooses the session, so it has to be the one in the terminal `to`.
--- Without one, any of the `agent` that was named will do, or any at all.
function M.is_for(agent, to)
  local names = connected()
  if to and (to.is_chosen or #names ~= 1) then
    return false
  end
  local wanted = to and to.agent or agent
  local others = vim.tbl_filter(function(name)
    return wanted ~= nil and name ~= wanted and name ~= name_of(wanted)
  end, names)
  return #names > 0 and #others == 0
end

local function params(item)
  local lines = item.first and { first = item.first - 1, last = item.last - 1 } or nil
  return { uri = uri.from_path(item.path), lines = lines }
end

--- Calls `done(agent)` once, with the agent that got the item, or nil.
local function send(item, done)
  local is_over = false
  local function finish(agent)
    if not is_over then
      is_over = true
      done(agent)
    end
  end
  local is_sent = require("pillion.client").request("pillion/mention", params(item), function(problem, result)
    local agent = not problem and type(result) == "table" and result.agent or nil
    finish(type(agent) == "table" and agent or nil)
  end)
  if not is_sent then
    finish(nil)
    return
  end
  vim.defer_fn(finish, ANSWER_MS)
end

--- Mentions the items `{ path, first, last }`, one after the other: agents put them where their cursor
--- is. `done(agent, count)`: which got it last, and of how many.
function M.put(items, done)
  local told
  local function next_item(index)
    if index > #items then
      done(told, #items)
      return
    end
    send(items[index], function(agent)
      if not agent then
        done(told, index - 1)
        return
      end
      told = agent
      next_item(index + 1)
    end)
  end
  next_item(1)
end

return M
