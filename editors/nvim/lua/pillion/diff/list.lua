--- The pending diffs as people choose among them.

local hunks = require("pillion.diff.hunks")
local label = require("pillion.diff.label")

local M = {}

--- The facts about a diff: { id, agent, path, added, removed }, as its agent proposed it.
function M.item(diff)
  local added, removed = hunks.counts(hunks.told(diff.hunks))
  return { id = diff.id, agent = diff.agent, path = diff.path, added = added, removed = removed }
end

local function line(diff, current)
  local item = M.item(diff)
  local mark = diff == current and "*" or " "
  return ("%s %d  %s  %s  +%d -%d"):format(mark, item.id, item.agent, label.name(diff), item.added, item.removed)
end

--- Asks which of `diffs` it shall be; `chosen(diff)` unless the person thinks better of it.
function M.select(diffs, current, prompt, chosen)
  local options = {
    prompt = prompt,
    kind = "pillion_diff",
    format_item = function(diff)
      return line(diff, current)
    end,
  }
  vim.ui.select(diffs, options, function(diff)
    if diff then
      chosen(diff)
    end
  end)
end

return M
