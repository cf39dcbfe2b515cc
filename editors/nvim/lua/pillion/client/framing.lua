--- The base protocol: messages with a `Content-Length` header, out of the pieces in which a pipe
--- delivers them.

local M = {}

--- A sender of more than this without a header does not speak the protocol.
local LONGEST_HEADER = 4096

function M.frame(body)
  return ("Content-Length: %d\r\n\r\n%s"):format(#body, body)
end

--- Returns a function that takes the next piece and returns the list of bodies it completes; or nil
--- if what came is not a message.
function M.parser()
  -- Pieces are joined only when enough are there: a large message comes in many.
  local pieces, size = {}, 0
  local wanted

  local function joined()
    if #pieces > 1 then
      pieces = { table.concat(pieces) }
    end
    return pieces[1] or ""
  end

  local function drop(count)
    local rest = joined():sub(count + 1)
    pieces, size = { rest }, #rest
  end

  --- Takes off the header if it is complete; false if there can be none.
  local function read_header()
    local buffer = joined()
    local _, stop = buffer:find("\r\n\r\n", 1, true)
    if not stop then
      return size <= LONGEST_HEADER
    end
    wanted = tonumber(buffer:sub(1, stop):lower():match("content%-length: *(%d+)\r\n"))
    drop(stop)
    return wanted ~= nil
  end

  return function(piece)
    pieces[#pieces + 1] = piece
    size = size + #piece
    local bodies = {}
    while true do
      if not wanted and not read_header() then
        return nil
      end
      if not wanted or size < wanted then
        return bodies
      end
      bodies[#bodies + 1] = joined():sub(1, wanted)
      drop(wanted)
      wanted = nil
    end
  end
end

return M
