--- What writing and reading mean in the buffer of a proposal.
---
--- The autocommands go by the name, so that `:w other` writes a copy as everywhere in Vim.

local notify = require("pillion.notify")

local M = {}

--- The last command line while it is carried out.
local running_command = ""

--- How the commands start that save before they act if 'autowrite' or 'autowriteall' is set.
local SAVING = { "!", "mak", "lmak", "gr", "lgr", "sus", "st", "sh", "q" }
local MODIFIERS = { "sil", "uns", "verb", "noa", "keep", "loc", "conf", "nosw" }

local function starts_with_one_of(name, prefixes)
  for _, prefix in ipairs(prefixes) do
    if vim.startswith(name, prefix) then
      return true
    end
  end
  return false
end

--- The name of the command in a command line, without modifiers and a range.
local function command_name(line)
  line = line:gsub("^[%s:]+", "")
  local word, rest = line:match("^(%l+)!?%s+(.+)$")
  while word and starts_with_one_of(word, MODIFIERS) do
    line = rest
    word, rest = line:match("^(%l+)!?%s+(.+)$")
  end
  return line:match("^[%d%%.,'<>$+-]*%s*(!?%a*)")
end

--- The last two keys typed while a diff is pending.
local typed = ""

local keys = vim.api.nvim_create_namespace("pillion_proposal")

local function listen_to_keys()
  typed = ""
  vim.on_key(function(key)
    typed = typed:sub(-1) .. key
  end, keys)
end

--- Whether an option is behind a write. That is no decision of the person.
local function is_autowrite()
  if not (vim.o.autowrite or vim.o.autowriteall) then
    return false
  end
  local name = command_name(running_command)
  -- CTRL-Z suspends Neovim without a command line.
  return starts_with_one_of(name, SAVING) or (name == "" and typed:sub(-1) == "\26")
end

--- Whether the window is being closed by `:x` or `ZZ`. They write a buffer only if it is modified, but
--- whoever says "write and quit" here means the proposal, edited or not.
local function is_write_and_quit()
  local name = command_name(running_command)
  if name == "" then
    return typed == "ZZ"
  end
  return vim.startswith("xit", name) or (#name >= 3 and vim.startswith("exit", name))
end

local function on_write(find, accept)
  return function(event)
    local diff = find(event.buf)
    if not diff then
      return
    end
    if is_autowrite() then
      notify.warn(":w or :PillionAccept accepts the proposal; 'autowrite' does not")
      return
    end
    accept(diff)
  end
end

local function refuse()
  notify.error("only the whole proposal can be accepted. Hint: :w without a range, or :PillionDropHunk first")
end

--- `find(buf)` gives the pending diff of a buffer; `accept(diff)` and `refill(diff)` are what `:w` and
--- `:e!` do.
function M.attach(group, find, accept, refill)
  local function on(event, callback, pattern)
    vim.api.nvim_create_autocmd(event, { group = group, pattern = pattern or "pillion://*", callback = callback })
  end
  on("BufWriteCmd", on_write(find, accept))
  on({ "FileWriteCmd", "FileAppendCmd" }, refuse)
  listen_to_keys()
  on("QuitPre", function(event)
    local diff = find(event.buf)
    -- A modified one is about to be written.
    if diff and not vim.bo[event.buf].modified and is_write_and_quit() then
      accept(diff)
    end
  end)
  on("BufReadCmd", function(event)
    local diff = find(event.buf)
    if diff then
      refill(diff)
    end
  end)
  on("CmdlineLeave", function()
    if vim.fn.getcmdtype() == ":" then
      running_command = vim.fn.getcmdline()
      vim.schedule(function()
        running_command = ""
      end)
    end
  end, "*")
end

--- No diff is pending any more.
function M.detach()
  vim.on_key(nil, keys)
end

return M
