--- Commands that were meant for a proposal: who types them does not see at once that it is gone. Until they pause,
--- what would have decided about it closes and writes nothing in the window that they are left in.

local command_line = require("pillion.diff.command_line")
local notify = require("pillion.notify")

local M = {}

--- For how long they are meant for what is gone, and how soon one follows another that was.
local DELAY_MS, BURST_MS = 1000, 300

--- The keys that write and close as a command does.
local CLOSING = { "ZZ", "ZQ" }

local group = vim.api.nvim_create_augroup("PillionAstray", {})
local name, ends = "", 0

local function now()
  return vim.loop.hrtime() / 1e6
end

--- True for a map that stands only until the person pauses.
function M.is_own(map)
  return (map.rhs or ""):find("pillion.diff.astray", 1, true) ~= nil
end

local function stop_when_over()
  local rest = ends - now()
  if rest > 0 then
    vim.defer_fn(stop_when_over, math.ceil(rest))
    return
  end
  vim.api.nvim_clear_autocmds({ group = group })
  for _, map in ipairs(vim.tbl_filter(M.is_own, vim.api.nvim_get_keymap("n"))) do
    vim.api.nvim_del_keymap("n", map.lhs)
  end
end

--- Says that what the person typed did nothing. Those that follow quickly do nothing either.
local function refuse(keys)
  ends = math.max(ends, now() + BURST_MS)
  vim.schedule(function()
    notify.unasked("info", ("the proposal for %s has just closed: %s counts here once you pause"):format(name, keys))
  end)
end

--- True where what the person types cannot be meant for the proposal that is gone.
local counts

--- What keys that close stand for just now.
function M.closing(keys)
  if counts() then
    return keys
  end
  refuse(keys)
  return ""
end

--- A proposal for this file is gone, and the person was in it. `of_buffer(buf)` gives the pending diff of a buffer.
function M.left(file, of_buffer)
  name = file
  counts = function()
    -- Leaving the command-line window closes nothing else.
    return of_buffer(vim.api.nvim_get_current_buf()) ~= nil or vim.fn.getcmdwintype() ~= ""
  end
  for _, keys in ipairs(CLOSING) do
    if vim.fn.maparg(keys, "n") == "" then
      local rhs = ("v:lua.require'pillion.diff.astray'.closing('%s')"):format(keys)
      vim.api.nvim_set_keymap("n", keys, rhs, { noremap = true, expr = true })
    end
  end
  vim.api.nvim_clear_autocmds({ group = group })
  vim.api.nvim_create_autocmd("CmdlineLeave", {
    group = group,
    pattern = ":",
    callback = function()
      local line = vim.trim(vim.fn.getcmdline())
      local is_meant = not counts() and command_line.closes_or_writes(line)
      if is_meant and not vim.v.event.abort then
        vim.cmd("let v:event.abort = v:true")
        refuse(":" .. line)
      end
    end,
  })
  ends = now() + DELAY_MS
  stop_when_over()
end

return M
