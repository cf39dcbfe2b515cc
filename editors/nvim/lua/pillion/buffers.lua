--- The buffers of files: which buffer is a given file, and the exact text of a buffer.
--- Never by pattern: `bufnr("[id].tsx")` finds `i.tsx`, and a name with `%` or `#` another file still.

local text = require("pillion.diff.text")

local uv = vim.uv

local M = {}

--- Where `path` really leads, also if its last part is not there yet; nil if its folder is not there.
local function real(path)
  local found = uv.fs_realpath(path)
  if found then
    return found
  end
  local folder, name = path:match("^(.*)[/\\]([^/\\]+)$")
  folder = folder and uv.fs_realpath(folder == "" and "/" or folder)
  return folder and (folder:gsub("/$", "") .. "/" .. name)
end

--- The loaded buffer of the file `path` (absolute), or nil.
function M.find(path)
  local files = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if name ~= "" and vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" then
      if name == path then
        return buf
      end
      table.insert(files, { buf = buf, name = name })
    end
  end
  local target = #files > 0 and real(path)
  if not target then
    return nil
  end
  for _, file in ipairs(files) do
    if real(file.name) == target then
      return file.buf
    end
  end
end

--- The bytes that writing `buf` would put into its file.
function M.text(buf)
  return text.encode(text.of_buffer(buf))
end

return M
