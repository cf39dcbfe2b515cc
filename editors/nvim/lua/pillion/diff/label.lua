--- What a view says about itself: the lines above its windows and short messages.

local notify = require("pillion.notify")
local original = require("pillion.diff.original")
local text = require("pillion.diff.text")

local layout = require("pillion.diff.layout")

local M = {}

--- The path as people say it: below the current folder without it.
function M.path(diff)
  local folder = (vim.uv or vim.loop).cwd() .. "/"
  local path = diff.path
  if path:sub(1, #folder) == folder then
    path = path:sub(#folder + 1)
  end
  return (notify.visible(path):gsub("\n", "^J"))
end

--- What no line shows: line endings, BOM, an unreadable original.
local function remarks_of(diff)
  local remarks = diff.is_new and {} or text.unseen_changes(original.shape(diff), diff.pristine)
  if diff.is_lossy then
    table.insert(remarks, "the file on disk is not UTF-8: it is shown with � where it cannot be read")
  end
  return remarks
end

--- Where a window shows its label: Neovim 0.7 has no line above a window.
function M.option()
  return vim.fn.has("nvim-0.8") == 1 and "winbar" or "statusline"
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

--- How to decide from where the person is: in full, and for narrow windows.
local function keys(diff)
  if is_in_terminal() then
    local accept, reject = mapped_key("t", "accept"), mapped_key("t", "reject")
    if accept then
      local whole = accept .. " accepts" .. (reject and (", %s rejects"):format(reject) or "")
      return whole, accept .. (reject and "/" .. reject or "")
    end
    return "CTRL-\\ CTRL-N, then :PillionAccept or :PillionReject", ":PillionAccept/:PillionReject"
  elseif vim.bo.buftype == "terminal" then
    -- There `:w` and `:q` are about the terminal.
    local whole = (":PillionAccept %d accepts, :PillionReject %d rejects"):format(diff.id, diff.id)
    return whole, (":PillionAccept/:PillionReject %d"):format(diff.id)
  end
  return ":w accepts, :q rejects", ":w yes, :q no"
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

--- Who proposes what, in so many columns: the path and the remarks are cut first.
local function what(diff, room)
  local path, remarks = M.path(diff), table.concat(diff.remarks, "; ")
  local head = notify.visible(diff.agent) .. " proposes: "
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

local function right(diff)
  local whole, short = keys(diff)
  local win = diff.windows.right
  local columns = win and vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_width(win) or vim.o.columns
  local room = columns - width("  — " .. whole)
  local decide = whole
  if width(" " .. whole) > columns then
    room, decide = columns - width("  — " .. short), short
  end
  -- Should the window get narrower unnoticed, Neovim cuts at the front.
  local line = room >= MIN_ROOM and what(diff, room) .. " — " .. decide or decide
  return "%< " .. literal(line)
end

local function left(diff)
  local kind = diff.is_new and "new file" or diff.left_is_users and "your buffer" or "on disk"
  return literal((" %s (%s)"):format(M.path(diff), kind))
end

--- Puts the labels of a view where they belong, if something else stands there.
local function keep(diff)
  local option = M.option()
  for name, line in pairs(diff.labels) do
    local win = diff.windows[name]
    local is_ours = win and vim.api.nvim_win_is_valid(win) and vim.w[win].pillion_diff == diff.id
    if is_ours and vim.api.nvim_win_get_option(win, option) ~= line then
      layout.set(diff.saved_options, win, option, line)
    end
  end
end

local function label(diff)
  diff.labels = { right = right(diff), left = left(diff) }
  keep(diff)
end

--- Labels the windows of a view.
function M.show(diff)
  diff.remarks = remarks_of(diff)
  label(diff)
end

--- When other plugins put theirs into the same lines. Ours comes after theirs, since they were there
--- before, and nobody sees theirs.
local TAKEN_OVER = {
  "BufEnter", "BufWinEnter", "BufWritePost", "CursorHold", "CursorMoved", "CursorMovedI", "DiagnosticChanged",
  "FileType", "InsertEnter", "InsertLeave", "ModeChanged", "TabEnter", "TextChanged", "TextChangedI", "VimResized",
}

--- Keeps the labels of the pending diffs.
function M.attach(group, sorted)
  local function each(act)
    return function()
      vim.tbl_map(act, sorted())
    end
  end
  local function on(events, act, pattern)
    vim.api.nvim_create_autocmd(events, { group = group, pattern = pattern, callback = each(act) })
  end
  on({ "TermEnter", "TermLeave", "WinEnter", "VimResized", "WinScrolled" }, label)
  on(TAKEN_OVER, keep)
  -- From a timer: in autocommands this is not heard.
  on("OptionSet", keep, M.option())
end

--- Says that what the person looks at is another proposal now.
function M.announce_anew(diff, was_edited)
  local hint = was_edited and "; u brings your edits back" or ""
  notify.unasked("info", ("%s proposes %s anew%s"):format(diff.agent, vim.fn.fnamemodify(M.path(diff), ":t"), hint))
end

--- Says that there is a diff where the person does not look. One line: a longer one would ask for Enter.
function M.announce(diff)
  local key = is_in_terminal() and (mapped_key("t", "diffs") or "CTRL-\\ CTRL-N :PillionDiffs") or ":PillionDiffs"
  local hint = (". %s shows it"):format(key)
  local room = vim.o.columns - vim.fn.strdisplaywidth("Pillion: " .. diff.agent .. " proposes " .. hint) - 14
  local path = M.path(diff)
  if vim.fn.strdisplaywidth(path) > room then
    path = "…" .. vim.fn.strcharpart(path, vim.fn.strchars(path) - math.max(room - 1, 8))
  end
  notify.info(("%s proposes %s%s"):format(diff.agent, path, hint))
end

return M
