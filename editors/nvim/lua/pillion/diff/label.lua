--- What a view says about itself: the lines above its windows and short messages.

local notify = require("pillion.notify")
local original = require("pillion.diff.original")
local text = require("pillion.diff.text")

local M = {}

--- The path as people say it: below the current folder without it.
function M.path(diff)
  local folder = (vim.uv or vim.loop).cwd() .. "/"
  local path = diff.path
  if path:sub(1, #folder) == folder then
    path = path:sub(#folder + 1)
  end
  return (notify.visible(path):gsub("\n", "^J"))
end

--- What no line shows: line endings, BOM, an unreadable original.
function M.remarks(diff)
  local remarks = diff.is_new and {} or text.unseen_changes(original.shape(diff), diff.pristine)
  if diff.is_lossy then
    table.insert(remarks, "the file on disk is not UTF-8: it is shown with � where it cannot be read")
  end
  return remarks
end

--- Where a window shows its label: Neovim 0.7 has no line above a window.
function M.option()
  return vim.fn.has("nvim-0.8") == 1 and "winbar" or "statusline"
end

--- Text in a format of a status line, where `%` would run code.
local function literal(line)
  return (line:gsub("%%", "%%%%"))
end

function M.right(diff)
  local remarks = M.remarks(diff)
  local tail = #remarks > 0 and (" [%s]"):format(table.concat(remarks, "; ")) or ""
  return literal((" %s proposes: %s%s — :w accepts, :q rejects"):format(notify.visible(diff.agent), M.path(diff), tail))
end

function M.left(diff)
  local kind = diff.is_new and "new file" or diff.left_is_users and "your buffer" or "on disk"
  return literal((" %s (%s)"):format(M.path(diff), kind))
end

--- Says that what the person looks at is another proposal now.
function M.announce_anew(diff)
  notify.unasked("info", ("%s proposes %s anew"):format(diff.agent, M.path(diff)))
end

--- Says that there is a diff where the person does not look. One line: a longer one would ask for Enter.
function M.announce(diff)
  local hint = ". :PillionDiffs shows it"
  local room = vim.o.columns - vim.fn.strdisplaywidth("Pillion: " .. diff.agent .. " proposes " .. hint) - 14
  local path = M.path(diff)
  if vim.fn.strdisplaywidth(path) > room then
    path = "…" .. vim.fn.strcharpart(path, vim.fn.strchars(path) - math.max(room - 1, 8))
  end
  notify.info(("%s proposes %s%s"):format(diff.agent, path, hint))
end

return M
