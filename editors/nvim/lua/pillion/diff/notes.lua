--- The person's notes for the agent, on lines of a proposal: shown at these lines, wherever edits move them, and sent
--- with the decision.

local notify = require("pillion.notify")

local M = {}

local namespace = vim.api.nvim_create_namespace("pillion_notes")

--- Shown of a note, in cells; the rest is in the list.
local MAX_SHOWN = 60

--- A note in one line.
local function line(note, room)
  local text = vim.trim((notify.visible(note.text):gsub("%s+", " ")))
  local is_long = vim.fn.strchars(text) > room
  return is_long and vim.fn.strcharpart(text, 0, room - 1) .. "…" or text
end

local function lines(note)
  if note.first == note.last then
    return ("line %d"):format(note.first + 1)
  end
  return ("lines %d to %d"):format(note.first + 1, note.last + 1)
end

--- All notes of a diff where they are now, from top to bottom: { id, text, first, last } with lines from 0.
function M.list(diff)
  if not vim.api.nvim_buf_is_loaded(diff.right) then
    return diff.last_notes or {}
  end
  local notes, count = {}, vim.api.nvim_buf_line_count(diff.right)
  for id, text in pairs(diff.note_texts or {}) do
    local row, _, details = unpack(vim.api.nvim_buf_get_extmark_by_id(diff.right, namespace, id, { details = true }))
    if row then
      local first = math.min(row, count - 1)
      local last = math.max(math.min(details.end_row or row, count - 1), first)
      table.insert(notes, { id = id, text = text, first = first, last = last })
    end
  end
  table.sort(notes, function(a, b)
    return a.first < b.first or (a.first == b.first and a.id < b.id)
  end)
  return notes
end

--- Its buffer is about to go.
function M.keep(diff)
  diff.last_notes = M.list(diff)
end

--- The number of notes.
function M.count(diff)
  return vim.tbl_count(diff.note_texts or {})
end

--- Adds one on lines from 0, both included.
function M.add(diff, first, last, text)
  vim.api.nvim_set_hl(0, "PillionNote", { default = true, link = "DiagnosticVirtualTextInfo" })
  local note = { text = text, first = first, last = last }
  local where = first == last and "" or lines(note) .. ": "
  local id = vim.api.nvim_buf_set_extmark(diff.right, namespace, first, 0, {
    end_row = last,
    end_col = 0,
    strict = false,
    virt_text = { { "▸ " .. where .. line(note, MAX_SHOWN), "PillionNote" } },
    hl_mode = "combine",
    invalidate = false,
  })
  diff.note_texts = diff.note_texts or {}
  diff.note_texts[id] = text
end

--- Removes those on lines. How many these were.
function M.remove(diff, first, last)
  local count = 0
  for _, note in ipairs(M.list(diff)) do
    if note.first <= last and note.last >= first then
      vim.api.nvim_buf_del_extmark(diff.right, namespace, note.id)
      diff.note_texts[note.id] = nil
      count = count + 1
    end
  end
  return count
end

--- Lists them; the person goes to the one that they choose.
function M.choose(diff)
  local options = {
    prompt = "Go to which note?",
    kind = "pillion_note",
    format_item = function(note)
      return lines(note) .. ": " .. line(note, MAX_SHOWN)
    end,
  }
  vim.ui.select(M.list(diff), options, function(note)
    local wins = vim.fn.win_findbuf(diff.right)
    if note and wins[1] then
      vim.api.nvim_set_current_win(wins[1])
      vim.cmd("normal! m'")
      vim.api.nvim_win_set_cursor(wins[1], { note.first + 1, 0 })
    end
  end)
end

--- Pillion hears of them at once: Neovim may quit before the person decides.
function M.tell(diff)
  require("pillion.client").notify("pillion/didChangeNotes", {
    id = diff.id,
    revision = diff.revision,
    notes = M.params(diff) or {},
  })
end

--- As they are sent: `reason` is about the whole change. Nil if there are none.
function M.params(diff, reason)
  local notes = reason and reason ~= "" and { { text = reason } } or {}
  for _, note in ipairs(M.list(diff)) do
    table.insert(notes, { text = note.text, lines = { first = note.first, last = note.last } })
  end
  return #notes > 0 and notes or nil
end

local function copy(text)
  if vim.fn.has("clipboard") == 1 then
    vim.fn.setreg("+", text)
  else
    require("vim.ui.clipboard.osc52").copy("+")(vim.split(text, "\n"))
  end
end

--- They are on their way, whatever is decided about them.
function M.forget(diff)
  diff.note_texts, diff.last_notes = nil, nil
end

--- `sent`, as `params` gave them, went with a decision that counts: says what becomes of them.
function M.say_told(sent, ruling)
  local message, text = ruling.message, ruling.clipboard
  if sent and not (ruling.settled and type(message) == "string") then
    local texts = vim.tbl_map(function(note)
      return note.text
    end, sent)
    message, text = "the agent cannot be told your notes: they are on the clipboard", table.concat(texts, "\n")
  end
  if type(text) == "string" then
    copy(text)
  end
  if type(message) == "string" then
    -- The view goes first, with what was said of it.
    vim.schedule(function()
      notify.info(message)
    end)
  end
end

--- Says those of a diff that went without a decision of the person's.
function M.say_lost(diff)
  local texts = vim.tbl_map(function(note)
    return note.text
  end, M.list(diff))
  if #texts > 0 then
    notify.unasked("warn", ("%s was not told your notes: %s"):format(diff.agent, table.concat(texts, "; ")))
  end
end

return M
