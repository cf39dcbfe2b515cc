--- Where two lines differ, word by word.

local M = {}

--- In longer lines the comparison would be felt.
local MAX_BYTES = 2000

--- The words, runs of blanks and single characters of a line: { text, from, to }, bytes from 0.
local function tokens(line)
  local found, at = {}, 1
  while at <= #line do
    local _, last = line:find("^[%w_]+", at)
    if not last then
      _, last = line:find("^%s+", at)
    end
    if not last then
      -- One character, of however many bytes.
      _, last = line:find("^[^\128-\191][\128-\191]*", at)
    end
    last = last or at
    table.insert(found, { line:sub(at, last), at - 1, last })
    at = last + 1
  end
  return found
end

local function joined(list)
  local lines = {}
  for number, token in ipairs(list) do
    -- A blank is not a line break here, and a token is never empty.
    lines[number] = "." .. token[1]:gsub("[\n\r%z]", "?")
  end
  return table.concat(lines, "\n") .. "\n"
end

local function spans(list, start, count)
  return count > 0 and { list[start][2], list[start + count - 1][3] } or nil
end

local function compare(before, after)
  local diff = vim.fn.has("nvim-0.12") == 1 and vim.text.diff or vim.diff
  return diff(joined(before), joined(after), { result_type = "indices" })
end

--- The differences between an old and a new line, as two lists of { from, to } in bytes from 0; both empty if
--- nothing is alike, or the lines are long.
function M.changed(old, new)
  if #old > MAX_BYTES or #new > MAX_BYTES or old == "" or new == "" then
    return {}, {}
  end
  local before, after = tokens(old), tokens(new)
  local removed, added, alike = {}, {}, #before
  for _, hunk in ipairs(compare(before, after)) do
    table.insert(removed, spans(before, hunk[1], hunk[2]))
    table.insert(added, spans(after, hunk[3], hunk[4]))
    alike = alike - hunk[2]
  end
  if alike == 0 then
    return {}, {}
  end
  return removed, added
end

return M
