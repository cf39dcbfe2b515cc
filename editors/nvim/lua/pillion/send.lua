--- `:PillionSend`: the file in focus, or the selection, into the prompt of an agent.
---
--- It arrives as if it were pasted or typed. Whatever is in it, it never presses Enter.

local M = {}

local PASTE_BEGINS, PASTE_ENDS = "\27[200~", "\27[201~"

--- What ends an `@path` for the agents, or means something to them, gets a backslash.
local SPECIAL = "[ %(%)%[%]{};|*?$`'\"#&<>!~,\\]"

--- Unicode has a picture for each control character.
local function picture(char)
  local byte = char:byte()
  return byte == 127 and "␡" or "\226\144" .. string.char(128 + byte)
end

--- Nothing in a pasted text may end the paste or be taken for a key: control characters are shown
--- as pictures, but for tabs and line breaks.
local function harmless(text)
  text = text:gsub("\r\n", "\n"):gsub("[%z\1-\8\11-\31\127]", picture)
  return (text:gsub("\194[\128-\159]", "\239\191\189"))
end

--- Ends Visual mode, in which `<Cmd>` maps leave it. Whether it was on.
local function end_selecting()
  local was_selecting = vim.fn.mode():find("^[vV\22]") ~= nil
  if was_selecting then
    vim.cmd("normal! \27")
  end
  return was_selecting
end

--- Whether the range is that of the selection.
local function is_selected(call)
  local first, last = vim.fn.getpos("'<"), vim.fn.getpos("'>")
  return call.line1 == first[2] and call.line2 == last[2]
end

--- The last selection as Neovim itself yanks it, with every register and mark as before.
local function selection()
  local view = vim.fn.winsaveview()
  local register, unnamed = vim.fn.getreginfo("z"), vim.fn.getreginfo('"')
  local from, to = vim.fn.getpos("'["), vim.fn.getpos("']")
  vim.cmd([[silent noautocmd normal! gv"zy]])
  local lines, kind = vim.fn.getreg("z", 1, true), vim.fn.getregtype("z")
  vim.fn.setreg("z", register)
  vim.fn.setreg('"', unnamed)
  vim.fn.setpos("'[", from)
  vim.fn.setpos("']", to)
  vim.fn.winrestview(view)
  return lines, kind == "V"
end

local function range(call)
  return vim.api.nvim_buf_get_lines(0, call.line1 - 1, call.line2, false), true
end

--- The lines as the text that they are in the file, without the last line's ending unless all of
--- the line is meant.
local function text_of(lines, is_linewise)
  for index, line in ipairs(lines) do
    -- Neovim shows a NUL of the file as a line break inside a line.
    lines[index] = line:gsub("\n", "\0")
  end
  return table.concat(lines, "\n") .. (is_linewise and "\n" or "")
end

--- The file in focus, or the one that had it before a terminal or a diff got it.
local function current_file()
  local path = require("pillion.context.file").path(0)
  if not path and (vim.bo.buftype == "terminal" or vim.w.pillion_diff) then
    local last = require("pillion.context.recent").shown()[1]
    path = last and last.path
  end
  if not path then
    error({ message = "this buffer is no file. Hint: select text instead" })
  end
  if not vim.loop.fs_stat(path) then
    error({ message = "the file is not on disk yet. Hint: :w first" })
  end
  if path:find("[%c]") then
    error({ message = "a file with control characters in its name cannot be sent" })
  end
  return path
end

--- `@path`, as Gemini CLI and Qwen Code read it: relative to their folder if it is below.
local function mention(path, folder)
  folder = folder:gsub("/+$", "") .. "/"
  if vim.startswith(path, folder) then
    path = path:sub(#folder + 1)
  end
  return "@" .. path:gsub(SPECIAL, "\\%0") .. " "
end

local function terminal_for(agent)
  for _, terminal in ipairs(require("pillion.terminal").list()) do
    if agent == nil or terminal.agent == agent then
      return terminal
    end
  end
  local who = agent and agent .. " runs in no" or "no agent runs in a"
  error({ message = ("%s terminal. Hint: :Pillion run %s"):format(who, agent or "gemini") })
end

--- `:PillionSend [agent]`; with a range its text.
function M.send(arguments, call)
  local terminal = terminal_for(arguments[1])
  local text
  if end_selecting() or (call.range > 0 and is_selected(call)) then
    text = text_of(selection())
  elseif call.range > 0 then
    text = text_of(range(call))
  end
  local bytes = text and PASTE_BEGINS .. harmless(text) .. PASTE_ENDS
    or mention(current_file(), terminal.cwd)
  require("pillion.terminal").show(terminal)
  vim.fn.chansend(terminal.job, bytes)
end

return M
