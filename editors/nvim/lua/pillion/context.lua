--- What agents are shown: open files, cursor and selection, sent when they change.
---
--- Events only note what may have changed. What is so is read once, when Neovim is back in its event
--- loop: a macro that moves a thousand times costs one message. Quiet is waited for by Pillion.

local cursor = require("pillion.context.cursor")
local focus = require("pillion.context.focus")
local recent = require("pillion.context.recent")
local selection = require("pillion.context.selection")
local uri = require("pillion.uri")

local M = {}

local group
local scheduled = false

--- What may have changed since the last look, apart from cursor and selection.
local files_changed, roots_changed = true, true

--- Buffers that were entered since the last look, with their windows.
local entered = {}

--- The last look: the files to be shown, the buffer and window in focus, the focused file if it is one.
local shown, open_files = {}, {}
local seen = {}

--- The files behind the active one, as JSON: a cursor that moves changes nothing of them.
local others = ""

--- What was sent last.
local sent = {}

local function note_entered()
  local new = entered
  entered = {}
  for _, one in ipairs(new) do
    local in_view = vim.api.nvim_win_is_valid(one.win) and not focus.is_for_files(one.win)
    if not in_view and require("pillion.context.file").path(one.buf) then
      recent.touch(one.buf)
    end
  end
end

local function look_at_files(win, buf)
  note_entered()
  seen = { win = win, buf = buf, file = focus.file() }
  shown = recent.shown()
  if seen.file and not (shown[1] and shown[1].buf == seen.file) then
    recent.touch(seen.file)
    shown = recent.shown()
  end
  open_files = vim.tbl_map(function(entry)
    return { uri = uri.from_path(entry.path), lastFocused = entry.time }
  end, shown)
  local encoded = vim.tbl_map(vim.json.encode, vim.list_slice(open_files, 2))
  others = table.concat(vim.list_extend({ "" }, encoded), ",")
end

local function signature()
  local parts = {}
  for index, open_file in ipairs(open_files) do
    parts[index] = open_file.uri .. " " .. open_file.lastFocused
  end
  return table.concat(parts, "\n")
end

--- Completes the active file, which is the one focused last.
local function look_at_cursor()
  local active, entry = open_files[1], shown[1]
  if not active then
    return nil
  end
  local mode = vim.api.nvim_get_mode().mode:sub(1, 1)
  active.active = true
  if seen.file then
    entry.position = cursor.current()
    active.selectedText = selection.read(mode)
  else
    entry.position = entry.position or cursor.last(entry.buf)
    active.selectedText = nil
  end
  active.position = entry.position
  return active
end

local function differs(active, files)
  local position = active and active.position or {}
  return files ~= sent.files
    or position.line ~= sent.line
    or position.character ~= sent.character
    or (active and active.selectedText) ~= sent.selectedText
end

local function params(active)
  local files = active and vim.json.encode(active) .. others or ""
  local is_trusted = require("pillion.config").get().is_trusted
  local trust = is_trusted ~= nil and (',"isTrusted":%s'):format(tostring(is_trusted)) or ""
  return ('{"openFiles":[%s]%s}'):format(files, trust)
end

local function send(active, files)
  local is_sent = require("pillion.client").notify_encoded("pillion/didChangeContext", params(active))
  local position = active and active.position or {}
  sent = is_sent
      and {
        files = files,
        line = position.line,
        character = position.character,
        selectedText = active and active.selectedText,
      }
    or {}
end

local function look()
  scheduled = false
  if not group then
    return
  end
  if roots_changed then
    roots_changed = false
    require("pillion.roots").refresh()
  end
  local win, buf = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local files = sent.files
  if files_changed or win ~= seen.win or buf ~= seen.buf then
    files_changed = false
    look_at_files(win, buf)
    files = signature()
  end
  local active = look_at_cursor()
  if differs(active, files) then
    send(active, files)
  end
end

local function schedule()
  if not scheduled then
    scheduled = true
    vim.schedule(look)
  end
end

local function files_may_differ()
  files_changed = true
  schedule()
end

local function roots_may_differ()
  roots_changed = true
  schedule()
end

local function on_enter(event)
  entered[#entered + 1] = { buf = event.buf, win = vim.api.nvim_get_current_win() }
  files_may_differ()
end

local function on_delete(event)
  recent.forget(event.buf)
  files_may_differ()
end

--- Neovim has no event for a selection that changes under a cursor that stays, as `viw` does at the
--- end of a word. So every key is one while something is selected.
local keys = vim.api.nvim_create_namespace("pillion_selection")

local function on_mode()
  local is_selecting = vim.api.nvim_get_mode().mode:find("^[vVsS\22\19]") ~= nil
  vim.on_key(is_selecting and schedule or nil, keys)
  schedule()
end

local function on(names, callback, pattern)
  vim.api.nvim_create_autocmd(names, {
    group = group,
    pattern = pattern,
    callback = function(event)
      -- What a callback returns could remove the autocommand.
      callback(event)
    end,
  })
end

--- From now on changes are sent.
function M.attach()
  group = vim.api.nvim_create_augroup("PillionContext", {})
  files_changed, roots_changed, entered, seen, sent = true, true, {}, {}, {}
  recent.seed()
  on({ "CursorMoved", "CursorMovedI", "TextChangedP", "InsertLeave" }, schedule)
  on("ModeChanged", on_mode, { "*:[vVsS\22\19]*", "[vVsS\22\19]*:*" })
  on("BufEnter", on_enter)
  on({ "BufDelete", "BufWipeout" }, on_delete)
  on({ "WinEnter", "TabEnter", "FocusGained", "CursorHold", "BufFilePost", "BufWritePost" }, files_may_differ)
  on({ "BufReadPost", "FileChangedShellPost", "TermOpen" }, files_may_differ)
  on("OptionSet", files_may_differ, { "buftype", "buflisted" })
  on({ "DirChanged", "TabNew", "TabClosed", "WinNew", "WinClosed" }, roots_may_differ)
  schedule()
end

--- From now on nothing is.
function M.detach()
  if group then
    vim.api.nvim_del_augroup_by_id(group)
    vim.on_key(nil, keys)
    group = nil
  end
end

return M
