vim9script

# The parts of a proposal that a person has seen: the revision that was drawn, since when it stands there, and the hunks
# that have been on the screen. What its windows show counts as drawn when Vim waits for a key (|SafeState|), unless it
# draws for nobody: its output is no terminal, or somebody else's while it is suspended.

import autoload './pending.vim'
import autoload './unseen.vim'

# Where |reltime()| is the wall clock, it may be set back: what lies in the future then begins anew.

# When a decision was typed last, and the pauses in milliseconds before each since the last one that was sent: what is
# typed while an answer is awaited shows that a key is held down.
var typed_at = -1.0
var pauses: list<number> = []

def Now(): float
  return reltime()->reltimefloat()
enddef

def IsVisible(diff: dict<any>): bool
  return index(tabpagebuflist(), diff.right) >= 0
enddef

def HasScreen(): bool
  return has('gui_running') || has('ttyout')
enddef

# The proposal's text was put into its buffer.
export def Begin(diff: dict<any>)
  unseen.Begin(diff)
  diff.all_seen = 0
enddef

# The screen was drawn just now: what is on it counts from here on.
export def Note()
  if !HasScreen()
    return
  endif
  for diff in pending.Sorted()
    if !IsVisible(diff)
      continue
    endif
    if diff.seen_revision != diff.revision
      [diff.seen_revision, diff.seen_since] = [diff.revision, Now()]
    endif
    # What is undone may bring back what was not seen.
    const tick = getbufvar(diff.right, 'changedtick')
    if diff.all_seen != tick
      for win in win_findbuf(diff.right)->filter((_, win) => win_id2win(win) > 0)
        unseen.Note(diff, win)
      endfor
      diff.all_seen = empty(unseen.Hunks(diff)) ? tick : 0
    endif
  endfor
enddef

# Nobody sees any of it now.
def Hide()
  for diff in pending.Sorted()
    diff.seen_revision = 0
  endfor
enddef

# Draws, where nothing else would before the next key, and notes what is on the screen then. In a question, and on
# the command line, that would hide what is asked.
export def Draw()
  if mode() =~ '^[nt]'
    redraw
    Note()
  endif
enddef

# For how many milliseconds the proposal as it is now has been on the screen; -1 if it never was.
export def DrawnFor(diff: dict<any>): number
  if diff.seen_revision != diff.revision
    return -1
  endif
  const now = Now()
  if diff.seen_since > now
    diff.seen_since = now
  endif
  return float2nr((now - diff.seen_since) * 1000)
enddef

# By the id of each diff: `revision`, the one that was drawn last, and for how long (`drawn`) it has been there now.
export def Snapshot(): dict<dict<number>>
  var snapshot: dict<dict<number>> = {}
  for diff in pending.Sorted()
    snapshot[diff.id] = {revision: diff.seen_revision, drawn: DrawnFor(diff)}
  endfor
  return snapshot
enddef

# The person typed a decision.
export def NoteTyped()
  const now = Now()
  if typed_at >= 0
    add(pauses, max([0, float2nr((now - typed_at) * 1000)]))
  endif
  typed_at = now
enddef

# What Pillion is told: `drawn` is from the snapshot of when the person began to type.
export def Told(diff: dict<any>, drawn: dict<number>, is_typed: bool): dict<any>
  const hidden = unseen.Hunks(diff)
  var told: dict<any> = {typed: is_typed, hunks: range(len(diff.hunks))->filter((_, at) => index(hidden, at) < 0)}
  if drawn.drawn >= 0
    told.drawnMs = drawn.drawn
  endif
  if is_typed && !empty(pauses)
    told.pausesMs = pauses
    pauses = []
  endif
  return told
enddef

# Begins to note what is drawn: when Vim waits for a key, the screen is up to date.
export def Attach()
  augroup PillionSeen
    autocmd!
    autocmd SafeState,SafeStateAgain * Note()
    autocmd VimSuspend * Hide()
  augroup END
enddef

export def Detach()
  augroup PillionSeen
    autocmd!
  augroup END
enddef
