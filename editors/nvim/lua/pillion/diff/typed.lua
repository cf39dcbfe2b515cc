--- The person's typing: only that decides. A write of an autocommand, a timer, an option or a command
--- for many buffers looks the same to the buffer that is written.
---
--- `CmdlineLeave` comes with everything that passes through the command line. For what |feedkeys()| and
--- |:normal| put there, Neovim names no key that was typed. Maps that type
--- commands in their middle look the same, and those like `<Cmd>w<CR>` leave no trace: both are repeated in
--- the buffer of the proposal, where they go through `run`; so is `ZZ`.

local astray = require("pillion.diff.astray")
local command_line = require("pillion.diff.command_line")
local notify = require("pillion.notify")
local others = require("pillion.others")

local M = {}

local WRITES = { write = true, update = true, exit = true }

local QUITS = { quit_all = true, exit_all = true }

--- The command that is carried out: { buf, kind, argument, is_typed, is_others, sights }, with what was on the screen
--- when it began; `is_others` if another program typed some of it, see `others`.
local running
--- The same of the command line in which the person is.
local entered
--- Calls back with what is about to be carried out; true if it must not be.
local on_command = function() end
local snapshot = function()
  return {}
end

local function begin(line, buf, start)
  -- A macro goes on typing whatever is on the screen.
  local kind, argument, is_forced, is_plain
  if vim.fn.reg_executing() == "" then
    kind, argument, is_forced, is_plain = command_line.kind(line)
  end
  running = vim.tbl_extend("force", start, { buf = buf, kind = kind, argument = argument })
  running.is_repeating = command_line.is_repeating(line)
  return running, kind and on_command(kind, buf, argument, is_forced, start.is_typed and is_plain)
end

local namespace = vim.api.nvim_create_namespace("pillion_typed")

--- True if the last key came from a keyboard, perhaps by a map.
local is_key_typed = true
--- True if that may be another program's.
local is_key_others = false
--- True if what the last key did is over.
local is_key_done = true

local function end_key()
  is_key_done = true
end

--- A map may begin a command line that the person completes.
local function on_key(_, typed)
  is_key_typed = typed ~= ""
  if is_key_typed then
    is_key_others = others.may_have_typed()
    is_key_done = false
    vim.schedule(end_key)
  end
  if entered then
    entered.is_typed = entered.is_typed or is_key_typed
    entered.is_others = entered.is_others or is_key_others
  end
end

local function enter()
  if vim.v.event.cmdtype == ":" then
    entered = { buf = vim.api.nvim_get_current_buf(), sights = snapshot(), is_typed = is_key_typed }
    entered.is_others = is_key_others
  end
end

local function leave()
  if vim.v.event.cmdtype ~= ":" then
    return
  end
  local start = entered or { sights = {} }
  entered = nil
  if vim.v.event.abort then
    return
  end
  local buf = vim.api.nvim_get_current_buf()
  -- Where it was begun in another buffer, it was not typed for this one.
  local mine, is_refused = begin(vim.fn.getcmdline(), start.buf == buf and buf or -1, start)
  if is_refused then
    vim.cmd("let v:event.abort = v:true")
  end
  vim.schedule(function()
    if running == mine then
      running = nil
    end
  end)
end

--- Listens. `sights()` gives what is on the screen by the id of the diff; `prepare(kind, buf, argument, is_forced,
--- is_plain)` is called before a command that writes or quits, see `command_line.kind`; `is_plain` only if it was
--- typed. If it returns true, the command is not carried out.
function M.attach(group, sights, prepare)
  snapshot, on_command = sights, prepare
  vim.api.nvim_create_autocmd("CmdlineEnter", { group = group, callback = enter })
  vim.api.nvim_create_autocmd("CmdlineLeave", { group = group, callback = leave })
  vim.on_key(on_key, namespace)
end

function M.detach()
  vim.on_key(nil, namespace)
end

--- True if what is carried out was typed to write this buffer.
function M.writes(buf)
  local is_write = running ~= nil and running.is_typed and running.buf == buf and WRITES[running.kind]
  -- `:w other` admits no write of the buffer that an autocommand adds.
  return is_write == true and command_line.writes_buffer(running.argument, buf)
end

--- True if another program may have typed or called what is carried out.
function M.is_others()
  if running then
    return running.is_others == true
  end
  return others.may_be_calling(is_key_done)
end

--- True if what is carried out is a command for many buffers, lines or keys.
function M.is_repeating()
  return running ~= nil and running.is_repeating
end

--- True if what is carried out quits Neovim.
function M.quits()
  return running ~= nil and QUITS[running.kind] == true
end

--- What of a diff was on the screen when the person began to type what is carried out.
function M.sight(diff)
  return (running and running.sights or snapshot())[diff.id]
end

--- True if a function or an autocommand is being carried out, in Vimscript.
local function is_in_script()
  local stack = vim.fn.expand("<stack>")
  return stack:find("function ", 1, true) ~= nil or stack:find("Autocommands for", 1, true) ~= nil
end

--- Carries out a command of a map of the proposal's buffer. `is_first`: nothing in the map comes before it.
function M.run(line, is_first)
  local outer = running
  -- Below the map's own line there is nothing, unless code played the keys.
  local is_played = debug.getinfo(3) ~= nil or is_in_script() or (is_first and not is_key_typed)
  local start = { sights = snapshot(), is_typed = not is_played, is_others = is_key_others }
  local _, is_refused = begin(line, vim.api.nvim_get_current_buf(), start)
  local ok, problem = true, nil
  if not is_refused then
    ok, problem = pcall(vim.cmd, line)
  end
  running = outer
  if not ok then
    notify.error((problem:gsub("^.-Vim%(?%w*%)?:", "")))
  end
end

local function through_run(line)
  return ("<Cmd>lua require('pillion.diff.typed').run(%q)<CR>"):format(line)
end

--- `ZZ` itself: when it is played, no map of the person's is.
local ZZ = "<Cmd>lua require('pillion.diff.typed').run('exit', true)<CR>"

--- Keys in a map after which a `:` begins a command line.
local BEFORE_COLON = { ["<Esc>"] = true, ["<CR>"] = true, ["<C-C>"] = true, ["<C-O>"] = true, ["<C-[>"] = true }

local NOTATION = { ["<Bar>"] = "|", ["<Space>"] = " ", ["<lt>"] = "<" }

--- The text that a map types into the command line, as a command; nil if it types more than text there.
local function command_of(keys, commands)
  keys = keys:gsub("^<[Cc]%-[Uu]>", "")
  local line = keys:gsub("<[%w-]+>", NOTATION)
  local rest = keys:gsub("<[%w-]+>", function(key)
    return NOTATION[key] and "" or nil
  end)
  local is_text = not rest:find("<[%w-]+>")
  return is_text and command_line.kind(line, commands) and line or nil
end

--- The same for what types its commands: `:w<CR>`.
local function without_typing(rhs, mode, commands)
  local count = 0
  local function replace(before, keys)
    local line = command_of(keys, commands)
    if line then
      count = count + 1
      return before .. through_run(line)
    end
  end
  local changed = rhs:gsub("^():([^:]-)<CR>", function(_, keys)
    -- `:` leaves Visual mode.
    return replace(mode == "x" and "<Esc>" or "", keys)
  end)
  changed = changed:gsub("(<[%w%[-]+>):([^:]-)<CR>", function(before, keys)
    return BEFORE_COLON[before] and replace(before, keys) or nil
  end)
  return changed, count
end

local function replacement(rhs, mode, commands)
  if rhs == "ZZ" then
    return through_run("exit")
  end
  local count
  rhs, count = without_typing(rhs, mode, commands)
  local changed = rhs:gsub("<[Cc][Mm][Dd]>(.-)<[Cc][Rr]>", function(line)
    if not line:find("pillion.diff.typed", 1, true) and command_line.kind(line, commands) then
      count = count + 1
      return through_run(line)
    end
  end)
  return count > 0 and changed or nil
end

--- What stands for each `rhs` that was met, by mode; false for those that neither write nor quit. A person has hundreds
--- of maps, and it depends on nothing but these commands.
local known = { commands = {} }

local function replacement_of(rhs, mode)
  local by_rhs = known[mode]
  if by_rhs[rhs] == nil then
    by_rhs[rhs] = replacement(rhs, mode, known.commands) or false
  end
  return by_rhs[rhs]
end

local function forget_if_commands_changed()
  local commands = command_line.user_commands()
  if not vim.deep_equal(known.commands, commands) then
    known = { commands = commands }
  end
end

local function repeat_maps(buf, mode, maps, is_taken)
  known[mode] = known[mode] or {}
  for _, map in ipairs(maps) do
    -- What an expression gives is not known before it is used.
    local is_fixed = map.rhs and map.expr ~= 1 and not is_taken[map.lhs]
    local rhs = is_fixed and replacement_of(map.rhs, mode)
    if rhs then
      vim.api.nvim_buf_set_keymap(buf, mode, map.lhs, rhs, {
        noremap = map.noremap == 1,
        silent = map.silent == 1,
        nowait = map.nowait == 1,
      })
    end
  end
end

local function is_the_persons(map)
  return not astray.is_own(map)
end

--- Repeats the person's maps that write or quit, so that they count as typed.
function M.repeat_maps(buf)
  forget_if_commands_changed()
  for _, mode in ipairs({ "n", "x", "s", "i" }) do
    local own, is_taken = vim.api.nvim_buf_get_keymap(buf, mode), {}
    repeat_maps(buf, mode, own, {})
    for _, map in ipairs(own) do
      is_taken[map.lhs] = true
    end
    local global = vim.iter(vim.api.nvim_get_keymap(mode)):filter(is_the_persons):totable()
    repeat_maps(buf, mode, global, is_taken)
    for _, map in ipairs(global) do
      is_taken[map.lhs] = true
    end
    if mode == "n" and not is_taken["ZZ"] then
      vim.api.nvim_buf_set_keymap(buf, "n", "ZZ", ZZ, { noremap = true })
    end
  end
end

return M
