--- What writing and reading mean in the buffer of a proposal.
---
--- The autocommands go by the name, so that `:w other` writes a copy as everywhere in Vim.

local notify = require("pillion.notify")
local typed = require("pillion.diff.typed")

local M = {}

--- A write that nobody typed for this buffer. What is written stays modified.
local function pass_over(diff)
  if diff.is_write_explained then
    return
  end
  diff.is_write_explained = true
  -- Later: most such writes are silent.
  vim.schedule(function()
    notify.unasked("info", "no autosave and no :wa accepts a proposal: type :w in it")
  end)
end

local function refuse()
  notify.error("only the whole proposal can be accepted. Hint: :w without a range, or :PillionDropHunk first")
end

--- `find(buf)` gives the pending diff of a buffer; `accept(diff)` and `refill(diff)` are what `:w` and
--- `:e!` do.
function M.attach(group, find, accept, refill)
  local function on(event, callback)
    vim.api.nvim_create_autocmd(event, {
      group = group,
      pattern = "pillion://*",
      callback = function(info)
        local diff = find(info.buf)
        if diff then
          callback(diff)
        end
      end,
    })
  end
  on("BufWriteCmd", function(diff)
    if typed.writes(diff.right) then
      accept(diff)
    else
      pass_over(diff)
    end
  end)
  on({ "FileWriteCmd", "FileAppendCmd" }, refuse)
  on("BufReadCmd", refill)
  on("BufEnter", function(diff)
    typed.repeat_maps(diff.right)
  end)
end

return M
