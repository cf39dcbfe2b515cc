--- Pillion's variables in Neovim's own environment, so that agents in every terminal and job that
--- is started here pick this companion (C2.6).

local M = {}

--- The variables that Pillion set, by name: `value`, and what was there `before` it (nil: nothing).
local ours = {}

local function restore(name)
  -- What others set in the meantime is not ours to restore.
  if vim.env[name] == ours[name].value then
    vim.env[name] = ours[name].before
  end
  ours[name] = nil
end

local function is_variable(name, value)
  return type(name) == "string"
    and type(value) == "string"
    and name ~= ""
    and not name:find("[=%z]")
    and not value:find("%z")
end

--- Sets the variables. One that was set earlier and is no longer named gets its old value back.
function M.set(variables)
  for _, name in ipairs(vim.tbl_keys(ours)) do
    if variables[name] == nil then
      restore(name)
    end
  end
  for name, value in pairs(variables) do
    if is_variable(name, value) then
      local before = ours[name]
      ours[name] = { value = value, before = vim.env[name] }
      if before then
        ours[name].before = before.before
      end
      vim.env[name] = value
    end
  end
end

--- Takes everything back.
function M.clear()
  for _, name in ipairs(vim.tbl_keys(ours)) do
    restore(name)
  end
end

--- The variables that are set now.
function M.get()
  local variables = vim.empty_dict()
  for name, variable in pairs(ours) do
    variables[name] = variable.value
  end
  return variables
end

function M.is_set()
  return next(ours) ~= nil
end

return M
