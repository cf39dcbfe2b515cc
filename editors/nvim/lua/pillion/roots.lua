--- The workspace, of which Pillion makes the roots, in which agents connect: the folders that Neovim and its language
--- servers work in, and the files that were used.

local servers = require("pillion.roots.servers")

local M = {}

--- For how long an agent that is to start waits for the roots.
local AWAIT_MS = 2000

--- The roots that were sent last, as JSON.
local sent

--- Starting was asked for, and what the roots are is not known yet.
local is_asked = false

local function client()
  return require("pillion.client")
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

--- The absolute paths of folders. Neovim asks the disk about each, to add the slash at its end.
local function absolute(folders)
  return vim.tbl_map(function(folder)
    return type(folder) == "string" and vim.fn.fnamemodify(folder, ":p") or false
  end, folders)
end

--- The URIs of absolute paths, each once.
local function uris(paths)
  local list, seen = {}, {}
  for _, path in ipairs(paths) do
    local uri = path and require("pillion.uri").from_path(path)
    if uri and not seen[uri] then
      seen[uri] = true
      table.insert(list, uri)
    end
  end
  return list
end

local function chosen(option)
  local ok, result = pcall(option)
  if ok and type(result) == "table" then
    return result
  end
  require("pillion.notify").once("warn", "the option roots must be a function that returns a list of paths")
end

local function workspace()
  local option = require("pillion.config").get().roots
  local given = option and chosen(option)
  return {
    folders = uris(absolute(given or vim.list_extend(working_folders(), servers.folders()))),
    files = uris(require("pillion.context.recent").paths()),
    chosen = given ~= nil,
  }
end

--- The workspace for `initialize`; later changes are compared with it.
function M.start()
  local now = workspace()
  sent = vim.json.encode(now)
  return now
end

--- Tells Pillion if the workspace is another one than before. `is_new`: folders may have become repositories.
function M.refresh(is_new)
  local now = vim.json.encode(workspace())
  if is_new or now ~= sent then
    sent = client().notify_encoded("pillion/didChangeWorkspace", now) and now or nil
  end
end

--- Has the roots of this moment worked out, and waits until Pillion has said what they are. Not for long: disks may
--- hang.
function M.await()
  local now = workspace()
  local is_known = false
  local is_sent = client().request("pillion/workspace", now, function()
    is_known = true
  end)
  if is_sent then
    sent = vim.json.encode(now)
    vim.wait(AWAIT_MS, function()
      return is_known or not client().is_running()
    end, 5)
  end
end

local function warn_if_none()
  local roots = client().state.roots
  if roots and #roots == 0 then
    local is_chosen = require("pillion.config").get().roots
    local hint = is_chosen and "the option roots names no folder that is there" or ":cd PROJECT"
    require("pillion.notify").once("warn", "no workspace root, so no agent connects. Hint: " .. hint)
  end
end

--- Says, the first time that a person starts Pillion, that agents find this Neovim nowhere.
function M.on_start()
  is_asked = not client().state.roots
  if not is_asked then
    warn_if_none()
  end
end

--- Pillion has said what the roots are.
function M.on_known()
  if is_asked then
    is_asked = false
    warn_if_none()
  end
end

--- Where an agent starts: in the window's own working folder if that is a root (|:lcd|, |:tcd|); else where Pillion
--- says.
function M.for_terminal()
  local state = client().state
  local is_local = vim.fn.haslocaldir() == 1 or vim.fn.haslocaldir(-1, 0) == 1
  local here = is_local and vim.uv.fs_realpath(vim.fn.getcwd())
  if here and vim.tbl_contains(state.roots or {}, here) then
    return here
  end
  return state.start_folder or vim.fn.getcwd()
end

return M
