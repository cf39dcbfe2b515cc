--- The layout of one window: the proposal, with what is added or changed highlighted, signed and folded
--- around, and what is removed as virtual lines.

local hunks = require("pillion.diff.hunks")
local layout = require("pillion.diff.layout")
local original = require("pillion.diff.original")
local text = require("pillion.diff.text")
local words = require("pillion.diff.words")

local M = {}

local namespace = vim.api.nvim_create_namespace("pillion_diff")

--- A refresh waits this long, or several times what the last one took.
local DEBOUNCE_MS, SHARE = 80, 8
--- Virtual lines are drawn however many there are: a removed file of megabytes would stall Neovim.
local MAX_REMOVED, MAX_WIDTH = 1000, 1000
--- The number of line pairs of a hunk whose words are compared; more are a rewrite, not an edit.
local MAX_PAIRS = 200

local function define_highlights()
  vim.api.nvim_set_hl(0, "PillionAdd", { link = "DiffAdd", default = true })
  vim.api.nvim_set_hl(0, "PillionDelete", { link = "DiffDelete", default = true })
  vim.api.nvim_set_hl(0, "PillionText", { link = "DiffText", default = true })
  vim.api.nvim_set_hl(0, "PillionAddSign", { link = "PillionAdd", default = true })
  vim.api.nvim_set_hl(0, "PillionDeleteSign", { link = "PillionDelete", default = true })
end

--- Text as it looks in a line, with nothing in it that a terminal would obey.
local function shown(part, buf)
  part = part:gsub("\t", (" "):rep(vim.bo[buf].tabstop))
  return vim.fn.strtrans((part:gsub("%z", "\n")))
end

--- A removed line as it would look, its changed `spans` marked, wide enough for the highlight to reach
--- the edge.
local function virtual_line(line, buf, spans)
  line = line:sub(1, MAX_WIDTH)
  local chunks, from, width = {}, 1, 0
  local function add(part, group)
    if part ~= "" then
      part = shown(part, buf)
      width = width + vim.fn.strdisplaywidth(part)
      table.insert(chunks, { part, group })
    end
  end
  for _, span in ipairs(spans or {}) do
    add(line:sub(from, span[1]), "PillionDelete")
    add(line:sub(span[1] + 1, span[2]), "PillionText")
    from = span[2] + 1
  end
  add(line:sub(from), "PillionDelete")
  add((" "):rep(math.max(vim.o.columns - width, 0)), "PillionDelete")
  return chunks
end

local function removed_lines(hunk, old, buf, spans)
  local lines = {}
  for number = hunk.old, hunk.old + math.min(hunk.old_count, MAX_REMOVED) - 1 do
    table.insert(lines, virtual_line(old[number], buf, spans[number]))
  end
  if hunk.old_count > MAX_REMOVED then
    table.insert(lines, virtual_line(("… %d more lines"):format(hunk.old_count - MAX_REMOVED), buf))
  end
  return lines
end

--- Marks the words that differ in lines that stand for one another; those of the old lines by number.
local function draw_words(buf, hunk, old, new)
  local spans = {}
  local pairs_count = math.min(hunk.old_count, hunk.new_count)
  for offset = 0, pairs_count <= MAX_PAIRS and pairs_count - 1 or -1 do
    local removed, added = words.changed(old[hunk.old + offset], new[hunk.new + offset])
    spans[hunk.old + offset] = removed
    for _, span in ipairs(added) do
      vim.api.nvim_buf_set_extmark(buf, namespace, hunk.new + offset - 1, span[1], {
        end_col = span[2],
        strict = false,
        hl_group = "PillionText",
        priority = 4097,
      })
    end
  end
  return spans
end

local function sign(buf, row, mark, group)
  vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, { sign_text = mark, sign_hl_group = group })
end

--- A sign at each line that is new (`+`) or changed (`~`), and where lines are gone (`_`).
local function draw_signs(buf, hunk, line_count)
  for number = hunk.new, hunk.new + hunk.new_count - 1 do
    sign(buf, number - 1, number < hunk.new + hunk.old_count and "~" or "+", "PillionAddSign")
  end
  if hunk.new_count == 0 then
    sign(buf, math.max(0, math.min(hunk.new, line_count) - 1), "_", "PillionDeleteSign")
  end
end

local function draw(buf, hunk, old, new, line_count)
  draw_signs(buf, hunk, line_count)
  local spans = draw_words(buf, hunk, old, new)
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
      virt_lines = removed_lines(hunk, old, buf, spans),
      virt_lines_above = not below_last,
    })
  end
end

--- Neovim does not show virtual lines above the first line until the window is scrolled there.
local function show_above_first(diff, count)
  for _, win in ipairs(vim.fn.win_findbuf(diff.right)) do
    vim.api.nvim_win_call(win, function()
      if vim.fn.line("w0") == 1 then
        vim.fn.winrestview({ topfill = math.min(count, math.floor(vim.api.nvim_win_get_height(win) / 2)) })
      end
    end)
  end
end

--- 'context' of 'diffopt': so many lines around a hunk are not folded.
local function context()
  return tonumber(vim.o.diffopt:match("context:(%d+)")) or 6
end

--- By buffer: which lines are shown, as ranges of line numbers.
local open_ranges = {}

--- 'foldexpr' of the window.
function M.fold_level(line)
  for _, range in ipairs(open_ranges[vim.api.nvim_get_current_buf()] or { { 1, math.huge } }) do
    if line >= range[1] and line <= range[2] then
      return 0
    end
  end
  return 1
end

local function find_folds(diff, found)
  local ranges, around = {}, context()
  for _, hunk in ipairs(found) do
    local first = hunks.first_line(hunk.new, hunk.new_count, math.huge)
    local range = { first - around, first + math.max(hunk.new_count, 1) - 1 + around }
    local last = ranges[#ranges]
    if last and range[1] <= last[2] + 1 then
      last[2] = range[2]
    else
      table.insert(ranges, range)
    end
  end
  open_ranges[diff.right] = ranges
  local win = diff.windows.right
  if win and vim.api.nvim_win_is_valid(win) and vim.wo[win].foldmethod == "expr" then
    layout.set_local(win, "foldmethod", "expr")
  end
end

--- Draws the hunks.
function M.refresh(diff)
  local buf = diff.right
  if not (buf and vim.api.nvim_buf_is_loaded(buf)) then
    return
  end
  local started = vim.uv.hrtime()
  local old, new = original.lines(diff), text.lines(buf)
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local line_count = vim.api.nvim_buf_line_count(buf)
  local found = hunks.shown(old, new)
  for _, hunk in ipairs(found) do
    draw(buf, hunk, old, new, line_count)
    if hunk.old_count > 0 and hunk.new <= 1 and (hunk.new_count > 0 or hunk.new == 0) then
      show_above_first(diff, hunk.old_count)
    end
  end
  find_folds(diff, found)
  diff.refresh_cost_ms = (vim.uv.hrtime() - started) / 1e6
end

local function refresh_later(diff)
  if diff.refresh_is_due then
    return
  end
  diff.refresh_is_due = true
  vim.defer_fn(function()
    diff.refresh_is_due = false
    M.refresh(diff)
  end, math.floor(DEBOUNCE_MS + SHARE * diff.refresh_cost_ms))
end

--- Draws the hunks, and keeps them drawn while the proposal is edited.
function M.attach(diff)
  define_highlights()
  local win = diff.windows.right
  for name, value in pairs({
    foldmethod = "expr",
    foldexpr = "v:lua.require'pillion.diff.unified'.fold_level(v:lnum)",
    foldlevel = 0,
    foldenable = true,
    signcolumn = "yes",
  }) do
    layout.set(diff.saved_options, win, name, value)
  end
  M.refresh(diff)
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
  open_ranges[diff.right or -1] = nil
  diff.is_watched = false
end

return M
