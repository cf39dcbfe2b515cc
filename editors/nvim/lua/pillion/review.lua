--- When agents ask before they change files. Pillion knows what can be chosen, and says what came of it.

local M = {}

--- What can be chosen.
function M.choices()
  return require("pillion.client").state.review.choices or {}
end

--- Chooses this, or without it says what is chosen.
function M.choose(choice)
  local notify = require("pillion.notify")
  local client = require("pillion.client")
  local is_sent = client.request("pillion/review", { choice = choice or vim.NIL }, function(problem, result)
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

return M
