--- netrw, which comes with Neovim. Its lines are read as they stand: its own functions for that move
--- the cursor and press keys.

local M = {}

local LONG, WIDE, TREE = 1, 2, 3

--- The marks before a name for each level of a tree: in a terminal, and in a graphical user interface.
local LEVELS = { "| ", "│ " }

local function style()
  return vim.w.netrw_liststyle or vim.g.netrw_liststyle or 0
end

local function joined(folder, name)
  return folder:gsub("/+$", "") .. "/" .. name
end

--- The path of a name as it is shown: links, programs and the like have a mark behind it.
local function existing(folder, name)
  for _, candidate in ipairs({ name, (name:gsub("[@*|=/]$", "")) }) do
    local path = joined(folder, candidate)
    if candidate ~= "" and vim.uv.fs_lstat(path) then
      return path
    end
  end
end

--- In the long listing size and time stand behind the name, which may have blanks itself.
local function longest_existing(folder, line)
  local stop = #line
  while stop > 0 do
    local found = existing(folder, (line:sub(1, stop):gsub("%s+$", "")))
    if found then
      return found
    end
    local before = line:sub(1, stop):match("^(.*%S)%s+%S+%s*$")
    stop = before and #before or 0
  end
end

local function without_mark(line)
  for _, mark in ipairs(LEVELS) do
    if vim.startswith(line, mark) then
      return line:sub(#mark + 1)
    end
  end
end

local function level_of(line)
  local level, rest = 0, without_mark(line)
  while rest do
    level, line = level + 1, rest
    rest = without_mark(line)
  end
  return level, line
end

--- In a tree the folders are those above with fewer levels.
local function in_tree(number)
  local level, name = level_of(vim.fn.getline(number))
  if level == 0 then
    return nil
  end
  local folders, wanted = {}, level - 1
  for above = number - 1, 1, -1 do
    local its_level, its_name = level_of(vim.fn.getline(above))
    if wanted > 0 and its_level == wanted then
      table.insert(folders, 1, (its_name:gsub("/$", "")))
      wanted = wanted - 1
    end
  end
  local top = (vim.w.netrw_treetop or vim.b.netrw_curdir):gsub("/+$", "")
  return existing(table.concat({ top, unpack(folders) }, "/"), name)
end

local function in_columns(line)
  local width = vim.b.netrw_cpf or #line
  local start = math.floor((vim.fn.virtcol(".") - 1) / width) * width
  return (vim.fn.strcharpart(line, start, width):gsub("%s+$", ""))
end

local function is_entry(number)
  return number >= (vim.w.netrw_bannercnt or 1) and vim.fn.getline(number) ~= ""
end

--- It takes the last character of a name for a mark, also where it is none.
local function unmarked(path)
  for _, mark in ipairs({ "", "*", "@" }) do
    if vim.uv.fs_lstat(path .. mark) then
      return path .. mark
    end
  end
  return path
end

function M.marked()
  local ok, marked = pcall(vim.fn["netrw#Expose"], "netrwmarkfilelist")
  return ok and type(marked) == "table" and vim.tbl_map(unmarked, marked) or nil
end

function M.at(number)
  local folder = vim.b.netrw_curdir
  if not folder or not is_entry(number) then
    return nil
  end
  local line = (vim.fn.getline(number):gsub("\t %-%->.*$", ""))
  if style() == TREE then
    return in_tree(number)
  end
  local name = style() == WIDE and in_columns(line) or line
  if name:find("^%.%.?/?$") then
    return nil
  end
  return style() == LONG and longest_existing(folder, line) or existing(folder, name)
end

return M
