-- Compares the help page with the plugin. Returns what one has and the other lacks, a sentence each.

local folder = ...
local problems = {}

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local page = read(folder .. "/doc/pillion.txt")
local sources = {}
for _, path in ipairs(vim.fn.globpath(folder, "**/*.lua", false, true)) do
  table.insert(sources, read(path))
end
sources = table.concat(sources, "\n")

local tags = {}
for tag in page:gmatch("%*([^*%s|]+)%*") do
  tags[tag] = true
end

--- Both ways: each of `names` has a tag, and each tag that looks like one is such a name.
local function compare(kind, names, pattern)
  for name in pairs(names) do
    if not tags[name] then
      table.insert(problems, ("the help lacks %s %s"):format(kind, name))
    end
  end
  for tag in pairs(tags) do
    if tag:match(pattern) and not names[tag] then
      table.insert(problems, ("there is no %s %s"):format(kind, tag))
    end
  end
  assert(next(names), "found no " .. kind)
end

local commands = {}
for name in pairs(vim.api.nvim_get_commands({})) do
  if vim.startswith(name, "Pillion") then
    commands[":" .. name] = true
  end
end
compare("command", commands, "^:Pillion%a*$")

for name in pairs(require("pillion.command").subcommands) do
  if not page:find("\n\t" .. vim.pesc(name) .. "\t") then
    table.insert(problems, "the help lacks the subcommand " .. name)
  end
end

local maps = {}
for _, map in ipairs(vim.api.nvim_get_keymap("n")) do
  if map.lhs:find("^<Plug>%(pillion") then
    maps[map.lhs] = true
  end
end
compare("map", maps, "^<Plug>")

local function named(pattern, prefix)
  local names = {}
  for name in sources:gmatch(pattern) do
    names[(prefix or "") .. name] = true
  end
  return names
end
compare("autocommand", named('emit%("(Pillion%a+)"'), "^Pillion%u")
compare("highlight group", named('nvim_set_hl%(0, "(Pillion%a+)"', "hl-"), "^hl%-")

local functions = {}
for name in pairs(require("pillion")) do
  functions[("pillion.%s()"):format(name)] = true
end
compare("function", functions, "^pillion%..*%(%)$")

--- Options that have no default are in no table.
local options = named("\n  ([%a_]+) = nil,", "pillion-")
options = vim.tbl_extend("error", options, named("\n    ([%a_]+) = nil,", "pillion-terminal."))
--- Options whose keys are people's own.
local by_name = { agents = true, prompts = true }
local defaults = {}
local function collect(values, prefix)
  for name, value in pairs(values) do
    if type(value) == "table" and value[1] == nil and not by_name[prefix .. name] then
      collect(value, prefix .. name .. ".")
    else
      options["pillion-" .. prefix .. name] = true
      defaults[prefix .. name] = value
    end
  end
end
collect(require("pillion.config").get(), "")
local section = page:match("%*pillion%-options%*(.-)\n===")
for name in section:gmatch("\n([%a_.]+)%s+%*") do
  if not options["pillion-" .. name] then
    table.insert(problems, "unknown option " .. name)
  end
  local entry = section:match("\n" .. vim.pesc(name) .. "%s+%*.-\n\n") or section:match("\n" .. vim.pesc(name) .. "%s+%*.*$")
  local default = entry:match("default%s+`(.-)`")
  if not default or not vim.deep_equal(loadstring("return " .. default)(), defaults[name]) then
    table.insert(problems, ("the default of %s is not %s"):format(name, default))
  end
end
for name in pairs(options) do
  if not section:find("*" .. name .. "*", 1, true) then
    table.insert(problems, "the help lacks the option " .. name)
  end
end

for link in page:gmatch("|([^|%s]+)|") do
  if not tags[link] and not vim.tbl_contains(vim.fn.getcompletion(link, "help"), link) then
    table.insert(problems, ("|%s| leads nowhere"):format(link))
  end
end

for number, line in ipairs(vim.split(page, "\n")) do
  local drawn = line:gsub("[`|*]", "")
  if vim.fn.strdisplaywidth(drawn) > 80 then
    table.insert(problems, ("line %d is too wide"):format(number))
  end
end

return problems
