--- Another text comes into a buffer hunk by hunk: cursors, views, marks, folds and extmarks stay at their lines,
--- and one `u` takes all of it back.

local hunks = require("pillion.diff.hunks")
local text = require("pillion.diff.text")

local M = {}

--- The number of bytes that two lines have in common at their beginning, without half of a character.
local function common_start(old, new)
  local most = math.min(#old, #new)
  local count = 0
  while count < most and old:byte(count + 1) == new:byte(count + 1) do
    count = count + 1
  end
  while count > 0 and (new:byte(count + 1) or 0) >= 0x80 do
    count = count - 1
  end
  return count
end

--- Changes a line behind what stays: marks before that stay, too.
local function change_line(buf, row, old, new)
  local from = common_start(old, new)
  vim.api.nvim_buf_set_text(buf, row, from, row, #old, { new:sub(from + 1) })
end

local function put(buf, hunk, old, new)
  local both = math.min(hunk.old_count, hunk.new_count)
  for nth = 0, both - 1 do
    change_line(buf, hunk.old - 1 + nth, old[hunk.old + nth], new[hunk.new + nth])
  end
  local at = hunk.old_count == 0 and hunk.old or hunk.old - 1 + both
  local rest = vim.list_slice(new, hunk.new + both, hunk.new + hunk.new_count - 1)
  if hunk.old_count > both or #rest > 0 then
    vim.api.nvim_buf_set_lines(buf, at, at + hunk.old_count - both, false, rest)
  end
end

--- Gives a buffer other lines.
function M.set_lines(buf, new)
  local old = text.lines(buf)
  if #old == 0 or #new == 0 then
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, new)
    return
  end
  for _, hunk in vim.iter(hunks.between(old, new)):rev():enumerate() do
    put(buf, hunk, old, new)
  end
end

--- `:wundo` or `:rundo`; without it, what could be undone takes one step more.
local function with_undo_file(buf, command, file)
  local mods = { silent = true, emsg_silent = true, noautocmd = true }
  vim.api.nvim_buf_call(buf, function()
    vim.cmd({ cmd = command, args = { file }, magic = { file = false }, mods = mods })
  end)
end

--- Gives an unmodified buffer the text that its file has by now, and has Neovim read the file by `read`, which then
--- changes nothing. What can be undone is put aside meanwhile: reading would be a step of its own.
function M.read(buf, content, read)
  local now, new = text.of_buffer(buf), text.decode(content)
  local is_alike = now.fileformat == new.fileformat and now.bomb == new.bomb
  local is_known = is_alike and vim.tbl_contains({ "", "utf-8" }, vim.bo[buf].fileencoding)
  if not is_known or not vim.bo[buf].modifiable or vim.deep_equal(now.lines, new.lines) then
    read()
    return
  end
  -- Setting it ends what the person typed before.
  vim.bo[buf].undolevels = vim.api.nvim_get_option_value("undolevels", { buf = buf })
  -- `u` leads to a text that is not the file's.
  vim.bo[buf].modified = true
  M.set_lines(buf, new.lines)
  vim.bo[buf].modified = false
  local undo = vim.fn.tempname()
  with_undo_file(buf, "wundo", undo)
  read()
  if vim.api.nvim_buf_is_valid(buf) and vim.uv.fs_stat(undo) then
    with_undo_file(buf, "rundo", undo)
  end
  os.remove(undo)
end

return M
