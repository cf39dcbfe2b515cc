--- The parts of a proposal that a person has seen: the revision that was drawn, since when it stands there, and its
--- hunks. Pillion rules what that means for a decision (`diff/decide.lua`).
---
--- Neovim draws for nobody, too: without a user interface (`--headless`, after |:detach|), and while it is suspended,
--- nothing is seen.

local unseen = require("pillion.diff.unseen")

local M = {}

local namespace = vim.api.nvim_create_namespace("pillion_seen")

local function now()
  return vim.uv.hrtime() / 1e6
end

--- Keys that were typed before the screen was drawn come before what is scheduled then.
local function note_later(drawn)
  vim.schedule(function()
    for win, lines in pairs(drawn) do
      local diff, seen = lines.diff, lines.diff.seen
      if diff.revision == lines.revision then
        if not (seen and seen.revision == diff.revision) then
          diff.seen = { revision = diff.revision, since = now() }
        end
        unseen.drawn(diff, win, lines)
      end
    end
  end)
end

local function has_ui()
  return #vim.api.nvim_list_uis() > 0
end

--- Looks what is drawn; `find(buf)` gives the pending diff of a buffer, `all()` gives the pending diffs.
function M.attach(group, find, all)
  local function hide()
    for _, diff in ipairs(all()) do
      diff.seen = nil
    end
  end
  vim.api.nvim_create_autocmd("UILeave", {
    group = group,
    callback = function()
      vim.schedule(function()
        if not has_ui() then
          hide()
        end
      end)
    end,
  })
  vim.api.nvim_create_autocmd("VimSuspend", { group = group, callback = hide })
  local drawn = {}
  vim.api.nvim_set_decoration_provider(namespace, {
    on_win = function(_, win, buf)
      local diff = find(buf)
      if diff and has_ui() then
        drawn[win] = { diff = diff, revision = diff.revision }
      end
      return false
    end,
    on_end = function()
      if next(drawn) then
        for win, lines in pairs(drawn) do
          local info = vim.fn.getwininfo(win)[1]
          lines.first, lines.last = info.topline - 1, info.botline - 1
          lines.view = unseen.view(win)
          lines.tick = vim.api.nvim_buf_get_changedtick(info.bufnr)
        end
        note_later(drawn)
        drawn = {}
      end
    end,
  })
end

function M.detach()
  vim.api.nvim_set_decoration_provider(namespace, {})
end

--- Has the windows of a proposal drawn anew, even where another revision looks the same.
function M.draw_again(diff)
  local mark = vim.api.nvim_buf_set_extmark(diff.right, namespace, 0, 0, {
    end_row = vim.api.nvim_buf_line_count(diff.right),
    strict = false,
    hl_group = "Normal",
  })
  vim.api.nvim_buf_del_extmark(diff.right, namespace, mark)
end

--- What of a diff has been on the screen until now: { revision, drawn_ms }, or nil.
function M.sight(diff)
  local seen = diff.seen
  return seen and { revision = seen.revision, drawn_ms = math.floor(now() - seen.since) }
end

return M
