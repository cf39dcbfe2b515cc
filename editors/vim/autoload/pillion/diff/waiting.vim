vim9script

# Proposals that cannot be shown yet: somebody types, answers a question, records a macro, looks at another proposal,
# or is in a terminal that leaves no room. They are pending like all others, and open once that is over and the person
# pauses. Until then a line at the top of the screen says so, which no mode covers.

import autoload '../busy.vim'
import autoload '../notify.vim'
import autoload './label.vim'
import autoload './pending.vim'
import autoload './view.vim'

# The time that a command may take which is not a reason to keep a proposal out of sight. Milliseconds.
const MOMENT = 50

# So long after the last key: the next one would go to the proposal.
const PAUSE = 400

var timer = 0
var notice = 0

# True from a decision that the person made in a view until they type something: they look for what comes next.
var follows = false

# Those that wait, in the order in which they are shown.
def Waiting(): list<dict<any>>
  var diffs = pending.Sorted()->filter((_, diff) => diff.waits)
  const next = indexof(diffs, (_, diff) => diff.id == pending.NextId())
  return next > 0 ? insert(diffs, remove(diffs, next)) : diffs
enddef

# Nor over a view that stays for the person, although nobody waits for it any more: their `:q` is for that one.
def CanShow(): bool
  return !has_key(w:, 'pillion_diff') && empty(pending.Focused()) && view.CanShow()
enddef

def TakeNoticeAway()
  if notice > 0
    popup_close(notice)
    notice = 0
  endif
enddef

# The line of the screen that is the first one in sight: a command line of several lines moves the rest up.
def TopLine(): number
  return 1 + (mode() == 'c' ? strdisplaywidth(getcmdline()) / &columns : 0)
enddef

def PutNotice(diffs: list<dict<any>>)
  const text = label.Notice(diffs[0], len(diffs))
  if empty(popup_getpos(notice))
    notice = popup_create(text, {line: TopLine(), col: &columns, pos: 'topright', tabpage: -1, zindex: 300, wrap: false, highlight: 'PmenuSel'})
  else
    popup_settext(notice, text)
  endif
  if mode() !~ '^[r!]'
    # Where a script waits for a key or an answer, nothing else would draw it.
    redraw
  endif
enddef

def Stop()
  timer_stop(timer)
  timer = 0
  TakeNoticeAway()
  autocmd! PillionWaiting
enddef

# Shows a proposal. What goes wrong is said: it stays pending.
def Show(diff: dict<any>)
  diff.waits = false
  try
    view.Show(diff, follows)
  catch
    notify.Error($'cannot show {label.Path(diff)}: {v:exception}')
  endtry
enddef

# Shows the first that waits, if it can be shown now.
def Look()
  timer = 0
  const diffs = Waiting()
  if empty(diffs)
    Stop()
  elseif CanShow()
    TakeNoticeAway()
    Show(diffs[0])
    Update()
    if view.IsShown(diffs[0])
      label.SayOpened(diffs[0])
    endif
  else
    busy.Refresh()
    PutNotice(diffs)
  endif
enddef

def LookLater()
  timer_stop(timer)
  timer = timer_start(PAUSE, (_) => Look())
enddef

# Vim has called back: what was in the way may have gone by itself.
def LookIfFree()
  if timer == 0 && CanShow()
    LookLater()
  endif
enddef

def Start()
  augroup PillionWaiting
    autocmd!
    # Vim waits for the next key.
    autocmd SafeState * LookLater()
    autocmd SafeStateAgain * LookIfFree()
    autocmd VimResized * Update()
  augroup END
enddef

# What waits has changed, or where the person is.
export def Update()
  if !exists('#PillionWaiting')
    return
  endif
  TakeNoticeAway()
  const diffs = Waiting()
  if empty(diffs)
    Stop()
  elseif CanShow()
    LookIfFree()
  else
    PutNotice(diffs)
  endif
enddef

# The person has decided in a view: what waits has the focus now, and else what comes next.
export def Follow()
  follows = exists('##KeyInputPre') == 1
  if follows
    augroup PillionFollow
      autocmd!
      autocmd KeyInputPre * EndFollow()
    augroup END
  endif
  const diffs = Waiting()
  if !empty(diffs) && CanShow()
    Show(diffs[0])
    Update()
  endif
enddef

# What Vim feeds itself is not typed.
def EndFollow()
  if v:event.typed
    follows = false
    autocmd! PillionFollow
  endif
enddef

# Shows a proposal that has come, or keeps it until it can be shown. A command that is over in a moment, as a `:w` is
# that accepted the file before, is not waited for.
export def Offer(diff: dict<any>)
  if CanShow()
    Show(diff)
    return
  endif
  diff.waits = true
  Start()
  busy.Refresh()
  timer_start(mode(1) == 'n' ? MOMENT : 0, (_) => {
    if !diff.waits || !pending.IsPending(diff)
      return
    elseif CanShow()
      Show(diff)
    else
      label.NoteWaiting(diff)
    endif
    Update()
  })
enddef
