-- Reads the selection, and tells what that took of Neovim: calls, and bytes of text.

local selection = require("pillion.context.selection")
local mode = vim.api.nvim_get_mode().mode
local work = { calls = 0, bytes = 0 }

local function bytes_in(value)
  if type(value) == "string" then
    return #value
  end
  local sum = 0
  for _, part in ipairs(type(value) == "table" and value or {}) do
    sum = sum + bytes_in(part)
  end
  return sum
end

local function counted(call)
  return function(...)
    local result = call(...)
    work.calls = work.calls + 1
    work.bytes = work.bytes + bytes_in(result)
    return result
  end
end

-- The first time puts every function that it needs into `vim.fn`.
selection.read(mode)
local originals = { [vim.api] = {}, [vim.fn] = {} }
for functions, kept in pairs(originals) do
  for name, call in pairs(functions) do
    kept[name] = call
  end
  for name, call in pairs(kept) do
    functions[name] = counted(call)
  end
end
local ok, failure = pcall(selection.read, mode)
for functions, kept in pairs(originals) do
  for name, call in pairs(kept) do
    functions[name] = call
  end
end
assert(ok, failure)
return work
