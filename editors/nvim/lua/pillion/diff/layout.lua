--- The windows of a view: where they go, making them, taking them away.
---
--- Every split is made with a size: without one, 'equalalways' would resize the user's windows.

local M = {}

--- A terminal that leaves fewer columns or lines than this fills its tab page.
local MIN_COLUMNS, MIN_LINES = 40, 8

--- Sets an option of one window only; what it was is kept in `saved` for `close`.
function M.set(saved, win, name, value)
  saved[win] = saved[win] or {}
  if saved[win][name] == nil then
    saved[win][name] = vim.wo[win][name]
  end
  M.set_local(win, name, value)
end

function M.set_local(win, name, value)
  vim.api.nvim_set_option_value(name, value, { scope = "local", win = win })
end

local function is_floating(win)
  return vim.api.nvim_win_get_config(win).relative ~= ""
end

--- Which side of its tab page a terminal window takes, and how much; nil if no view fits beside it.
function M.side_of(win)
  win = win == 0 and vim.api.nvim_get_current_win() or win
  if is_floating(win) then
    return nil
  end
  local width, height = vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win)
  local position = vim.api.nvim_win_get_position(win)
  local lines = vim.o.lines - vim.o.cmdheight
  if width >= vim.o.columns then
    if lines - height < MIN_LINES then
      return nil
    end
    return { name = position[1] <= 1 and "top" or "bottom", width = width, height = height }
  end
  if height >= lines - 3 then
    local name = position[2] == 0 and "left" or "right"
    return vim.o.columns - width > MIN_COLUMNS and { name = name, width = width, height = height } or nil
  end
  if lines - height < MIN_LINES then
    return nil
  end
  -- A corner: something must stand beside the terminal, or it would get wider.
  return {
    name = position[1] <= 1 and "top" or "bottom",
    width = width,
    height = height,
    neighbour = position[2] == 0 and "right" or "left",
  }
end

--- A window of the current tab page that holds a file, or at least no terminal; the largest one.
function M.ordinary_window()
  local best, best_rank
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local buftype = vim.bo[vim.api.nvim_win_get_buf(win)].buftype
    if not is_floating(win) and buftype ~= "terminal" then
      local area = vim.api.nvim_win_get_width(win) * vim.api.nvim_win_get_height(win)
      local rank = (buftype == "" and 1000000 or 0) + area
      if not best or rank > best_rank then
        best, best_rank = win, rank
      end
    end
  end
  return best
end

--- True if a window of the current tab page takes part in a diff: ours would join it.
function M.has_diff()
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.wo[win].diff then
      return true
    end
  end
  return false
end

local function split(how, size, buf)
  vim.cmd(("%s %dsplit"):format(how, math.max(1, size)))
  local win = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(win, buf)
  return win
end

--- What stands beside a terminal in a corner: it says what can be done.
local function hint_buffer()
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].swapfile = false
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, {
    "In the proposal:",
    "  :w                accepts it, with your edits",
    "  :q                rejects it",
    "  :PillionDropHunk  restores the original lines",
    "  :PillionTakeHunk  restores the agent's lines",
  })
  vim.bo[buf].modifiable = false
  return buf
end

--- Shows the terminal at the edge where the person has it, as large as there.
local function add_terminal(made, side, buf)
  local how = (side.name == "left" or side.name == "top") and "topleft" or "botright"
  if side.name == "left" or side.name == "right" then
    made.terminal = split(how .. " vertical", side.width, buf)
  elseif not side.neighbour then
    made.terminal = split(how, side.height, buf)
  else
    made.hint = split(how, side.height, hint_buffer())
    local where = side.neighbour == "left" and "rightbelow vertical" or "leftabove vertical"
    made.terminal = split(where, side.width, buf)
  end
end

--- Splits the current window, which shows the proposal, for the original.
local function add_original(buf, is_horizontal)
  if is_horizontal then
    return split("leftabove", math.floor(vim.api.nvim_win_get_height(0) / 2), buf)
  end
  return split("leftabove vertical", math.floor(vim.api.nvim_win_get_width(0) / 2), buf)
end

--- True while the tab line is left out that would come with the second tab page.
local is_without_tabline = false

--- A terminal in sight would get a line less, and its program a signal to draw itself anew.
local function leave_tabline_out()
  local has_terminal = vim.iter(vim.api.nvim_tabpage_list_wins(0)):any(function(win)
    return vim.bo[vim.api.nvim_win_get_buf(win)].buftype == "terminal"
  end)
  if vim.o.showtabline == 1 and #vim.api.nvim_list_tabpages() == 1 and has_terminal then
    vim.o.showtabline = 0
    is_without_tabline = true
  end
end

local function bring_tabline_back()
  local has_view = vim.iter(vim.api.nvim_list_wins()):any(function(win)
    return vim.w[win].pillion_diff ~= nil
  end)
  if is_without_tabline and not has_view then
    is_without_tabline = false
    vim.o.showtabline = vim.o.showtabline == 0 and 1 or vim.o.showtabline
  end
end

--- Opens a tab page with the proposal in the current window.
local function open_tab(buf)
  leave_tabline_out()
  -- `:sbuffer` may go elsewhere with 'switchbuf'.
  local switchbuf = vim.o.switchbuf
  vim.o.switchbuf = ""
  local ok, message = pcall(vim.cmd, ("tab sbuffer %d"):format(buf))
  vim.o.switchbuf = switchbuf
  if not ok then
    error(message, 0)
  end
end

--- Makes the windows of a view: { right, left?, terminal?, hint?, tab }. `spec`: `right` and `left` (buffers),
--- `tab` (a new one, or beside the ordinary window), `horizontal`, `terminal` ({ buf, side }).
--- Leaves the focus in one of them. What was made is in `made`, also after an error.
function M.open(spec, made)
  if spec.tab then
    open_tab(spec.right)
    made.right = vim.api.nvim_get_current_win()
  else
    local from = M.ordinary_window()
    if from then
      vim.api.nvim_set_current_win(from)
    end
    local share = from and 3 / 4 or 1 / 2
    made.right = split("leftabove", math.floor(vim.api.nvim_win_get_height(0) * share), spec.right)
  end
  made.tab = vim.api.nvim_get_current_tabpage()
  if spec.terminal then
    add_terminal(made, spec.terminal.side, spec.terminal.buf)
    vim.api.nvim_set_current_win(made.right)
  end
  if spec.left then
    made.left = add_original(spec.left, spec.horizontal)
    vim.api.nvim_set_current_win(made.right)
  end
end

--- The last window of all cannot be closed: it gets a buffer of the user's.
local function vacate(win)
  if vim.bo[vim.api.nvim_win_get_buf(win)].buftype == "" then
    return
  end
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.bo[buf].buflisted and vim.bo[buf].buftype == "" then
      vim.api.nvim_win_set_buf(win, buf)
      return
    end
  end
  vim.api.nvim_win_set_buf(win, vim.api.nvim_create_buf(true, false))
end

--- Gives a window of a view its options back, so that none of them stays with the buffer.
function M.reset(saved, win)
  vim.api.nvim_win_call(win, function()
    vim.cmd("diffoff")
  end)
  for name, value in pairs(saved[win] or {}) do
    M.set_local(win, name, value)
  end
  vim.w[win].pillion_diff = nil
end

--- Closes the windows of a view, which was opened in `tab`.
function M.close(tab, wins)
  local is_ours = tab and vim.api.nvim_tabpage_is_valid(tab) and tab ~= vim.api.nvim_get_current_tabpage()
  for _, win in ipairs(is_ours and vim.api.nvim_tabpage_list_wins(tab) or {}) do
    is_ours = is_ours and (is_floating(win) or vim.tbl_contains(wins, win))
  end
  if is_ours then
    vim.cmd("tabclose! " .. vim.api.nvim_tabpage_get_number(tab))
    wins = {}
  end
  for _, win in ipairs(wins) do
    if vim.api.nvim_win_is_valid(win) and not pcall(vim.api.nvim_win_close, win, true) then
      vacate(win)
    end
  end
  bring_tabline_back()
end

return M
