--- The selection that stays while the focus is on no file: an agent in a terminal of Neovim could
--- never be shown one otherwise, because going there ends Visual mode.
---
--- It goes when the person is back in the file and moves the cursor or edits, and when another file
--- has the focus. What others change in the file meanwhile moves it.

local changes = require("pillion.context.changes")
local cursor = require("pillion.context.cursor")
local selection = require("pillion.context.selection")

local M = {}

--- The selection that ended last, if nothing has ended it for good: `{ buf, win, tick, text, place,
--- range }`, the range being that of the text, whatever happened to the buffer since;
--- `cursor` and `lines` once the person was elsewhere; `is_held` if a command was given it.
local kept

--- Where selecting began: an operator that changes the text leaves nothing that was selected.
local started = {}

--- True if the block goes to the end of its lines. Known only while it is selected.
local is_to_the_end = false

--- Called when a buffer changes that has a kept selection.
local on_change = function() end

--- The range of a place in `buf`, which has not changed since it was `kept`.
local function range_of(buf, tick, place)
  if kept and kept.buf == buf and kept.tick == tick and vim.deep_equal(kept.place, place) then
    return kept.range
  end
  return cursor.range(buf, place)
end

local function keep(text, place, is_held)
  local buf = vim.api.nvim_get_current_buf()
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  kept = text
      and {
        buf = buf,
        win = vim.api.nvim_get_current_win(),
        tick = tick,
        text = text,
        place = place,
        range = range_of(buf, tick, place),
        is_held = is_held,
      }
    or nil
end

--- Selecting begins.
function M.begin()
  kept, is_to_the_end = nil, false
  local buf = vim.api.nvim_get_current_buf()
  started = { buf = buf, tick = vim.api.nvim_buf_get_changedtick(buf) }
end

--- The selection now: not every way out of it has an event. Text and range of it.
function M.note(text, place)
  keep(text, place, kept ~= nil and kept.is_held)
  return text, kept and kept.range
end

--- A key comes while something is selected.
function M.on_key()
  is_to_the_end = selection.is_to_the_end()
end

--- Selecting has ended, in this mode.
function M.finish(mode)
  local buf = vim.api.nvim_get_current_buf()
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  local was_held = kept ~= nil and kept.is_held and kept.buf == buf and kept.tick == tick
  if started.buf ~= buf or started.tick ~= tick then
    kept = was_held and kept or nil
    return
  end
  local text, place = selection.read_last(mode, is_to_the_end or selection.is_to_the_end())
  keep(text, place, was_held)
end

--- Keeps what is selected, or was before the command line, whatever window has the focus then: a
--- command about it was given.
function M.hold(is_last)
  local text, place = selection.read(vim.api.nvim_get_mode().mode:sub(1, 1))
  if not text and is_last then
    text, place = selection.read_last(vim.fn.visualmode(), is_to_the_end)
  end
  if text then
    keep(text, place, true)
  end
end

local function watch(one)
  local function changed()
    if one ~= kept then
      -- Detaches.
      return true
    end
    on_change()
  end
  pcall(vim.api.nvim_buf_attach, one.buf, false, { on_lines = changed, on_reload = changed })
end

--- The kept selection if it is in `buf`.
local function of(buf)
  if not kept or kept.buf ~= buf or not vim.api.nvim_buf_is_loaded(buf) then
    kept = nil
    return nil
  end
  return kept
end

local function is_same(one, other)
  return one ~= nil and other ~= nil and one.line == other.line and one.character == other.character
end

--- The file `buf` has the focus, and nothing is selected there; `mode` is its first letter. The text and
--- its range.
function M.in_file(buf, mode)
  local one = of(buf)
  if not one then
    return nil
  end
  -- On the command line, or asked something: what was selected may be what the command is about.
  if mode == "c" or mode == "r" or mode == "!" then
    return one.text, one.range
  end
  local is_first = one.cursor == nil
  local has_changed = one.tick ~= vim.api.nvim_buf_get_changedtick(buf)
  local at = cursor.current()
  if has_changed or (is_first and not one.is_held) or not (is_first or is_same(one.cursor, at)) then
    kept = nil
    return nil
  end
  one.cursor = at
  return one.text, one.range
end

--- Takes what changed in the file since the last look.
local function follow(one)
  local tick = vim.api.nvim_buf_get_changedtick(one.buf)
  if one.tick == tick then
    return true
  end
  one.tick = tick
  local place, lines = changes.move(one.buf, one.place, one.lines)
  if not place then
    return false
  end
  one.place, one.lines = place, lines
  one.text = selection.text_at(one.buf, place) or (place.is_block and one.text) or nil
  one.range = cursor.range(one.buf, place)
  one.cursor = cursor.of(one.win, one.buf)
  return one.text ~= nil
end

--- Something that is not a file has the focus, and the file `buf` had it before. The text, its range, and
--- where the cursor is in the file.
function M.away(buf)
  local one = of(buf)
  if not one then
    return nil
  end
  if not one.lines and one.tick == vim.api.nvim_buf_get_changedtick(buf) then
    one.lines = changes.lines(buf)
    one.cursor = cursor.of(one.win, buf)
    watch(one)
  end
  if not follow(one) then
    kept = nil
    return nil
  end
  return one.text, one.range, one.cursor
end

--- The kept selection of `buf`, `{ text, first, last }`, lines counted from 1; nil if there is none.
function M.of(buf)
  if kept and kept.buf == buf and kept.tick == vim.api.nvim_buf_get_changedtick(buf) then
    return { text = kept.text, first = kept.place.from.line + 1, last = kept.place.to.line + 1 }
  end
end

--- `changed` is called when the file of the kept selection changes.
function M.attach(changed)
  on_change = changed
end

return M
