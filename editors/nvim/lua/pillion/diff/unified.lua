--- The layout of one window: the proposal, with what is added or changed highlighted, signed and folded
--- around, and what is removed as virtual lines.

local hunks = require("pillion.diff.hunks")
local layout = require("pillion.diff.layout")
local marks = require("pillion.diff.marks")
local original = require("pillion.diff.original")
local text = require("pillion.diff.text")

local M = {}

local namespace = vim.api.nvim_create_namespace("pillion_diff")

--- A refresh waits this long, or several times what the last one took.
local DEBOUNCE_MS, SHARE = 80, 8

--- Neovim does not show virtual lines above the first line until the window is scrolled there.
local function show_above_first(diff, count)
  for _, win in ipairs(vim.fn.win_findbuf(diff.right)) do
    vim.api.nvim_win_call(win, function()
      if vim.fn.line("w0") == 1 then
        vim.fn.winrestview({ topfill = math.min(count, math.floor(vim.api.nvim_win_get_height(win) / 2)) })
      end
    end)
  end
end

--- 'context' of 'diffopt': so many lines around a hunk are not folded.
local function context()
  return tonumber(vim.o.diffopt:match("context:(%d+)")) or 6
end

--- By buffer: which lines are shown, as ranges of line numbers.
local open_ranges = {}

--- 'foldexpr' of the window.
function M.fold_level(line)
  for _, range in ipairs(open_ranges[vim.api.nvim_get_current_buf()] or { { 1, math.huge } }) do
    if line >= range[1] and line <= range[2] then
      return 0
    end
  end
  return 1
end

local function find_folds(diff, found)
  local ranges, around = {}, context()
  for _, hunk in ipairs(found) do
    local first = hunks.first_line(hunk.new, hunk.new_count, math.huge)
    local range = { first - around, first + math.max(hunk.new_count, 1) - 1 + around }
    local last = ranges[#ranges]
    if last and range[1] <= last[2] + 1 then
      last[2] = range[2]
    else
      table.insert(ranges, range)
    end
  end
  open_ranges[diff.right] = ranges
  local win = diff.windows.right
  if win and vim.api.nvim_win_is_valid(win) and vim.wo[win].foldmethod == "expr" then
    layout.set_local(win, "foldmethod", "expr")
  end
end

--- Draws the hunks.
function M.refresh(diff)
  local buf = diff.right
  if not (buf and vim.api.nvim_buf_is_loaded(buf)) then
    return
  end
  local started = vim.uv.hrtime()
  local old, new = original.lines(diff), text.lines(buf)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local found = hunks.shown(old, new)
  for _, hunk in ipairs(found) do
    marks.draw(buf, namespace, hunk, old, new)
    if hunk.old_count > 0 and hunk.new <= 1 and (hunk.new_count > 0 or hunk.new == 0) then
      show_above_first(diff, hunk.old_count)
    end
  end
  find_folds(diff, found)
  diff.refresh_cost_ms = (vim.uv.hrtime() - started) / 1e6
end

local function refresh_later(diff)
  if diff.refresh_is_due then
    return
  end
  diff.refresh_is_due = true
  vim.defer_fn(function()
    diff.refresh_is_due = false
    M.refresh(diff)
  end, math.floor(DEBOUNCE_MS + SHARE * diff.refresh_cost_ms))
end

--- Draws the hunks, and keeps them drawn while the proposal is edited.
function M.attach(diff)
  marks.define_highlights()
  local win = diff.windows.right
  for name, value in pairs({
    foldmethod = "expr",
    foldexpr = "v:lua.require'pillion.diff.unified'.fold_level(v:lnum)",
    foldlevel = 0,
    foldenable = true,
    signcolumn = "yes",
  }) do
    layout.set(diff.saved_options, win, name, value)
  end
  M.refresh(diff)
  if not diff.is_watched then
    diff.is_watched = true
    vim.api.nvim_buf_attach(diff.right, false, {
      on_lines = function()
        if diff.is_watched then
          refresh_later(diff)
        end
        return not diff.is_watched
      end,
      on_reload = function()
        refresh_later(diff)
      end,
    })
  end
end

function M.detach(diff)
  open_ranges[diff.right or -1] = nil
  diff.is_watched = false
end

return M
