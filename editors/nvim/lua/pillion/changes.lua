--- The changes that agents have written already: their list is a quickfix list, and the person keeps them or takes them
--- back. Pillion decides what that means; here is only what stands under the cursor, and what is put into buffers.

local buffers = require("pillion.buffers")
local in_place = require("pillion.reload.in_place")
local notify = require("pillion.notify")
local request = require("pillion.request")
local row = require("pillion.row")
local text = require("pillion.diff.text")
local uri = require("pillion.uri")
local written = require("pillion.written")

local M = {}

local TITLE = "Pillion: what agents have written"

--- The quickfix list, and whether it has what was decided, too.
local list = { id = 0, has_all = false }

--- The entries of a change: one for each hunk that stands in the file. With each goes what it is about, and a key that
--- names it whatever comes before it.
local function entries(change)
  local function entry(nth, first, last, words)
    local about = { id = change.id, revision = change.revision, path = change.path, hunks = #change.hunks }
    about.key = change.id .. "/" .. nth
    return { filename = change.path, lnum = first, end_lnum = last, text = words, type = "I", user_data = about }
  end
  local found = {}
  for nth, hunk in ipairs(change.hunks) do
    local first = hunk.lines.start + 1
    found[nth] = entry(nth, first, math.max(hunk.lines["end"], first), hunk.label or change.label)
  end
  if #found == 0 then
    -- Nothing of it can be pointed to: it is gone, or not text.
    found[1] = entry(1, 1, 1, ("%s  %s"):format(change.label, change.shown))
  end
  return found
end

--- The lines of the list.
local function items_of(answer, has_all)
  local items = {}
  for _, turn in ipairs(answer.turns) do
    local found = { { text = turn.title, valid = 0, user_data = { key = turn.id } } }
    for _, change in ipairs(turn.changes) do
      if has_all or change.isUnseen then
        vim.list_extend(found, entries(change))
      end
    end
    vim.list_extend(items, #found > 1 and found or {})
  end
  if answer.leftOut > 0 then
    items[#items + 1] = { text = ("%d more changes are not listed"):format(answer.leftOut), valid = 0 }
  end
  return items
end

--- What a line of the list is about.
local function about(item)
  return item and type(item.user_data) == "table" and item.user_data or {}
end

--- Where in a list the line is that was the nth before, or the first one after it that is still there.
local function place_of(nth, before, items)
  local places = {}
  for place, item in ipairs(items) do
    places[about(item).key or ""] = place
  end
  for old = nth, #before do
    local key = about(before[old]).key
    if places[key] then
      return places[key]
    end
  end
  return math.max(math.min(nth, #items), 1)
end

function M.is_kept()
  return list.id ~= 0 and vim.fn.getqflist({ id = list.id }).id == list.id
end

--- True if the cursor is in the list.
local function is_in_list()
  return vim.bo.buftype == "quickfix" and vim.fn.getqflist({ id = 0 }).id == list.id
end

--- What is under the cursor, if that is in the list: what it is about, and its lines; or nothing of that between
--- entries.
local function entry_under_cursor()
  if not is_in_list() then
    return nil
  end
  local item = vim.fn.getqflist({ items = 0, idx = vim.fn.line(".") }).items[1]
  local lines = item and { first = item.lnum - 1, last = item.end_lnum - 1 }
  return vim.tbl_extend("keep", about(item), lines or {})
end

--- What the line of the list under the cursor is, as it is now.
local function row_here()
  local entry = entry_under_cursor() or {}
  return ("%s %s"):format(entry.key or "", entry.revision or "")
end

local function note_row(by_itself)
  if is_in_list() then
    row.note(row_here(), by_itself)
  end
end

--- Fills the quickfix list, and opens it. `has_all`: with what was decided.
function M.open(has_all)
  request.ask("pillion/changes", vim.empty_dict(), function(answer)
    if type(answer.problem) == "string" then
      notify.error(notify.visible(answer.problem))
      return
    end
    local items = items_of(answer, has_all)
    if #items == 0 then
      notify.info("there are no unseen changes here")
      return
    end
    vim.fn.setqflist({}, " ", { title = TITLE, items = items })
    list = { id = vim.fn.getqflist({ id = 0 }).id, has_all = has_all }
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

--- Fills the list anew, if it is there; the cursor stays at the line that it is at.
function M.fill(answer)
  if not M.is_kept() then
    return
  elseif is_typing() then
    -- The event comes before the command is done.
    local group = vim.api.nvim_create_augroup("pillion_changes", {})
    local fill_then = vim.schedule_wrap(written.refresh)
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
  local before = vim.fn.getqflist({ id = list.id, items = 0 }).items
  local window = of_list.winid ~= 0 and of_list.winid or nil
  local line = window and vim.api.nvim_win_get_cursor(window)[1]
  local items = items_of(answer, list.has_all)
  vim.fn.setqflist({}, "r", { id = list.id, title = TITLE, items = items })
  vim.fn.setqflist({}, "a", { id = list.id, idx = place_of(of_list.idx, before, items) })
  if window then
    vim.api.nvim_win_set_cursor(window, { place_of(line, before, items), 0 })
  end
  note_row(true)
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

local function act(method, params)
  request.ask_for_person(method, params, function(result)
    for _, change in ipairs(result.edits or {}) do
      if not apply(change, params.buffers) then
        notify.error("the buffer was edited meanwhile: nothing was taken out of it")
        request.ask("pillion/undo", { id = change.id })
      end
    end
    require("pillion.reload").look_everywhere()
    written.refresh()
  end)
end

--- The lines of the file in the window that are meant.
local function lines_here(call)
  local line = vim.fn.line(".")
  local first, last = line, line
  if call.range > 0 then
    first, last = call.line1, call.line2
  end
  return { first = first - 1, last = last - 1 }
end

--- True if a buffer had another text than its file: it is read now, and the person sees what they act on.
local function is_read_only_now(buf)
  if not buf or vim.bo[buf].modified then
    return false
  end
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  require("pillion.reload").look_before({ [buf] = true })
  local is_read = vim.api.nvim_buf_get_changedtick(buf) ~= tick
  if is_read then
    notify.warn("the file had changed on disk, and is read only now: look at it, then do the same again")
  end
  return is_read
end

--- What is meant: in the list what is under the cursor, elsewhere what is there in the file, or with `call.bang` all of
--- the change. `part`: the field for its lines. Nil if it has to be looked at first.
local function meant(typed, call, part)
  local entry, this = entry_under_cursor(), vim.api.nvim_get_current_buf()
  local params = { typed = typed }
  if entry then
    params.id, params.row = entry.id, row.decide(row_here())
    this = entry.path and buffers.find(entry.path)
    if not call.bang and entry.hunks and entry.hunks > 0 then
      params[part] = { first = entry.first, last = entry.last }
    end
    -- What is merged with is a buffer that is not saved, and not what was listed.
    if part == "at" or not (this and vim.bo[this].modified) then
      params.revision = entry.revision
    end
  else
    params.uri = file_here()
    params[part] = not call.bang and lines_here(call) or nil
  end
  if is_read_only_now(this) then
    return nil
  end
  params.buffers = open_buffers(this)
  return params
end

local function decide(method, params)
  if params then
    act(method, params)
  end
end

--- Keeps a change or a turn that is named in what was typed, or else what is meant: all of a change, of which others
--- than the hunk at the cursor may not have been looked at.
function M.keep(typed, call)
  decide("pillion/keep", meant(typed, call, "at"))
end

--- Takes back a change or a turn that is named in what was typed; if none is, the hunks at the cursor or in the range,
--- or with `call.bang` all of the file's.
function M.take_back(typed, call)
  decide("pillion/takeBack", meant(typed, call, "lines"))
end

--- Shows a change or a turn as diffs: the one that is named, or that under the cursor in the list, or else the newest
--- turn.
function M.look(word)
  local entry = entry_under_cursor() or {}
  act("pillion/look", { id = word or entry.id or vim.NIL })
end

--- Undoes what was done with a change or a turn, or what was done last.
function M.undo(word)
  act("pillion/undo", { id = word or vim.NIL })
end

return M
