--- The repository that a file lies in.

local M = {}

--- What stands in the folder of a repository; in a work tree or a submodule `.git` is a file.
local MARKS = { ".git", ".jj", ".hg", ".svn", ".bzr", ".pijul", "_darcs" }

--- By folder: the repository, or false for none. Looking costs some calls of the file system for
--- each folder above.
local known = {}

--- Whether this folder may be a root at all: neither the whole machine nor the home folder is a
--- workspace.
function M.is_workspace(folder)
  local home = vim.uv.os_homedir()
  return folder ~= vim.fn.fnamemodify(folder, ":h") and folder ~= home and folder ~= vim.uv.fs_realpath(home or "/")
end

local function has_mark(folder)
  for _, mark in ipairs(MARKS) do
    if vim.uv.fs_stat(folder .. "/" .. mark) then
      return true
    end
  end
  return false
end

local function look(folder)
  local above = vim.fn.fnamemodify(folder, ":h")
  if above == folder then
    return false
  elseif M.is_workspace(folder) and has_mark(folder) then
    return folder
  end
  return M.of_folder(above) or false
end

--- The nearest repository at or above a folder (a real path), or nil.
function M.of_folder(folder)
  if known[folder] == nil then
    known[folder] = look(folder)
  end
  return known[folder] or nil
end

--- The folder that a file really lies in; nil if it is not there.
function M.folder_of(path)
  local real = vim.uv.fs_realpath(path)
  return real and vim.fn.fnamemodify(real, ":h")
end

--- The repository of a file, or nil.
function M.of_file(path)
  local folder = M.folder_of(path)
  return folder and M.of_folder(folder)
end

--- Looks anew from now on: repositories come and go.
function M.forget()
  known = {}
end

return M
