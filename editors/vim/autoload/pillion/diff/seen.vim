vim9script

# What a person has seen: which revision of a proposal was drawn, since when it stands there, and which of its hunks
# have been on the screen.

import autoload './pending.vim'

# A line of a hunk that has not been on the screen has this property. It goes with the line when the person takes it
# out; its number is that of the hunk.
const UNSEEN = 'PillionUnseen'

def Now(): float
  return reltime()->reltimefloat()
enddef

def IsVisible(diff: dict<any>): bool
  return index(tabpagebuflist(), diff.right) >= 0
enddef

# Where a closed fold ends in a window; -1 if there is none at the line.
def FoldEnd(win: number, line: number): number
  return win == win_getid() ? foldclosedend(line) : win_execute(win, $'echo foldclosedend({line})')->trim()->str2nr()
enddef

# What a window shows of a proposal is seen.
def NoteLines(diff: dict<any>, win: number)
  var at = line('w0', win)
  const last = line('w$', win)
  while at <= last
    const fold_end = FoldEnd(win, at)
    if fold_end < 0
      prop_remove({type: UNSEEN, bufnr: diff.right, all: true}, at)
    endif
    at = max([fold_end, at]) + 1
  endwhile
enddef

# The hunks of a proposal that have not been on the screen.
def Unseen(diff: dict<any>): list<number>
  if diff.tick < 0
    # It was never shown.
    return range(len(diff.hunks))
  endif
  return prop_list(1, {bufnr: diff.right, end_lnum: -1, types: [UNSEEN]})->mapnew((_, prop) => prop.id)->sort('n')->uniq()
enddef

# The proposal's text was put into its buffer: nobody has seen any of its hunks.
export def Begin(diff: dict<any>)
  if empty(prop_type_get(UNSEEN))
    prop_type_add(UNSEEN, {})
  endif
  prop_remove({type: UNSEEN, bufnr: diff.right, all: true})
  const count = getbufinfo(diff.right)[0].linecount
  for at in range(len(diff.hunks))
    const hunk: dict<number> = diff.hunks[at]
    # Of one that only removes lines, where they were.
    const first = min([hunk.new + 1, count])
    const last = max([first, min([hunk.new + hunk.new_count, count])])
    const length = strlen(getbufoneline(diff.right, last))
    prop_add(first, 1, {type: UNSEEN, bufnr: diff.right, id: at, end_lnum: last, end_col: length + 1})
  endfor
  [diff.tick, diff.is_all_seen] = [getbufvar(diff.right, 'changedtick'), false]
enddef

# The screen was drawn just now: what is on it counts from here on.
export def Note()
  for diff in pending.Sorted()
    if !IsVisible(diff)
      continue
    endif
    if diff.seen_revision != diff.revision
      [diff.seen_revision, diff.seen_since] = [diff.revision, Now()]
    endif
    if !diff.is_all_seen
      for win in win_findbuf(diff.right)->filter((_, win) => win_id2win(win) > 0)
        NoteLines(diff, win)
      endfor
      diff.is_all_seen = empty(Unseen(diff))
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

# For how many milliseconds the proposal as it is now has been on the screen; -1 if it never was.
export def DrawnFor(diff: dict<any>): number
  return diff.seen_revision == diff.revision ? float2nr((Now() - diff.seen_since) * 1000) : -1
enddef

# By the id of each diff: `revision`, the one that was drawn last, and for how long (`drawn`) it has been there now.
export def Snapshot(): dict<dict<number>>
  var snapshot: dict<dict<number>> = {}
  for diff in pending.Sorted()
    snapshot[diff.id] = {revision: diff.seen_revision, drawn: DrawnFor(diff)}
  endfor
  return snapshot
enddef

# What Pillion is told: `drawn` is from the snapshot of when the person began to type.
export def Told(diff: dict<any>, drawn: dict<number>, is_typed: bool): dict<any>
  const unseen = Unseen(diff)
  var told: dict<any> = {typed: is_typed, hunks: range(len(diff.hunks))->filter((_, at) => index(unseen, at) < 0)}
  if drawn.drawn >= 0
    told.drawnMs = drawn.drawn
  endif
  return told
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
