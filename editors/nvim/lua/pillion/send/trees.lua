--- Files in file trees: netrw and the trees of other plugins, by the file type of their buffer.
---
--- An adapter is a module `{ marked(), at(line) }`: the paths that are marked, nil or empty if none is,
--- and the path of a line of the current buffer, nil if it is none of a file or folder. Each asks its
--- plugin through functions that the plugin documents.

local text = require("pillion.send.text")

local M = {}

local adapters = {
  netrw = "pillion.send.trees.netrw",
  oil = "pillion.send.trees.oil",
  NvimTree = "pillion.send.trees.nvim_tree",
  ["neo-tree"] = "pillion.send.trees.neo_tree",
  minifiles = "pillion.send.trees.mini_files",
  snacks_picker_list = "pillion.send.trees.snacks",
}

--- True if the current buffer is a file tree.
function M.is_tree()
  return adapters[vim.bo.filetype] ~= nil
end

local function paths_of(adapter, lines)
  if not lines then
    local marked = adapter.marked()
    if marked and #marked > 0 then
      return marked
    end
    lines = { first = vim.fn.line("."), last = vim.fn.line(".") }
  end
  local paths = {}
  for line = lines.first, lines.last do
    table.insert(paths, adapter.at(line))
  end
  return paths
end

--- What is selected (`lines`), else marked, else under the cursor: a list of `{ path }`.
function M.items(lines)
  local ok, paths = pcall(paths_of, require(adapters[vim.bo.filetype]), lines)
  if not ok then
    error({ message = ("cannot get the files from %s: %s"):format(vim.bo.filetype, paths) })
  end
  local items = {}
  for _, path in ipairs(paths) do
    if vim.uv.fs_lstat(path) then
      table.insert(items, { path = text.check(path) })
    end
  end
  if #items == 0 then
    error({ message = "there is no file or folder here. Hint: move the cursor to one" })
  end
  return items
end

return M
