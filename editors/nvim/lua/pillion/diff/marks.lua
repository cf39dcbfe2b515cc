--- A hunk as it is drawn in the text that has it: what is added or changed is highlighted and signed, what is
--- removed are virtual lines.

local words = require("pillion.diff.words")

local M = {}

--- Virtual lines are drawn however many there are: a removed file of megabytes would stall Neovim.
local MAX_REMOVED, MAX_WIDTH = 1000, 1000
--- The number of line pairs of a hunk whose words are compared; more are a rewrite, not an edit.
local MAX_PAIRS = 200

function M.define_highlights()
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

--- Not all of the old lines need to be known; if none is, another hunk says what was there.
local function removed_lines(hunk, old, buf, spans)
  local lines = {}
  local count = math.min(hunk.old_count, MAX_REMOVED, #old - hunk.old + 1)
  for number = hunk.old, hunk.old + count - 1 do
    table.insert(lines, virtual_line(old[number], buf, spans[number]))
  end
  local rest = hunk.old_count - count
  if rest > 0 and count > 0 then
    table.insert(lines, virtual_line(("… %d more line%s"):format(rest, rest > 1 and "s" or ""), buf))
  end
  return lines
end

--- Marks the words that differ in lines that stand for one another; those of the old lines by number.
local function draw_words(buf, namespace, hunk, old, new)
  local spans = {}
  local pairs_count = math.min(hunk.old_count, hunk.new_count, #old - hunk.old + 1)
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

local function sign(buf, namespace, row, mark, group)
  vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, { sign_text = mark, sign_hl_group = group })
end

--- A sign at each line that is new (`+`) or changed (`~`), and where lines are gone (`_`).
local function draw_signs(buf, namespace, hunk, line_count)
  for number = hunk.new, hunk.new + hunk.new_count - 1 do
    sign(buf, namespace, number - 1, number < hunk.new + hunk.old_count and "~" or "+", "PillionAddSign")
  end
  if hunk.new_count == 0 then
    sign(buf, namespace, math.max(0, math.min(hunk.new, line_count) - 1), "_", "PillionDeleteSign")
  end
end

--- Draws a hunk between two texts of lines, the new one of which is in the buffer.
function M.draw(buf, namespace, hunk, old, new)
  local line_count = vim.api.nvim_buf_line_count(buf)
  draw_signs(buf, namespace, hunk, line_count)
  local spans = draw_words(buf, namespace, hunk, old, new)
  if hunk.new_count > 0 then
    vim.api.nvim_buf_set_extmark(buf, namespace, hunk.new - 1, 0, {
      end_row = hunk.new - 1 + hunk.new_count,
      end_col = 0,
      strict = false,
      hl_group = "PillionAdd",
      hl_eol = true,
    })
  end
  local removed = removed_lines(hunk, old, buf, spans)
  if #removed > 0 then
    local row = hunk.new_count > 0 and hunk.new - 1 or hunk.new
    local below_last = row >= line_count
    vim.api.nvim_buf_set_extmark(buf, namespace, below_last and line_count - 1 or row, 0, {
      virt_lines = removed,
      virt_lines_above = not below_last,
    })
  end
end

return M
