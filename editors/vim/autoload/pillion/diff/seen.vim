vim9script

# What a person has seen: which revision of a proposal was drawn, and since when it stands there.

import autoload './pending.vim'

# A decision that comes sooner is about what was there before; so is one that comes as soon after a refused one, as
# from a key that is held down. Seconds.
const REVIEW_DELAY = 1.0

def Now(): float
  return reltime()->reltimefloat()
enddef

def IsVisible(diff: dict<any>): bool
  return index(tabpagebuflist(), diff.right) >= 0
enddef

# The screen was drawn just now: what is on it counts from here on.
export def Note()
  for diff in pending.Sorted()
    if diff.seen_revision != diff.revision && IsVisible(diff)
      [diff.seen_revision, diff.seen_since] = [diff.revision, Now()]
    endif
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

# The revisions that were drawn last, by the id of the diff.
export def Revisions(): dict<number>
  var revisions: dict<number> = {}
  for diff in pending.Sorted()
    revisions[diff.id] = diff.seen_revision
  endfor
  return revisions
enddef

# Whether the proposal as it is now has never been on the screen.
export def IsUnseen(diff: dict<any>): bool
  return diff.seen_revision != diff.revision
enddef

# Why a decision does not count now, or ''. `begun`: the revision that was on the screen when the person began to
# type it.
export def Problem(diff: dict<any>, begun: number): string
  if IsUnseen(diff)
    return diff.revision > 1 ? 'a newer proposal just opened' : 'not seen yet'
  elseif begun != diff.revision
    return 'a newer proposal opened meanwhile'
  elseif Now() - (diff.seen_since > diff.refused_at ? diff.seen_since : diff.refused_at) < REVIEW_DELAY
    return diff.revision > 1 ? 'a newer proposal just opened' : 'just opened'
  endif
  return ''
enddef

# The same for a decision that was made, as a sentence.
export def Refusal(diff: dict<any>, begun: number): string
  const problem = Problem(diff, begun)
  if problem == ''
    return ''
  endif
  diff.refused_at = Now()
  return $'{problem}: look first, then :w again'
enddef

# Begins to note what is drawn: when Vim waits for a key, the screen is up to date.
export def Attach()
  augroup PillionSeen
    autocmd!
    autocmd SafeState,SafeStateAgain * Note()
  augroup END
enddef

export def Detach()
  augroup PillionSeen
    autocmd!
  augroup END
enddef
