--- What the person typed: only that decides. A write of an autocommand, a timer, an option or a command
--- for many buffers looks the same to the buffer that is written.
---
--- `CmdlineLeave` comes with everything that passes through the command line, also from a map like
--- `:w<CR>`. A map like `<Cmd>w<CR>` leaves no trace: it is repeated in the buffer of the proposal, where it
--- goes through `run`; so is `ZZ`.

local command_line = require("pillion.diff.command_line")

local M = {}

local WRITES = { write = true, update = true, exit = true }

--- What is carried out: { buf, kind, revisions } with the revisions on the screen when it was begun.
local running
--- The same of the command line in which the person is.
local entered
--- Calls back with what is about to be carried out.
local on_command = function() end
local snapshot = function()
  return {}
end

local function begin(line, buf, revisions)
  -- A macro goes on typing whatever is on the screen.
  local kind = vim.fn.reg_executing() == "" and command_line.kind(line) or nil
  running = { buf = buf, kind = kind, revisions = revisions }
  if kind then
    on_command(kind, buf)
  end
  return running
end

local function enter()
  if vim.v.event.cmdtype == ":" then
    entered = { buf = vim.api.nvim_get_current_buf(), revisions = snapshot() }
  end
end

local function leave()
  if vim.v.event.cmdtype ~= ":" then
    return
  end
  local start = entered or { revisions = {} }
  entered = nil
  if vim.v.event.abort then
    return
  end
  local buf = vim.api.nvim_get_current_buf()
  -- Where it was begun in another buffer, it was not typed for this one.
  local mine = begin(vim.fn.getcmdline(), start.buf == buf and buf or -1, start.revisions)
  vim.schedule(function()
    if running == mine then
      running = nil
    end
  end)
end

--- Listens. `revisions()` gives those on the screen by the id of the diff; `prepare(kind, buf)` is called
--- before a command that writes or quits, see `command_line.kind`.
function M.attach(group, revisions, prepare)
  snapshot, on_command = revisions, prepare
  vim.api.nvim_create_autocmd("CmdlineEnter", { group = group, callback = enter })
  vim.api.nvim_create_autocmd("CmdlineLeave", { group = group, callback = leave })
end

--- Whether what is carried out was typed to write this buffer.
function M.writes(buf)
  return running ~= nil and running.buf == buf and WRITES[running.kind] == true
end

--- The revision of a diff that was on the screen when the person began to type what is carried out.
function M.revision(diff)
  return (running and running.revisions or snapshot())[diff.id]
end

--- Carries out a command of a map of the proposal's buffer.
function M.run(line)
  local outer = running
  -- Below the map's own line there is nothing, unless Lua code played the keys.
  local is_played = debug.getinfo(3) ~= nil
  begin(line, is_played and -1 or vim.api.nvim_get_current_buf(), snapshot())
  local ok, problem = pcall(vim.cmd, line)
  running = outer
  if not ok then
    vim.api.nvim_err_writeln((problem:gsub("^.-Vim%(?%w*%)?:", "")))
  end
end

local function through_run(line)
  return ("<Cmd>lua require('pillion.diff.typed').run(%q)<CR>"):format(line)
end

local function replacement(rhs)
  if rhs == "ZZ" then
    return through_run("exit")
  end
  local count = 0
  local changed = rhs:gsub("<[Cc][Mm][Dd]>(.-)<[Cc][Rr]>", function(line)
    if not line:find("pillion.diff.typed", 1, true) and command_line.kind(line) then
      count = count + 1
      return through_run(line)
    end
  end)
  return count > 0 and changed or nil
end

local function repeat_maps(buf, mode, maps, is_taken)
  for _, map in ipairs(maps) do
    local rhs = map.rhs and not is_taken[map.lhs] and replacement(map.rhs)
    if rhs then
      vim.api.nvim_buf_set_keymap(buf, mode, map.lhs, rhs, {
        noremap = map.noremap == 1,
        silent = map.silent == 1,
        nowait = map.nowait == 1,
      })
    end
  end
end

--- Repeats the person's maps that write or quit, so that they count as typed.
function M.repeat_maps(buf)
  for _, mode in ipairs({ "n", "x", "s", "i" }) do
    local own, is_taken = vim.api.nvim_buf_get_keymap(buf, mode), {}
    repeat_maps(buf, mode, own, {})
    for _, map in ipairs(own) do
      is_taken[map.lhs] = true
    end
    local global = vim.api.nvim_get_keymap(mode)
    repeat_maps(buf, mode, global, is_taken)
    for _, map in ipairs(global) do
      is_taken[map.lhs] = true
    end
    if mode == "n" and not is_taken["ZZ"] then
      vim.api.nvim_buf_set_keymap(buf, "n", "ZZ", through_run("exit"), { noremap = true })
    end
  end
end

return M
