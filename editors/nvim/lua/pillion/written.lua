--- What agents have written and nobody has looked at, in the buffers of these files: signs, colours, the lines that
--- were there before, and the way from hunk to hunk.

local client = require("pillion.client")
local hunks = require("pillion.diff.hunks")
local marks = require("pillion.diff.marks")
local notify = require("pillion.notify")
local text = require("pillion.diff.text")

local M = {}

local namespace = vim.api.nvim_create_namespace("pillion_written")

--- By buffer: the extmarks at its hunks; and what is marked: the hunks, the lines that had them, the number of the
--- change that led to these, and whether an older text is shown than that: { told, lines, change, is_older }. By path:
--- the hunks that nobody has looked at, as they were listed last.
local places, marked, unseen = {}, {}, {}

--- True while the list is on its way; true if it is another one already.
local is_asked, is_stale = false, false

local group

local function clear(buf)
  places[buf], marked[buf] = nil, nil
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  end
end

--- By path: the hunks that nobody has looked at.
local function unseen_of(turns)
  local found = {}
  for _, turn in ipairs(turns) do
    for _, change in ipairs(turn.changes) do
      if change.isUnseen and #change.hunks > 0 then
        found[change.path] = vim.list_extend(found[change.path] or {}, change.hunks)
      end
    end
  end
  return found
end

local function draw_hunk(buf, told, new)
  local first, count = told.lines.start, told.lines["end"] - told.lines.start
  if told.lines["end"] > #new then
    return
  end
  local hunk = { old = 1, old_count = told.removed, new = first + (count > 0 and 1 or 0), new_count = count }
  marks.draw(buf, namespace, hunk, told.before or {}, new)
  local row = math.min(first, vim.api.nvim_buf_line_count(buf) - 1)
  table.insert(places[buf], vim.api.nvim_buf_set_extmark(buf, namespace, row, 0, {}))
end

local function draw_hunks(buf, told, lines)
  places[buf] = {}
  marks.define_highlights()
  for _, hunk in ipairs(told) do
    draw_hunk(buf, hunk, lines)
  end
end

--- By how many lines a hunk has moved, or nil if it has other lines now.
local function moved_by(lines, differences)
  local by = 0
  for _, it in ipairs(differences) do
    local from = it.old - (it.old_count > 0 and 1 or 0)
    local to = from + it.old_count
    if
      from < lines["end"] and to > lines.start
      or lines.start == lines["end"] and from <= lines.start and to >= lines.start
    then
      return nil
    elseif to <= lines.start then
      by = by + it.new_count - it.old_count
    end
  end
  return by
end

--- Hunks of a text where their lines are in another one, without those that have other lines there.
local function moved(told, lines, now)
  local found, differences = {}, hunks.between(lines, now)
  for _, it in ipairs(told) do
    local by = moved_by(it.lines, differences)
    if by then
      local place = { start = it.lines.start + by, ["end"] = it.lines["end"] + by }
      table.insert(found, vim.tbl_extend("force", it, { lines = place }))
    end
  end
  return found
end

--- Draws what is in a buffer. Lines are those of the file: where the person has changed some, the marks of before have
--- moved with the text.
local function draw(buf, told)
  local is_modified = vim.bo[buf].modified
  if #told > 0 and places[buf] and is_modified then
    return
  end
  clear(buf)
  if #told == 0 or is_modified then
    return
  end
  local change, lines = vim.api.nvim_buf_call(buf, vim.fn.changenr), text.lines(buf)
  marked[buf] = { told = told, lines = lines, change = change, is_older = false }
  draw_hunks(buf, told, lines)
end

--- By buffer of a file: the hunks that nobody has looked at, or an empty list; and the buffers that have some.
local function told_of_buffers()
  local told, with_hunks = {}, {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and name ~= "" then
      local found = unseen[vim.uv.fs_realpath(name) or name]
      told[buf], with_hunks[buf] = found or {}, found and true
    end
  end
  return told, with_hunks
end

local function draw_all(turns)
  unseen = unseen_of(turns)
  local told, with_hunks = told_of_buffers()
  -- The lines are those of the file as it is now.
  if not require("pillion.reload").look_before(with_hunks) then
    vim.api.nvim_create_autocmd("ModeChanged", { group = group, once = true, callback = vim.schedule_wrap(M.refresh) })
    return
  end
  for buf, of_buffer in pairs(told) do
    draw(buf, of_buffer)
  end
end

--- An older text than the file's has some of the lines, elsewhere; back at the file's they are where they were.
local function on_change(event)
  local buf, was = event.buf, marked[event.buf]
  if not was or not was.is_older and vim.fn.changenr() >= was.change then
    return
  elseif not vim.bo[buf].modified then
    draw(buf, told_of_buffers()[buf] or {})
    return
  end
  was.is_older = vim.fn.changenr() < was.change
  vim.api.nvim_buf_clear_namespace(buf, namespace, 0, -1)
  local now = text.lines(buf)
  draw_hunks(buf, moved(was.told, was.lines, now), now)
end

local function attach()
  group = vim.api.nvim_create_augroup("PillionWritten", {})
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufWritePost" }, {
    group = group,
    callback = function()
      if next(unseen) then
        -- Lines may be elsewhere now.
        M.refresh()
      end
    end,
  })
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, { group = group, callback = on_change })
end

--- Asks what there is, draws it, and fills the list anew, if the person has opened that.
function M.refresh()
  local has_marks, changes = require("pillion.config").get().marks, package.loaded["pillion.changes"]
  if not has_marks and not (changes and changes.is_kept()) then
    return
  elseif is_asked then
    is_stale = true
    return
  end
  if not group then
    attach()
  end
  is_stale = false
  is_asked = client.request("pillion/changes", vim.empty_dict(), function(_, answer)
    is_asked = false
    if is_stale then
      M.refresh()
    elseif type(answer) == "table" and type(answer.problem) ~= "string" then
      draw_all(has_marks and answer.turns or {})
      if changes then
        changes.fill(answer)
      end
    end
  end)
end

--- Nothing is known any more.
function M.detach()
  is_asked, is_stale, unseen = false, false, {}
  vim.tbl_map(clear, vim.tbl_keys(places))
  if group then
    vim.api.nvim_del_augroup_by_id(group)
    group = nil
  end
end

--- Goes to the next hunk of the buffer, or with a negative `step` to the one before.
function M.go(step)
  local buf, here = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1]
  local target
  for _, id in ipairs(places[buf] or {}) do
    local line = vim.api.nvim_buf_get_extmark_by_id(buf, namespace, id, {})[1] + 1
    local is_ahead = (line - here) * step > 0
    if is_ahead and (not target or (target - line) * step > 0) then
      target = line
    end
  end
  if target then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { target, 0 })
  else
    notify.info("no more unseen changes here. Hint: :PillionChanges")
  end
end

return M
