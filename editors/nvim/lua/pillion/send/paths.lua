--- Paths as people type them after a command, and their completion.

local text = require("pillion.send.text")

local M = {}

local function exists(path)
  return vim.uv.fs_stat(path) ~= nil
end

local function absolute(word)
  -- A name that means something elsewhere is still a name.
  local here = vim.fn.getcwd() .. "/" .. word
  local path = exists(here) and not vim.startswith(word, "/") and here or vim.fn.fnamemodify(word, ":p")
  return vim.fn.simplify(path)
end

--- The path that a word names; `%`, `#` and the like as in other commands, where no file has that name.
--- Nil if it is not there.
local function find(word)
  local path = absolute(word)
  if not exists(path) and word:find("^[%%#]") then
    path = absolute(vim.fn.expand(word))
  end
  return exists(path) and path or nil
end

--- The name and the lines of `name:12` or `name:3-7`.
local function with_lines(word)
  local name, first, last = word:match("^(.+):(%d+)%-(%d+)$")
  if not name then
    name, first = word:match("^(.+):(%d+)$")
  end
  return name and find(name), tonumber(first), tonumber(last or first)
end

--- The file or folder that a word names, and the lines after a colon: `{ path, first, last }`.
function M.read(word)
  if exists(absolute(word)) then
    return { path = text.check(absolute(word)) }
  end
  local path, first, last = with_lines(word)
  if path and (first < 1 or last < first) then
    error({ message = ("%s: lines count from 1, and the first line comes first"):format(word) })
  end
  path = path or find(word)
  if not path then
    error({ message = ("there is no file %s. Hint: escape spaces in a name with a backslash"):format(word) })
  end
  return { path = text.check(path), first = first, last = last }
end

--- As it has to be typed: blanks and backslashes are part of the word, and nothing ends the command.
local function typed(word)
  return (word:gsub('[ \t\\|"]', "\\%0"))
end

--- The words that continue `lead`, which is as it was typed.
function M.complete(lead)
  local word = lead:gsub("\\(.)", "%1")
  local folder, prefix = word:match("^(.*/)([^/]*)$")
  folder, prefix = folder or "", prefix or word
  local found = {}
  local scan = vim.uv.fs_scandir(absolute(folder == "" and "." or folder))
  while scan do
    local name, kind = vim.uv.fs_scandir_next(scan)
    if not name then
      break
    end
    local is_hidden = vim.startswith(name, ".") and not vim.startswith(prefix, ".")
    if vim.startswith(name, prefix) and not is_hidden and not name:find("%c") then
      local is_folder = kind == "directory" or vim.fn.isdirectory(absolute(folder .. name)) == 1
      table.insert(found, typed(folder .. name) .. (is_folder and "/" or ""))
    end
  end
  table.sort(found)
  return found
end

return M
