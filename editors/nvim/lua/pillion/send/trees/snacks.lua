--- The explorer and the pickers of snacks.nvim.

local M = {}

local function picker_here()
  local win = vim.api.nvim_get_current_win()
  for _, picker in ipairs(require("snacks").picker.get({ tab = true })) do
    if picker.list.win.win == win then
      return picker
    end
  end
end

local function path_of(item)
  return item and require("snacks").picker.util.path(item) or nil
end

function M.marked()
  local picker = picker_here()
  return picker and vim.tbl_map(path_of, picker:selected()) or nil
end

function M.at(number)
  local picker = picker_here()
  return picker and path_of(picker.list:get(picker.list:row2idx(number)))
end

return M
