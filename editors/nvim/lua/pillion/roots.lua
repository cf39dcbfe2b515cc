--- The workspace roots: the working folders of Neovim, of its tab pages and of its windows.

local client_notify = function(...)
  return require("pillion.client").notify(...)
end

local M = {}

local known = {}

local function folder(path)
  return { uri = require("pillion.uri").from_path(path), name = vim.fn.fnamemodify(path, ":t") }
end

local function working_folders()
  local folders = { vim.fn.getcwd(-1, -1) }
  for tab = 1, vim.fn.tabpagenr("$") do
    for win = 1, vim.fn.tabpagewinnr(tab, "$") do
      table.insert(folders, vim.fn.getcwd(win, tab))
    end
  end
  return folders
end

--- The roots as real paths, each once; the global working folder first.
function M.list()
  local option = require("pillion.config").get().roots
  local folders
  if option then
    local ok, result = pcall(option)
    if ok and type(result) == "table" then
      folders = result
    else
      require("pillion.notify").once("warn", "the option roots must be a function that returns a list of paths")
    end
  end
  local roots, seen = {}, {}
  for _, path in ipairs(folders or working_folders()) do
    local real = type(path) == "string" and vim.loop.fs_realpath(vim.fn.fnamemodify(path, ":p"))
    if real and not seen[real] then
      seen[real] = true
      table.insert(roots, real)
    end
  end
  return roots
end

--- The roots for `initialize`; later changes are compared with them.
function M.start()
  known = M.list()
  return vim.tbl_map(folder, known)
end

local function without(paths, others)
  return vim.tbl_map(
    folder,
    vim.tbl_filter(function(path)
      return not vim.tbl_contains(others, path)
    end, paths)
  )
end

--- Tells Pillion if the roots are others than before.
function M.refresh()
  local now = M.list()
  local added, removed = without(now, known), without(known, now)
  known = now
  if #added > 0 or #removed > 0 then
    client_notify("workspace/didChangeWorkspaceFolders", { event = { added = added, removed = removed } })
  end
end

return M
