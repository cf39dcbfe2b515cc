--- Messages that the command line has no room for, as a window above it that takes no focus and goes with the
--- next key.

local M = {}

local namespace = vim.api.nvim_create_namespace("pillion_notify")

--- The time for which a message stays, whatever is typed, if it came while the person did something else. Milliseconds.
local READ_MS = 4000

--- The window, what it shows, and since when.
local shown

--- The keys that are none of the person's.
local NO_KEYS = { ["<MouseMove>"] = true, ["<FocusGained>"] = true, ["<FocusLost>"] = true }

local function close_window()
  if shown and vim.api.nvim_win_is_valid(shown.win) then
    pcall(vim.api.nvim_win_close, shown.win, true)
  end
end

function M.close()
  close_window()
  shown = nil
  vim.on_key(nil, namespace)
  vim.api.nvim_create_augroup("PillionNotify", {})
end

local function is_over()
  return not vim.iter(shown.messages):any(function(message)
    return message.stays and (vim.uv.hrtime() / 1e6 - shown.since) < READ_MS
  end)
end

local function on_key(_, typed)
  if shown and typed and typed ~= "" and not NO_KEYS[vim.fn.keytrans(typed)] and is_over() then
    local read = shown
    vim.on_key(nil, namespace)
    -- No window can be closed here.
    vim.schedule(function()
      -- What was said meanwhile was not read.
      if shown == read then
        M.close()
      end
    end)
  end
end

local function fill(buf, messages)
  local lines = vim.tbl_map(function(message)
    return message.text
  end, messages)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  for row, message in ipairs(messages) do
    vim.api.nvim_buf_set_extmark(buf, namespace, row - 1, 0, { end_col = #message.text, hl_group = message.highlight })
  end
end

--- The lowest place above the status line, or the highest if the cursor is there.
local function place(height)
  local has_status = vim.o.laststatus > 1 or (vim.o.laststatus == 1 and #vim.api.nvim_tabpage_list_wins(0) > 1)
  local row = vim.o.lines - vim.o.cmdheight - (has_status and 1 or 0) - height
  local cursor = vim.fn.screenrow() - 1
  local top = vim.o.tabline ~= "" and 1 or 0
  return cursor >= row and cursor < row + height and top or math.max(row, 0)
end

--- A window of one line for messages, at the top of `at`: where that is, and how wide it is.
local function window(messages, at)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.bo[buf].bufhidden = "wipe"
  fill(buf, messages)
  local config = {
    row = 0,
    col = 0,
    height = 1,
    style = "minimal",
    border = "none",
    focusable = false,
    noautocmd = true,
    zindex = 250,
  }
  local win = vim.api.nvim_open_win(buf, false, vim.tbl_extend("error", config, at))
  vim.w[win].pillion_message = true
  return win
end

--- Shows a line over the first one of a window, which keeps its height; returns the window of the line.
function M.over(win, text)
  local width = vim.api.nvim_win_get_width(win)
  return window({ { text = text, highlight = "WinBar" } }, { relative = "win", win = win, width = width })
end

local function open(messages)
  local win = window(messages, { relative = "editor", width = vim.o.columns })
  vim.wo[win].wrap = true
  vim.wo[win].linebreak = true
  local room = math.max(vim.o.lines - math.max(vim.o.cmdheight, 1) - 3, 1)
  local wanted = vim.api.nvim_win_text_height(win, {}).all
  if wanted > room then
    vim.api.nvim_buf_set_lines(vim.api.nvim_win_get_buf(win), 0, 0, false, { ":messages shows all of this" })
  end
  local height = math.min(wanted, room)
  vim.api.nvim_win_set_config(win, { relative = "editor", row = place(height), col = 0, height = height })
  return win
end

local function draw()
  shown.win = open(shown.messages)
  if vim.api.nvim_get_mode().mode:find("^c") then
    vim.cmd("redraw")
  end
end

--- Shows messages, in place of those that are there.
function M.show(messages)
  M.close()
  shown = { messages = vim.list_slice(messages), since = vim.uv.hrtime() / 1e6 }
  draw()
  vim.on_key(on_key, namespace)
  vim.api.nvim_create_autocmd({ "TabEnter", "VimResized" }, {
    group = vim.api.nvim_create_augroup("PillionNotify", {}),
    -- Neovim 0.10 loses lines of the screen if windows come and go while a tab page is entered.
    callback = vim.schedule_wrap(function()
      if shown then
        close_window()
        draw()
      end
    end),
  })
end

return M
