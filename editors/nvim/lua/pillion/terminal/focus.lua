--- Going to an agent's terminal and back: `:Pillion focus`.

local terminals = require("pillion.terminal")

local M = {}

--- The agent's terminal that has the focus, if one has it.
local function focused()
  local buf = vim.api.nvim_get_current_buf()
  for _, terminal in ipairs(vim.bo[buf].buftype == "terminal" and terminals.list() or {}) do
    if terminal.buf == buf then
      return terminal
    end
  end
end

--- The window to go back to from a terminal: where the person came from, or any in this tab page that
--- shows no terminal.
local function window_of_person(terminal)
  local back = terminal.back
  if back and vim.api.nvim_win_is_valid(back) and back ~= vim.api.nvim_get_current_win() then
    return back
  end
  for _, win in ipairs({ vim.fn.win_getid(vim.fn.winnr("#")), unpack(vim.api.nvim_tabpage_list_wins(0)) }) do
    if win ~= 0 and vim.bo[vim.api.nvim_win_get_buf(win)].buftype ~= "terminal" then
      return win
    end
  end
end

local function go_back(terminal)
  local win = window_of_person(terminal)
  if not win then
    error({ message = "there is no other window to go to" })
  end
  -- Who scrolls in Normal mode there goes on so.
  vim.b[terminal.buf].pillion_typing = vim.api.nvim_get_mode().mode == "t"
  vim.cmd("stopinsert")
  vim.api.nvim_set_current_win(win)
end

--- Goes to the agent's terminal, in the mode that was left; from it back to where the person was. Of
--- several agents the one used last, or the one of this name.
function M.toggle(agent)
  local here = focused()
  if here and (agent == nil or here.agent == agent) then
    go_back(here)
    return
  end
  local target = require("pillion.send.target")
  local to = target.find(agent)
  local was_typing = not to.terminal or vim.b[to.terminal.buf].pillion_typing ~= false
  if to.terminal then
    to.terminal.back = terminals.where_from()
  end
  if was_typing then
    target.show(to)
  else
    terminals.show(to.terminal, true)
  end
end

return M
