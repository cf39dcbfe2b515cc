--- When agents ask before they change files, and notes that are sent to them at once. Pillion knows what can be chosen,
--- and says what came of it.

local M = {}

--- What can be chosen.
function M.choices()
  return require("pillion.client").state.review.choices or {}
end

--- Chooses this, or without it says what is chosen.
function M.choose(choice)
  require("pillion.request").ask("pillion/review", { choice = choice or vim.NIL })
end

--- Sends agents the notes that wait for the next prompt.
function M.send_notes()
  require("pillion.request").ask("pillion/sendNotes", vim.empty_dict())
end

return M
