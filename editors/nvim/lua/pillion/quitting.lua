--- Quitting while something waits for agents: Neovim refuses once, as with a buffer that is not written. What it says
--- of that asks for Enter, which it gets, and what waits is said in its place. `:wqa` and `ZZ` write the buffer, which
--- fails without a word because it stays modified; and with `:confirm` Neovim would ask whether to save it.

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

--- True if there are buffers over which Neovim does not quit.
local function has_changes()
  return vim.iter(vim.fn.getbufinfo()):any(function(info)
    return info.changed == 1
  end)
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
  local confirms, writes = vim.o.confirm, vim.o.write
  local asks = confirms or is_asking
  vim.o.confirm, vim.o.write = false, writes and not is_asking
  vim.v.errmsg = ""
  local buf = vim.api.nvim_create_buf(false, false)
  refusing = buf
  vim.api.nvim_buf_set_name(buf, "pillion://" .. text)
  vim.bo[buf].buftype = "acwrite"
  vim.bo[buf].modified = true
  -- That writes nothing: it stays modified.
  vim.api.nvim_create_autocmd("BufWriteCmd", { buffer = buf, command = "setlocal modified" })
  -- Answers Neovim if it asks for Enter, and does nothing else.
  vim.api.nvim_feedkeys(vim.keycode("<Cmd><CR>"), "nit", false)
  vim.schedule(function()
    vim.o.confirm, vim.o.write = confirms, writes
    if vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) == buf then
      vim.api.nvim_win_set_buf(win, before)
    end
    vim.api.nvim_buf_delete(buf, { force = true })
    -- Where Neovim asks about other buffers, it does so the next time.
    local refuses_again = vim.v.errmsg ~= "" and not asks and has_changes()
    notify.unasked("warn", refuses_again and ("%s; %s"):format(vim.v.errmsg, text) or text .. ": the same again quits")
  end)
end

return M
