--- Text as agents count it: in UTF-16 units. Pure functions over UTF-8.
---
--- They are written here because `vim.str_utfindex` differs between versions of Neovim and
--- counts bytes that are no UTF-8 in its own way.

local M = {}

local REPLACEMENT = "\239\191\189"

--- The length in bytes of the character that starts at `at`, or nil if none starts there.
local function char_length(text, at)
  local first, second = text:byte(at, at + 1)
  local length, low, high
  if first < 0x80 then
    return 1
  elseif first >= 0xC2 and first <= 0xDF then
    length, low, high = 2, 0x80, 0xBF
  elseif first >= 0xE0 and first <= 0xEF then
    length = 3
    low = first == 0xE0 and 0xA0 or 0x80
    high = first == 0xED and 0x9F or 0xBF
  elseif first >= 0xF0 and first <= 0xF4 then
    length = 4
    low = first == 0xF0 and 0x90 or 0x80
    high = first == 0xF4 and 0x8F or 0xBF
  end
  if not length or not second or second < low or second > high then
    return nil
  end
  if not text:find("^" .. ("[\128-\191]"):rep(length - 2), at + 2) then
    return nil
  end
  return length
end

--- Puts U+FFFD in place of each byte that is no UTF-8: JSON could not carry it.
function M.valid(text)
  local at = text:find("[\128-\255]")
  if not at then
    return text
  end
  local parts, from = {}, 1
  while at do
    local length = char_length(text, at)
    if not length then
      parts[#parts + 1] = text:sub(from, at - 1)
      parts[#parts + 1] = REPLACEMENT
      from = at + 1
    end
    at = text:find("[\128-\255]", at + (length or 1))
  end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts)
end

--- How many units the text has.
function M.length(text)
  if not text:find("[\128-\255]") then
    return #text
  end
  text = M.valid(text)
  local _, chars = text:gsub("[^\128-\191]", "")
  local _, pairs_of_surrogates = text:gsub("[\240-\244]", "")
  return chars + pairs_of_surrogates
end

--- The longest beginning of a valid text that has at most `units` units.
function M.cut(text, units)
  if #text <= units then
    return text
  end
  local at, used = 1, 0
  while at <= #text do
    local plain = text:find("[\128-\255]", at) or #text + 1
    if plain - at >= units - used then
      return text:sub(1, at + units - used - 1)
    end
    used = used + plain - at
    at = plain
    if at <= #text then
      local length = char_length(text, at) or 1
      used = used + (length == 4 and 2 or 1)
      if used > units then
        return text:sub(1, at - 1)
      end
      at = at + length
    end
  end
  return text
end

return M
