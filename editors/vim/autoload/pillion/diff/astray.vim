vim9script

# Keys that were meant for something else: who is about to type does not see at once that a proposal has taken the
# focus. Until they pause, what they type there changes nothing. Nor do they see at once that it was settled elsewhere:
# until they pause, their keys go to it. Nor that it is gone: until they pause, what would have decided about it closes
# and writes nothing in the window that they are left in, and closes no proposal that came in its place.

import autoload '../notify.vim'
import autoload './command_line.vim'
import autoload './pending.vim'
import autoload './seen.vim'
import autoload './typed.vim'

# For how long keys are meant for what had the focus before, and how soon one follows another of the same text.
# Milliseconds.
const DELAY = 1000
const BURST = 300
# After that, a proposal that came in the place of one that is gone has been noticed.
const NOTICED = 600

# Said of what the person typed where it changes nothing.
export const JUST_OPENED = 'a proposal has just opened: keys count once you pause'
const SETTLED = 'this proposal was settled elsewhere, and closes once you pause'

# The proposal in which keys change nothing, and what is called if it is about to close.
var buf = 0
var Again: func = null_function
var timer = 0
var ends = 0.0
var errmsg = ''

# The keys that write and close as a command does.
const CLOSING = ['ZZ', 'ZQ', '<C-W>q', '<C-W><C-Q>']

# Of the proposal that is gone: the name of its file, when it went, and what ends the guard.
var left = ''
var left_at = 0.0
var left_timer = 0

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
    notify.Soon('info', Again == null ? JUST_OPENED : SETTLED)
  endif
enddef

# A proposal has taken the focus by itself.
export def Begin(proposal: number, Then: func = null_function)
  End()
  [buf, errmsg] = [proposal, v:errmsg]
  Again = Then
  setbufvar(buf, '&modifiable', false)
  WaitUntil(Now() + DELAY)
  augroup PillionAstray
    autocmd!
    autocmd SafeState * OnKey()
  augroup END
enddef

# True until the person, who is in a proposal that was settled elsewhere, pauses; then calls `Then`.
export def Holds(diff: dict<any>, Then: func): bool
  if !diff.is_going
    diff.is_going = true
    Begin(diff.right, Then)
  endif
  return buf == diff.right
enddef

# From now on keys count.
export def End()
  timer_stop(timer)
  const [proposal, Then] = [buf, Again]
  [buf, Again] = [0, null_function]
  augroup PillionAstray
    autocmd!
  augroup END
  if Then != null
    Then()
  elseif proposal > 0 && bufloaded(proposal)
    setbufvar(proposal, '&modifiable', true)
  endif
enddef

# True if these keys are mapped until the guard ends, and not by the person.
def IsOurs(keys: string): bool
  return indexof(maplist(), (_, map) => map.lhs ==# keys && map.rhs =~ '^pillion#diff#astray#') >= 0
enddef

def Unguard()
  timer_stop(left_timer)
  for keys in CLOSING
    if IsOurs(keys)
      execute 'nunmap' keys
    endif
  endfor
  augroup PillionLeft
    autocmd!
  augroup END
enddef

def GuardFor(duration: number)
  timer_stop(left_timer)
  left_timer = timer_start(duration, (_) => Unguard())
enddef

# Says that what the person typed did nothing. Those that follow quickly do nothing either.
def Refuse(keys: string)
  if timer_info(left_timer)[0].remaining < BURST
    GuardFor(BURST)
  endif
  const diff = pending.OfBuffer(bufnr())
  const what = empty(diff) ? $'{left} has just closed' : $'{fnamemodify(diff.path, ":t")} has just come'
  notify.Soon('info', $'the proposal for {what}: {keys} counts here once you pause')
enddef

# True where what the person types cannot be meant for the proposal that is gone: in one that was on the screen before
# that went, or for a moment.
def Counts(): bool
  const diff = pending.OfBuffer(bufnr())
  const is_older = !empty(diff) && seen.DrawnFor(diff) >= min([float2nr(Now() - left_at), NOTICED])
  # Leaving the command-line window closes nothing else.
  return is_older || getcmdwintype() != ''
enddef

# What keys that close stand for just now.
export def Closing(at: number): string
  if Counts()
    return substitute(CLOSING[at], '<[^>]*>', (found) => eval($'"\{found[0]}"'), 'g')
  endif
  Refuse(CLOSING[at])
  return ''
enddef

def OnCommand()
  const line = trim(getcmdline())
  const [kind, argument, _] = command_line.Kind(line)
  # Whether a proposal that came is accepted, Pillion rules.
  const kinds = ['exit', 'quit'] + (empty(pending.OfBuffer(bufnr())) ? ['write', 'update'] : [])
  if index(kinds, kind) >= 0 && argument == '' && !Counts() && !typed.IsPlayed('CmdlineLeave Autocommands')
    setcmdline('')
    Refuse($':{line}')
  endif
enddef

# A proposal in which the person was is gone.
export def Left(name: string)
  Unguard()
  [left, left_at] = [name, Now()]
  for [at, keys] in items(CLOSING)
    # Those that the person mapped stay theirs.
    execute $'silent! nnoremap <unique> <silent> <expr> {keys} pillion#diff#astray#Closing({at})'
  endfor
  augroup PillionLeft
    autocmd CmdlineLeave : OnCommand()
  augroup END
  GuardFor(DELAY)
enddef
