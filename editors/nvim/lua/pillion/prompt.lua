--- `:Pillion prompt` and `:Pillion ask`: a text with placeholders into the prompt of an agent.

local placeholders = require("pillion.prompt.placeholders")
local target = require("pillion.send.target")

local M = {}

local function prompts()
  return require("pillion.config").get().prompts
end

--- The names of those that can be given, in order.
function M.names()
  local names = vim.tbl_keys(prompts())
  table.sort(names)
  return names
end

local function named(name)
  local found = prompts()[name or ""]
  if not found then
    local problem = name and ("unknown prompt %s"):format(name) or "a prompt is missing"
    error({ message = ("%s. Hint: use one of %s"):format(problem, table.concat(M.names(), ", ")) })
  end
  return found
end

local function put(words, agent, call, is_strict)
  local subject = placeholders.subject(call)
  local to = target.find(agent)
  local text = placeholders.fill(words, subject, to, is_strict)
  if text:find("@%S*$") then
    -- Behind a path agents offer names to complete, and Enter would take one.
    text = text .. " "
  end
  target.put(to, nil, text)
end

--- `:Pillion prompt {name} [agent]`.
function M.prompt(arguments, call)
  put(named(arguments[1]), arguments[2], call, true)
end

--- `:Pillion ask {text}`: to the agent used last. Braces that hold no placeholder are part of the text.
function M.ask(call)
  local words = call.args:match("^%s*%S+%s+(.*)$")
  if not words then
    error({ message = "the text is missing. Hint: :Pillion ask What does {this} do?" })
  end
  put(words, nil, call, false)
end

return M
