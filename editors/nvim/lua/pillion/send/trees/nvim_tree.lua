--- nvim-tree.

local M = {}

local function path_of(node)
  return node and node.name ~= ".." and node.absolute_path or nil
end

function M.marked()
  return vim.tbl_map(path_of, require("nvim-tree.api").marks.list())
end

--- It knows the node under the cursor only.
function M.at(number)
  local cursor = vim.api.nvim_win_get_cursor(0)
  vim.api.nvim_win_set_cursor(0, { number, 0 })
  local ok, node = pcall(require("nvim-tree.api").tree.get_node_under_cursor)
  vim.api.nvim_win_set_cursor(0, cursor)
  return ok and path_of(node) or nil
end

return M
