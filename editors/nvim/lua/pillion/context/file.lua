--- Which buffers are files that agents should know of.

local M = {}

local function option(buf, name)
  return vim.api.nvim_buf_get_option(buf, name)
end

local function stat(path)
  return vim.loop.fs_stat(path)
end

--- The path of the buffer if, by all that Neovim knows, it is a file: no terminal, help, list,
--- URL, or part of a diff.
function M.path(buf)
  if not vim.api.nvim_buf_is_valid(buf) or option(buf, "buftype") ~= "" or not option(buf, "buflisted") then
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

--- Whether the file at `path` is on disk, and a regular one.
function M.is_on_disk(path)
  local found = stat(path)
  return found ~= nil and found.type == "file"
end

--- A file, or one that is not written yet.
function M.could_be_real(buf)
  local path = M.path(buf)
  if not path then
    return false
  end
  local found = stat(path)
  return found == nil or found.type == "file"
end

return M
