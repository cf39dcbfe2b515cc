--- `:PillionSend`: files, lines or a selection into the prompt of an agent.
---
--- It arrives as if it were pasted or typed. Whatever is in it, it never presses Enter.

local region = require("pillion.send.region")
local target = require("pillion.send.target")
local text = require("pillion.send.text")

local M = {}

--- The file in focus, or the one that had it before a terminal or a diff got it.
local function current_file()
  local path = require("pillion.context.file").path(0)
  if not path and (vim.bo.buftype == "terminal" or vim.w.pillion_diff) then
    local last = require("pillion.context.recent").shown()[1]
    path = last and last.path
  end
  if not path then
    error({ message = "this buffer is not a file. Hint: select text instead" })
  end
  if not vim.loop.fs_stat(path) then
    error({ message = "the file is not on disk yet. Hint: :w first" })
  end
  return text.check(path)
end

--- Where the lines are from. An agent that is to read the file would read what is not written yet as
--- it was: there the path has no `@`.
local function source_of(lines, to)
  local path = require("pillion.context.file").path(0)
  if not path or not require("pillion.context.file").is_on_disk(path) or path:find("%c") then
    return nil
  end
  local name = vim.bo.modified and text.relative(path, to.cwd) or text.mention(path, to.cwd)
  return ("%s %s "):format(name, text.lines(lines.first, lines.last))
end

local function mentions(items, to)
  local words = {}
  for _, item in ipairs(items) do
    table.insert(words, text.mention(item.path, to.cwd))
    table.insert(words, item.first and text.lines(item.first, item.last) or nil)
  end
  return table.concat(words, " ") .. " "
end

--- An agent's name if the first word is one; and the rest.
local function split(arguments)
  if require("pillion.config").get().agents[arguments[1] or ""] then
    return arguments[1], vim.list_slice(arguments, 2)
  end
  return nil, arguments
end

--- `:PillionSend [agent] [path…]`; with a range its text; in a file tree its files.
function M.send(arguments, call)
  local agent, words = split(arguments)
  if #words > 0 and call.range > 0 then
    error({ message = "a range refers to this buffer, not to a path. Hint: :PillionSend PATH:3-7" })
  end
  local trees = require("pillion.send.trees")
  local items = #words > 0 and vim.tbl_map(require("pillion.send.paths").read, words) or nil
  local lines = not items and region.of(call) or nil
  if not items and trees.is_tree() then
    items, lines = trees.items(lines), nil
  end
  local to = target.find(agent)
  if lines then
    target.put(to, source_of(lines, to), lines.read())
  else
    target.put(to, mentions(items or { { path = current_file() } }, to))
  end
end

--- Completion: agents, then files.
function M.complete(lead, is_first)
  local agents = vim.tbl_filter(function(name)
    return is_first and vim.startswith(name, lead)
  end, vim.tbl_keys(require("pillion.config").get().agents))
  table.sort(agents)
  return vim.list_extend(agents, require("pillion.send.paths").complete(lead))
end

return M
