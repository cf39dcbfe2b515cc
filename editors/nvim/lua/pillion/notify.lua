--- What the plugin says to people.
---
--- Texts may hold what came from outside (paths, names of agents): control characters are made
--- visible, so that none of it can play with the terminal.

local M = {}

local said = {}

--- Makes control characters visible: an escape becomes `^[`. Line breaks stay.
function M.visible(text)
  return (tostring(text):gsub("[%z\1-\9\11-\31\127]", function(char)
    local byte = char:byte()
    return byte == 127 and "^?" or "^" .. string.char(byte + 64)
  end))
end

local function say(text, level)
  text = "Pillion: " .. M.visible(text)
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

--- Says it only the first time in this Neovim: `level` is `info`, `warn` or `error`.
function M.once(level, text)
  if not said[text] then
    said[text] = true
    M[level](text)
  end
end

return M
