--- The changes that agents have written already: their list is a quickfix list, and the person keeps them or takes them
--- back. Pillion decides what that means; here is only what stands under the cursor, and what is put into buffers.

local buffers = require("pillion.buffers")
local in_place = require("pillion.reload.in_place")
local notify = require("pillion.notify")
local request = require("pillion.request")
local row = require("pillion.row")
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
  local function entry(first, last, words, hunks)
    local about = { id = change.id, hunks = hunks }
    return { filename = change.path, lnum = first, end_lnum = last, text = words, type = "I", user_data = about }
  end
  local found = {}
  for _, hunk in ipairs(change.hunks) do
    local first = hunk.lines.start + 1
    found[#found + 1] = entry(first, math.max(hunk.lines["end"], first), hunk.label or change.label, #change.hunks)
  end
  if #found == 0 then
    -- Nothing of it can be pointed to: it is gone, or not text.
    found[1] = entry(1, 1, ("%s  %s"):format(change.label, change.shown), 0)
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

--- True if the cursor is in the list.
local function is_in_list()
  return vim.bo.buftype == "quickfix" and vim.fn.getqflist({ id = 0 }).id == list.id
end

--- What the line of the list under the cursor is, as it is now.
local function row_here()
  local key = list.keys[vim.fn.line(".")] or ""
  local change = listed[key:match("^[^/]*")] or {}
  return ("%s %s"):format(key, change.revision or "")
end

local function note_row(by_itself)
  if is_in_list() then
    row.note(row_here(), by_itself)
  end
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
    vim.api.nvim_create_autocmd({ "BufEnter", "CursorMoved" }, {
      group = vim.api.nvim_create_augroup("PillionRow", {}),
      callback = function()
        note_row(false)
      end,
    })
    note_row(false)
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
  note_row(true)
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

--- The entry under the cursor, if the cursor is in the list: its name, its lines, and how many hunks its change has; or
--- nothing of that between entries.
local function entry_under_cursor()
  if not is_in_list() then
    return nil
  end
  local item = vim.fn.getqflist({ items = 0 }).items[vim.fn.line(".")]
  local about = item and item.valid == 1 and item.user_data
  if not about then
    return {}
  end
  return { id = about.id, first = item.lnum - 1, last = item.end_lnum - 1, hunks = about.hunks }
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

--- True if the edit could be made: the buffer still has the text that Pillion was told.
local function apply(change, sent)
  local buf = buffers.find(change.path)
  for _, told in ipairs(sent) do
    if buf and told.uri == change.uri and buffers.text(buf) == told.content then
      return pcall(in_place.set_lines, buf, text.decode(change.content).lines)
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

--- How the line came under the cursor, if it is meant: what is named in what was typed is meant wherever the cursor is.
local function row_of(entry, typed)
  return entry and entry.id and not typed:find("^%s*%d") and row.decide(row_here()) or nil
end

--- Keeps a change or a turn that is named in what was typed, the change under the cursor in the list, or that of the
--- file in the window. A hunk is not kept by itself: `call.bang` keeps all of them.
function M.keep(typed, call)
  local params = { typed = typed }
  local entry = entry_under_cursor()
  if entry and (entry.hunks or 0) > 1 and not call.bang and not typed:find("^%s*%d") then
    local said = "%s has %d hunks, and is kept as a whole: :PillionKeep! keeps it"
    error({ message = said:format(entry.id, entry.hunks) })
  elseif entry then
    params.id = entry.id
    params.revision = listed[entry.id] and listed[entry.id].revision
    params.row = row_of(entry, typed)
  else
    params.uri = file_here()
  end
  act("pillion/keep", params, {})
end

--- True if a buffer had another text than its file: it is read now, and the person sees what they act on.
local function is_read_only_now(buf)
  if not buf or vim.bo[buf].modified then
    return false
  end
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  require("pillion.reload").look_before({ [buf] = true })
  return vim.api.nvim_buf_get_changedtick(buf) ~= tick
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
    params.row = row_of(entry, typed)
    this = known and buffers.find(known.path)
    if not call.bang and entry.hunks and entry.hunks > 0 then
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
  if is_read_only_now(this) then
    notify.warn("the file had changed on disk, and is read only now: the same again takes back")
    return
  end
  params.buffers = open_buffers(this)
  act("pillion/takeBack", params, params.buffers)
end

--- Shows a change or a turn as diffs: the one that is named, or that under the cursor in the list, or else the newest
--- turn.
function M.look(word)
  local entry = entry_under_cursor() or {}
  act("pillion/look", { id = word or entry.id or vim.NIL }, {})
end

--- Undoes what was done with a change or a turn, or what was done last.
function M.undo(word)
  act("pillion/undo", { id = word or vim.NIL }, {})
end

return M
