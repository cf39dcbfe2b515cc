--- What the plugin says to people.
---
--- Texts may hold what came from outside (paths, names of agents): control characters are made
--- visible, so that none of it can play with the terminal.

local M = {}

local PREFIX = "Pillion: "

--- How many long messages are kept.
local KEPT = 20

local said = {}
local long = {}

--- Makes control characters visible: an escape becomes `^[`. Line breaks stay.
function M.visible(text)
  return (
    tostring(text):gsub("[%z\1-\9\11-\31\127]", function(char)
      local byte = char:byte()
      return byte == 127 and "^?" or "^" .. string.char(byte + 64)
    end)
  )
end

local function say(text, level)
  text = PREFIX .. M.visible(text)
  if vim.in_fast_event() then
    vim.schedule(function()
      vim.notify(text, level, { title = "Pillion" })
    end)
  else
    vim.notify(text, level, { title = "Pillion" })
  end
end

function M.info(text)
  say(text, vim.log.levels.INFO)
end

function M.warn(text)
  say(text, vim.log.levels.WARN)
end

function M.error(text)
  say(text, vim.log.levels.ERROR)
end

--- Whether a message needs no Enter.
function M.fits(text)
  return vim.fn.strdisplaywidth(PREFIX .. text) <= vim.v.echospace
end

--- The beginning of a text, as much as fits on the command line.
local function shortened(text)
  local ending = " … :checkhealth pillion"
  local room = vim.v.echospace - vim.fn.strdisplaywidth(PREFIX .. ending)
  if room < 20 then
    ending = "…"
    room = math.max(vim.v.echospace - vim.fn.strdisplaywidth(PREFIX .. ending), 0)
  end
  local length = math.min(vim.fn.strchars(text), room)
  while vim.fn.strdisplaywidth(vim.fn.strcharpart(text, 0, length)) > room do
    length = length - 1
  end
  return vim.fn.strcharpart(text, 0, length) .. ending
end

--- Shows an unsolicited message: `level` is `info`, `warn` or `error`. What does not fit on the command
--- line would have to be confirmed with Enter, in the middle of typing, so it is cut.
function M.unasked(level, text)
  text = M.visible(text):gsub("\n", " ")
  if not M.fits(text) then
    table.insert(long, text)
    if #long > KEPT then
      table.remove(long, 1)
    end
    text = shortened(text)
  end
  M[level](text)
end

--- Takes the last message from the command line.
function M.clear()
  vim.api.nvim_echo({ { "" } }, false, {})
end

--- What `unasked` cut, the newest last.
function M.long()
  return long
end

--- Says it, unasked, only the first time in this Neovim.
function M.once(level, text)
  if not said[text] then
    said[text] = true
    M.unasked(level, text)
  end
end

return M
