--- Text as agents count it: in UTF-16 units. Pure functions over UTF-8.
---
--- They are written here because `vim.str_utfindex` differs between versions of Neovim and
--- counts bytes that are no UTF-8 in its own way.

local utf8 = require("pillion.utf8")

local M = {}

local REPLACEMENT = "\239\191\189"

--- Puts U+FFFD in place of each byte that is no UTF-8: JSON could not carry it.
function M.valid(text)
  local at = utf8.beyond_ascii(text, 1)
  local parts, from = {}, 1
  while at and at <= #text do
    local length = utf8.char_length(text, at)
    if not length then
      parts[#parts + 1] = text:sub(from, at - 1)
      from = at + 1
    end
    at = at + (length or 1)
  end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts, REPLACEMENT)
end

--- The number of units of the text; a byte that is no UTF-8 is one, as U+FFFD is.
function M.length(text)
  local units = #text
  local at = utf8.beyond_ascii(text, 1)
  while at and at <= #text do
    local length = utf8.char_length(text, at) or 1
    if length > 1 then
      units = units - length + (length == 4 and 2 or 1)
    end
    at = at + length
  end
  return units
end

--- The longest beginning of a valid text that has at most `units` units.
function M.cut(text, units)
  if #text <= units then
    return text
  end
  local at, used = 1, 0
  while at <= #text do
    local length = utf8.char_length(text, at) or 1
    used = used + (length == 4 and 2 or 1)
    if used > units then
      return text:sub(1, at - 1)
    end
    at = at + length
  end
  return text
end

return M
