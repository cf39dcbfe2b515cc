--- The buffer with an agent's proposal: made, filled, replaced, kept. What `:w` means in it is in
--- `diff/write.lua`.

local text = require("pillion.diff.text")
local hunks = require("pillion.diff.hunks")
local quiet = require("pillion.diff.quiet")

local M = {}

--- Gives a buffer a name. Only through the API: the path is the agent's.
function M.set_name(buf, name)
  quiet.run(function()
    local free, number = pcall(vim.api.nvim_buf_set_name, buf, name), 1
    while not free and number < 10 do
      number = number + 1
      free = pcall(vim.api.nvim_buf_set_name, buf, ("%s (%d)"):format(name, number))
    end
  end)
end

--- The part of a path in the name of a buffer: tab pages have room for no more, and the label has all of it.
function M.tail(diff)
  return vim.fn.fnamemodify(diff.path, ":t")
end

--- Sets the filetype. What fails in a user's autocommand is not shown: it would stop the person who is
--- typing elsewhere.
function M.set_filetype(buf, filetype)
  if filetype:find("^[%w_.-]+$") then
    local errmsg = vim.v.errmsg
    vim.api.nvim_buf_call(buf, function()
      vim.cmd("silent! setlocal filetype=" .. filetype)
    end)
    vim.v.errmsg = errmsg
  end
end

--- Finds out the filetype: that of the file's open buffer, or as Neovim would.
local function detect_filetype(buf, path, original)
  if original then
    M.set_filetype(buf, vim.bo[original].filetype)
  else
    local filetype, on_detect = vim.filetype.match({ buf = buf, filename = path })
    if on_detect then
      on_detect(buf)
    end
    M.set_filetype(buf, filetype or "")
  end
end

--- Puts lines into a buffer without leaving anything to undo.
function M.fill(buf, shape)
  local options = vim.bo[buf]
  options.modifiable = true
  options.undolevels = -1
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, shape.lines)
  -- The value that stands for "as the global option".
  options.undolevels = -123456
  text.set_options(buf, shape)
  options.modified = false
end

--- The options that autocommands for a filetype must not change in a buffer of a view.
local KEPT = { "buftype", "bufhidden", "swapfile", "undofile", "readonly" }

--- Runs `set`, which gives a buffer with the text `shape` its filetype, and takes back what autocommands
--- did to text and options: nobody edited the text yet.
function M.keep_text(buf, shape, set)
  local options, kept = vim.bo[buf], {}
  for _, name in ipairs(KEPT) do
    kept[name] = options[name]
  end
  local tick = vim.api.nvim_buf_get_changedtick(buf)
  -- Missing colours are no reason to hide a diff.
  pcall(set)
  options.modifiable = true
  for name, value in pairs(kept) do
    options[name] = value
  end
  if vim.api.nvim_buf_get_changedtick(buf) ~= tick then
    M.fill(buf, shape)
  end
  text.set_options(buf, shape)
  options.modified = false
end

--- A new buffer with the proposed text.
function M.create(diff, original)
  local buf = vim.api.nvim_create_buf(false, false)
  local options = vim.bo[buf]
  options.buftype = "acwrite"
  options.bufhidden = "hide"
  options.swapfile = false
  options.undofile = false
  options.modeline = false
  vim.b[buf].pillion_diff = diff.id
  M.set_name(buf, ("pillion://%d/%s"):format(diff.id, M.tail(diff)))
  M.fill(buf, diff.pristine)
  M.keep_text(buf, diff.pristine, function()
    detect_filetype(buf, diff.path, original)
  end)
  return buf
end

--- Setting 'undolevels' ends what one `u` takes back, even to the value that it has.
local function begin_undo_step(buf)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
end

--- Which of the states that one can undo and redo a buffer is in.
local function undo_state(buf)
  return vim.api.nvim_buf_call(buf, vim.fn.undotree).seq_cur
end

--- Changes a buffer, also while the person cannot.
local function change(buf, how)
  local is_modifiable = vim.bo[buf].modifiable
  vim.bo[buf].modifiable = true
  how()
  vim.bo[buf].modifiable = is_modifiable
end

--- Puts lines into a buffer only where they differ, so that cursor and marks stay near.
local function put(buf, lines)
  if #lines == 0 then
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
    return
  end
  local changes = hunks.between(text.lines(buf), lines)
  for number = #changes, 1, -1 do
    hunks.put(buf, changes[number], lines)
  end
end

--- Puts another proposal into the buffer, undoable. True if `u` brings back what the person wrote:
--- proposals that follow one another over it are undone together. `was_edited`: by the person.
function M.replace(diff, was_edited)
  local buf, shape = diff.right, diff.pristine
  local before = undo_state(buf)
  -- Their edits are below the proposal that is there, and nothing was done since.
  local joins = not was_edited and diff.over_edits == before
  if joins then
    vim.api.nvim_buf_call(buf, function()
      vim.cmd("undojoin")
    end)
  else
    begin_undo_step(buf)
  end
  change(buf, function()
    put(buf, shape.lines)
    begin_undo_step(buf)
    text.set_options(buf, shape)
  end)
  vim.bo[buf].modified = false
  local after = undo_state(buf)
  -- Where they wrote what is proposed now, there is nothing to bring back.
  diff.over_edits = (joins or (was_edited and after ~= before)) and after or nil
  return diff.over_edits ~= nil
end

--- Puts another text into the buffer as an edit of the person's.
function M.edit(diff, bytes)
  local shape = text.decode(bytes)
  begin_undo_step(diff.right)
  change(diff.right, function()
    put(diff.right, shape.lines)
  end)
  begin_undo_step(diff.right)
end

--- Keeps what the person wrote into a proposal that is no longer pending. The new buffer, which
--- Neovim does not quit over before it is written or thrown away.
function M.rescue(diff)
  local buf = vim.api.nvim_create_buf(true, false)
  vim.bo[buf].swapfile = false
  M.set_name(buf, ("pillion-kept://%d%s"):format(diff.id, diff.path))
  M.fill(buf, text.of_buffer(diff.right))
  vim.bo[buf].modified = true
  return buf
end

return M
