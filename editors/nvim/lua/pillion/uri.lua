--- Paths as `file:` URIs, percent-encoded byte by byte.

local M = {}

function M.from_path(path)
  if vim.fn.has("win32") == 1 then
    path = "/" .. path:gsub("\\", "/")
  end
  return "file://" .. path:gsub("[^%w/._~:-]", function(char)
    return ("%%%02X"):format(char:byte())
  end)
end

return M
