vim9script

# Keys that were meant for something else: who is about to type does not see at once that a proposal has taken the
# focus. Until they pause, what they type there changes nothing.

import autoload '../notify.vim'

# For how long keys are meant for what had the focus before, and how soon one follows another of the same text.
# Milliseconds.
const DELAY = 1000
const BURST = 300

var buf = 0
var timer = 0
var ends = 0.0
var errmsg = ''

def Now(): float
  return reltime()->reltimefloat() * 1000
enddef

def WaitUntil(when: float)
  timer_stop(timer)
  ends = when
  timer = timer_start(max([float2nr(when - Now()), 0]) + 1, (_) => End())
enddef

# A key was typed.
def OnKey()
  if bufnr() != buf
    return
  endif
  if Now() + BURST > ends
    WaitUntil(Now() + BURST)
  endif
  # Vim only says that the text cannot be changed.
  if v:errmsg =~ '^E21:'
    v:errmsg = errmsg
    notify.Soon('info', 'a proposal has just opened: keys count once you pause')
  endif
enddef

# A proposal has taken the focus by itself.
export def Begin(proposal: number)
  End()
  [buf, errmsg] = [proposal, v:errmsg]
  setbufvar(buf, '&modifiable', false)
  WaitUntil(Now() + DELAY)
  augroup PillionAstray
    autocmd!
    autocmd SafeState * OnKey()
  augroup END
enddef

# From now on keys count.
export def End()
  timer_stop(timer)
  if buf > 0 && bufloaded(buf)
    setbufvar(buf, '&modifiable', true)
  endif
  buf = 0
  augroup PillionAstray
    autocmd!
  augroup END
enddef
