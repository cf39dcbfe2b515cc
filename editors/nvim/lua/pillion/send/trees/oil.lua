--- oil.nvim: a folder as text.

local M = {}

function M.marked()
  return nil
end

function M.at(number)
  local oil = require("oil")
  local folder, entry = oil.get_current_dir(), oil.get_entry_on_line(0, number)
  if folder and entry and entry.name and entry.name ~= ".." then
    return folder .. entry.name
  end
end

return M
