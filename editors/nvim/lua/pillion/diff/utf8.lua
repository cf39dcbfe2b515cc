--- Whether a text is valid UTF-8: anything else cannot be sent in JSON.

local M = {}

--- The byte sequences above ASCII that are UTF-8.
local SEQUENCES = {
  "^[\194-\223][\128-\191]()",
  "^\224[\160-\191][\128-\191]()",
  "^[\225-\236\238\239][\128-\191][\128-\191]()",
  "^\237[\128-\159][\128-\191]()",
  "^\240[\144-\191][\128-\191][\128-\191]()",
  "^[\241-\243][\128-\191][\128-\191][\128-\191]()",
  "^\244[\128-\143][\128-\191][\128-\191]()",
}

--- The position of the first byte that is not UTF-8, or nil.
function M.first_invalid(bytes)
  local at = bytes:find("[\128-\255]")
  while at do
    local after
    for _, sequence in ipairs(SEQUENCES) do
      after = bytes:match(sequence, at)
      if after then
        break
      end
    end
    if not after then
      return at
    end
    at = bytes:find("[\128-\255]", after)
  end
end

return M
