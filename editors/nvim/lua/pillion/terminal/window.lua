--- The windows of terminals: opened at an edge of the tab page or over it, hidden without leaving a trace.

local M = {}

local places = {
  right = "botright vertical",
  left = "topleft vertical",
  top = "topleft",
  bottom = "botright",
}

--- The share of the screen that a floating terminal takes.
local FLOATING = 0.8

--- Sizes of windows before a terminal came in between, by tab page and by which windows they are.
local layouts = {}

local function is_floating(win)
  return vim.api.nvim_win_get_config(win).relative ~= ""
end

local function split_windows(tab)
  return vim.tbl_filter(function(win)
    return not is_floating(win)
  end, vim.api.nvim_tabpage_list_wins(tab))
end

local function name_of(windows)
  return table.concat(windows, " ") .. (" in %dx%d"):format(vim.o.columns, vim.o.lines)
end

local function remember_layout(tab)
  local windows = split_windows(tab)
  local sizes = {}
  for _, win in ipairs(windows) do
    sizes[win] = { vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win) }
  end
  layouts[tab] = layouts[tab] or {}
  layouts[tab][name_of(windows)] = sizes
end

local function restore_layout(tab)
  if not vim.api.nvim_tabpage_is_valid(tab) then
    layouts[tab] = nil
    return
  end
  local windows = split_windows(tab)
  local known = layouts[tab] or {}
  local sizes = known[name_of(windows)] or {}
  known[name_of(windows)] = nil
  -- Twice: resizing one window moves the borders of those before it.
  for _ = 1, 2 do
    for _, win in ipairs(windows) do
      if sizes[win] then
        vim.api.nvim_win_set_width(win, sizes[win][1])
        vim.api.nvim_win_set_height(win, sizes[win][2])
      end
    end
  end
end

local function is_vertical()
  local side = require("pillion.config").get().terminal.split_side
  return side == "right" or side == "left"
end

--- The columns or lines that a terminal in this window takes.
function M.size(win)
  return is_vertical() and vim.api.nvim_win_get_width(win) or vim.api.nvim_win_get_height(win)
end

--- The window of this tab page that shows the buffer.
function M.find(buf)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == buf then
      return win
    end
  end
end

--- A new window inherits what the window it was split from is set to, a diff for example.
local function set_options()
  local options = {
    cursorbind = false,
    diff = false,
    foldcolumn = "0",
    list = false,
    number = false,
    relativenumber = false,
    scrollbind = false,
    signcolumn = "no",
    spell = false,
    winfixwidth = is_vertical(),
    winfixheight = not is_vertical(),
  }
  for name, value in pairs(options) do
    vim.opt_local[name] = value
  end
end

local function open_floating(buf)
  local lines = vim.o.lines - vim.o.cmdheight
  local width, height = math.floor(vim.o.columns * FLOATING), math.floor(lines * FLOATING)
  vim.api.nvim_open_win(buf, true, {
    relative = "editor",
    border = "rounded",
    width = width,
    height = height,
    row = math.floor((lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2) - 1,
  })
end

--- Opens a window on the buffer, `size` columns or lines wide (nil: as the options say), and goes
--- there.
function M.open(buf, size)
  local options = require("pillion.config").get().terminal
  local tab = vim.api.nvim_get_current_tabpage()
  if is_floating(vim.api.nvim_get_current_win()) then
    vim.api.nvim_set_current_win(split_windows(tab)[1])
  end
  local whole = is_vertical() and vim.o.columns or vim.o.lines
  size = size or math.max(math.floor(whole * options.split_width_percentage), 1)
  remember_layout(tab)
  local place = places[options.split_side]
  local open = place and vim.cmd or open_floating
  local opened, problem = pcall(open, place and ("keepalt %s %dsplit"):format(place, size) or buf)
  if not opened then
    error({ message = ("cannot open a terminal here: %s"):format(problem) })
  end
  set_options()
  vim.api.nvim_win_set_buf(0, buf)
  return vim.api.nvim_get_current_win()
end

--- Puts another buffer into a window that cannot be closed, because it is the only one.
local function show_other_buffer(win)
  local other = vim.fn.bufnr("#")
  if other < 1 or not vim.bo[other].buflisted then
    other = vim.api.nvim_create_buf(true, false)
  end
  vim.api.nvim_win_set_buf(win, other)
end

--- Takes the window away and goes to `back`, where the person came from. The buffer stays.
function M.hide(win, back)
  local tab = vim.api.nvim_win_get_tabpage(win)
  local had_focus = win == vim.api.nvim_get_current_win()
  if had_focus then
    vim.cmd("stopinsert")
  end
  if not pcall(vim.api.nvim_win_hide, win) then
    show_other_buffer(win)
  end
  restore_layout(tab)
  if had_focus and back and vim.api.nvim_win_is_valid(back) then
    vim.api.nvim_set_current_win(back)
  end
end

return M
