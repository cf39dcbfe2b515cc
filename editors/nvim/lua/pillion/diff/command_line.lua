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

--- What a range is made of.
local RANGE = { "^[%s%d:.,;%%$*+-]+", "^'.", "^/[^/]*/", "^%?[^?]*%?" }

--- How many user commands may stand for one another.
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

--- What a user command does: `:W` is taken for what people who type it mean.
local function of_user_command(name, depth)
  local entry = find(COMMANDS, name:lower())
  -- `:Save` and `:File` are whatever people like.
  if entry and entry[3] ~= "rename" then
    return entry[3]
  end
  local command = vim.api.nvim_buf_get_commands(0, {})[name] or vim.api.nvim_get_commands({})[name]
  -- Of a command in Lua, Neovim 0.7 knows the description.
  local definition = command and command.definition:gsub("%b<>", "")
  if definition and depth < MAX_DEPTH and definition:find("^[%a! ]+$") and #vim.split(vim.trim(definition), " +") <= MAX_WORDS then
    return M.kind(definition, depth + 1)
  end
end

local IS_WRITE = { write = true, update = true, exit = true }

--- What the first command of a line does: "write", "update", "exit" (write and quit), "write_all",
--- "exit_all", "quit_all", "rename" (the buffer), or "unheard" (a write without autocommands); nil for
--- everything else. And the argument of the command.
function M.kind(line, depth)
  line = without_range(line)
  local name = line:match("^%a+")
  local is_unheard, modifier = false, name and find(MODIFIERS, name)
  while modifier do
    is_unheard = is_unheard or modifier[2] == "noautocmd"
    line = without_range((line:sub(#name + 1):gsub("^!", "")))
    name = line:match("^%a+")
    modifier = name and find(MODIFIERS, name)
  end
  if not name then
    return nil
  elseif name:find("^%u") then
    return not is_unheard and of_user_command(name, depth or 0) or nil
  end
  local entry = find(COMMANDS, name)
  local kind = entry and entry[3]
  local argument = vim.trim((line:sub(#name + 1):gsub("^!", "")))
  if is_unheard and IS_WRITE[kind] then
    kind = argument == "" and "unheard" or nil
  elseif kind == "rename" and argument == "" then
    kind = nil
  end
  return kind, argument
end

return M
