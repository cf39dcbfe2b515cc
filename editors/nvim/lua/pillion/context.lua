--- The context that agents are shown: open files, cursor and selection, sent when they change.
---
--- Events only note what may have changed. What is so is read once, when Neovim is back in its event
--- loop: a macro that moves a thousand times costs one message. Quiet is waited for by Pillion.

local cursor = require("pillion.context.cursor")
local file = require("pillion.context.file")
local kept = require("pillion.context.kept")
local recent = require("pillion.context.recent")
local selection = require("pillion.context.selection")
local uri = require("pillion.uri")

local M = {}

local group
local scheduled = false

--- What may have changed since the last look, apart from cursor and selection.
local files_changed, roots_changed = true, true

--- True if folders may have become repositories since then.
local repositories_changed = false

--- Buffers that were entered since the last look, with their windows.
local entered = {}

--- The last look: the files to be shown, the buffer and window in focus, the focused file if it is one.
local shown, open_files = {}, {}
local seen = {}

--- The files behind the active one, as JSON: a cursor that moves changes nothing of them.
local others = ""

--- The message that was sent last.
local sent = {}

local function note_entered()
  local new = entered
  entered = {}
  for _, one in ipairs(new) do
    local in_view = vim.api.nvim_win_is_valid(one.win) and not file.is_window_for_files(one.win)
    if not in_view and file.path(one.buf) then
      recent.touch(one.buf)
    end
  end
end

local function look_at_files(win, buf)
  note_entered()
  seen = { win = win, buf = buf, file = file.in_focus() }
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

--- The text that is selected in the file in focus, or was when the person went to what is not a file, and
--- its range; notes where the cursor is in it.
local function look_at_selection(entry)
  local mode = vim.api.nvim_get_mode().mode:sub(1, 1)
  if seen.file then
    entry.position, entry.win = cursor.current(), seen.win
    if selection.is_mode(mode) then
      return kept.note(selection.read(mode))
    end
    return kept.in_file(seen.file, mode)
  end
  if entry.win then
    -- The last that the person did there, if there was no look in between.
    entry.position, entry.win = cursor.of(entry.win, entry.buf), nil
  end
  local text, range, position = kept.away(entry.buf)
  entry.position = position or entry.position or cursor.last(entry.buf)
  return text, range
end

--- Completes the active file, which is the one focused last.
local function look_at_cursor()
  local active, entry = open_files[1], shown[1]
  if not active then
    return nil
  end
  active.active = true
  active.selectedText, active.selection = look_at_selection(entry)
  active.position = entry.position
  return active
end

local function differs(active, files)
  local position = active and active.position or {}
  return files ~= sent.files
    or position.line ~= sent.line
    or position.character ~= sent.character
    or (active and active.selectedText) ~= sent.selectedText
    or not vim.deep_equal(active and active.selection, sent.selection)
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
        selection = active and active.selection,
      }
    or {}
end

local function look_at_roots()
  require("pillion.roots").refresh(repositories_changed)
  roots_changed, repositories_changed = false, false
end

--- True if only the roots are looked at: the focus is about to leave the file, and what was selected there is kept only
--- if nobody looks before.
local is_flushing = false

local function look()
  scheduled = false
  if not group then
    return
  end
  local win, buf = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local files = sent.files
  if files_changed or win ~= seen.win or buf ~= seen.buf then
    files_changed = false
    look_at_files(win, buf)
    files = signature()
    roots_changed = roots_changed or files ~= sent.files
  end
  if roots_changed then
    look_at_roots()
  end
  if is_flushing then
    files_changed = true
    return
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

--- Tells Pillion what has changed, and waits until it knows the roots: an agent starts right after `:tcd` or `:edit`.
function M.flush()
  is_flushing = true
  look()
  local is_done, problem = pcall(require("pillion.roots").await)
  is_flushing = false
  schedule()
  if not is_done then
    error(problem, 0)
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

local function repositories_may_differ()
  files_changed, repositories_changed = true, true
  roots_may_differ()
end

local function on_enter(event)
  entered[#entered + 1] = { buf = event.buf, win = vim.api.nvim_get_current_win() }
  files_may_differ()
end

local function on_delete(event)
  recent.forget(event.buf)
  files_changed = true
  roots_may_differ()
end

--- Neovim has no event for a selection that changes under a cursor that stays, as `viw` does at the
--- end of a word. So every key is one while something is selected.
local keys = vim.api.nvim_create_namespace("pillion_selection")

local function on_key()
  kept.on_key()
  schedule()
end

local function on_mode()
  local event = vim.v.event
  local old, new = (event.old_mode or ""):sub(1, 1), (event.new_mode or ""):sub(1, 1)
  local was, is = selection.is_mode(old), selection.is_mode(new)
  vim.on_key(is and on_key or nil, keys)
  if is and not was then
    kept.begin()
  elseif was and not is then
    kept.finish(old)
  end
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

--- A command was given about what is selected, or with the range of it (`call`): agents are shown it
--- until the person goes on in the file, wherever the command leads.
function M.hold(call)
  local first, last = vim.fn.getpos("'<")[2], vim.fn.getpos("'>")[2]
  kept.hold(call.range == 2 and call.line1 == first and call.line2 == last)
  schedule()
end

--- The file in focus, or the one before something else got the focus: `{ buf, path, line, is_in_focus }`
--- and what is selected in it as agents are shown it, `text`, `first`, `last`. Nil if there is none.
function M.current()
  local buf = file.in_focus()
  local entry = not buf and recent.shown()[1] or nil
  if not buf and not entry then
    return nil
  end
  local found = { buf = buf or entry.buf, is_in_focus = buf ~= nil }
  found.path = vim.api.nvim_buf_get_name(found.buf)
  local position = buf and cursor.current() or entry.position or cursor.last(entry.buf) or { line = 0 }
  found.line = position.line + 1
  if buf then
    -- The person may have gone on since the last look.
    kept.in_file(buf, vim.api.nvim_get_mode().mode:sub(1, 1))
  end
  return vim.tbl_extend("force", found, kept.of(found.buf) or {})
end

--- From now on changes are sent.
function M.attach()
  group = vim.api.nvim_create_augroup("PillionContext", {})
  files_changed, roots_changed, entered, seen, sent = true, true, {}, {}, {}
  recent.seed()
  kept.attach(schedule)
  on({ "CursorMoved", "CursorMovedI", "TextChangedP", "InsertLeave" }, schedule)
  on("ModeChanged", on_mode, { "*:[vVsS\22\19]*", "[vVsS\22\19]*:*" })
  on("ModeChanged", schedule, { "c:*" })
  on("BufEnter", on_enter)
  on({ "BufDelete", "BufWipeout" }, on_delete)
  on({ "WinEnter", "TabEnter", "CursorHold", "BufFilePost", "BufWritePost" }, files_may_differ)
  on({ "FileChangedShellPost", "TermOpen" }, files_may_differ)
  on({ "BufReadPost", "FocusGained", "DirChanged" }, repositories_may_differ)
  on("OptionSet", files_may_differ, { "buftype", "buflisted" })
  on({ "TabNew", "TabClosed", "WinNew", "WinClosed" }, roots_may_differ)
  on({ "LspAttach", "LspDetach" }, roots_may_differ)
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
