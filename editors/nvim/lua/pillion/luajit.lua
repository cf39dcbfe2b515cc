--- Keeps LuaJIT from compiling what one release of it compiles wrongly.
---
--- Neovim 0.7 checks the arguments of most functions of `vim` with `vim.validate`. Compiled by Debian 12's
--- LuaJIT, that refuses good arguments now and then: "invalid type name: nil", "opt[boolean]: expected table,
--- got boolean". Interpreted it does not.

local BROKEN = "LuaJIT 2.1.0-beta3"

--- Interprets a function and the functions that it calls by an upvalue.
local function interpret(run, seen)
  if seen[run] then
    return
  end
  seen[run] = true
  jit.off(run, true)
  for at = 1, 60 do
    local name, value = debug.getupvalue(run, at)
    if not name then
      return
    end
    if type(value) == "function" then
      pcall(interpret, value, seen)
    end
  end
end

if jit and jit.version == BROKEN then
  local seen = {}
  for _, name in ipairs({ "validate", "is_callable" }) do
    pcall(interpret, rawget(vim, name), seen)
  end
end
