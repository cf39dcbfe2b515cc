--- The view of a diff: its buffers in windows, and everything as it was when it goes.
---
--- A diff is { id, revision, path, agent, pristine, original, is_new, is_lossy } and, while it has a
--- view: left, right (buffers), windows ({ left, right, terminal, hint, tab }), origin (where the person was).

local astray = require("pillion.diff.astray")
local config = require("pillion.config")
local focus = require("pillion.diff.focus")
local hunks = require("pillion.diff.hunks")
local label = require("pillion.diff.label")
local layout = require("pillion.diff.layout")
local original = require("pillion.diff.original")
local proposal = require("pillion.diff.proposal")
local quiet = require("pillion.diff.quiet")
local removed = require("pillion.diff.removed")
local text = require("pillion.diff.text")
local unified = require("pillion.diff.unified")

local M = {}

local WINDOWS = { "terminal", "hint", "left", "right" }

local function is_valid(win)
  return win ~= nil and vim.api.nvim_win_is_valid(win)
end

--- True if a window belongs to the view of `diff`.
function M.has_window(diff, win)
  local windows = diff.windows or {}
  return win == windows.left
    or win == windows.right
    or win == windows.terminal
    or win == windows.hint
    or vim.api.nvim_win_get_buf(win) == diff.right
end

--- True if the proposal is in some window.
function M.is_shown(diff)
  return #vim.fn.win_findbuf(diff.right) > 0
end

local function needs_tab()
  return config.get().diff.open_in_new_tab or layout.has_diff()
end

--- Why nothing can be shown to the person now: "prompt" (the command-line window), "typing", or "terminal", which
--- fills the screen and which they do not leave for it; nil if it can.
function M.obstacle(in_event)
  local activity = focus.activity(in_event)
  if vim.fn.getcmdwintype() ~= "" then
    return "prompt"
  elseif activity == "busy" then
    return "typing"
  end
  local stays = activity == "terminal" and focus.keeps_terminal()
  return stays and needs_tab() and not layout.side_of(0) and "terminal" or nil
end

--- Where the windows go, and what has the focus then: "view", "terminal" or "stay". `how`: `in_view`,
--- the person looks at another diff; `is_wanted`, the person asked for this one; `waited`, for what obstacle.
local function plan(diff, here, how)
  local options = config.get().diff
  local is_unified = options.layout == "unified"
  local spec = {
    right = diff.right,
    left = not is_unified and diff.left or nil,
    horizontal = options.layout == "horizontal",
    tab = needs_tab(),
    focus = "view",
  }
  if how.is_wanted or how.waited == "terminal" then
    return spec
  end
  if here.in_terminal and options.keep_terminal_focus then
    local side = spec.tab and layout.side_of(here.win)
    spec.terminal = side and { buf = vim.api.nvim_win_get_buf(here.win), side = side }
    if focus.keeps_terminal() then
      spec.focus = spec.terminal and "terminal" or "stay"
      spec.unseen = spec.tab and not spec.terminal
    end
  elseif how.in_view then
    spec.tab, spec.focus, spec.unseen = true, "stay", true
  end
  return spec
end

local function is_inserting()
  return vim.api.nvim_get_mode().mode:find("^[iR]") ~= nil
end

--- In Insert mode Neovim finds no folds. Once the person is out of it, they are found anew.
function M.refresh_folds(diff)
  if not diff.has_stale_folds or is_inserting() then
    return
  end
  diff.has_stale_folds = false
  for _, win in ipairs({ diff.windows.left or -1, diff.windows.right }) do
    if is_valid(win) then
      layout.set_local(win, "foldmethod", vim.wo[win].foldmethod)
    end
  end
end

local function go_to_first_hunk(diff)
  local told = hunks.told(diff.hunks)
  local first = (vim.bo[diff.right].modified and hunks.between(original.lines(diff), text.lines(diff.right)) or told)[1]
  if not first then
    return
  end
  local win = diff.windows.right
  if removed.show(diff.windows, first) then
    return
  end
  local count = vim.api.nvim_buf_line_count(diff.right)
  vim.api.nvim_win_set_cursor(win, { hunks.first_line(first.new, first.new_count, count), 0 })
end

--- Gives the new windows their marks, labels and diff mode.
local function dress(diff, windows)
  local saved = {}
  diff.windows, diff.saved_options = windows, saved
  for _, name in ipairs(WINDOWS) do
    if windows[name] then
      vim.w[windows[name]].pillion_diff = diff.id
    end
  end
  label.show(diff)
  if windows.terminal then
    layout.set(saved, windows.terminal, "winfixwidth", true)
    layout.set(saved, windows.terminal, "winfixheight", true)
  end
  if windows.left then
    diff.had_hor = diff.had_hor or vim.tbl_contains(vim.opt.scrollopt:get(), "hor")
    diff.left_cursor = vim.api.nvim_win_get_cursor(windows.left)
    for _, win in ipairs({ windows.left, windows.right }) do
      vim.api.nvim_win_call(win, function()
        vim.cmd("diffthis")
      end)
    end
  else
    unified.attach(diff)
  end
  diff.has_stale_folds = is_inserting()
  go_to_first_hunk(diff)
end

--- Goes to a window with the user's events; an error in one of them is not ours.
local function enter(win)
  pcall(vim.api.nvim_set_current_win, win)
  if vim.api.nvim_get_current_win() ~= win and is_valid(win) then
    quiet.run(function()
      vim.api.nvim_set_current_win(win)
    end)
  end
end

--- Makes the windows of `spec`; nil and why if they cannot be, with everything as it was.
local function build(diff, spec, here)
  local windows = {}
  local done, problem = quiet.run(function()
    layout.open(spec, windows)
    dress(diff, windows)
    return true
  end)
  if done then
    return windows
  end
  M.close_windows(diff, windows)
  focus.go_back(here)
  focus.restore_layout(here, true)
  return nil, problem
end

--- Puts the buffers of `diff` into windows. True, or nil and why it cannot be.
function M.show(diff, how)
  if not vim.api.nvim_buf_is_valid(diff.left) then
    original.attach(diff)
    original.adopt_filetype(diff)
  end
  local here = focus.capture()
  local spec = plan(diff, here, how)
  local windows, problem = build(diff, spec, here)
  if not windows then
    -- Where two windows find no room, one may.
    spec.left, spec.terminal, spec.tab = nil, nil, true
    spec.focus = spec.focus == "terminal" and "stay" or spec.focus
    spec.unseen = spec.focus == "stay"
    windows, problem = build(diff, spec, here)
  end
  if not windows then
    return nil, problem
  end
  diff.origin, diff.before, diff.waits = here, here, nil
  if how.waited == "terminal" then
    -- They left Terminal mode for it.
    here.mode = "t"
  end
  diff.is_split = not spec.tab
  if spec.focus == "terminal" then
    -- Without going back first: with the tab line that came with the new tab page, the terminal
    -- would get a line less there, and the agent in it a signal to draw itself anew.
    enter(windows.terminal)
    label.show(diff)
    return true
  end
  focus.go_back(here)
  if spec.focus == "view" then
    enter(windows.right)
    if not (how.is_wanted or focus.is_following()) then
      astray.begin(diff.right)
    end
  elseif spec.unseen then
    label.announce(diff)
  end
  return true
end

--- Makes the buffers of the view. True, or nil and why they cannot be; then nothing is left of them.
function M.make(diff)
  local done, problem = quiet.run(function()
    original.attach(diff)
    return true
  end)
  if done then
    done, problem = pcall(function()
      diff.right = proposal.create(diff, diff.left_is_users and diff.left or nil)
      original.adopt_filetype(diff)
    end)
  end
  if not done then
    M.remove_buffers(diff)
    return nil, problem
  end
  return true
end

--- Shows another proposal in the view that is there. True if `u` brings back what the person wrote.
function M.replace(diff, was_edited)
  local is_over_edits = proposal.replace(diff, was_edited)
  local windows = diff.windows
  label.show(diff)
  if is_valid(windows.left) then
    vim.api.nvim_win_call(windows.left, function()
      vim.cmd("diffupdate")
    end)
  else
    unified.refresh(diff)
  end
  diff.has_stale_folds = is_inserting()
  return is_over_edits
end

--- Takes the windows away that still show what the view put there; the others only lose diff mode.
function M.close_windows(diff, windows)
  local expected = { right = diff.right, left = diff.left }
  quiet.run(function()
    local ours = {}
    for _, name in ipairs(WINDOWS) do
      local win = windows[name]
      if is_valid(win) then
        layout.reset(diff.saved_options or {}, win)
        local buf = vim.api.nvim_win_get_buf(win)
        if name == "left" and buf == diff.left and diff.left_cursor then
          -- Where the buffer's next window will stand.
          pcall(vim.api.nvim_win_set_cursor, win, diff.left_cursor)
        end
        if expected[name] == nil or buf == expected[name] then
          table.insert(ours, win)
        end
      end
    end
    layout.close(windows.tab, ours)
    if diff.had_hor then
      -- `:diffoff` takes it out with the last window that is compared.
      vim.opt.scrollopt:append("hor")
    end
  end)
end

function M.remove_buffers(diff)
  quiet.run(function()
    unified.detach(diff)
    if diff.right and vim.api.nvim_buf_is_valid(diff.right) then
      vim.api.nvim_buf_delete(diff.right, { force = true })
    end
    original.remove(diff)
  end)
end

--- Takes the view away. `inside`: the person was in it, and goes back to where they came from.
function M.finish(diff, inside)
  local origin = diff.origin
  if not origin then
    -- It was never shown.
    M.remove_buffers(diff)
    return
  end
  local came_back = false
  if inside and is_valid(origin.win) then
    if is_inserting() then
      vim.cmd("stopinsert")
    end
    enter(origin.win)
    came_back = true
  end
  M.close_windows(diff, diff.windows)
  M.remove_buffers(diff)
  if came_back and vim.api.nvim_get_current_win() == origin.win then
    focus.go_back(origin)
    if origin.mode == "t" and vim.bo.buftype == "terminal" and vim.api.nvim_get_mode().mode ~= "t" then
      vim.cmd("startinsert")
    end
  end
  focus.restore_layout(diff.before, diff.is_split)
end

--- Brings the person to the proposal. `from`: the diff whose view they are in, if they are in one.
function M.go_to(diff, from)
  local origin = from and from.origin or focus.capture()
  if M.is_shown(diff) then
    local wins = vim.fn.win_findbuf(diff.right)
    enter(vim.tbl_contains(wins, diff.windows.right) and diff.windows.right or wins[1])
  else
    M.close_windows(diff, diff.windows)
    local done, problem = M.show(diff, { is_wanted = true })
    if not done then
      return nil, problem
    end
  end
  if from ~= diff then
    diff.origin = origin
  end
  return true
end

return M
