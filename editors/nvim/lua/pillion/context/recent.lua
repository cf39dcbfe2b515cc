--- The files by when they were focused last.
---
--- Neovim may have ten thousand buffers, so nothing here looks at all of them: a focus is noted at
--- the end of a list, and what an earlier note says about the same buffer counts no more.

local file = require("pillion.context.file")

local M = {}

--- As many files as agents are shown.
local SHOWN = 10

--- The largest number of files that are looked for on disk, in search of those to be shown.
local LOOKED_AT = 64

--- Of how many folders the repositories are looked for at most, and among how many files.
local FOLDERS, AMONG = 64, 512

--- Notes `{ buf, time }`, the newest last.
local notes = {}

--- The note of each buffer that counts, and what is known of its file.
local entries = {}
local count = 0
local last_time = 0

local function now()
  local seconds, microseconds = vim.uv.gettimeofday()
  return seconds * 1000 + math.floor(microseconds / 1000)
end

local function note(buf, time)
  local entry = entries[buf]
  if not entry then
    entry = { buf = buf }
    entries[buf] = entry
    count = count + 1
  end
  -- Agents ignore the order of files with equal times.
  entry.time = math.max(time, last_time + 1)
  last_time = entry.time
  notes[#notes + 1] = { buf = buf, time = entry.time }
  return entry
end

local function counts(one)
  local entry = entries[one.buf]
  return entry ~= nil and entry.time == one.time
end

local function compact()
  if #notes > 2 * count + 64 then
    notes = vim.tbl_filter(counts, notes)
  end
end

--- Notes that the file of `buf` has the focus now.
function M.touch(buf)
  local entry = note(buf, now())
  compact()
  return entry
end

function M.forget(buf)
  if entries[buf] then
    entries[buf] = nil
    count = count - 1
  end
end

--- Begins with the buffers that were in use before, as Neovim remembers them.
function M.seed()
  notes, entries, count, last_time = {}, {}, 0, 0
  local used = {}
  -- The newest first. getbufinfo() of every buffer would take too long if there are many.
  for line in vim.fn.execute("ls t"):gmatch("[^\n]+") do
    local buf = tonumber(line:match("^%s*(%d+)"))
    local info = buf and vim.fn.getbufinfo(buf)[1]
    if info and (info.lastused == 0 or #used == LOOKED_AT) then
      break
    end
    -- A name with a line break takes two lines.
    used[#used + 1] = info
  end
  for index = #used, 1, -1 do
    note(used[index].bufnr, used[index].lastused * 1000)
  end
end

--- The paths of the files that were focused last, one of each folder, the newest first; before anything was looked at,
--- of the one in focus.
function M.paths()
  local paths, folders = {}, {}
  for index = #notes, math.max(1, #notes - AMONG + 1), -1 do
    local one = notes[index]
    local path = counts(one) and file.path(one.buf)
    local folder = path and vim.fs.dirname(path)
    if folder and not folders[folder] then
      folders[folder] = true
      paths[#paths + 1] = path
    end
    if #paths == FOLDERS then
      break
    end
  end
  return #paths > 0 and paths or { file.path(vim.api.nvim_get_current_buf()) }
end

--- The entries `{ buf, path, time, position }` of the files to be shown, the newest first.
function M.shown()
  local shown, looked_at = {}, 0
  for index = #notes, 1, -1 do
    local one = notes[index]
    if counts(one) then
      local path = file.path(one.buf)
      looked_at = looked_at + 1
      if path and file.is_on_disk(path) then
        entries[one.buf].path = path
        shown[#shown + 1] = entries[one.buf]
      end
      if #shown == SHOWN or looked_at == LOOKED_AT then
        break
      end
    end
  end
  return shown
end

return M
