--- Which buffers are files that agents should know of.

local M = {}

--- The path of the buffer if, by all that Neovim knows, it is a file: no terminal, help, list,
--- URL, or part of a diff.
function M.path(buf)
  if not vim.api.nvim_buf_is_valid(buf) or vim.bo[buf].buftype ~= "" or not vim.bo[buf].buflisted then
    return nil
  end
  local name = vim.api.nvim_buf_get_name(buf)
  if name == "" or name:find("^%a[%w+.-]*://") then
    return nil
  end
  if vim.b[buf].pillion_diff ~= nil then
    return nil
  end
  return name
end

--- Whether there is anything at `path`.
function M.exists(path)
  return vim.uv.fs_stat(path) ~= nil
end

--- Whether the file at `path` is on disk, and a regular one.
function M.is_on_disk(path)
  local found = vim.uv.fs_stat(path)
  return found ~= nil and found.type == "file"
end

return M
