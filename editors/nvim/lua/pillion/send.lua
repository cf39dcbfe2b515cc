--- `:PillionSend` and `:PillionAdd`: files, lines or a selection into the prompt of an agent.
---
--- Agents that know mentions put files and lines there themselves. For all others it arrives as if it
--- were pasted or typed. Whatever is in it, it never presses Enter.

local mention = require("pillion.send.mention")
local notify = require("pillion.notify")
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
  if not vim.uv.fs_stat(path) then
    error({ message = "the file is not on disk yet. Hint: :w first" })
  end
  return text.check(path)
end

--- The path of the current buffer if agents find there what it holds; else nil and why not.
local function path_on_disk()
  local path = require("pillion.context.file").path(0)
  if not path or not require("pillion.context.file").is_on_disk(path) or path:find("%c") then
    return nil, "the lines are not from a file on disk. Hint: :w first"
  elseif vim.bo.modified then
    return nil, "the buffer has unsaved changes. Hint: :w first"
  end
  return path
end

--- Where the lines are from. An agent that is to read the file would read what is not written yet as
--- it was: there the path has no `@`.
local function source_of(lines, to)
  local path = require("pillion.context.file").path(0)
  if not path or not require("pillion.context.file").is_on_disk(path) or path:find("%c") then
    return nil
  end
  local name = vim.bo.modified and text.relative(path, to.cwd) or text.item({ path = path }, to)
  return ("%s %s "):format(name, text.lines(lines.first, lines.last))
end

local function described(items, to)
  local words = vim.tbl_map(function(item)
    return text.item(item, to)
  end, items)
  return table.concat(words, " ") .. " "
end

--- Reports what goes wrong, which nothing else would after an answer.
local function attempt(act)
  local ok, problem = pcall(act)
  if not ok then
    notify.error(type(problem) == "table" and problem.message or problem)
  end
end

--- Who the text is for: a terminal, or nil and why there is none; and whether it is to be mentioned.
local function find(agent)
  local ok, to = pcall(target.find, agent)
  if ok then
    return to, nil, mention.is_for(agent, to)
  end
  return nil, to, mention.is_for(agent, nil)
end

--- Mentions the items, or calls `paste(to)` if no agent takes them.
local function mention_items(items, to, problem, paste)
  mention.put(items, function(agent, count)
    attempt(function()
      if count == 0 then
        paste(to or error(problem))
      elseif count < #items then
        error({ message = ("only %d of %d files were mentioned. Hint: try again"):format(count, #items) })
      elseif to then
        target.show(to)
      else
        notify.unasked("info", ("mentioned in the prompt of %s"):format(notify.visible(agent.displayName)))
      end
    end)
  end)
end

local function send_items(items, agent)
  local to, problem, is_mention = find(agent)
  local function paste(there)
    target.put(there, described(items, there))
  end
  if is_mention then
    mention_items(items, to, problem, paste)
  else
    paste(to or error(problem))
  end
end

local function send_lines(lines, agent)
  local to, problem, is_mention = find(agent)
  local path, reason = path_on_disk()
  if is_mention and not path then
    is_mention, problem = false, { message = reason }
  end
  if not is_mention then
    to = to or error(problem)
    target.put(to, source_of(lines, to), lines.read())
    return
  end
  -- The person may go on before the answer comes.
  local read = lines.read()
  mention_items({ { path = path, first = lines.first, last = lines.last } }, to, problem, function(there)
    target.put(there, source_of(lines, there), read)
  end)
end

--- An agent's name if the first word is one; and the rest.
local function split(arguments)
  if require("pillion.agents").commands()[arguments[1] or ""] then
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
  if lines then
    send_lines(lines, agent)
  else
    send_items(items or { { path = current_file() } }, agent)
  end
end

--- A line number that was typed, or an error.
local function line_number(word, path)
  local number = word and word:match("^%d+$") and tonumber(word)
  if word and (not number or number < 1) then
    error({ message = ("%s is not a line number. Hint: :PillionAdd %s 3 7"):format(word, path) })
  end
  return number or nil
end

--- `:PillionAdd {path} [from] [to]`.
function M.add(arguments, call)
  local path = arguments[1]
  if call.range > 0 then
    error({ message = "a path cannot have a range. Hint: :PillionAdd PATH 3 7" })
  elseif not path then
    error({ message = "a path is missing. Hint: :PillionAdd PATH [FROM TO]" })
  elseif #arguments > 3 then
    error({ message = "too many words. Hint: escape spaces in a name with a backslash" })
  end
  local item = require("pillion.send.paths").read(path)
  local first = line_number(arguments[2], path)
  local last = line_number(arguments[3], path) or first
  if first and item.path:sub(-1) == "/" then
    error({ message = ("%s is a folder: it has no lines"):format(path) })
  elseif first and last < first then
    local hint = (":PillionAdd %s %d %d"):format(path, last, first)
    error({ message = ("line %d comes after line %d. Hint: %s"):format(first, last, hint) })
  elseif first then
    item.first, item.last = first, last
  end
  send_items({ item }, nil)
end

--- Completion: agents, then files.
function M.complete(lead, is_first)
  local agents = vim.tbl_filter(function(name)
    return is_first and vim.startswith(name, lead)
  end, require("pillion.agents").names())
  return vim.list_extend(agents, require("pillion.send.paths").complete(lead))
end

--- Completion of `:PillionAdd`: files, and no line numbers.
function M.complete_path(lead, is_first)
  return is_first and require("pillion.send.paths").complete(lead) or {}
end

return M
