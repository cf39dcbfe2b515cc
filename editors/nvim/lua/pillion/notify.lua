--- Messages to people: the one place that shows them.
---
--- Nothing of it asks for Enter, which would take the next key from who is typing: what the command line has no room
--- for is shown in a window of its own, and |:messages| lists all of it.
---
--- Texts may hold what came from outside (paths, names of agents): control characters are made
--- visible, so that none of it can play with the terminal.

local float = require("pillion.notify.float")

local M = {}

local PREFIX = "Pillion: "

local HIGHLIGHTS = {
  [vim.log.levels.INFO] = "NormalFloat",
  [vim.log.levels.WARN] = "WarningMsg",
  [vim.log.levels.ERROR] = "ErrorMsg",
}

local said = {}

--- The messages since Neovim last looked for keys: two messages in a row would ask for Enter.
local in_a_row = {}

--- The subject of the message on the screen.
local subject

--- Makes control characters visible: an escape becomes `^[`. Line breaks stay.
function M.visible(text)
  return (
    tostring(text):gsub("[%z\1-\9\11-\31\127]", function(char)
      local byte = char:byte()
      return byte == 127 and "^?" or "^" .. string.char(byte + 64)
    end)
  )
end

--- True if Neovim names the mode where a message would stand.
local function is_mode_named(mode)
  return vim.fn.reg_recording() ~= "" or (vim.o.showmode and mode:find("^[iRvVsS\19\22]") ~= nil)
end

local function fits(text)
  local mode = vim.api.nvim_get_mode().mode
  -- Without a line of its own, each message of a command that was typed would ask for Enter.
  local has_line = vim.o.cmdheight > 0 and mode:find("^c") == nil and not is_mode_named(mode)
  return has_line and vim.fn.strdisplaywidth(text) <= vim.v.echospace
end

--- Hands a message to the person's `vim.notify`. Whether that shows it by other means than Neovim's own, which would
--- ask for Enter.
local function is_shown_by_another(message)
  local echo, write = vim.api.nvim_echo, vim.api.nvim_err_writeln
  local is_echoed = false
  local function catch()
    is_echoed = true
  end
  vim.api.nvim_echo, vim.api.nvim_err_writeln = catch, catch
  local done = pcall(vim.notify, message.text, message.level, { title = "Pillion" })
  vim.api.nvim_echo, vim.api.nvim_err_writeln = echo, write
  return done and not is_echoed
end

--- The entries that `remember` puts into the log.
local piece = ""

function M.piece()
  return piece
end

--- A text in parts that the command line has room for.
local function parts(text)
  local found = {}
  local room = math.max(vim.v.echospace, 1)
  while vim.fn.strdisplaywidth(text) > room do
    local count = math.min(vim.fn.strchars(text) - 1, room)
    while count > 1 and vim.fn.strdisplaywidth(vim.fn.strcharpart(text, 0, count)) > room do
      count = count - 1
    end
    local part = vim.fn.strcharpart(text, 0, count)
    local blank = part:match(".*() ")
    part = blank and part:sub(1, blank) or part
    table.insert(found, part)
    text = text:sub(#part + 1)
  end
  table.insert(found, text)
  return found
end

--- For |:messages|, which has the whole of what is cut on the command line. Later, because messages are not cut after
--- those of a command that was typed; and in parts where nothing is ever cut.
local function remember(message)
  vim.schedule(function()
    local shortmess = vim.o.shortmess
    vim.opt.shortmess:append("T")
    for _, part in ipairs(vim.o.cmdheight == 0 and parts(message.text) or { message.text }) do
      piece = part
      vim.cmd("redraw | echomsg v:lua.require'pillion.notify'.piece()")
    end
    vim.o.shortmess = shortmess
    vim.api.nvim_echo({ { "" } }, false, {})
    if vim.o.cmdheight == 0 then
      -- The status line was there.
      vim.cmd("redrawstatus! | redraw")
    end
  end)
end

--- True if Neovim shows all of a message by itself, without asking: its own replacement of the command line does.
local function is_shown_whole()
  local ui2 = package.loaded["vim._core.ui2"]
  return ui2 ~= nil and ui2.cfg.enable
end

local function show(message)
  if #in_a_row == 0 then
    vim.schedule(function()
      in_a_row = {}
    end)
  end
  local last = in_a_row[#in_a_row]
  if last and last.text == message.text then
    return
  end
  table.insert(in_a_row, message)
  subject = message.about
  if is_shown_whole() then
    vim.notify(message.text, message.level, { title = "Pillion" })
  elseif #in_a_row == 1 and fits(message.text) then
    float.close()
    -- What the same command said before would ask for Enter.
    vim.cmd("redraw")
    vim.notify(message.text, message.level, { title = "Pillion" })
  elseif not is_shown_by_another(message) then
    remember(message)
    float.show(in_a_row)
  end
end

--- `about`: what makes it a thing of the past when that goes. `stays`: who is typing something else has time to
--- read it.
local function say(level, text, about, stays)
  local message = {
    text = PREFIX .. M.visible(text):gsub("%s*\n%s*", " "),
    level = level,
    highlight = HIGHLIGHTS[level],
    about = about,
    stays = stays,
  }
  if vim.v.vim_did_enter == 0 then
    vim.api.nvim_create_autocmd("VimEnter", {
      once = true,
      callback = vim.schedule_wrap(function()
        show(message)
      end),
    })
  elseif vim.in_fast_event() then
    vim.schedule(function()
      show(message)
    end)
  else
    show(message)
  end
end

function M.info(text, about)
  say(vim.log.levels.INFO, text, about)
end

function M.warn(text, about)
  say(vim.log.levels.WARN, text, about)
end

function M.error(text, about)
  say(vim.log.levels.ERROR, text, about)
end

--- Says what the person did not ask for: `level` is `info`, `warn` or `error`.
function M.unasked(level, text, about)
  say(vim.log.levels[level:upper()], text, about, true)
end

--- Takes the last message from the screen if it is about this.
function M.clear(about)
  if subject == about then
    subject = nil
    float.close()
    vim.api.nvim_echo({ { "" } }, false, {})
  end
end

--- Says it, unasked, only the first time in this Neovim.
function M.once(level, text)
  if not said[text] then
    said[text] = true
    M.unasked(level, text)
  end
end

return M
