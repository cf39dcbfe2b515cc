--- The changes that agents have written already: their list is a quickfix list, and the person keeps them or takes them
--- back. Pillion decides what that means; here is only what stands under the cursor, and what is put into buffers.

local buffers = require("pillion.buffers")
local notify = require("pillion.notify")
local request = require("pillion.request")
local text = require("pillion.diff.text")
local uri = require("pillion.uri")

local M = {}

local TITLE = "Pillion: what agents have written"

--- The quickfix list, whether it has what was decided, too, and what names each of its lines.
local list = { id = 0, has_all = false, keys = {} }

--- By the name of a change: { revision, path }, as they were listed last.
local listed = {}

--- The entries of a change: one for each hunk that stands in the file.
local function entries(change)
  local path = change.path
  local function entry(first, last)
    return { filename = path, lnum = first, end_lnum = last, text = change.label, type = "I" }
  end
  local found = {}
  for _, hunk in ipairs(change.hunks) do
    local first = math.max(hunk.lines.start + 1, 1)
    found[#found + 1] = entry(first, math.max(hunk.lines["end"], first))
  end
  if #found == 0 then
    -- Nothing of it can be pointed to: it is gone, or not text.
    local whole = entry(1, 1)
    whole.text = ("%s  %s"):format(change.label, change.shown)
    found[1] = whole
  end
  return found
end

--- The lines of the list, and what names each of them, whatever comes before it.
local function items_of(answer, has_all)
  local items, keys = {}, {}
  listed = {}
  for _, turn in ipairs(answer.turns) do
    local found = {}
    for _, change in ipairs(turn.changes) do
      listed[change.id] = { revision = change.revision, path = change.path }
      if has_all or change.isUnseen then
        for nth, item in ipairs(entries(change)) do
          found[#found + 1] = { item = item, key = change.id .. "/" .. nth }
        end
      end
    end
    if #found > 0 then
      table.insert(found, 1, { item = { text = turn.title, valid = 0 }, key = turn.id })
      for _, it in ipairs(found) do
        items[#items + 1], keys[#keys + 1] = it.item, it.key
      end
    end
  end
  if answer.leftOut > 0 then
    items[#items + 1] = { text = ("%d more changes are not listed"):format(answer.leftOut), valid = 0 }
  end
  return items, keys
end

--- Where in the list with these keys the line is that was the nth, or the first one after it that is still there.
local function place_of(nth, before, keys)
  local places = {}
  for place, key in ipairs(keys) do
    places[key] = place
  end
  for old = nth, #before do
    if places[before[old]] then
      return places[before[old]]
    end
  end
  return math.max(math.min(nth, #keys), 1)
end

local function ask(done)
  request.ask("pillion/changes", vim.empty_dict(), function(answer)
    if type(answer.problem) == "string" then
      notify.error(notify.visible(answer.problem))
    else
      done(answer)
    end
  end)
end

local function is_kept()
  return list.id ~= 0 and vim.fn.getqflist({ id = list.id }).id == list.id
end

--- Fills the quickfix list, and opens it. `has_all`: with what was decided.
function M.open(has_all)
  ask(function(answer)
    local items, keys = items_of(answer, has_all)
    if #items == 0 then
      notify.info("there are no unseen changes here")
      return
    end
    vim.fn.setqflist({}, " ", { title = TITLE, items = items })
    list = { id = vim.fn.getqflist({ id = 0 }).id, has_all = has_all, keys = keys }
    vim.cmd("botright copen")
  end)
end

--- True if the person types a command, which may be about the line under the cursor.
local function is_typing()
  return vim.api.nvim_get_mode().mode:find("^c") or vim.fn.getcmdwintype() ~= ""
end

local refresh

--- Fills the list anew; the cursor stays at the line that it is at.
local function fill(answer)
  if is_typing() then
    -- The event comes before the command is done.
    local group = vim.api.nvim_create_augroup("pillion_changes", {})
    local fill_then = vim.schedule_wrap(refresh)
    vim.api.nvim_create_autocmd("CmdlineLeave", {
      group = group,
      once = true,
      callback = function()
        fill_then()
      end,
    })
    return
  end
  local of_list = vim.fn.getqflist({ id = list.id, idx = 0, winid = 0 })
  local window = of_list.winid ~= 0 and of_list.winid or nil
  local line = window and vim.api.nvim_win_get_cursor(window)[1]
  local before = list.keys
  local items, keys = items_of(answer, list.has_all)
  list.keys = keys
  vim.fn.setqflist({}, "r", { id = list.id, title = TITLE, items = items })
  vim.fn.setqflist({}, "a", { id = list.id, idx = place_of(of_list.idx, before, keys) })
  if window then
    vim.api.nvim_win_set_cursor(window, { place_of(line, before, keys), 0 })
  end
end

function refresh()
  if is_kept() then
    ask(function(answer)
      if is_kept() then
        fill(answer)
      end
    end)
  end
end

--- The list is another one now. It is asked for if somebody sees it.
function M.changed()
  if is_kept() and vim.fn.getqflist({ id = list.id, winid = 0 }).winid ~= 0 then
    refresh()
  end
end

--- The entry under the cursor, if the cursor is in the list: its name and lines, or nothing of that between entries.
local function entry_under_cursor()
  local is_list = vim.bo.buftype == "quickfix" and vim.fn.getqflist({ id = 0 }).id == list.id
  if not is_list then
    return nil
  end
  local item = vim.fn.getqflist({ items = 0 }).items[vim.fn.line(".")]
  local id = item and item.valid == 1 and item.text:match("^%d+%.%d+")
  if not id then
    return {}
  end
  return { id = id, first = item.lnum - 1, last = item.end_lnum - 1, is_hunk = not item.text:find("  ", 1, true) }
end

--- The file in the window, or nil.
local function file_here()
  local name = vim.api.nvim_buf_get_name(0)
  if name ~= "" and vim.bo.buftype == "" then
    return uri.from_path(name)
  end
end

local function buffer_text(buf)
  return {
    uri = uri.from_path(vim.api.nvim_buf_get_name(buf)),
    content = buffers.text(buf),
    isModified = vim.bo[buf].modified,
  }
end

--- The buffers with unsaved changes, and this one.
local function open_buffers(this)
  local found = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local is_file = vim.api.nvim_buf_is_loaded(buf)
      and vim.bo[buf].buftype == ""
      and vim.api.nvim_buf_get_name(buf) ~= ""
    if is_file and (buf == this or vim.bo[buf].modified) then
      found[#found + 1] = buffer_text(buf)
    end
  end
  return found
end

--- Puts another text into a buffer as one edit, with only those lines that differ.
local function edit(buf, content)
  local new, old = text.decode(content), text.of_buffer(buf)
  local first, last = 0, 0
  while first < math.min(#old.lines, #new.lines) and old.lines[first + 1] == new.lines[first + 1] do
    first = first + 1
  end
  local room = math.min(#old.lines, #new.lines) - first
  while last < room and old.lines[#old.lines - last] == new.lines[#new.lines - last] do
    last = last + 1
  end
  local lines = vim.list_slice(new.lines, first + 1, #new.lines - last)
  vim.api.nvim_buf_set_lines(buf, first, #old.lines - last, false, lines)
end

--- True if the edit could be made: the buffer still has the text that Pillion was told.
local function apply(change, sent)
  local buf = buffers.find(change.path)
  for _, told in ipairs(sent) do
    if buf and told.uri == change.uri and buffers.text(buf) == told.content then
      return pcall(edit, buf, change.content)
    end
  end
  return false
end

local function act(method, params, sent)
  request.ask_for_person(method, params, function(result)
    for _, change in ipairs(result.edits or {}) do
      if not apply(change, sent) then
        notify.error("the buffer was edited meanwhile: nothing was taken out of it")
        request.ask("pillion/undo", { id = change.id })
      end
    end
    require("pillion.reload").look_everywhere()
    refresh()
  end)
end

--- Keeps a change or a turn that is named in what was typed, the change under the cursor in the list, or that of the
--- file in the window.
function M.keep(typed)
  local params = { typed = typed }
  local entry = entry_under_cursor()
  if entry then
    params.id = entry.id
    params.revision = listed[entry.id] and listed[entry.id].revision
  else
    params.uri = file_here()
  end
  act("pillion/keep", params, {})
end

--- Takes back a change or a turn that is named in what was typed; if none is, the hunks at the cursor or in the range,
--- or with `call.bang` all of the file's.
function M.take_back(typed, call)
  local params = { typed = typed }
  local this
  local entry = entry_under_cursor()
  if entry then
    local known = listed[entry.id]
    params.id = entry.id
    this = known and buffers.find(known.path)
    if not call.bang and entry.is_hunk then
      params.lines = { first = entry.first, last = entry.last }
    end
    -- What is merged with is a buffer that is not saved, and not what was listed.
    if known and not (this and vim.bo[this].modified) then
      params.revision = known.revision
    end
  else
    params.uri = file_here()
    this = vim.api.nvim_get_current_buf()
    if not call.bang then
      local has_range = call.range > 0
      local line = vim.fn.line(".")
      params.lines = {
        first = (has_range and call.line1 or line) - 1,
        last = (has_range and call.line2 or line) - 1,
      }
    end
  end
  params.buffers = open_buffers(this)
  act("pillion/takeBack", params, params.buffers)
end

--- Undoes that a change or a turn was taken back, or what was taken back last.
function M.undo(word)
  act("pillion/undo", { id = word or vim.NIL }, {})
end

return M
