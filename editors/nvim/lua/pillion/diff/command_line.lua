--- Reading command lines: what the command that a person typed does with the current buffer, and with all.

local M = {}

--- The shortest and the whole name of each command, and what it is to a proposal.
local COMMANDS = {
  { "w", "write", "write" },
  { "wn", "wnext", "write" },
  { "wN", "wNext", "write" },
  { "wp", "wprevious", "write" },
  { "up", "update", "update" },
  { "wq", "wq", "exit" },
  { "x", "xit", "exit" },
  { "exi", "exit", "exit" },
  { "qa", "qall", "quit_all" },
  { "quita", "quitall", "quit_all" },
  { "wa", "wall", "write_all" },
  { "wqa", "wqall", "exit_all" },
  { "xa", "xall", "exit_all" },
  { "sav", "saveas", "rename" },
  { "f", "file", "rename" },
}

--- Those that carry out another one many times.
local REPEATING = {
  { "argdo", "argdo" },
  { "bufd", "bufdo" },
  { "cdo", "cdo" },
  { "cfd", "cfdo" },
  { "foldd", "folddoopen" },
  { "folddoc", "folddoclosed" },
  { "g", "global" },
  { "ld", "ldo" },
  { "lfd", "lfdo" },
  { "norm", "normal" },
  { "tabd", "tabdo" },
  { "v", "vglobal" },
  { "wind", "windo" },
}

--- Those that may stand before a write.
local MODIFIERS = {
  { "sil", "silent" },
  { "uns", "unsilent" },
  { "verb", "verbose" },
  { "conf", "confirm" },
  { "kee", "keepmarks" },
  { "keepj", "keepjumps" },
  { "keepp", "keeppatterns" },
  { "keepalt", "keepalt" },
  { "loc", "lockmarks" },
  { "nos", "noswapfile" },
  { "noa", "noautocmd" },
}

--- The characters of a range.
local RANGE = { "^[%s%d:.,;%%$*+-]+", "^'.", "^/[^/]*/", "^%?[^?]*%?" }

--- The number of user commands that may stand for one another.
local MAX_DEPTH = 3
--- A modifier and the name: what a user command that stands for another consists of.
local MAX_WORDS = 2

local function find(list, name)
  for _, entry in ipairs(list) do
    if #name >= #entry[1] and vim.startswith(entry[2], name) then
      return entry
    end
  end
end

local function without_range(line)
  local before
  repeat
    before = line
    for _, part in ipairs(RANGE) do
      line = line:gsub(part, "")
    end
  until line == before
  return line
end

--- The user commands of the current buffer by name, as far as `M.kind` looks at them: { definition, may_force }. Neovim
--- gives all at once or none, which takes a millisecond where there are many.
function M.user_commands()
  local commands = {}
  for _, all in ipairs({ vim.api.nvim_get_commands({}), vim.api.nvim_buf_get_commands(0, {}) }) do
    for name, command in pairs(all) do
      -- An empty list of a buffer has an entry that is no command.
      if type(command) == "table" then
        local may_force = command.callback ~= nil or command.definition:find("!", 1, true) ~= nil
        commands[name] = { definition = command.definition, may_force = may_force }
      end
    end
  end
  return commands
end

--- The effect of a user command: `:W` is taken for what people who type it mean.
local function of_user_command(name, argument, has_bang, commands, depth)
  local entry = find(COMMANDS, name:lower())
  commands = commands or M.user_commands()
  local command = commands[name]
  -- `:Save` and `:File` are whatever people like.
  if entry and entry[3] ~= "rename" then
    return entry[3], argument, has_bang or command ~= nil and command.may_force
  end
  local definition = command and command.definition:gsub("%b<>", "")
  if
    definition
    and depth < MAX_DEPTH
    and definition:find("^[%a! ]+$")
    and #vim.split(vim.trim(definition), " +") <= MAX_WORDS
  then
    local kind, all, is_forced = M.kind(vim.trim(definition) .. " " .. argument, commands, depth + 1)
    return kind, all, is_forced or has_bang
  end
end

--- A line from its first command on, the name of that, whether it has a range, and whether autocommands are left out.
local function without_modifiers(line)
  local whole = line:gsub("^[%s:]+", "")
  line = without_range(whole)
  local has_range = line ~= whole
  local name = line:match("^%a+")
  local is_unheard, modifier = false, name and find(MODIFIERS, name)
  while modifier do
    is_unheard = is_unheard or modifier[2] == "noautocmd"
    whole = vim.trim((line:sub(#name + 1):gsub("^!", "")))
    line = without_range(whole)
    has_range = has_range or line ~= whole
    name = line:match("^%a+")
    modifier = name and find(MODIFIERS, name)
  end
  return line, name, has_range, is_unheard
end

--- True if the first command of a line carries out another one many times, whatever is on the screen then.
function M.is_repeating(line)
  local _, name = without_modifiers(line)
  return name ~= nil and find(REPEATING, name) ~= nil
end

local IS_WRITE = { write = true, update = true, exit = true }

--- The effect of the first command of a line: "write", "update", "exit" (write and quit), "write_all",
--- "exit_all", "quit_all", "rename" (the buffer), or "unheard" (a write without autocommands); nil for
--- everything else. The argument of the command, whether it may have a `!`, and whether it is one of Neovim's own
--- with neither a range nor an argument. `commands`: what `M.user_commands` gave, for who asks about many lines.
function M.kind(line, commands, depth)
  local name, has_range, is_unheard
  line, name, has_range, is_unheard = without_modifiers(line)
  if not name then
    return nil
  end
  local argument = vim.trim((line:sub(#name + 1):gsub("^!", "")))
  local has_bang = line:sub(#name + 1, #name + 1) == "!"
  if name:find("^%u") then
    if is_unheard then
      return nil
    end
    return of_user_command(name, argument, has_bang, commands, depth or 0)
  end
  local entry = find(COMMANDS, name)
  local kind = entry and entry[3]
  if is_unheard and IS_WRITE[kind] then
    kind = argument == "" and "unheard" or nil
  elseif kind == "rename" and argument == "" then
    kind = nil
  end
  return kind, argument, has_bang, argument == "" and not has_range
end

--- True if the first command of a line does nothing but write or close what the window shows.
function M.closes_or_writes(line)
  local _, name = without_modifiers(line)
  local kind, argument = M.kind(line)
  -- `:q` is none of the kinds: it needs no map that is repeated.
  return find({ { "q", "quit" } }, (name or ""):lower()) ~= nil or (IS_WRITE[kind] == true and argument == "")
end

--- The name in a write instead of the file of its buffer: "" for none, also for `++enc=…` and for what
--- comes after `|`.
local function file_of(argument)
  local before
  repeat
    before = argument
    argument = argument:gsub("^%+%+%S*%s*", "")
  until argument == before
  argument = ("\n" .. argument):gsub('([^\\])[|"].*', "%1")
  return vim.trim(argument)
end

--- True if a write with this argument goes to the file of the buffer: not to another one, not to a
--- command, and not to the end of a file.
function M.writes_buffer(argument, buf)
  local file = file_of(argument)
  local name = vim.api.nvim_buf_get_name(buf)
  return file == "" or file == "%" or file == "%:p" or (file:gsub("\\(.)", "%1")) == name
end

return M
