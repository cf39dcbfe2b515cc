--- The subject of a command in the current buffer: the selection, a range, or neither.

local M = {}

--- Ends Visual mode, in which `<Cmd>` maps leave it. Whether it was on.
local function end_selecting()
  local was_selecting = vim.fn.mode():find("^[vV\22]") ~= nil
  if was_selecting then
    vim.cmd("normal! \27")
  end
  return was_selecting
end

--- True if the range is that of the selection.
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

--- The lines as the text that they are in the file, without the last line's ending unless all of
--- the line is meant.
local function text_of(lines, is_linewise)
  for index, line in ipairs(lines) do
    -- Neovim shows a NUL of the file as a line break inside a line.
    lines[index] = line:gsub("\n", "\0")
  end
  return table.concat(lines, "\n") .. (is_linewise and "\n" or "")
end

--- `{ first, last, read }`, lines counted from 1, of what is selected or of the range; nil if there is
--- neither. Ends Visual mode.
function M.of(call)
  if end_selecting() or (call.range > 0 and is_selected(call)) then
    local first, last = vim.fn.line("'<"), vim.fn.line("'>")
    return {
      first = first,
      last = last,
      read = function()
        return text_of(selection())
      end,
    }
  elseif call.range > 0 then
    return {
      first = call.line1,
      last = call.line2,
      read = function()
        return text_of(vim.api.nvim_buf_get_lines(0, call.line1 - 1, call.line2, false), true)
      end,
    }
  end
end

return M
