--- Bytes ↔ the lines and options of a buffer, so that a text comes back byte for byte.
---
--- A `shape` is { lines, fileformat, endofline, bomb }: what Neovim keeps of a file. No lines at all is
--- the empty text; one empty line is a line feed.

local M = {}

local BOM = "\239\187\191"
local ENDINGS = { unix = "\n", dos = "\r\n", mac = "\r" }

local function split(body)
  local lines, from = {}, 1
  while true do
    local at = body:find("\n", from, true)
    if not at then
      break
    end
    lines[#lines + 1] = body:sub(from, at - 1)
    from = at + 1
  end
  if from <= #body then
    lines[#lines + 1] = body:sub(from)
  end
  return lines
end

--- The shape of a text.
function M.decode(bytes)
  local bomb = bytes:sub(1, 3) == BOM
  local body = bomb and bytes:sub(4) or bytes
  local shape = { lines = split(body), fileformat = "unix", bomb = bomb }
  shape.endofline = body == "" or body:sub(-1) == "\n"
  local ended = shape.endofline and #shape.lines or #shape.lines - 1
  -- Mixed endings stay what they are: the carriage returns are part of the lines.
  for number = 1, ended do
    if shape.lines[number]:sub(-1) ~= "\r" then
      return shape
    end
  end
  if ended > 0 then
    shape.fileformat = "dos"
    for number = 1, ended do
      shape.lines[number] = shape.lines[number]:sub(1, -2)
    end
  end
  return shape
end

--- The text of a shape.
function M.encode(shape)
  local ending = ENDINGS[shape.fileformat]
  local last = (shape.endofline and #shape.lines > 0) and ending or ""
  return (shape.bomb and BOM or "") .. table.concat(shape.lines, ending) .. last
end

--- The lines of a buffer; none if it is empty.
function M.lines(buf)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  if #lines == 1 and lines[1] == "" then
    -- Only the byte count tells an emptied buffer from one with an empty line.
    local bytes = vim.api.nvim_buf_call(buf, vim.fn.wordcount).bytes
    return bytes == 0 and {} or lines
  end
  for number, line in ipairs(lines) do
    -- Inside Neovim a NUL is a line feed; some versions hand it out as such.
    if line:find("\n", 1, true) then
      lines[number] = line:gsub("\n", "\0")
    end
  end
  return lines
end

--- The shape that writing a buffer would give.
function M.of_buffer(buf)
  local options = vim.bo[buf]
  return {
    lines = M.lines(buf),
    fileformat = options.fileformat,
    endofline = options.endofline or (options.fixendofline and not options.binary),
    bomb = options.bomb,
  }
end

--- Gives a buffer the options of a shape, but not its lines.
function M.set_options(buf, shape)
  local options = vim.bo[buf]
  options.fileencoding = "utf-8"
  options.binary = false
  options.fixendofline = false
  options.fileformat = shape.fileformat
  options.endofline = shape.endofline
  options.bomb = shape.bomb
end

--- The changes between two shapes that no line shows, as phrases for people.
function M.unseen_changes(from, to)
  local phrases = {}
  if #from.lines > 0 and #to.lines > 0 then
    if from.fileformat ~= to.fileformat then
      table.insert(phrases, ("line endings %s → %s"):format(from.fileformat, to.fileformat))
    end
    if from.endofline ~= to.endofline then
      table.insert(phrases, to.endofline and "final newline added" or "no final newline")
    end
  end
  if from.bomb ~= to.bomb then
    table.insert(phrases, to.bomb and "BOM added" or "BOM removed")
  end
  return phrases
end

return M
