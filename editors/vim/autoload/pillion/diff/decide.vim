vim9script

# Decisions. Pillion rules whether one counts, and is told what the person has seen. Until it has answered, the view
# stays as it is.

import autoload '../client.vim'
import autoload '../notify.vim'
import autoload '../reload.vim'
import autoload './notes.vim'
import autoload './pending.vim'
import autoload './seen.vim'
import autoload './settle.vim'
import autoload './text.vim'
import autoload './view.vim'

# The time that Vim waits for an answer before it quits, and the time between two looks. Milliseconds.
const ANSWER_TIMEOUT = 2000
const POLL_INTERVAL = 5

# Says why nothing was decided: later, since `:silent w` is a decision, too.
export def Refuse(problem: string)
  notify.Soon('error', problem)
enddef

# Rejects what is no longer shown: that always counts.
export def Close(diff: dict<any>)
  const params = extend({id: diff.id, revision: diff.revision, decision: 'reject'}, notes.Params(diff))
  client.Ask('pillion/decide', params, (_, result) => {
    if has_key(params, 'notes') && type(result) == v:t_dict && !get(result, 'settled', false)
      # They are too long, and there is no view any more in which they could be shortened.
      client.Ask('pillion/decide', extendnew(params, {notes: v:null}), (_, _) => 0)
    endif
    notes.SayTold(params, result)
  })
  notes.Forget(diff)
  settle.Settle(diff, 'rejected')
enddef

def OnSettled(diff: dict<any>, outcome: string, tick: number)
  if outcome == 'accepted'
    const is_merged = !empty(diff.merged) && bufloaded(diff.right) && text.Lines(diff.right) == diff.merged.lines
    reload.Expect(diff.path, is_merged ? diff.merged : {})
    # What was typed since then was not accepted.
    diff.keeps_edits = bufloaded(diff.right) && getbufvar(diff.right, 'changedtick') != tick
  endif
  if bufloaded(diff.right) && !diff.keeps_edits
    setbufvar(diff.right, '&modified', false)
  endif
  settle.Settle(diff, outcome)
enddef

def OnRefused(diff: dict<any>, code: string, message: string)
  if !bufloaded(diff.right) || diff.is_closed
    # Its window was closed meanwhile.
    Close(diff)
    return
  endif
  timer_start(0, (_) => {
    if pending.IsPending(diff)
      notify.Error(message, diff.id)
    endif
  })
  if code == 'notSeen' && !pending.IsInside(diff)
    view.GoTo(diff)
  endif
enddef

def Ask(diff: dict<any>, outcome: string, about: dict<any>, drawn: dict<number>, is_typed: bool, nul: string)
  # The revision that the person saw, which may not be the one that is there.
  const revision = drawn.revision > 0 ? drawn.revision : diff.revision
  const params = extendnew(about, {id: diff.id, revision: revision, seen: seen.Told(diff, drawn, is_typed)})
  const tick = getbufvar(diff.right, 'changedtick')
  const OnAnswer = (error: any, result: any) => {
    diff.is_deciding = false
    if !pending.IsPending(diff)
      return
    elseif type(error) == v:t_dict
      OnRefused(diff, 'failed', get(error, 'message', 'no reason was given'))
    elseif get(result, 'settled', false)
      notes.Forget(diff)
      notes.SayTold(about, result)
      const next = get(result, 'next', v:null)
      pending.SetNextId(type(next) == v:t_number ? next : 0)
      OnSettled(diff, outcome, tick)
    else
      OnRefused(diff, get(result, 'code', ''), get(result, 'message', ''))
    endif
  }
  diff.is_deciding = client.Ask('pillion/decide', params, OnAnswer, nul)
  if !diff.is_deciding
    Refuse('Pillion is not running, so the agent cannot get this. Hint: :Pillion start; :w NAME writes a copy')
  endif
enddef

# `drawn`: what of the diff was on the screen when the person began to type this, see `seen.Snapshot`.
export def Accept(diff: dict<any>, drawn: dict<number>, is_typed = true)
  if is_typed
    seen.NoteTyped()
  endif
  if diff.is_deciding
    return
  endif
  const shape = text.OfBuffer(diff.right)
  const invalid = text.InvalidLine(shape.lines)
  if invalid > 0
    Refuse($'line {invalid} is not valid UTF-8, so the text cannot be sent')
    return
  endif
  const content = text.Encode(shape)
  const about = extend({decision: 'accept', content: content.text}, notes.Params(diff))
  Ask(diff, 'accepted', about, drawn, is_typed, content.nul)
enddef

# `reason`: what the agent is told besides.
export def Reject(diff: dict<any>, drawn: dict<number>, reason = '', is_typed = true)
  if is_typed
    seen.NoteTyped()
  endif
  if !diff.is_deciding
    Ask(diff, 'rejected', extend({decision: 'reject'}, notes.Params(diff, reason)), drawn, is_typed, '')
  endif
enddef

# Waits until what was decided has been answered: Vim is about to quit.
export def Finish()
  var waited = 0
  while waited < ANSWER_TIMEOUT && indexof(pending.Sorted(), (_, diff) => diff.is_deciding) >= 0
    execute $'sleep {POLL_INTERVAL}m'
    waited += POLL_INTERVAL
  endwhile
enddef
