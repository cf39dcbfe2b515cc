--- neo-tree.nvim.

local M = {}

function M.marked()
  return nil
end

function M.at(number)
  local state = require("neo-tree.sources.manager").get_state_for_window(vim.api.nvim_get_current_win())
  local node = state and state.tree and state.tree:get_node(number)
  return node and (node.type == "file" or node.type == "directory") and node.path or nil
end

return M
