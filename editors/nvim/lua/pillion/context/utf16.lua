--- Text as agents count it: in UTF-16 units. Pure functions over UTF-8.
---
--- They are written here because `vim.str_utfindex` differs between versions of Neovim and
--- counts bytes that are no UTF-8 in its own way.

local M = {}

local REPLACEMENT = "\239\191\189"

local function follows(byte)
  return byte ~= nil and byte >= 0x80 and byte <= 0xBF
end

--- The length in bytes of the character that starts at `at`, or nil if none starts there.
local function char_length(text, at)
  local first, second, third, fourth = text:byte(at, at + 3)
  if first < 0x80 then
    return 1
  elseif first < 0xC2 or first > 0xF4 or not follows(second) then
    return nil
  elseif first < 0xE0 then
    return 2
  elseif first < 0xF0 then
    -- Neither longer than needed nor half of a surrogate pair.
    local is_sound = (first ~= 0xE0 or second >= 0xA0) and (first ~= 0xED or second < 0xA0)
    return is_sound and follows(third) and 3 or nil
  end
  local is_sound = (first ~= 0xF0 or second >= 0x90) and (first ~= 0xF4 or second < 0x90)
  return is_sound and follows(third) and follows(fourth) and 4 or nil
end

--- Puts U+FFFD in place of each byte that is no UTF-8: JSON could not carry it.
function M.valid(text)
  local at = text:find("[\128-\255]")
  local parts, from = {}, 1
  while at and at <= #text do
    local length = char_length(text, at)
    if not length then
      parts[#parts + 1] = text:sub(from, at - 1)
      from = at + 1
    end
    at = at + (length or 1)
  end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts, REPLACEMENT)
end

--- How many units the text has; a byte that is no UTF-8 is one, as U+FFFD is.
function M.length(text)
  local units = #text
  local at = text:find("[\128-\255]")
  while at and at <= #text do
    local length = char_length(text, at) or 1
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
    local length = char_length(text, at) or 1
    used = used + (length == 4 and 2 or 1)
    if used > units then
      return text:sub(1, at - 1)
    end
    at = at + length
  end
  return text
end

return M
