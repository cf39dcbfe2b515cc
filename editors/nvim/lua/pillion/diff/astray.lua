--- Commands that were meant for a proposal: who types them does not see at once that it is gone. Until they pause,
--- what would have decided about it closes and writes nothing in the window that they are left in, and closes no
--- proposal that came in its place.

local command_line = require("pillion.diff.command_line")
local notify = require("pillion.notify")
local seen = require("pillion.diff.seen")

local M = {}

--- For how long they are meant for what is gone, and how soon one follows another that was.
local DELAY_MS, BURST_MS = 1000, 300
--- After that, one that came in its place has been noticed.
local NOTICED_MS = 600

--- The keys that write and close as a command does.
local CLOSING = { "ZZ", "ZQ", "<C-W>q", "<C-W><C-Q>" }

local group = vim.api.nvim_create_augroup("PillionAstray", {})
local name, began, ends = "", 0, 0

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
local function refuse(keys, diff)
  ends = math.max(ends, now() + BURST_MS)
  local file = diff and vim.fn.fnamemodify(diff.path, ":t") or name
  local what = diff and "just come" or "just closed"
  vim.schedule(function()
    notify.unasked("info", ("the proposal for %s has %s: %s counts here once you pause"):format(file, what, keys))
  end)
end

--- The pending diff of a buffer, or nil.
local of_buffer

--- True where what the person types cannot be meant for the proposal that is gone: in one that was on the screen before
--- that went, or for a moment. Otherwise false, and the diff in whose proposal they are.
local function counts()
  local diff = of_buffer(vim.api.nvim_get_current_buf())
  local sight = diff and seen.sight(diff)
  -- Leaving the command-line window closes nothing else.
  return vim.fn.getcmdwintype() ~= "" or (sight ~= nil and sight.drawn_ms >= math.min(now() - began, NOTICED_MS)), diff
end

--- What keys that close stand for just now.
function M.closing(number)
  local does_count, diff = counts()
  if does_count then
    return vim.api.nvim_replace_termcodes(CLOSING[number], true, true, true)
  end
  refuse(CLOSING[number], diff)
  return ""
end

--- A proposal for this file is gone, and the person was in it. `find(buf)` gives the pending diff of a buffer.
function M.left(file, find)
  name, of_buffer, began = file, find, now()
  for number, keys in ipairs(CLOSING) do
    if vim.fn.maparg(keys, "n") == "" then
      local rhs = ("v:lua.require'pillion.diff.astray'.closing(%d)"):format(number)
      vim.api.nvim_set_keymap("n", keys, rhs, { noremap = true, expr = true })
    end
  end
  vim.api.nvim_clear_autocmds({ group = group })
  vim.api.nvim_create_autocmd("CmdlineLeave", {
    group = group,
    pattern = ":",
    callback = function()
      local line = vim.trim(vim.fn.getcmdline())
      local does_count, diff = counts()
      -- Whether a proposal that came is accepted, Pillion rules.
      does_count = does_count or diff ~= nil and command_line.kind(line) ~= nil
      if not does_count and command_line.closes_or_writes(line) and not vim.v.event.abort then
        vim.cmd("let v:event.abort = v:true")
        refuse(":" .. line, diff)
      end
    end,
  })
  ends = began + DELAY_MS
  stop_when_over()
end

return M
