--- Sessions: views are no part of them. What was saved with one is saved once more without.

local focus = require("pillion.diff.focus")
local original = require("pillion.diff.original")
local quiet = require("pillion.diff.quiet")
local view = require("pillion.diff.view")

local M = {}

--- Takes the windows of a view away; what brings them back.
local function put_away(diff, here)
  local win = diff.windows.right
  local is_there = win and vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == diff.right
  local place = is_there and vim.api.nvim_win_call(win, vim.fn.winsaveview)
  local had_focus = view.has_window(diff, here.win)
  local origin = diff.origin
  view.close_windows(diff, diff.windows)
  return function()
    view.show(diff, { is_wanted = true, is_quiet = true })
    diff.origin = origin
    if place then
      vim.api.nvim_win_call(diff.windows.right, function()
        vim.fn.winrestview(place)
      end)
    end
    return had_focus and diff.windows.right
  end
end

--- Its path is in a variable of Neovim's, never in the text of a command.
local function write()
  pcall(vim.cmd.mksession, { vim.fn.fnameescape(vim.v.this_session), bang = true })
end

--- Writes the session again.
local function save_again(sorted)
  local here, mode = focus.capture(), vim.api.nvim_get_mode().mode
  quiet.run(function()
    local back = {}
    for _, diff in ipairs(sorted()) do
      if view.is_shown(diff) then
        table.insert(back, put_away(diff, here))
      end
    end
    write()
    local target
    for _, show in ipairs(back) do
      target = show() or target
    end
    if target then
      vim.api.nvim_set_current_win(target)
    else
      focus.go_back(here)
    end
  end)
  if mode == "t" and vim.api.nvim_get_mode().mode ~= "t" then
    vim.cmd("startinsert")
  end
end

function M.attach(group, sorted)
  vim.api.nvim_create_autocmd("SessionWritePost", {
    group = group,
    desc = "A view of Pillion is no part of a session",
    callback = function()
      for _, diff in ipairs(sorted()) do
        if view.is_shown(diff) then
          save_again(sorted)
          return
        end
      end
    end,
  })
end

--- For how long a session counts as written while Neovim ends. Seconds.
local ENDING = 10

--- True if the session was written just now, with a view in it: autocommands of one event tell of none.
local function has_view()
  local session = vim.v.this_session
  return session ~= ""
    and vim.fn.getftime(session) >= os.time() - ENDING
    and table.concat(vim.fn.readfile(session), "\n"):find("pillion[%a-]*://") ~= nil
end

--- Neovim ends: what is saved from now on has no views, nor has what was saved by those who heard of it before us.
function M.end_views(sorted)
  quiet.run(function()
    local diffs = sorted()
    for _, diff in ipairs(diffs) do
      view.close_windows(diff, diff.windows)
    end
    -- Options of buffers may be saved, too.
    original.guard(nil)
    if #diffs > 0 and has_view() then
      write()
    end
  end)
end

--- True if a buffer is what a session made of a view.
local function is_left_over(buf)
  local is_ours = vim.api.nvim_buf_get_name(buf):find("^pillion[%a-]*://") ~= nil
  return is_ours and vim.b[buf].pillion_diff == nil and not vim.bo[buf].modified
end

--- Takes away what a session restored of views that it was saved with.
function M.clean()
  quiet.run(function()
    for _, buf in ipairs(vim.tbl_filter(is_left_over, vim.api.nvim_list_bufs())) do
      for _, win in ipairs(vim.fn.win_findbuf(buf)) do
        local tab = vim.api.nvim_win_get_tabpage(win)
        local wins = vim.api.nvim_tabpage_list_wins(tab)
        if #wins == 2 and #vim.api.nvim_list_tabpages() > 1 then
          vim.cmd("tabclose! " .. vim.api.nvim_tabpage_get_number(tab))
        else
          pcall(vim.api.nvim_win_close, win, true)
        end
      end
      vim.api.nvim_buf_delete(buf, { force = true })
    end
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      local is_original = vim.wo[win].foldmethod == "diff" and not vim.wo[win].diff
      local shows = is_original and vim.fn.win_findbuf(vim.api.nvim_win_get_buf(win)) or {}
      if #shows > 1 and pcall(vim.api.nvim_win_close, win, true) then
        -- The person's own window with the file is there, too.
        is_original = false
      end
      if is_original then
        vim.api.nvim_set_option_value("foldmethod", vim.go.foldmethod, { scope = "local", win = win })
      end
    end
  end)
end

return M
