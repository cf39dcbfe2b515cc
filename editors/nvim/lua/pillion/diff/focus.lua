--- Where the person is, and bringing them back there: tab page, window, last window, last tab page,
--- mode, sizes, what each window shows.

local quiet = require("pillion.diff.quiet")

local M = {}

local function tab_of_number(number)
  return number > 0 and vim.api.nvim_list_tabpages()[number] or nil
end

local function win_of_number(number)
  local win = number > 0 and vim.fn.win_getid(number) or 0
  return win ~= 0 and win or nil
end

local function views_of_tab(tab)
  local views = {}
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
    views[win] = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  end
  return views
end

--- The result of |winrestcmd()|, without windows that float: those come and go.
local function sizes_of(tab)
  local sizes = {}
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
    if vim.api.nvim_win_get_config(win).relative == "" then
      local size = { win = win, height = vim.api.nvim_win_get_height(win), width = vim.api.nvim_win_get_width(win) }
      table.insert(sizes, size)
    end
  end
  return sizes
end

local function resize(sizes)
  -- Twice, because the first ones may find no room before the last.
  for _ = 1, 2 do
    for _, size in ipairs(sizes) do
      if vim.api.nvim_win_is_valid(size.win) then
        vim.api.nvim_win_set_height(size.win, size.height)
        vim.api.nvim_win_set_width(size.win, size.width)
      end
    end
  end
end

--- The state of the person: "normal" or "terminal", in which they may be taken elsewhere, or "busy".
--- A macro would go on elsewhere, too, or be recorded there; so would a script that waits for a key or for a
--- program. Autocommands are that, too: `in_event` is for those that tell of the mode.
function M.activity(in_event)
  local mode = vim.api.nvim_get_mode()
  if mode.blocking or vim.fn.reg_recording() ~= "" or vim.fn.reg_executing() ~= "" then
    return "busy"
  end
  if mode.mode ~= "t" and not in_event and vim.fn.state("S") ~= "" then
    return "busy"
  end
  if mode.mode == "n" or mode.mode == "nt" then
    return "normal"
  end
  return mode.mode == "t" and "terminal" or "busy"
end

local following = vim.api.nvim_create_namespace("pillion_following")
local is_following = false

--- The person has decided in a view: until they type something, they look for what comes next.
function M.follow()
  is_following = true
  vim.on_key(function(_, typed)
    if typed ~= "" then
      is_following = false
      vim.on_key(nil, following)
    end
  end, following)
end

function M.is_following()
  return is_following
end

--- True if a terminal that has the focus keeps it when a proposal comes.
function M.keeps_terminal()
  return require("pillion.config").get().diff.keep_terminal_focus and not is_following
end

--- The facts that `restore` needs.
function M.capture()
  local mode = vim.api.nvim_get_mode()
  local tab = vim.api.nvim_get_current_tabpage()
  return {
    win = vim.api.nvim_get_current_win(),
    tab = tab,
    mode = mode.mode,
    in_terminal = vim.bo.buftype == "terminal",
    last_win = win_of_number(vim.fn.winnr("#")),
    last_tab = tab_of_number(vim.fn.tabpagenr("#")),
    layout = vim.fn.winlayout(),
    sizes = sizes_of(tab),
    views = views_of_tab(tab),
    is_visual = mode.mode:find("^[vV\22]") ~= nil,
  }
end

local function valid_win(win)
  return win and vim.api.nvim_win_is_valid(win)
end

--- Goes back without events, so that nothing notices that we were away; `g<Tab>` and `CTRL-W p` lead
--- where they led. True if the window is still there.
function M.go_back(focus)
  if not valid_win(focus.win) then
    return false
  end
  quiet.run(function()
    if focus.last_tab and vim.api.nvim_tabpage_is_valid(focus.last_tab) then
      vim.api.nvim_set_current_tabpage(focus.last_tab)
    end
    vim.api.nvim_set_current_tabpage(vim.api.nvim_win_get_tabpage(focus.win))
    -- With 'winwidth' and 'winheight' a window grows when it is entered.
    local sizes = sizes_of(0)
    if valid_win(focus.last_win) and focus.last_win ~= focus.win then
      vim.api.nvim_set_current_win(focus.last_win)
    end
    vim.api.nvim_set_current_win(focus.win)
    resize(sizes)
    if focus.is_visual and not vim.api.nvim_get_mode().mode:find("^[vV\22]") then
      vim.cmd("normal! gv")
    end
  end)
  return true
end

--- The lines by which Neovim scrolls a window by itself when it gets a line less and more again, for the tab line.
local SHIFT = 3

--- True if a window still stands where it stood, but for what Neovim did by itself.
local function is_unmoved(win, view, was_split)
  if not valid_win(win) or vim.bo[vim.api.nvim_win_get_buf(win)].buftype == "terminal" then
    return false
  end
  local now = vim.api.nvim_win_call(win, vim.fn.winsaveview)
  local is_near = was_split or math.abs(now.topline - view.topline) <= SHIFT
  return is_near and now.lnum == view.lnum and now.col == view.col
end

--- Gives the windows of the tab page the sizes and views that they had, where the layout is the same
--- again and the person did not move the cursor. `was_split`: the view was among these windows.
function M.restore_layout(focus, was_split)
  if not vim.api.nvim_tabpage_is_valid(focus.tab) then
    return
  end
  local some = vim.api.nvim_tabpage_get_win(focus.tab)
  quiet.run(function()
    vim.api.nvim_win_call(some, function()
      if vim.deep_equal(vim.fn.winlayout(), focus.layout) then
        resize(focus.sizes)
      end
    end)
    for win, view in pairs(focus.views) do
      if is_unmoved(win, view, was_split) then
        vim.api.nvim_win_call(win, function()
          vim.fn.winrestview(view)
        end)
      end
    end
  end)
end

return M
