--- Opens a new file once the agent has written what was accepted.

local config = require("pillion.config")
local focus = require("pillion.diff.focus")
local layout = require("pillion.diff.layout")

local M = {}

--- The time between two looks for the file, and the time that an agent may take.
local POLL_INTERVAL_MS, TIMEOUT_MS = 100, 10000

--- The window for it, and whether the person may be taken there: not from a terminal.
local function place()
  local here = vim.api.nvim_get_current_win()
  local win = vim.bo.buftype == "" and here or layout.ordinary_window()
  return win, focus.activity() == "normal" and vim.bo.buftype ~= "terminal"
end

local function open(path)
  local win, may_go = place()
  if not win then
    return
  end
  -- Never by a command: the path is the agent's.
  local buf = vim.fn.bufadd(path)
  vim.bo[buf].buflisted = true
  local shown = vim.api.nvim_win_get_buf(win)
  if vim.bo[shown].modified and not vim.o.hidden then
    return
  end
  -- `nvim_win_set_buf` says no more than that an autocommand failed.
  pcall(vim.api.nvim_win_set_buf, win, buf)
  if may_go then
    vim.api.nvim_set_current_win(win)
  end
end

--- Waits for the file at `path`, and for the person to be done with typing.
function M.expect(path)
  if not config.get().diff.open_new_file then
    return
  end
  local deadline = vim.uv.now() + TIMEOUT_MS
  local function look()
    local is_there = vim.uv.fs_stat(path) ~= nil
    if is_there and focus.activity() ~= "busy" and vim.fn.getcmdwintype() == "" then
      open(path)
    elseif is_there or vim.uv.now() < deadline then
      vim.defer_fn(look, POLL_INTERVAL_MS)
    end
  end
  vim.defer_fn(look, POLL_INTERVAL_MS)
end

return M
