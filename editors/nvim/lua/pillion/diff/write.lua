--- Writing and reading in the buffer of a proposal.
---
--- The autocommands go by the name, so that `:w other` writes a copy as everywhere in Vim.

local notify = require("pillion.notify")
local quiet = require("pillion.diff.quiet")
local typed = require("pillion.diff.typed")

local M = {}

--- A write that was not typed for this buffer. What is written stays modified.
function M.pass_over(diff)
  -- When Neovim quits, `diff/quit.lua` shows the message.
  if diff.is_write_explained or typed.quits() then
    return
  end
  diff.is_write_explained = true
  -- Later: most such writes are silent.
  vim.schedule(function()
    notify.unasked("info", "autosave and :wa do not accept a proposal: type :w in it")
  end)
end

local function refuse()
  notify.error("only the whole proposal can be accepted. Hint: :w without a range, or :PillionDropHunk first")
end

--- Why a command that was typed in a proposal is not carried out, or nil.
function M.refusal(kind, argument)
  if kind == "rename" then
    return (":w %s writes a copy: a proposal cannot be renamed"):format(argument)
  elseif kind == "unheard" then
    return "nothing is accepted without autocommands. Hint: :w without :noautocmd"
  end
end

--- Writes of autocommands that do not nest, and with |:noautocmd|, never reach us.
local FAILED = { "^E676", "^E382" }

--- When most plugins save by themselves. Our autocommands come after theirs, which were there before.
local SAVING = { "BufLeave", "CursorHold", "FocusLost", "InsertLeave", "TextChanged", "WinLeave" }

--- Says the same for a write that Neovim refused before it reached us.
local function explain_failed(diff)
  for _, pattern in ipairs(FAILED) do
    if vim.v.errmsg:find(pattern) then
      M.pass_over(diff)
    end
  end
end

--- Where autocommands do not nest, the commands of others that write on |InsertLeave| are an error in
--- the buffer: nothing counts as changed while they run, so that `:update` has nothing to do.
local function rest(diff, is_resting)
  if vim.api.nvim_buf_is_loaded(diff.right) then
    quiet.run(function()
      vim.bo[diff.right].buftype = is_resting and "nofile" or "acwrite"
    end)
  end
end

--- `accept(diff)` and `refill(diff)` are what `:w` and `:e!` do in the proposal of a diff that is pending.
function M.attach(group, pending, accept, refill)
  local function on(event, callback)
    vim.api.nvim_create_autocmd(event, {
      group = group,
      pattern = "pillion://*",
      callback = function(info)
        local diff = pending.of_buffer(info.buf)
        if diff then
          callback(diff)
        elseif event == "BufWriteCmd" then
          pending.leave()
        end
      end,
    })
  end
  on("BufWriteCmd", function(diff)
    if typed.writes(diff.right) then
      accept(diff)
    else
      M.pass_over(diff)
    end
  end)
  on({ "FileWriteCmd", "FileAppendCmd" }, refuse)
  on("BufReadCmd", function(diff)
    refill(diff)
    -- `:e` lists what it reads.
    vim.bo[diff.right].buflisted = false
  end)
  vim.api.nvim_create_autocmd("BufFilePre", {
    group = group,
    pattern = "pillion://*",
    desc = "A proposal cannot be renamed: it is found by its name",
    command = "throw 'Pillion: a proposal cannot be renamed. Hint: :w NAME writes a copy'",
  })
  on("InsertLeavePre", function(diff)
    rest(diff, true)
    vim.schedule(function()
      rest(diff, false)
    end)
  end)
  on("InsertLeave", function(diff)
    rest(diff, false)
  end)
  on(SAVING, explain_failed)
  on("BufEnter", function(diff)
    typed.repeat_maps(diff.right)
  end)
end

return M
