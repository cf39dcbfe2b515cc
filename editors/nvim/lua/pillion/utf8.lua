--- Valid UTF-8: anything else cannot be sent in JSON. Pure functions.

local M = {}

local function follows(byte)
  return byte ~= nil and byte >= 0x80 and byte <= 0xBF
end

--- The length in bytes of the character that starts at `at`, or nil if none starts there.
function M.char_length(text, at)
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

--- The position of the first byte at or after `from` that is not ASCII, or nil. A search for a pattern
--- takes ten times as long, and a line may have a million bytes.
function M.beyond_ascii(text, from)
  for at = from, #text do
    if text:byte(at) >= 0x80 then
      return at
    end
  end
end

--- The position of the first byte that is not UTF-8, or nil.
function M.first_invalid(text)
  local at = M.beyond_ascii(text, 1)
  while at do
    local length = M.char_length(text, at)
    if not length then
      return at
    end
    at = M.beyond_ascii(text, at + length)
  end
end

return M
