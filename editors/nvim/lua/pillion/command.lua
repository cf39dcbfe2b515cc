--- `:Pillion {subcommand}`: the table of subcommands, and their completion.
---
--- A row is `{ run = function(arguments, call), complete = function(lead, is_first) or nil, help = text }`;
--- `arguments` is a list of words, `call` what Neovim knows about the call (`range`, `line1`, …).

local M = {}

local function id_of(arguments)
  if arguments[1] == nil then
    return nil
  end
  local id = tonumber(arguments[1])
  if not id then
    error({ message = ("%s is not the number of a diff. Hint: :PillionDiffs lists them"):format(arguments[1]) })
  end
  return id
end

--- What `:PillionReject` is given: a number alone is that of a diff, and so is one that stands before a reason, unless
--- that is about the proposal in focus.
local function id_and_reason(words)
  local number, rest = words:match("^(%d+)%f[%s%z]%s*(.*)$")
  local pending = require("pillion.diff.pending")
  local id = tonumber(number)
  if id and (rest == "" or (pending.get(id) and not pending.focused())) then
    return id, rest
  end
  return nil, words
end

local function starting_with(lead, words)
  local found = vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, words)
  table.sort(found)
  return found
end

--- Behind an agent's name come its own arguments.
local function agent_names(lead, is_first)
  return is_first and starting_with(lead, require("pillion.agents").names()) or {}
end

--- The diffs that are pending, by their numbers.
local function diff_ids(lead, is_first)
  local ids = vim.tbl_map(function(diff)
    return tostring(diff.id)
  end, is_first and require("pillion.diff.pending").sorted() or {})
  return vim.tbl_filter(function(id)
    return vim.startswith(id, lead)
  end, ids)
end

M.subcommands = {
  start = {
    help = "start Pillion",
    run = function()
      require("pillion.client").start()
      require("pillion.roots").on_start()
    end,
  },
  stop = {
    help = "stop Pillion",
    run = function()
      require("pillion.client").stop()
    end,
  },
  restart = {
    help = "stop Pillion and start it again",
    run = function()
      require("pillion.client").restart()
    end,
  },
  status = {
    help = "show what Pillion is doing",
    run = function()
      require("pillion.notify").info(require("pillion.status").describe())
    end,
  },
  health = {
    help = "look for problems",
    run = function()
      vim.cmd("checkhealth pillion")
    end,
  },
  log = {
    help = "open the log",
    run = function()
      require("pillion.status").open_log()
    end,
  },
  diffs = {
    help = "list the diffs and jump to one",
    complete = diff_ids,
    run = function(arguments)
      require("pillion.diff").pick(id_of(arguments))
    end,
  },
  accept = {
    help = "accept the diff",
    complete = diff_ids,
    run = function(arguments)
      require("pillion.diff").accept(id_of(arguments))
    end,
  },
  reject = {
    help = "reject the diff, and tell the agent why",
    complete = diff_ids,
    run = function(_, call)
      require("pillion.diff").reject(id_and_reason(vim.trim(call.words)))
    end,
  },
  note = {
    help = "add a note for the agent to lines of a proposal",
    run = function(_, call)
      require("pillion.diff").note(call, call.words)
    end,
  },
  merge = {
    help = "take your unsaved changes into the proposal",
    complete = diff_ids,
    run = function(arguments)
      require("pillion.diff").merge(id_of(arguments))
    end,
  },
  ["take-hunk"] = {
    help = "take the hunk under the cursor",
    run = function()
      require("pillion.diff").take_hunk()
    end,
  },
  ["drop-hunk"] = {
    help = "drop the hunk under the cursor",
    run = function()
      require("pillion.diff").drop_hunk()
    end,
  },
  ["next-hunk"] = {
    help = "go to the next hunk",
    run = function()
      require("pillion.diff").next_hunk()
    end,
  },
  ["previous-hunk"] = {
    help = "go to the previous hunk",
    run = function()
      require("pillion.diff").previous_hunk()
    end,
  },
  changes = {
    help = "list what agents have written",
    complete = function(lead, is_first)
      return is_first and starting_with(lead, { "all" }) or {}
    end,
    run = function(arguments, call)
      require("pillion.changes").open(call.bang or arguments[1] == "all")
    end,
  },
  keep = {
    help = "keep what an agent has written",
    run = function(_, call)
      require("pillion.changes").keep(call.words, call)
    end,
  },
  ["take-back"] = {
    help = "take back what an agent has written: the hunk under the cursor, the file or a turn",
    run = function(_, call)
      require("pillion.changes").take_back(call.words, call)
    end,
  },
  look = {
    help = "show what an agent has written beside what was there before",
    run = function(arguments)
      require("pillion.changes").look(arguments[1])
    end,
  },
  decisions = {
    help = "show what was decided, and what came of it",
    run = function()
      require("pillion.decisions").show()
    end,
  },
  ["next-change"] = {
    help = "go to the next hunk here that nobody has looked at",
    run = function()
      require("pillion.written").go(1)
    end,
  },
  ["previous-change"] = {
    help = "go to the previous hunk here that nobody has looked at",
    run = function()
      require("pillion.written").go(-1)
    end,
  },
  undo = {
    help = "undo what was taken back or kept last",
    run = function(arguments)
      require("pillion.changes").undo(arguments[1])
    end,
  },
  ["send-notes"] = {
    help = "send your notes to the agent now",
    run = function()
      require("pillion.request").send_notes()
    end,
  },
  review = {
    help = "choose when agents ask before they change files",
    complete = function(lead, is_first)
      return is_first and starting_with(lead, require("pillion.request").review_choices()) or {}
    end,
    run = function(arguments)
      require("pillion.request").choose_review(arguments[1])
    end,
  },
  run = {
    help = "open, show or hide an agent's terminal",
    complete = agent_names,
    run = function(arguments, call)
      require("pillion.context").hold(call)
      require("pillion.terminal").run(arguments)
    end,
  },
  focus = {
    help = "go to the agent's terminal, or back",
    complete = agent_names,
    run = function(arguments, call)
      require("pillion.context").hold(call)
      require("pillion.terminal.focus").toggle(arguments[1])
    end,
  },
  send = {
    help = "put files, lines or the selection into the agent's prompt",
    complete = function(lead, is_first)
      return require("pillion.send").complete(lead, is_first)
    end,
    run = function(arguments, call)
      require("pillion.context").hold(call)
      require("pillion.send").send(arguments, call)
    end,
  },
  add = {
    help = "put a file, or lines of it, into the agent's prompt",
    complete = function(lead, is_first)
      return require("pillion.send").complete_path(lead, is_first)
    end,
    run = function(arguments, call)
      require("pillion.send").add(arguments, call)
    end,
  },
  prompt = {
    help = "put one of your prompts into the agent's prompt",
    complete = function(lead, is_first)
      return is_first and starting_with(lead, require("pillion.prompt").names()) or agent_names(lead, true)
    end,
    run = function(arguments, call)
      require("pillion.context").hold(call)
      require("pillion.prompt").prompt(arguments, call)
    end,
  },
  ask = {
    help = "put text into the agent's prompt",
    run = function(_, call)
      require("pillion.context").hold(call)
      require("pillion.prompt").ask(call)
    end,
  },
}

--- Runs a subcommand; what goes wrong in it becomes a message.
function M.dispatch(name, arguments, call)
  local row = M.subcommands[name]
  local notify = require("pillion.notify")
  if not row then
    local known = table.concat(starting_with("", vim.tbl_keys(M.subcommands)), ", ")
    notify.error(("unknown subcommand %s. Hint: use one of %s"):format(name, known))
    return
  end
  local ok, problem = pcall(row.run, arguments, call)
  if not ok then
    notify.error(type(problem) == "table" and problem.message or problem)
  end
end

function M.run(call)
  local arguments = vim.list_slice(call.fargs, 2)
  call.words = call.args:gsub("^%S+%s*", "")
  M.dispatch(call.fargs[1] or "status", arguments, call)
end

--- The words of a command line before the one that is completed. A backslash makes a blank part of one.
local function words_before(line, lead)
  local words = {}
  for word in line:sub(1, #line - #lead):gsub("\\.", "__"):gmatch("%S+") do
    table.insert(words, word)
  end
  return words
end

--- Completion for what follows a subcommand: `count` words stand there already.
function M.complete_argument(name, lead, count)
  local row = M.subcommands[name]
  return row and row.complete and row.complete(lead, count == 0) or {}
end

--- Completion for a command of its own, such as `:PillionSend`.
function M.complete_short(name, lead, line, position)
  return M.complete_argument(name, lead, #words_before(line:sub(1, position), lead) - 1)
end

--- Completion for `:Pillion`.
function M.complete(lead, line, position)
  local words = words_before(line:sub(1, position), lead)
  if #words <= 1 then
    return starting_with(lead, vim.tbl_keys(M.subcommands))
  end
  return M.complete_argument(words[2], lead, #words - 2)
end

return M
