--- Keys that were meant for something else: who is about to type does not see at once that a proposal has taken the
--- focus. Until they pause, what they type there changes nothing. Nor do they see at once that it was settled
--- elsewhere: until they pause, their keys go to it. Nor that it is gone: until they pause, what would have decided
--- about it closes and writes nothing in the window that they are left in, and closes no proposal in its place.

local command_line = require("pillion.diff.command_line")
local notify = require("pillion.notify")
local seen = require("pillion.diff.seen")

local M = {}

--- For how long keys are meant for what had the focus before, and how soon one follows another of the same text.
local DELAY_MS, BURST_MS = 1000, 300
--- After that, one that came in its place has been noticed.
local NOTICED_MS = 600

--- The keys that write and close as a command does.
local CLOSING = { "ZZ", "ZQ", "<C-W>q", "<C-W><C-Q>" }

local group = vim.api.nvim_create_augroup("PillionAstray", {})
local keyboard = vim.api.nvim_create_namespace("pillion_astray")

--- Said of what the person typed where it changes nothing.
M.JUST_OPENED = "a proposal has just opened: keys count once you pause"
local SETTLED = "this proposal was settled elsewhere, and closes once you pause"

--- The proposal in which keys change nothing: { buf, why, again, errmsg, ends }. It has taken the focus by itself, or
--- is about to close, and `again` is called then.
local come
--- The one that is gone: { name, began, ends }.
local gone

local function now()
  return vim.uv.hrtime() / 1e6
end

--- Calls `finish` once a guard has ended.
local function when_over(guard, finish)
  local rest = guard.ends - now()
  if rest > 0 then
    vim.defer_fn(function()
      when_over(guard, finish)
    end, math.ceil(rest))
  else
    finish(guard)
  end
end

--- What is typed within a guard shows that the person has not paused.
local function extend(guard)
  guard.ends = math.max(guard.ends, now() + BURST_MS)
end

local function finish(guard)
  if come == guard then
    come = nil
    vim.on_key(nil, keyboard)
    if guard.again then
      guard.again()
    elseif vim.api.nvim_buf_is_loaded(guard.buf) then
      vim.bo[guard.buf].modifiable = true
    end
  end
end

--- From now on keys count in this proposal.
function M.finish(buf)
  if come and come.buf == buf then
    finish(come)
  end
end

--- Neovim only says that the text cannot be changed.
local function say_why(guard)
  if vim.v.errmsg:find("^E21:") then
    vim.v.errmsg = guard.errmsg
    notify.unasked("info", guard.why)
  end
end

local function begin(buf, why, again)
  if come then
    finish(come)
  end
  local guard = { buf = buf, why = why, again = again, errmsg = vim.v.errmsg, ends = now() + DELAY_MS }
  come = guard
  vim.bo[buf].modifiable = false
  vim.on_key(function(_, typed)
    if typed ~= "" and vim.api.nvim_get_current_buf() == buf then
      extend(guard)
      vim.schedule(function()
        say_why(guard)
      end)
    end
  end, keyboard)
  when_over(guard, finish)
  return guard
end

--- A proposal has taken the focus by itself.
function M.begin(buf)
  begin(buf, M.JUST_OPENED)
end

--- True until the person, who is in a proposal that was settled elsewhere, pauses; then calls `again`.
function M.holds(diff, again)
  diff.going = diff.going or begin(diff.right, SETTLED, again)
  return diff.going == come
end

--- True for a map that stands only until the person pauses.
function M.is_own(map)
  return (map.rhs or ""):find("pillion.diff.astray", 1, true) ~= nil
end

local function unguard(guard)
  if guard == gone then
    vim.api.nvim_clear_autocmds({ group = group })
    for _, map in ipairs(vim.tbl_filter(M.is_own, vim.api.nvim_get_keymap("n"))) do
      vim.api.nvim_del_keymap("n", map.lhs)
    end
  end
end

--- Says that what the person typed did nothing. Those that follow quickly do nothing either.
local function refuse(keys, diff)
  extend(gone)
  local file = diff and vim.fn.fnamemodify(diff.path, ":t") or gone.name
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
  local is_older = sight ~= nil and sight.drawn_ms >= math.min(now() - gone.began, NOTICED_MS)
  return is_older or vim.fn.getcmdwintype() ~= "", diff
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
  of_buffer = find
  gone = { name = file, began = now(), ends = now() + DELAY_MS }
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
  when_over(gone, unguard)
end

return M
