--- The agent that a prompt is for: in a terminal of Neovim, or in another pane of tmux.
---
--- `{ agent, cwd, terminal or pane, is_chosen }`, the last for the pane of the option `terminal.tmux_pane`.

local text = require("pillion.send.text")

local M = {}

local PASTE_BEGINS, PASTE_ENDS = "\27[200~", "\27[201~"

local function tmux()
  return require("pillion.terminal.tmux")
end

local function first_for(agent, list)
  for _, one in ipairs(list) do
    if agent == nil or one.agent == agent then
      return one
    end
  end
end

--- The agent of this name, or any: the one used last in a terminal of Neovim, else one in a pane.
function M.find(agent)
  local chosen = require("pillion.config").get().terminal.tmux_pane
  if chosen and not agent then
    local pane = tmux().chosen(chosen)
    return { agent = pane.agent, cwd = pane.cwd, pane = pane, is_chosen = true }
  end
  local terminal = first_for(agent, require("pillion.terminal").list())
  if terminal then
    return { agent = terminal.agent, cwd = terminal.cwd, terminal = terminal }
  end
  local pane = first_for(agent, tmux().list())
  if pane then
    return { agent = pane.agent, cwd = pane.cwd, pane = pane }
  end
  local who = agent and agent .. " is not running in a" or "no agent is running in a"
  error({ message = ("%s terminal. Hint: :Pillion run %s"):format(who, agent or require("pillion.agents").example()) })
end

--- Makes it visible, and goes on typing there.
function M.show(target)
  if target.terminal then
    require("pillion.terminal").show(target.terminal)
  else
    tmux().show(target.pane)
  end
end

--- Puts `typed` and then `pasted` into the prompt (each may be nil), and shows it. Whatever is in them
--- presses no key.
function M.put(target, typed, pasted)
  pasted = pasted and text.harmless(pasted)
  M.show(target)
  if target.pane then
    tmux().paste(target.pane, (typed or "") .. (pasted or ""))
  else
    local bytes = (typed or "") .. (pasted and PASTE_BEGINS .. pasted .. PASTE_ENDS or "")
    vim.fn.chansend(target.terminal.job, bytes)
  end
end

return M
