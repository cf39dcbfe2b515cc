--- Text on its way into a prompt: what agents read as a file, and what no text may do there.

local M = {}

--- What ends an `@path` for the agents, or means something to them, gets a backslash.
local SPECIAL = "[ %(%)%[%]{};|*?$`'\"#&<>!~,\\]"

--- Unicode has a picture for each control character.
local function picture(char)
  local byte = char:byte()
  return byte == 127 and "␡" or "\226\144" .. string.char(128 + byte)
end

--- Nothing in a pasted text may end the paste or be taken for a key: control characters are shown
--- as pictures, but for tabs and line breaks.
function M.harmless(text)
  text = text:gsub("\r\n", "\n"):gsub("[%z\1-\8\11-\31\127]", picture)
  return (text:gsub("\194[\128-\159]", "\239\191\189"))
end

--- A path as people read it: relative to the agent's folder if it is below.
function M.relative(path, folder)
  folder = folder:gsub("/+$", "") .. "/"
  if vim.startswith(path, folder) and #path > #folder then
    return path:sub(#folder + 1)
  end
  return path
end

--- `@path`, as every agent reads it.
function M.mention(path, folder)
  return "@" .. M.relative(path, folder):gsub(SPECIAL, "\\%0")
end

--- `@path#L3-7`, as some agents read it; the lines are optional. In quotes, the path has to be
--- a whole one.
local function with_anchor(item, folder)
  local lines = ""
  if item.first then
    lines = ("#L%d%s"):format(item.first, item.last ~= item.first and "-" .. item.last or "")
  end
  if item.path:find("%s") then
    return ('@"%s%s"'):format(item.path, lines)
  end
  return "@" .. M.relative(item.path, folder) .. lines
end

--- A file or folder `{ path, first, last }` as the agent reads it, the lines being optional.
function M.item(item, to)
  if require("pillion.agents").about(to.agent).readsLinesInPrompt then
    return with_anchor(item, to.cwd)
  end
  local lines = item.first and " " .. M.lines(item.first, item.last) or ""
  return M.mention(item.path, to.cwd) .. lines
end

--- Which lines (from 1), in words.
function M.lines(first, last)
  return first == last and ("line %d"):format(first) or ("lines %d-%d"):format(first, last)
end

--- A text that the agent cannot take for anything else, whatever is in it.
function M.fenced(text)
  local longest = 2
  for ticks in text:gmatch("`+") do
    longest = math.max(longest, #ticks)
  end
  local fence = ("`"):rep(longest + 1)
  return ("%s\n%s\n%s"):format(fence, (text:gsub("\n$", "")), fence)
end

--- Refuses a path that no agent could read in a prompt. A folder ends in a slash.
function M.check(path)
  if path:find("[%c]") then
    error({ message = "cannot send a file with control characters in its name" })
  end
  local is_folder = vim.fn.isdirectory(path) == 1
  return is_folder and path:gsub("/+$", "") .. "/" or path
end

return M
