--- The workspace roots, in which agents connect: the working folders of Neovim, of its tab pages and
--- windows, the repositories of the files that were used, the folders of language servers. Never
--- the home folder itself, nor the root of the file system.

local repository = require("pillion.roots.repository")

local client_notify = function(...)
  return require("pillion.client").notify(...)
end

local M = {}

local known = {}

--- Repositories of files that are open, by path; true.
local repositories = {}

local function folder(path)
  return { uri = require("pillion.uri").from_path(path), name = vim.fn.fnamemodify(path, ":t") }
end

--- With 'autochdir' a working folder says no more than which file has the focus; then it is the folder
--- that Neovim was started in.
local function working_folders()
  if vim.o.autochdir then
    return { vim.g.pillion_start_folder }
  end
  local folders = { vim.fn.getcwd(-1, -1) }
  for tab = 1, vim.fn.tabpagenr("$") do
    for win = 1, vim.fn.tabpagewinnr(tab, "$") do
      table.insert(folders, vim.fn.getcwd(win, tab))
    end
  end
  return folders
end

local function real(path)
  return type(path) == "string" and vim.uv.fs_realpath(vim.fn.fnamemodify(path, ":p")) or nil
end

--- The real paths of those that are there and `fits`, each once.
local function existing(paths, fits)
  local roots, seen = {}, {}
  for _, path in ipairs(paths) do
    local found = real(path)
    if found and not seen[found] and fits(found) then
      seen[found] = true
      table.insert(roots, found)
    end
  end
  return roots
end

local function chosen(option)
  local ok, result = pcall(option)
  if ok and type(result) == "table" then
    return existing(result, function()
      return true
    end)
  end
  require("pillion.notify").once("warn", "the option roots must be a function that returns a list of paths")
end

--- The files that agents are shown; before anything was looked at, the one in focus.
local function files()
  local shown = require("pillion.context.recent").shown()
  local here = #shown == 0 and require("pillion.context.focus").file()
  if here then
    return { vim.api.nvim_buf_get_name(here) }
  end
  return vim.tbl_map(function(entry)
    return entry.path
  end, shown)
end

local function note_repositories(paths)
  for _, path in ipairs(paths) do
    local found = repository.of_file(path)
    if found then
      repositories[found] = true
    end
  end
end

--- The roots as real paths, each once; the global working folder first.
function M.list()
  local option = require("pillion.config").get().roots
  local given = option and chosen(option)
  if given then
    return given
  end
  local open = files()
  note_repositories(open)
  local folders = working_folders()
  local found = vim.tbl_keys(repositories)
  table.sort(found)
  vim.list_extend(folders, found)
  vim.list_extend(folders, require("pillion.roots.servers").folders())
  local roots = existing(folders, repository.is_workspace)
  if #roots == 0 and open[1] then
    -- A file of the home folder's, say: its own folder is better than no agent at all.
    roots = existing({ vim.fn.fnamemodify(open[1], ":h") }, repository.is_workspace)
  end
  return roots
end

--- Says, the first time, that agents find this Neovim nowhere.
function M.warn_if_none()
  if #M.list() == 0 then
    require("pillion.notify").once("warn", "no workspace root, so no agent connects. Hint: :cd PROJECT")
  end
end

local function contains(root, path)
  return path == root or vim.startswith(path, root:gsub("/$", "") .. "/")
end

--- The deepest of the folders that `path` lies in.
local function deepest(folders, path)
  local best
  for _, one in ipairs(folders) do
    if contains(one, path) and #one > #(best or "") then
      best = one
    end
  end
  return best
end

--- Where an agent starts: in the window's own working folder if it has one (|:lcd|, |:tcd|); else in
--- the repository of the file used last, or another root that it lies in; else in the first root.
function M.for_terminal()
  local roots = M.list()
  local here = real(vim.fn.getcwd())
  local is_local = vim.fn.haslocaldir() == 1 or vim.fn.haslocaldir(-1, 0) == 1
  if is_local and vim.tbl_contains(roots, here) then
    return here
  end
  local file = files()[1]
  local at = file and repository.folder_of(file)
  local inside = at and repository.of_folder(at)
  if inside and vim.tbl_contains(roots, inside) then
    return inside
  end
  if vim.tbl_contains(roots, here) and not vim.o.autochdir and (not at or contains(here, at)) then
    return here
  end
  return at and deepest(roots, at) or roots[1] or vim.fn.getcwd()
end

--- The roots for `initialize`; later changes are compared with them.
function M.start()
  known = M.list()
  return vim.tbl_map(folder, known)
end

--- Files were closed: a repository that none is left of is not a root any more.
function M.files_closed()
  local paths = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if next(repositories) and vim.bo[buf].buflisted then
      table.insert(paths, require("pillion.context.file").path(buf))
    end
  end
  for root in pairs(repositories) do
    local is_used = false
    for _, path in ipairs(paths) do
      is_used = is_used or contains(root, path) or repository.of_file(path) == root
    end
    repositories[root] = is_used or nil
  end
end

local function without(paths, others)
  return vim.tbl_map(
    folder,
    vim.tbl_filter(function(path)
      return not vim.tbl_contains(others, path)
    end, paths)
  )
end

--- Tells Pillion if the roots are others than before. `is_new`: folders may have become repositories.
function M.refresh(is_new)
  if is_new then
    repository.forget()
  end
  local now = M.list()
  local added, removed = without(now, known), without(known, now)
  known = now
  if #added > 0 or #removed > 0 then
    client_notify("workspace/didChangeWorkspaceFolders", { event = { added = added, removed = removed } })
  end
end

return M
