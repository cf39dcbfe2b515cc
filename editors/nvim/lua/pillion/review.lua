--- When agents ask before they change files, and notes that are sent to them at once. Pillion knows what can be chosen,
--- and says what came of it.

local M = {}

--- What can be chosen.
function M.choices()
  return require("pillion.client").state.review.choices or {}
end

local function ask(method, params)
  local notify = require("pillion.notify")
  local client = require("pillion.client")
  local is_sent = client.request(method, params, function(problem, result)
    if problem then
      notify.error(problem.message or "it failed")
    elseif type(result) == "table" then
      local say = result.done and notify.info or notify.error
      say(notify.visible(result.message))
    end
  end)
  if not is_sent then
    error({ message = "Pillion is not running. Hint: :Pillion start" })
  end
end

--- Chooses this, or without it says what is chosen.
function M.choose(choice)
  ask("pillion/review", { choice = choice or vim.NIL })
end

--- Sends agents the notes that wait for the next prompt.
function M.send_notes()
  ask("pillion/sendNotes", vim.empty_dict())
end

return M
