--- Showing lines that are only removed from their beginning, where a window has no room for all of them: the line
--- behind them would be below their end.

local layout = require("pillion.diff.layout")

local M = {}

--- The options that bind the windows of two texts.
local BOUND = { "scrollbind", "cursorbind" }

local function is_valid(win)
  return win ~= nil and vim.api.nvim_win_is_valid(win)
end

local function bind(win, is_bound)
  for _, name in ipairs(BOUND) do
    layout.set_local(win, name, is_bound)
  end
end

local function go(win, line, view)
  vim.api.nvim_win_set_cursor(win, { line, 0 })
  vim.api.nvim_win_call(win, function()
    vim.fn.winrestview(view)
  end)
end

--- The original moves alone until somebody goes there, or scrolls: above the first line of a proposal Neovim has room
--- for the end of what was there, and the original would follow.
local function move_alone(windows)
  bind(windows.left, false)
  local group = vim.api.nvim_create_augroup(("PillionRemoved%d"):format(windows.left), {})
  local function is_over()
    local is_there = is_valid(windows.left) and is_valid(windows.right)
    return not is_there or vim.api.nvim_get_current_win() == windows.left or vim.fn.line("w0", windows.right) > 1
  end
  vim.api.nvim_create_autocmd({ "WinEnter", "WinScrolled" }, {
    group = group,
    callback = function()
      if is_over() then
        vim.api.nvim_del_augroup_by_id(group)
        if is_valid(windows.left) and vim.wo[windows.left].diff then
          bind(windows.left, true)
        end
      end
    end,
  })
end

--- Shows a hunk that only removes lines from its beginning, if not all of it fits. What stands before it is shown with
--- it, if anything does. Whether it did.
function M.show(windows, hunk)
  local height = vim.api.nvim_win_get_height(windows.right)
  if hunk.new_count > 0 or hunk.old_count < height then
    return false
  elseif hunk.new > 0 then
    go(windows.right, hunk.new, { topline = hunk.new, topfill = 0 })
    return true
  elseif not is_valid(windows.left) then
    return false
  end
  go(windows.right, 1, { topline = 1, topfill = height - 1 })
  go(windows.left, 1, { topline = 1 })
  move_alone(windows)
  return true
end

return M
