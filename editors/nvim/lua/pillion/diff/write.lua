--- What writing and reading mean in the buffer of a proposal.
---
--- The autocommands go by the name, so that `:w other` writes a copy as everywhere in Vim.

local notify = require("pillion.notify")

local M = {}

--- The last command line while it is carried out.
local running_command = ""

--- Whether 'autowrite' or 'autowriteall' may be behind a write: they save before these commands, and
--- that is not a decision of the person.
local function is_autowrite()
  if not (vim.o.autowrite or vim.o.autowriteall) then
    return false
  end
  local name = running_command:match("^[%s:]*(!?%a*)")
  for _, prefix in ipairs({ "!", "mak", "lmak", "gr", "lgr", "sus", "st", "sh", "q", "conf" }) do
    if vim.startswith(name, prefix) and not running_command:find("w", 1, true) then
      return true
    end
  end
  return false
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

return M
