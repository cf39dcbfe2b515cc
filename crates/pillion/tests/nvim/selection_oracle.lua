-- Makes selections of all kinds in lines of all kinds. Returns those for which what agents would be
-- shown is not what a yank takes, or is not where they are told that it is.

local count = ...
local selection = require("pillion.context.selection")

-- The same in each run.
local seed = 1
local function random(limit)
  seed = (seed * 16807) % 2147483647
  return seed % limit + 1
end

local function one_of(list)
  return list[random(#list)]
end

local pieces = { "a", "b", " ", "\t", "é", "中", "😀", "e\204\129", "x", "yz", "\1" }
local moves = { "l", "h", "j", "k", "w", "b", "$", "0", "o", "O", "G", "gg", "3l", "2j" }

local function some_lines()
  local lines = {}
  for line = 1, random(5) do
    local text = {}
    for piece = 1, random(10) - 1 do
      text[piece] = one_of(pieces)
    end
    lines[line] = table.concat(text)
  end
  return lines
end

local function some_keys()
  local keys = { random(5) .. "G0", one_of({ "", "l", "3l", "w" }), one_of({ "v", "V", "\22" }) }
  for _ = 1, random(7) - 1 do
    table.insert(keys, one_of(moves))
  end
  return keys
end

local function without_trailing_spaces(text)
  return (text:gsub(" +\n", "\n"):gsub(" +$", ""))
end

-- A yank may end the last line and agents are shown no ending of it. In a block, what is yanked of
-- short lines is filled up with spaces.
local function is_same(mode, shown, yanked)
  if mode == "\22" then
    return without_trailing_spaces(shown) == without_trailing_spaces(yanked)
  end
  return shown:gsub("\n$", "", 1) == yanked:gsub("\n$", "", 1) or shown .. "\n" == yanked
end

local function line_of(position)
  return vim.api.nvim_buf_get_lines(0, position.line, position.line + 1, true)[1]
end

local function byte_of(position)
  return vim.str_byteindex(line_of(position), position.character, true)
end

--- Whether this holds for a piece of a block, without any of the spaces that fill it up at its ends.
local function is_so_without_filling(piece, holds)
  for first = 1, #piece:match("^ *") + 1 do
    for last = #piece - #piece:match(" *$"), #piece do
      if holds(piece:sub(first, last)) then
        return true
      end
    end
  end
  return false
end

--- Of a block only where it begins and where it ends is known.
local function has_block_at(range, shown)
  local pieces = vim.split(shown, "\n", { plain = true })
  local from = line_of(range.start):sub(byte_of(range.start) + 1)
  local to = line_of(range["end"]):sub(1, byte_of(range["end"]))
  local begins = is_so_without_filling(pieces[1], function(piece)
    return vim.startswith(from, piece)
  end)
  return begins and is_so_without_filling(pieces[#pieces], function(piece)
    return vim.endswith(to, piece)
  end)
end

local function is_where_it_says(mode, shown, place)
  if shown == "" then
    return true
  end
  local range = require("pillion.context.cursor").range(0, place)
  if mode == "\22" then
    return has_block_at(range, shown)
  end
  local lines = vim.api.nvim_buf_get_text(
    0,
    range.start.line,
    byte_of(range.start),
    range["end"].line,
    byte_of(range["end"]),
    {}
  )
  return table.concat(lines, "\n") == shown
end

local wrong = {}
local function compare_with_yank()
  local mode = vim.fn.mode()
  local from, to = vim.fn.getpos("v"), vim.fn.getpos(".")
  local text, place = selection.read(mode)
  local shown = text or ""
  local is_placed = is_where_it_says(mode, shown, place)
  vim.cmd("silent normal! y")
  local yanked = vim.fn.getreg('"')
  if not is_same(mode, shown, yanked) or not is_placed then
    table.insert(wrong, {
      place = place,
      lines = vim.api.nvim_buf_get_lines(0, 0, -1, false),
      mode = mode,
      selection = vim.o.selection,
      virtualedit = vim.o.virtualedit,
      from = from,
      to = to,
      shown = shown,
      yanked = yanked,
    })
  end
end

vim.cmd("enew!")
for _ = 1, count do
  vim.api.nvim_buf_set_lines(0, 0, -1, false, some_lines())
  vim.o.selection = one_of({ "inclusive", "exclusive", "old" })
  vim.o.virtualedit = one_of({ "", "", "block", "onemore" })
  for _, keys in ipairs(some_keys()) do
    -- Each by itself: a move that fails drops the keys after it.
    vim.cmd("silent! normal! " .. keys)
  end
  compare_with_yank()
end
return wrong
