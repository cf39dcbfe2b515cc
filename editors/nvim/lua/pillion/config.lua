--- The options: their defaults, and what may stand in them.

local M = {}

local defaults = {
  command = { "pillion" },
  auto_start = true,
  log_level = "warn",
  log_file = nil,
  is_trusted = nil,
  roots = nil,
  terminal = {
    provider = "native",
    split_side = "right",
    split_width_percentage = 0.30,
    auto_close = true,
    tmux_pane = nil,
  },
  diff = {
    enabled = true,
    layout = "vertical",
    open_in_new_tab = true,
    keep_terminal_focus = true,
    open_new_file = false,
  },
  marks = true,
  agents = {},
  prompts = {
    document = "Write documentation comments for {this}",
    explain = "Explain {this}",
    fix = "Fix these problems in {file}:\n{diagnostics}\n",
    review = "Review {file}: look for mistakes, and say how to do better",
    tests = "Write tests for {this}",
  },
}

local function one_of(...)
  local allowed = { ... }
  return function(value)
    return vim.tbl_contains(allowed, value), 'one of "' .. table.concat(allowed, '", "') .. '"'
  end
end

local function of_type(...)
  local allowed = { ... }
  return function(value)
    return vim.tbl_contains(allowed, type(value)), "a " .. table.concat(allowed, " or a ")
  end
end

local function is_command(value)
  local well_formed = type(value) == "table" and #value > 0
  for _, word in ipairs(well_formed and value or {}) do
    well_formed = well_formed and type(word) == "string" and word ~= ""
  end
  return well_formed, 'a list of words, such as { "pillion" }'
end

local function is_agents(value)
  if type(value) ~= "table" then
    return false, "a table of agents"
  end
  for name, command in pairs(value) do
    if type(name) ~= "string" or not is_command(command) then
      return false, 'a table of commands, such as { mine = { "my-agent" } }'
    end
  end
  return true
end

local function is_prompts(value)
  local expected = 'a table of texts, such as { explain = "Explain {this}" }'
  if type(value) ~= "table" then
    return false, expected
  end
  for name, prompt in pairs(value) do
    if type(name) ~= "string" or not name:find("^%S+$") or type(prompt) ~= "string" then
      return false, expected
    end
  end
  return true
end

local function is_provider(value)
  local listed, expected = one_of("native", "none")(value)
  return listed or type(value) == "function", expected .. " or a function"
end

local function is_share(value)
  return type(value) == "number" and value > 0 and value < 1, "a number between 0 and 1"
end

local rules = {
  command = is_command,
  auto_start = of_type("boolean"),
  log_level = one_of("error", "warn", "info", "debug", "trace"),
  log_file = of_type("string"),
  is_trusted = of_type("boolean"),
  roots = of_type("function"),
  terminal = {
    provider = is_provider,
    split_side = one_of("right", "left", "top", "bottom", "float"),
    split_width_percentage = is_share,
    auto_close = of_type("boolean"),
    tmux_pane = of_type("string"),
  },
  diff = {
    enabled = of_type("boolean"),
    layout = one_of("vertical", "horizontal", "unified"),
    open_in_new_tab = of_type("boolean"),
    keep_terminal_focus = of_type("boolean"),
    open_new_file = of_type("boolean"),
  },
  marks = of_type("boolean"),
  agents = is_agents,
  prompts = is_prompts,
}

--- Options that are tables of names: what is given stands beside the defaults.
local by_name = { agents = true, prompts = true }

local options = vim.deepcopy(defaults)
local last_problems = {}
local last_given = {}

--- Takes over what is well formed and says what is not: one wrong option must not cost the others.
local function merge(target, given, rule_table, prefix, problems)
  for key, value in pairs(given) do
    local name = prefix .. tostring(key)
    local rule = rule_table[key]
    if rule == nil then
      table.insert(problems, ("unknown option %s"):format(name))
    elseif type(rule) == "table" then
      if type(value) == "table" then
        merge(target[key], value, rule, name .. ".", problems)
      else
        table.insert(problems, ("%s must be a table"):format(name))
      end
    else
      local valid, expected = rule(value)
      if not valid then
        table.insert(problems, ("%s must be %s"):format(name, expected))
      elseif by_name[key] then
        target[key] = vim.tbl_extend("force", target[key], value)
      else
        target[key] = value
      end
    end
  end
end

--- A program that does not depend on a shell to find the home folder.
local function at_home(command)
  local program = command[1]:gsub("^~/", function()
    return vim.uv.os_homedir() .. "/"
  end)
  return vim.list_extend({ program }, command, 2)
end

local function complete_paths()
  options.command = at_home(options.command)
  options.agents = vim.tbl_map(at_home, options.agents)
  -- The working folder may be another when the log is opened.
  options.log_file = options.log_file and vim.fn.fnamemodify(options.log_file, ":p")
end

--- Sets the options that are given; the others keep their defaults. Returns what was wrong, a
--- sentence each.
function M.set(given)
  options = vim.deepcopy(defaults)
  local problems = {}
  if given == nil or type(given) == "table" then
    merge(options, given or {}, rules, "", problems)
  else
    problems = { "the options must be a table" }
    given = nil
  end
  complete_paths()
  table.sort(problems)
  last_problems, last_given = problems, given or {}
  return problems
end

--- The options that were given to `set` last, and the problems with them.
function M.given()
  return last_given, last_problems
end

function M.get()
  return options
end

return M
