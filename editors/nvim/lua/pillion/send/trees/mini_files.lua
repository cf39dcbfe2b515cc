--- mini.files.

local M = {}

function M.marked()
  return nil
end

function M.at(number)
  local entry = require("mini.files").get_fs_entry(0, number)
  return entry and entry.path
end

return M
