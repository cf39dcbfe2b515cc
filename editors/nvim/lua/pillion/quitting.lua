--- Quitting while something waits for agents: Neovim refuses once, as with a buffer that is not written, whose name
--- says why. Where it does not show that name the words are said here: `:wqa` and `ZZ` write the buffer, which fails
--- without a word because it stays modified; another buffer may come first; and with `:confirm` it would ask whether to
--- save it.

local notify = require("pillion.notify")

local M = {}

local said_at_quit
--- The buffer by which Neovim refuses to quit.
local refusing = -1

--- True if the command that is carried out would ask about what is not written.
local is_asking = false

--- A command was typed.
function M.CmdlineLeave()
  is_asking = vim.fn.getcmdline():find("%f[%a]conf%a*%s+q") ~= nil
  if is_asking then
    vim.schedule(function()
      is_asking = false
    end)
  end
end

--- Neovim is about to quit, and `text` is what waits, if anything does.
function M.ExitPre(text)
  if not text or text == said_at_quit then
    -- It may still be there, if Neovim asked for Enter.
    if vim.api.nvim_buf_is_valid(refusing) then
      vim.bo[refusing].modified = false
    end
    return
  end
  said_at_quit = text
  local win, before = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf()
  local asks, writes = vim.o.confirm, vim.o.write
  vim.o.confirm, vim.o.write = false, writes and not is_asking
  vim.v.errmsg = ""
  local buf = vim.api.nvim_create_buf(false, false)
  refusing = buf
  vim.api.nvim_buf_set_name(buf, "pillion://" .. text)
  vim.bo[buf].buftype = "acwrite"
  vim.bo[buf].modified = true
  -- That writes nothing: it stays modified.
  vim.api.nvim_create_autocmd("BufWriteCmd", { buffer = buf, command = "setlocal modified" })
  vim.schedule(function()
    vim.o.confirm, vim.o.write = asks, writes
    if vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf then
      vim.api.nvim_win_set_buf(win, before)
    end
    vim.api.nvim_buf_delete(buf, { force = true })
    if not vim.v.errmsg:find("pillion://", 1, true) then
      notify.unasked("warn", text .. (vim.v.errmsg == "" and ": the same again quits" or ""))
    end
  end)
end

return M
