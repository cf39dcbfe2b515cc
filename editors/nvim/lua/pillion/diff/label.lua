--- The description of a view in itself: the lines above its windows and short messages.

local hunks = require("pillion.diff.hunks")
local notes = require("pillion.diff.notes")
local notify = require("pillion.notify")
local original = require("pillion.diff.original")
local text = require("pillion.diff.text")

local layout = require("pillion.diff.layout")

local uv = vim.uv

local M = {}

--- The path as people say it: below the current folder without it.
function M.path(diff)
  local folder = uv.cwd() .. "/"
  local path = diff.path
  if path:sub(1, #folder) == folder then
    path = path:sub(#folder + 1)
  end
  return (notify.visible(path):gsub("\n", "^J"))
end

--- The path with the place of the file in its set: `a.txt (2 of 3)`.
function M.name(diff)
  return M.path(diff) .. diff.place
end

--- The facts that no line shows: notes of the program, line endings, BOM, an unreadable original.
local function remarks_of(diff)
  local remarks = vim.tbl_map(function(note)
    return (notify.visible(note):gsub("%s+", " "))
  end, diff.notes)
  local count = notes.count(diff)
  if count > 0 then
    table.insert(remarks, 1, count == 1 and "1 note" or ("%d notes"):format(count))
  end
  vim.list_extend(remarks, diff.is_new and {} or text.unseen_changes(original.shape(diff), diff.pristine))
  if diff.is_lossy then
    local encoding = diff.left_is_users and vim.bo[diff.left].fileencoding or ""
    local is_known = encoding ~= "" and encoding ~= "utf-8"
    -- Short, so that it is not cut.
    table.insert(remarks, is_known and ("encoding %s → utf-8"):format(encoding) or "not UTF-8: bytes shown as �")
  end
  if diff.left_is_users and vim.bo[diff.left].modified then
    -- They look like lines that the agent removes.
    local hint = "your unsaved changes are not in it: :PillionMerge"
    table.insert(remarks, diff.is_merged and "with your unsaved changes" or hint)
  end
  return remarks
end

--- Text in a format of a status line, where `%` would run code.
local function literal(line)
  return (line:gsub("%%", "%%%%"))
end

--- The key of a person's map for a subcommand in a mode, or nil.
local function mapped_key(mode, subcommand)
  for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
    local rhs = (map.rhs or ""):lower()
    local decides = rhs == ("<plug>(pillion-%s)"):format(subcommand) or rhs:find("pillion ?" .. subcommand)
    if decides and not vim.startswith(map.lhs, "<Plug>") then
      return map.lhs
    end
  end
end

local function is_in_terminal()
  return vim.api.nvim_get_mode().mode == "t"
end

--- The keys and commands that decide where the person is: in full, and ever shorter for narrow windows.
local function keys(diff)
  if is_in_terminal() then
    local accept, reject = mapped_key("t", "accept"), mapped_key("t", "reject")
    if accept and reject then
      return { ("%s accepts, %s rejects"):format(accept, reject), accept .. "/" .. reject, accept }
    elseif accept then
      return { accept .. " accepts", accept }
    end
    return {
      "CTRL-\\ CTRL-N, then :PillionAccept or :PillionReject",
      "CTRL-\\ CTRL-N, then :PillionAccept",
      "CTRL-\\ CTRL-N first",
    }
  elseif vim.bo.buftype == "terminal" then
    -- There `:w` and `:q` are about the terminal.
    return {
      (":PillionAccept %d accepts, :PillionReject %d rejects"):format(diff.id, diff.id),
      (":PillionAccept/:PillionReject %d"):format(diff.id),
      (":Pillion accept/reject %d"):format(diff.id),
      (":PillionAccept %d"):format(diff.id),
    }
  end
  return { ":w accepts, :q rejects", ":w yes, :q no", ":w yes" }
end

local function width(line)
  return vim.fn.strdisplaywidth(line)
end

--- The end of a path, as much as fits.
local function end_of(path, room)
  local from = 0
  while from < vim.fn.strchars(path) and width(vim.fn.strcharpart(path, from)) > room - 1 do
    from = from + 1
  end
  return "…" .. vim.fn.strcharpart(path, from)
end

local function start_of(line, room)
  local count = vim.fn.strchars(line)
  while count > 0 and width(vim.fn.strcharpart(line, 0, count)) > room - 1 do
    count = count - 1
  end
  return vim.fn.strcharpart(line, 0, count) .. "…"
end

local function fitting(line, room, shorten)
  return width(line) <= room and line or shorten(line, room)
end

--- A path with less room than this says nothing; nor does a remark.
local MIN_ROOM = 8

--- Which agent proposes what, in this many columns: the path and the remarks are cut first.
local function what(diff, room)
  local path, remarks = M.name(diff), table.concat(diff.remarks, "; ")
  local head = ("%s %s: "):format(notify.visible(diff.agent), diff.does)
  local name = width(vim.fn.fnamemodify(path, ":t")) + 2
  if width(head) + math.max(MIN_ROOM, remarks ~= "" and name + MIN_ROOM + 3 or 0) > room then
    head = ""
  end
  room = room - width(head)
  local wanted = remarks == "" and 0 or math.min(width(" [" .. remarks .. "]"), math.max(room - name, 0))
  path = fitting(path, math.max(room - (wanted > MIN_ROOM and wanted or 0), 1), end_of)
  room = room - width(path) - width(" []")
  local tail = remarks ~= "" and room >= MIN_ROOM and (" [%s]"):format(fitting(remarks, room, start_of)) or ""
  return head .. path .. tail
end

--- The longest of the forms that fits, or the shortest.
local function longest(forms, columns)
  for _, form in ipairs(forms) do
    if width(" " .. form) <= columns then
      return form
    end
  end
  return forms[#forms]
end

local function right(diff)
  local win = diff.windows.right
  local columns = win and vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_width(win) or vim.o.columns
  if diff.is_undecided then
    return " " .. literal(fitting(":q closes — " .. notify.visible(diff.message), columns - 1, start_of))
  elseif diff.outcome == "closed" then
    return " " .. literal(fitting("settled elsewhere, and closes once you pause", columns - 1, start_of))
  end
  local decide = longest(keys(diff), columns)
  local room = columns - width("  — " .. decide)
  local counts = (" +%d −%d"):format(diff.added, diff.removed)
  local remarks = width(table.concat(diff.remarks, "; "))
  local needed = width(diff.place) + remarks + (remarks > 0 and 3 or 1) * MIN_ROOM
  counts = room - width(counts) >= needed and counts or ""
  -- Where Neovim cuts, should the window get narrower unnoticed.
  if room >= MIN_ROOM then
    return "%< " .. literal(what(diff, room - width(counts)) .. counts .. " — " .. decide)
  end
  return " " .. literal(decide) .. "%<"
end

local function left(diff)
  local is_unsaved = diff.left_is_users and vim.bo[diff.left].modified
  local yours = is_unsaved and "your buffer, with unsaved changes" or "your buffer"
  local kind = diff.is_new and "new file" or diff.left_is_users and yours or "on disk"
  return literal((" %s (%s)"):format(M.path(diff), kind))
end

--- Says once that the last window with the proposal shows something else now.
local function say_hidden(diff)
  local is_hidden = #vim.fn.win_findbuf(diff.right) == 0
  if is_hidden and not diff.is_hidden then
    -- Later: `:bufdo` comes through many buffers.
    vim.schedule(function()
      if diff.is_hidden and not diff.outcome and vim.api.nvim_buf_is_loaded(diff.right) then
        M.announce(diff, (diff.does:gsub("^proposes", "still proposes")))
      end
    end)
  end
  diff.is_hidden = is_hidden
end

--- Takes the labels out of windows that show something else now, or were split off the view with them. Those
--- of another view may read the same.
local function take_out(diff)
  local was = diff.saved_options[diff.windows.right] or {}
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local buf, name = vim.api.nvim_win_get_buf(win), diff.label_lines[vim.wo[win].winbar]
    local owner = vim.w[win].pillion_diff or vim.b[buf].pillion_diff or diff.id
    -- In a split of the proposal the same keys decide.
    local is_right = name == "right" and buf == diff.right
    local is_left = name == "left" and buf == diff.left and win == diff.windows.left
    if name and owner == diff.id and not is_right and not is_left then
      layout.set_local(win, "winbar", (diff.saved_options[win] or was).winbar or "")
    end
  end
end

--- Puts the labels of a view where they belong, if something else stands there.
local function keep(diff)
  local bufs = { right = diff.right, left = diff.left }
  for name, line in pairs(diff.labels) do
    local win = diff.windows[name]
    local is_ours = win and vim.api.nvim_win_is_valid(win) and vim.w[win].pillion_diff == diff.id
    if is_ours and vim.api.nvim_win_get_buf(win) == bufs[name] and vim.wo[win].winbar ~= line then
      layout.set(diff.saved_options, win, "winbar", line)
    end
  end
  take_out(diff)
  say_hidden(diff)
end

--- Says the notes: the line above a narrow window has no room for them. Once when a proposal comes, and once
--- when the person comes to it; not in a terminal, where the name of the mode covers every message.
local function say_notes(diff)
  if #diff.notes == 0 then
    return
  end
  vim.schedule(function()
    if diff.outcome or is_in_terminal() then
      return
    end
    local place = vim.api.nvim_get_current_buf() == diff.right and "inside" or "beside"
    diff.noted = diff.noted or {}
    if diff.noted[place] ~= diff.revision and diff.noted.inside ~= diff.revision then
      diff.noted[place] = diff.revision
      notify.unasked("warn", table.concat(diff.notes, " "), diff)
    end
  end)
end

local function label(diff)
  diff.labels = { right = right(diff), left = left(diff) }
  diff.label_lines = diff.label_lines or {}
  for name, line in pairs(diff.labels) do
    diff.label_lines[line] = name
  end
  keep(diff)
  say_notes(diff)
end

--- Labels the windows of a view.
function M.show(diff)
  diff.remarks = remarks_of(diff)
  diff.added, diff.removed = hunks.counts(hunks.told(diff.hunks))
  label(diff)
end

--- When other plugins put theirs into the same lines. Ours comes after theirs, since they were there
--- before, and nobody sees theirs.
local TAKEN_OVER = {
  "BufEnter",
  "BufWinEnter",
  "BufWritePost",
  "CursorHold",
  "CursorMoved",
  "CursorMovedI",
  "DiagnosticChanged",
  "FileType",
  "InsertEnter",
  "InsertLeave",
  "ModeChanged",
  "TabEnter",
  "TextChanged",
  "TextChangedI",
  "VimResized",
}

--- Keeps the labels of the pending diffs.
function M.attach(group, sorted)
  local function each(act)
    return function()
      for _, diff in ipairs(sorted()) do
        -- One that was never shown has none.
        if diff.labels then
          act(diff)
        end
      end
    end
  end
  local function on(events, act, pattern)
    vim.api.nvim_create_autocmd(events, { group = group, pattern = pattern, callback = each(act) })
  end
  on({ "TermEnter", "TermLeave", "WinEnter", "VimResized", "WinScrolled" }, label)
  on(TAKEN_OVER, keep)
  -- From a timer: in autocommands this has no effect.
  on("OptionSet", keep, "winbar")
end

--- Says that what the person looks at is another proposal now.
function M.announce_anew(diff, is_over_edits)
  local hint = is_over_edits and "; u restores your edits" or ""
  local name = vim.fn.fnamemodify(M.name(diff), ":t")
  notify.unasked("info", ("%s revised %s%s"):format(diff.agent, name, hint), diff)
end

--- Says something about a proposal, in one line: a longer one would ask for Enter.
local function say(diff, verb, hint)
  local room = vim.o.columns - width(("Pillion: %s %s %s"):format(diff.agent, verb, hint)) - 14
  local path = fitting(M.name(diff), math.max(room, MIN_ROOM), end_of)
  notify.unasked("info", ("%s %s %s%s"):format(diff.agent, verb, path, hint), diff)
end

--- Says that there is a diff where the person does not look.
function M.announce(diff, verb)
  local key = is_in_terminal() and (mapped_key("t", "diffs") or "CTRL-\\ CTRL-N :PillionDiffs") or ":PillionDiffs"
  say(diff, verb or diff.does, (". %s shows it"):format(key))
end

--- Says that a proposal waits until the person is done, where that disturbs no question.
function M.announce_waiting(diff)
  local mode = vim.api.nvim_get_mode()
  if not mode.blocking and not mode.mode:find("^[cr!]") then
    say(diff, diff.does, ": opens when you are done")
  end
end

--- Says that a proposal which waited is on the screen now.
function M.announce_opened(diff)
  say(diff, (diff.does:gsub("^proposes", "proposed")), " meanwhile")
end

function M.announce_problem(diff, problem)
  notify.unasked("error", ("cannot show %s: %s"):format(M.path(diff), problem))
end

--- The line over a terminal about the proposals that wait: the first one, and how many there are.
function M.notice(diff, count, columns)
  local more = count > 1 and (" (1 of %d)"):format(count) or ""
  local key = (mapped_key("t", "diffs") or "CTRL-\\ CTRL-N") .. " shows it"
  local head = ("%s %s "):format(notify.visible(diff.agent), diff.does)
  local room = columns - width(" " .. head .. more .. ": " .. key)
  if room < MIN_ROOM then
    return (" %s: proposal%s"):format(key, more)
  end
  return (" %s%s%s: %s"):format(head, fitting(M.path(diff), room, end_of), more, key)
end

return M
