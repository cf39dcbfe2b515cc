--- The folders that language servers work in.

local M = {}

local function clients()
  -- Where nobody uses it, it need not be loaded.
  local lsp = package.loaded["vim.lsp"]
  if not lsp then
    return {}
  end
  return vim.tbl_filter(function(client)
    -- One that was told to stop is listed until it is gone.
    return not client:is_stopped()
  end, lsp.get_clients())
end

local function path_of(uri)
  local ok, path = pcall(vim.uri_to_fname, uri)
  return ok and path or nil
end

local function folders_of(client)
  local folders = {}
  if type(client.workspace_folders) == "table" then
    for _, folder in ipairs(client.workspace_folders) do
      table.insert(folders, type(folder.uri) == "string" and path_of(folder.uri) or nil)
    end
  end
  local root = client.root_dir or (client.config or {}).root_dir
  if #folders == 0 and type(root) == "string" then
    table.insert(folders, root)
  end
  return folders
end

--- The folders of all that run, in any order, perhaps more than once.
function M.folders()
  local all = {}
  for _, client in pairs(clients()) do
    vim.list_extend(all, folders_of(client))
  end
  return all
end

return M
