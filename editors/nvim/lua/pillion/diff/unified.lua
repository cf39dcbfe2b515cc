--- The layout of one window: the proposal, with what is added or changed highlighted and what is
--- removed as virtual lines.

local hunks = require("pillion.diff.hunks")
local original = require("pillion.diff.original")
local text = require("pillion.diff.text")

local M = {}

local namespace = vim.api.nvim_create_namespace("pillion_diff")

--- A refresh waits this long, or several times what the last one took.
local DEBOUNCE_MS, SHARE = 80, 8
--- Virtual lines are drawn however many there are: a removed file of megabytes would stall Neovim.
local MAX_REMOVED, MAX_WIDTH = 1000, 1000

local function define_highlights()
  vim.api.nvim_set_hl(0, "PillionAdd", { link = "DiffAdd", default = true })
  vim.api.nvim_set_hl(0, "PillionDelete", { link = "DiffDelete", default = true })
end

--- A removed line as it would look, wide enough for the highlight to reach the edge.
local function virtual_line(line, buf)
  local shown = line:sub(1, MAX_WIDTH):gsub("\t", (" "):rep(vim.bo[buf].tabstop))
  shown = vim.fn.strtrans((shown:gsub("%z", "\n")))
  local missing = vim.o.columns - vim.fn.strdisplaywidth(shown)
  return { { shown .. (" "):rep(math.max(missing, 0)), "PillionDelete" } }
end

local function removed_lines(hunk, old, buf)
  local lines = {}
  for number = hunk.old, hunk.old + math.min(hunk.old_count, MAX_REMOVED) - 1 do
    table.insert(lines, virtual_line(old[number], buf))
  end
  if hunk.old_count > MAX_REMOVED then
    table.insert(lines, virtual_line(("… %d more lines"):format(hunk.old_count - MAX_REMOVED), buf))
  end
  return lines
end

local function draw(buf, hunk, old, line_count)
  if hunk.new_count > 0 then
    vim.api.nvim_buf_set_extmark(buf, namespace, hunk.new - 1, 0, {
      end_row = hunk.new - 1 + hunk.new_count,
      end_col = 0,
      strict = false,
      hl_group = "PillionAdd",
      hl_eol = true,
    })
  end
  if hunk.old_count > 0 then
    local row = hunk.new_count > 0 and hunk.new - 1 or hunk.new
    local below_last = row >= line_count
    vim.api.nvim_buf_set_extmark(buf, namespace, below_last and line_count - 1 or row, 0, {
      virt_lines = removed_lines(hunk, old, buf),
      virt_lines_above = not below_last,
    })
  end
end

--- Neovim does not show virtual lines above the first line until the window is told to.
local function show_above_first(diff, count)
  for _, win in ipairs(vim.fn.win_findbuf(diff.right)) do
    vim.api.nvim_win_call(win, function()
      if vim.fn.line("w0") == 1 then
        vim.fn.winrestview({ topfill = math.min(count, math.floor(vim.api.nvim_win_get_height(win) / 2)) })
      end
    end)
  end
end

local function refresh(diff)
  local buf = diff.right
  if not (buf and vim.api.nvim_buf_is_loaded(buf)) then
    return
  end
  local started = vim.loop.hrtime()
  local old, new = original.lines(diff), text.lines(buf)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local line_count = vim.api.nvim_buf_line_count(buf)
  for _, hunk in ipairs(hunks.between(old, new)) do
    draw(buf, hunk, old, line_count)
    if hunk.old_count > 0 and hunk.new <= 1 and (hunk.new_count > 0 or hunk.new == 0) then
      show_above_first(diff, hunk.old_count)
    end
  end
  diff.refresh_cost_ms = (vim.loop.hrtime() - started) / 1e6
end

local function refresh_later(diff)
  if diff.refresh_is_due then
    return
  end
  diff.refresh_is_due = true
  vim.defer_fn(function()
    diff.refresh_is_due = false
    refresh(diff)
  end, math.floor(DEBOUNCE_MS + SHARE * diff.refresh_cost_ms))
end

--- Draws the hunks, and keeps them drawn while the proposal is edited.
function M.attach(diff)
  define_highlights()
  refresh(diff)
  if not diff.is_watched then
    diff.is_watched = true
    vim.api.nvim_buf_attach(diff.right, false, {
      on_lines = function()
        if diff.is_watched then
          refresh_later(diff)
        end
        return not diff.is_watched
      end,
      on_reload = function()
        refresh_later(diff)
      end,
    })
  end
end

function M.detach(diff)
  diff.is_watched = false
end

return M
