--- The state of Pillion, in words.

local notify = require("pillion.notify")

local M = {}

local function client()
  return require("pillion.client")
end

local function agents()
  return vim.tbl_map(function(agent)
    return notify.visible(agent.displayName or agent.name or "?")
  end, client().state.agents)
end

local function diffs(count)
  return ("%d diff%s"):format(count, count == 1 and "" or "s")
end

--- For the status line: `Pillion: Gemini CLI, 1 diff`, or `Pillion: Claude Code, review: always, a.txt: written`.
--- Empty if Pillion does not run.
function M.line()
  if not client().is_running() then
    return ""
  end
  local parts = agents()
  local review = client().state.review.label
  if review then
    table.insert(parts, notify.visible(review))
  end
  if client().state.decided then
    table.insert(parts, notify.visible(client().state.decided))
  end
  if client().state.pendingDiffs > 0 then
    table.insert(parts, diffs(client().state.pendingDiffs))
  end
  local text = #parts == 0 and "Pillion" or "Pillion: " .. table.concat(parts, ", ")
  return (text:gsub("%%", "%%%%"))
end

--- For `:Pillion status`.
function M.describe()
  local state = client().state
  if not client().is_running() then
    local is_stopped = client().phase() == "stopped"
    return is_stopped and "not running. Hint: :Pillion start" or client().phase()
  end
  local names = agents()
  local notes = vim.tbl_map(function(note)
    return ". " .. notify.visible(note)
  end, state.notes)
  return ("version %s, port %s, %s, %s%s%s"):format(
    state.version or "?",
    state.port or "?",
    #names == 0 and "no agent" or table.concat(names, ", "),
    diffs(state.pendingDiffs),
    state.roots and #state.roots == 0 and ", no workspace root. Hint: :cd PROJECT" or "",
    table.concat(notes):gsub("%.$", "")
  )
end

--- Called when Pillion says that something changed.
function M.update(status)
  require("pillion.events").emit("PillionStatusChanged", {
    running = client().is_running(),
    agents = status.agents,
    pendingDiffs = status.pendingDiffs,
    warnings = status.warnings,
    notes = status.notes,
    review = client().state.review.label,
    decided = client().state.decided,
  })
  -- Nothing else would draw it before the next key; on the command line it would be in the way.
  if not vim.api.nvim_get_mode().mode:find("^[cr]") then
    vim.cmd("redrawstatus!")
  end
end

function M.open_log()
  local file = require("pillion.config").get().log_file
  if not file then
    error({ message = "no log file is set. Hint: set the option log_file, then :Pillion restart" })
  end
  local buf = vim.fn.bufadd(file)
  vim.cmd("split")
  vim.api.nvim_win_set_buf(0, buf)
end

return M
