--- Requests of the person's to Pillion, which answers each with a sentence for them: when agents ask before they change
--- files, for example, or that notes are sent to them at once.

local M = {}

--- Asks, and shows the sentence of the answer; then `done(result)`, if there was one.
function M.ask(method, params, done)
  local notify = require("pillion.notify")
  local is_sent = require("pillion.client").request(method, params, function(problem, result)
    if problem then
      local is_unknown = problem.code == -32601
      notify.error(is_unknown and "`pillion` is too old for this. Hint: update it" or problem.message or "it failed")
    elseif type(result) == "table" then
      if result.message then
        local say = result.done and notify.info or notify.error
        say(notify.visible(result.message))
      end
      if done then
        done(result)
      end
    end
  end)
  if not is_sent then
    error({ message = "Pillion is not running. Hint: :Pillion start" })
  end
end

--- The same for what is done in the person's name.
function M.ask_for_person(method, params, done)
  local others = require("pillion.others")
  if others.may_be_calling() then
    error({ message = others.REFUSAL })
  end
  M.ask(method, params, done)
end

--- The choices of when agents ask before they change files, as Pillion lists them.
function M.review_choices()
  return require("pillion.client").state.review.choices or {}
end

--- Chooses one of them; without `choice`, shows what is chosen.
function M.choose_review(choice)
  M.ask_for_person("pillion/review", { choice = choice or vim.NIL })
end

--- Sends agents the notes that wait for the next prompt.
function M.send_notes()
  M.ask_for_person("pillion/sendNotes", vim.empty_dict())
end

return M
