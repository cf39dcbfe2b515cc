vim9script

# The end of a settled diff: its view goes once the command that decided is done, and what the person wrote is kept.

import autoload '../diff.vim' as diffs
import autoload '../busy.vim'
import autoload '../events.vim'
import autoload '../notify.vim'
import autoload './astray.vim'
import autoload './notes.vim'
import autoload './pending.vim'
import autoload './proposal.vim'
import autoload './quit.vim'
import autoload './view.vim'
import autoload './waiting.vim'

# The time between two looks whether a person in a view that shall go is done with typing. Milliseconds.
const POLL_INTERVAL = 50

# Those whose view is about to go.
var leaving: list<dict<any>> = []

# Keeps what the person wrote into a proposal in a buffer that Vim quits without asking: they are told of it.
export def Keep(diff: dict<any>): number
  const buf = proposal.Rescue(diff)
  setbufvar(buf, '&modified', false)
  return buf
enddef

# Keeps what the person wrote for an agent that is gone, or into a view that they closed without a word; and says that,
# after what the program says of the end.
def Rescue(diff: dict<any>)
  var said = diff.is_said || diff.message == '' ? [] : [diff.message]
  diff.is_said = true
  if bufloaded(diff.right) && quit.IsEdited(diff) && (diff.is_orphan || diff.keeps_edits)
    const name = fnamemodify(diff.path, ':t')
    const what = diff.outcome == 'accepted' ? 'what you typed after you had accepted it is' : 'edits are'
    const where = diff.is_orphan ? $'your edits of {name} are in buffer {proposal.Rescue(diff)}'
      : $'{diff.outcome} {name}; {what} in buffer {Keep(diff)}'
    add(said, $'{where} (:w NAME saves)')
  endif
  if !empty(said)
    notify.Warn(join(said, '; '))
  endif
enddef

# Nobody has decided, and what the person types next is for this view: it stays until they leave it, and its text as it
# is.
def Stay(diff: dict<any>)
  if getbufvar(diff.right, '&modifiable')
    Rescue(diff)
    setbufvar(diff.right, '&modified', false)
    setbufvar(diff.right, '&modifiable', false)
  endif
enddef

# False while another program has the keyboard, as far as the terminal tells.
var has_keyboard = true

# True if what the person types next goes to a view that the other side closes.
def IsTypedInto(diff: dict<any>): bool
  return diff.outcome == 'closed' && has_keyboard && view.IsShown(diff) && (bufnr() == diff.right || bufnr() == diff.left)
enddef

# The person is elsewhere, or another program has the keyboard: views that stayed for them go.
export def FollowPerson(has: bool)
  has_keyboard = has
  for diff in leaving
    TakeAwayLater(diff, 0)
  endfor
enddef

# True if the person was in a view that stayed only for them. It goes: what they do in it is meant for nothing else.
export def Leave(): bool
  for diff in leaving
    if diff.is_leaving && diff.is_undecided && IsTypedInto(diff)
      diff.is_undecided = false
      TakeAwayLater(diff, 0)
      return true
    endif
  endfor
  return false
enddef

# What the status line says of a view that stays, by its number.
export def Said(id: number): string
  const at = indexof(leaving, (_, diff) => diff.id == id && diff.is_leaving && diff.outcome == 'closed')
  return at < 0 ? '' : leaving[at].is_undecided ? $' :q closes — {leaving[at].message}'
    : ' settled elsewhere, and closes once you pause'
enddef

# True if the person is in the middle of typing in a view that the other side closes: the rest of the keys would
# go to a buffer of theirs. From the command-line window no window can be closed.
def IsInTheMiddle(diff: dict<any>): bool
  return getcmdwintype() != ''
    || diff.outcome == 'closed' && pending.IsInside(diff) && index(['', 'terminal'], busy.With()) < 0
enddef

# Takes the view of a settled diff away.
def TakeAway(diff: dict<any>)
  diff.is_leaving = false
  notify.Forget(diff.id)
  Rescue(diff)
  notes.SayLost(diff)
  for other in pending.Sorted()
    # One that was opened from this view leads back to where this one came from.
    if !empty(other.place) && index(values(diff.windows), other.place.win) >= 0
      other.place = diff.place
    endif
  endfor
  # With the window closed, Vim chose where the person is now; with the window there, the person did.
  const is_inside = diff.was_inside && !view.IsShown(diff) || pending.IsInside(diff)
  try
    view.Finish(diff, is_inside)
  catch
    notify.Warn($'cannot close the view of {diff.path}: {v:exception}')
  endtry
  if is_inside
    astray.Left(fnamemodify(diff.path, ':t'))
  endif
  events.Emit('PillionDiffClosed', {id: diff.id, path: diff.path, agent: diff.agent, outcome: diff.outcome})
  if is_inside && diff.outcome != 'closed'
    waiting.Follow()
  endif
  waiting.Update()
  # Those that wait open by themselves.
  const left = len(pending.Sorted()->filter((_, other) => !other.waits))
  if left > 0 && diff.outcome != 'closed'
    notify.Info(left == 1 ? '1 more diff is pending: :PillionDiffs' : $'{left} more diffs are pending: :PillionDiffs')
  endif
enddef

def TakeAwayLater(diff: dict<any>, delay: number)
  timer_start(delay, (_) => {
    if diff.is_leaving && IsInTheMiddle(diff)
      # No event reports the end of every kind of typing.
      TakeAwayLater(diff, POLL_INTERVAL)
    elseif diff.is_leaving && diff.is_undecided && IsTypedInto(diff)
      Stay(diff)
    elseif diff.is_leaving && !(IsTypedInto(diff) && astray.Holds(diff, () => TakeAwayLater(diff, 0)))
      TakeAway(diff)
    endif
  })
enddef

# A settled diff is no longer pending. Its view goes once the command that decided is done: `:wq` still has a window
# to close, and it must be the proposal's.
export def Settle(diff: dict<any>, outcome: string)
  const is_inside = pending.IsInside(diff)
  pending.Remove(diff)
  if empty(pending.Sorted())
    diffs.Detach()
  endif
  diff.outcome = outcome
  diff.is_leaving = true
  diff.was_inside = diff.was_inside || is_inside
  add(leaving, diff)
  filter(leaving, (_, other) => other.is_leaving)
  redrawstatus
  TakeAwayLater(diff, 0)
enddef

# Takes away at once what is left of the views of settled diffs: that of this number, and those that can go. An agent
# may propose the next file as soon as one is accepted.
export def MakeRoom(id: number)
  const IsFree = (diff) => !IsInTheMiddle(diff) && !IsTypedInto(diff)
  for diff in copy(leaving)->filter((_, diff) => diff.is_leaving && (diff.id == id || IsFree(diff)))
    TakeAway(diff)
  endfor
enddef
