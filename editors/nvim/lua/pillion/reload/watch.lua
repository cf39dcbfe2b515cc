--- Which folders hold files that agents may change, and word from the system when something changes there.

local uv = vim.uv

local M = {}

--- A file system of another machine says nothing of what others write (NFS, SMB, SMB 2, CIFS, 9p, FUSE).
local SILENT = {
  [0x6969] = true,
  [0x517b] = true,
  [0xfe534d42] = true,
  [0xff534d42] = true,
  [0x01021997] = true,
  [0x65735546] = true,
}

--- By folder: the names of the files in it that matter, and the handle, if the system tells of it.
local watches = {}

local function close(folder)
  local watch = watches[folder]
  watches[folder] = nil
  if watch and watch.handle and not watch.handle:is_closing() then
    watch.handle:close()
  end
end

local function open(folder, on_change)
  local watch = { names = {} }
  watches[folder] = watch
  local stat = uv.fs_statfs(folder)
  local handle = stat and not SILENT[stat.type] and uv.new_fs_event()
  if not handle then
    return
  end
  local own_name = folder:match("[^/]*$")
  local started = handle:start(folder, {}, function(problem, name)
    if problem or name == own_name then
      -- It is gone or another one.
      close(folder)
    end
    -- Without a name anything may have changed.
    if problem or not name or name == own_name or watch.names[name] then
      on_change()
    end
  end)
  if started == 0 then
    handle:unref()
    watch.handle = handle
  else
    handle:close()
  end
end

--- Watches the folders of these files (`paths`) and no others. `on_change()` is called, outside of Neovim's loop,
--- when one of them may have changed. True if the system tells of all of them.
function M.follow(paths, on_change)
  local wanted = {}
  for _, path in ipairs(paths) do
    local real = uv.fs_realpath(path) or path
    for _, one in ipairs(real == path and { path } or { path, real }) do
      local folder, name = one:match("^(.*)/([^/]+)$")
      if folder then
        folder = folder == "" and "/" or folder
        wanted[folder] = wanted[folder] or {}
        wanted[folder][name] = true
      end
    end
  end
  for folder in pairs(watches) do
    if not wanted[folder] then
      close(folder)
    end
  end
  local is_told = true
  for folder, names in pairs(wanted) do
    if not watches[folder] or not watches[folder].handle then
      open(folder, on_change)
    end
    watches[folder].names = names
    is_told = is_told and watches[folder].handle ~= nil
  end
  return is_told
end

--- Watches nothing any more.
function M.stop()
  for folder in pairs(watches) do
    close(folder)
  end
end

return M
