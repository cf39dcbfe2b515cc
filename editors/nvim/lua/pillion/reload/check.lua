--- One look at one buffer: did its file change, and what follows.
---
--- Neovim itself compares and reads (`:checktime`). Its question, which would hold up the person, is
--- answered here; only for this look, so that people's own FileChangedShell commands stay in charge
--- of all others.

local in_place = require("pillion.reload.in_place")
local notify = require("pillion.notify")
local utf8 = require("pillion.utf8")

local M = {}

--- The group of the autocommands by which this is asked.
M.GROUP = "PillionReload"

--- In a longer file line endings are not looked at. Bytes.
local MAX_LOOKED_AT = 8 * 1024 * 1024

--- The state of a buffer's file as it was seen: `path`, `stamp` (nil: no file), `is_new` (there never was one),
--- `is_told` (the person knows that text and file went different ways).
local seen = {}

--- Accepted texts that have all that a buffer has and its file has not, by buffer: { tick, content }.
local carried = {}

local function stamp_of(path)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= "file" then
    return nil
  end
  local numbers = { stat.size, stat.mtime.sec, stat.mtime.nsec, stat.ctime.sec, stat.ctime.nsec, stat.mode, stat.ino }
  return table.concat(numbers, " ")
end

--- Says something about a file, with no more of its path than fits on one line.
local function warn(path, words)
  local name = vim.fn.fnamemodify(path, ":~:.")
  local room = vim.v.echospace - #("Pillion: " .. words)
  local length = vim.fn.strchars(name)
  if length > room then
    name = "…" .. vim.fn.strcharpart(name, length - math.max(room - 1, 8))
  end
  -- Not now: what is said while Neovim looks is not shown.
  vim.schedule(function()
    notify.unasked("warn", name .. words)
  end)
end

local function is_modified(buf)
  return vim.bo[buf].modified
end

local places = vim.api.nvim_create_namespace("pillion_reload")

--- Marks a line, so that it is found again wherever it moves.
local function mark(buf, line)
  return vim.api.nvim_buf_set_extmark(buf, places, line - 1, 0, {})
end

--- Where a marked line is now.
local function line_of(buf, id)
  return vim.api.nvim_buf_get_extmark_by_id(buf, places, id, {})[1] + 1
end

--- Keeps cursors and what is scrolled to in every window of the buffer, at their text.
local function keeping_views(buf, change)
  local views = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local view = vim.api.nvim_win_call(win, vim.fn.winsaveview)
    views[win] = { view = view, top = mark(buf, view.topline), cursor = mark(buf, view.lnum) }
  end
  change()
  for win, kept in pairs(views) do
    if vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf then
      local view = kept.view
      view.topline, view.lnum = line_of(buf, kept.top), line_of(buf, kept.cursor)
      vim.api.nvim_win_call(win, function()
        vim.fn.winrestview(view)
      end)
    end
  end
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, places, 0, -1)
  end
end

local function content_of(path)
  local file = io.open(path, "rb")
  local content = file and file:read("*a")
  if file then
    file:close()
  end
  return content
end

local function has_text_of_file(buf, path)
  local text = require("pillion.buffers").text(buf)
  local stat = vim.uv.fs_stat(path)
  return stat ~= nil and stat.size == #text and content_of(path) == text
end

--- True if the file has everything that the person changed in the buffer: nothing is lost when it is read.
local function is_carried(buf, path)
  local text = carried[buf]
  return text ~= nil and vim.api.nvim_buf_get_changedtick(buf) == text.tick and content_of(path) == text.content
end

--- The 'fileformat' in which all lines of a file end, or nil.
local function format_of_file(path)
  local stat = vim.uv.fs_stat(path)
  local content = stat and stat.size <= MAX_LOOKED_AT and content_of(path)
  if not content then
    return nil
  end
  local _, lines = content:gsub("\n", "")
  local _, crlf = content:gsub("\r\n", "")
  return lines > 0 and ((crlf == lines and "dos") or (crlf == 0 and "unix")) or nil
end

--- True if each line ends in a carriage return that is shown: CRLF that is read so on purpose.
local function shows_returns(buf)
  for _, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    if line:sub(-1) ~= "\r" then
      return false
    end
  end
  return true
end

--- True if an agent changed all line endings of a file to others.
local function has_other_format(buf, path)
  local before, now = vim.bo[buf].fileformat, format_of_file(path)
  if not now or now == before or before == "mac" then
    return false
  end
  return vim.tbl_contains(vim.opt.fileformats:get(), now) and (before == "dos" or not shows_returns(buf))
end

--- True if the file is in another encoding now: an agent that writes UTF-8 changes what was Latin-1.
local function has_other_encoding(buf, path)
  local encoding, stat = vim.bo[buf].fileencoding, vim.uv.fs_stat(path)
  local content = stat and stat.size <= MAX_LOOKED_AT and content_of(path)
  if not content then
    return false
  end
  local is_utf8 = utf8.first_invalid(content) == nil
  if encoding == "" or encoding == "utf-8" then
    return not is_utf8
  elseif encoding:find("^ucs") or encoding:find("^utf%-%d") then
    return is_utf8 and not content:find("%z")
  end
  return is_utf8 and content:find("[\128-\255]") ~= nil
end

--- True if Neovim has to find out anew how the file is to be read: a plain reload keeps what the buffer has.
local function is_read_otherwise(buf, path)
  return has_other_format(buf, path) or has_other_encoding(buf, path)
end

local function warn_about_conflict(buf)
  local known = seen[buf]
  if not known.is_told then
    known.is_told = true
    warn(known.path, " changed on disk: :e! loads it, :w! keeps yours")
  end
end

--- The reaction to a change, by Neovim's reason for asking.
local function answer(buf, path, reason)
  if reason == "changed" or reason == "time" then
    return is_read_otherwise(buf, path) and "edit" or "reload"
  elseif reason == "conflict" then
    if has_text_of_file(buf, path) then
      return "reload"
    elseif is_carried(buf, path) then
      return is_read_otherwise(buf, path) and "edit" or "reload"
    end
    warn_about_conflict(buf)
  elseif reason == "deleted" then
    warn(path, " was deleted on disk: :w writes it again")
  end
  return ""
end

--- True if an autocommand runs for the buffer of this path.
local function is_for(command, buf, path)
  if command.buflocal then
    return command.buffer == buf
  end
  local pattern = vim.fn.glob2regpat(command.pattern)
  return vim.fn.match(path, pattern) >= 0 or vim.fn.match(vim.fn.fnamemodify(path, ":t"), pattern) >= 0
end

--- True if people have commands of their own for a file that changed.
local function is_answered(buf, path)
  return vim.iter(vim.api.nvim_get_autocmds({ event = "FileChangedShell" })):any(function(command)
    return command.group_name ~= M.GROUP and is_for(command, buf, path)
  end)
end

--- Answers Neovim's question about a buffer that it looked at by itself, as a look from here would.
--- People's own commands for it stay in charge, and without an agent Neovim asks as ever.
function M.answer_for(buf, is_agent_here)
  local path = vim.api.nvim_buf_get_name(buf)
  if is_answered(buf, path) then
    return
  end
  if not is_agent_here then
    vim.v.fcs_choice = "ask"
    return
  end
  seen[buf] = seen[buf] or { path = path, stamp = stamp_of(path) }
  vim.v.fcs_choice = answer(buf, path, vim.v.fcs_reason)
end

--- Does something while Neovim asks about the buffer where it would read it again by itself.
local function without_autoread(buf, action)
  -- As `:setlocal` shows it: set, not set, or `--` for the global value.
  local value = vim.api.nvim_buf_call(buf, function()
    return vim.fn.execute("setlocal autoread?")
  end)
  vim.bo[buf].autoread = false
  action()
  if vim.api.nvim_buf_is_valid(buf) then
    -- Not `:setlocal autoread<`, which copies the global value since Neovim 0.11.
    vim.bo[buf].autoread = nil
    if not value:find("--", 1, true) then
      vim.bo[buf].autoread = vim.trim(value) == "autoread"
    end
  end
end

--- The text that an unmodified buffer can get hunk by hunk, or nil.
local function text_in_place(buf, path)
  local stat = vim.uv.fs_stat(path)
  local is_short = stat and stat.size <= MAX_LOOKED_AT
  return is_short and not is_modified(buf) and not is_answered(buf, path) and content_of(path) or nil
end

local function checktime(buf, path)
  local content = text_in_place(buf, path)
  local command = vim.api.nvim_create_autocmd("FileChangedShell", {
    buffer = buf,
    callback = function()
      vim.v.fcs_choice = answer(buf, path, vim.v.fcs_reason)
    end,
  })
  local function look()
    vim.cmd(("silent checktime %d"):format(buf))
  end
  keeping_views(buf, function()
    if not is_modified(buf) and is_read_otherwise(buf, path) then
      without_autoread(buf, look)
    elseif content then
      in_place.read(buf, content, look)
    else
      look()
    end
  end)
  pcall(vim.api.nvim_del_autocmd, command)
end

local function read_again(buf)
  keeping_views(buf, function()
    vim.api.nvim_buf_call(buf, function()
      vim.cmd("silent keepjumps edit!")
    end)
  end)
end

--- The agent made a file whose name a buffer had already. Neovim asks about it once (W13), whenever
--- it looks next, and no autocommand can answer. So it is asked here, with the answer typed ahead:
--- Enter, which changes nothing. False if what the person types would be taken for the answer.
local function created(buf)
  if not is_modified(buf) then
    read_again(buf)
    return true
  end
  if vim.fn.getchar(1) ~= 0 then
    return false
  end
  vim.api.nvim_input("<CR>")
  vim.cmd(("silent checktime %d"):format(buf))
  if vim.fn.getchar(1) ~= 0 then
    -- It was not asked: without a screen it never is.
    vim.fn.getchar(0)
  end
  vim.cmd("redraw!")
  warn_about_conflict(buf)
  return true
end

local function has_file(buf)
  return vim.api.nvim_buf_is_valid(buf)
    and vim.api.nvim_buf_is_loaded(buf)
    and vim.bo[buf].buftype == ""
    and vim.api.nvim_buf_get_name(buf) ~= ""
end

local function first_look(buf, path, stamp)
  seen[buf] = { path = path, stamp = stamp, is_new = stamp == nil }
  -- A modified buffer may have been opened before its file was there: Neovim would ask.
  if stamp and not is_modified(buf) then
    checktime(buf, path)
  end
end

--- Looks at the buffer's file; true if that has to be done again. `size`: what it has, or -1, if nobody
--- is writing it.
function M.look(buf, size)
  if not has_file(buf) then
    seen[buf] = nil
    return false
  end
  local path = vim.api.nvim_buf_get_name(buf)
  local stamp = stamp_of(path)
  local known = seen[buf]
  if not known or known.path ~= path then
    first_look(buf, path, stamp)
  elseif stamp == known.stamp then
    if stamp and known.is_told and (not is_modified(buf) or is_carried(buf, path)) then
      -- The person took back the changes that stood in the way, or they are in the file.
      read_again(buf)
    end
  elseif (not stamp or stamp:find("^0 ")) and size ~= (stamp and 0 or -1) then
    -- A file that is replaced is gone for a moment, one that is written anew is empty: Pillion tells when it is whole.
    return false
  elseif not stamp or not known.is_new then
    known.stamp = stamp
    checktime(buf, path)
  elseif created(buf) then
    known.stamp, known.is_new = stamp, false
  else
    return true
  end
  return false
end

--- The buffer was read or written here: what is on disk now is known.
function M.remember(buf)
  if has_file(buf) then
    local path = vim.api.nvim_buf_get_name(buf)
    local stamp = stamp_of(path)
    seen[buf] = { path = path, stamp = stamp, is_new = stamp == nil }
  end
end

function M.forget(buf)
  seen[buf], carried[buf] = nil, nil
end

--- `content` is what an agent is about to write, with all unsaved changes of the buffer as it was at `tick`.
function M.carry(buf, tick, content)
  carried[buf] = { tick = tick, content = content }
end

return M
