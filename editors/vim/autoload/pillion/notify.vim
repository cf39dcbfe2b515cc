vim9script

# Messages to people, never a question. Texts may hold what came from outside; Vim shows control
# characters as ^X.

import autoload './busy.vim'

const PREFIX = 'Pillion: '

# The number of messages that are kept for `:Pillion messages`.
const KEPT = 50

# When it is tried again to write into the log, in milliseconds.
const AGAIN = 100

# The time for which one stays, whatever is typed, if it came while the person did something else. Milliseconds.
const READ = 4000

const HIGHLIGHTS = {error: 'ErrorMsg', warn: 'WarningMsg', info: 'None'}

# The keys that are none of the person's.
const NO_KEYS = ["\<Ignore>", "\<CursorHold>", "\<MouseMove>", "\<FocusGained>", "\<FocusLost>"]

# Those that the command line has no room for, above it: {id, text, stays_until, about}.
var above: list<dict<any>> = []

# What was said last, if it stands on the command line.
var latest = ''

var kept: list<string> = []
var waiting: list<list<any>> = []
var said_once: dict<bool> = {}

def Now(): float
  return reltime()->reltimefloat() * 1000
enddef

# Takes those away for which `IsOver` holds.
def Close(IsOver: func)
  for message in above
    if IsOver(message)
      popup_close(message.id)
    endif
  endfor
  filter(above, (_, message) => !empty(popup_getpos(message.id)))
enddef

# The next key takes it away, and does what it does.
def OnKey(id: number, key: string): bool
  if index(NO_KEYS, key) < 0
    timer_start(0, (_) => Close((message) => message.id == id && message.stays_until < Now()))
  endif
  return false
enddef

# Those above the command line have their places: above what is written there in Insert or Visual mode, and above the
# status line; at the top, if the person is below. The newest stay, as far as they leave most of the screen.
def Place()
  const has_status = &laststatus > 1 || &laststatus == 1 && winnr('$') > 1
  const lowest = max([&lines - &cmdheight - (has_status ? 1 : 0), 1])
  var heights = mapnew(above, (_, message) => popup_getpos(message.id).height)
  var rows = reduce(heights, (sum, height) => sum + height, 0)
  while len(above) > 1 && rows > lowest / 4
    rows -= remove(heights, 0)
    popup_close(remove(above, 0).id)
  endwhile
  const is_below = win_screenpos(0)[0] > lowest / 3 || screenrow() > lowest - rows
  var line = is_below ? 1 : max([lowest - rows + 1, 1])
  for message in above
    popup_move(message.id, {line: line})
    line += remove(heights, 0)
  endfor
enddef

def ShowAbove(level: string, text: string, about: number, stays: bool)
  # What a key that is held down says is there once, and what has had its time makes room.
  Close((message) => message.text ==# text || message.stays_until > 0 && message.stays_until < Now())
  const id = popup_create(text, {
    line: 1, col: 1, tabpage: -1, minwidth: &columns, maxheight: &lines, zindex: 300,
    highlight: level == 'info' ? 'Pmenu' : HIGHLIGHTS[level], filter: OnKey, filtermode: 'a', mapping: true,
  })
  setwinvar(id, '&linebreak', true)
  setwinvar(id, 'pillion_message', true)
  add(above, {id: id, text: text, stays_until: stays ? Now() + READ : 0.0, about: about})
  Place()
enddef

# Takes away what is about a diff that is no more.
export def Forget(about: number)
  Close((message) => message.about == about)
enddef

# The words of a message in lines that the command line has room for.
def Lines(text: string): list<string>
  var lines = ['']
  for word in split(text)
    const line = lines[-1] == '' ? word : $'{lines[-1]} {word}'
    if lines[-1] != '' && strdisplaywidth(line) > v:echospace
      add(lines, word)
    else
      lines[-1] = line
    endif
  endfor
  return lines
enddef

# For |:messages|, which has the whole of what the command line has no room for.
def Remember(text: string)
  # Messages that have scrolled the screen ask for Enter, and one more is not cut then; nor is it beside what is typed.
  if IsCovered() || mode() == 'c' || state('s') != ''
    timer_start(AGAIN, (_) => Remember(text))
    return
  endif
  const shortmess = &shortmess
  set shortmess+=T
  for line in Lines(text)
    redraw
    echomsg line
  endfor
  redraw
  echo latest
  &shortmess = shortmess
  busy.Nudge()
enddef

def Show(level: string, line: string, about: number, stays: bool)
  const text = PREFIX .. line
  const is_aside = state('c') != '' && busy.With() != ''
  if is_aside || strdisplaywidth(text) > v:echospace
    latest = ''
    timer_start(0, (_) => Remember(text))
    ShowAbove(level, text, about, stays)
    return
  endif
  # Two messages in a row would ask for Enter.
  redraw
  execute 'echohl' HIGHLIGHTS[level]
  latest = text
  echomsg text
  echohl None
  if state('c') != ''
    busy.Nudge()
  endif
enddef

# Vim draws nothing while it waits for Enter or asks something.
def IsCovered(): bool
  return mode() =~ '^[r!]'
enddef

def Flush()
  if IsCovered()
    return
  endif
  autocmd! PillionNotify
  for [level, text, about, stays] in remove(waiting, 0, -1)
    Show(level, text, about, stays)
  endfor
enddef

def Later(level: string, text: string, about: number, stays: bool)
  add(waiting, [level, text, about, stays])
  augroup PillionNotify
    autocmd!
    autocmd SafeState,ModeChanged * timer_start(0, (_) => Flush())
  augroup END
enddef

def Keep(line: string)
  add(kept, strftime('%H:%M:%S ') .. line)
  if len(kept) > KEPT
    remove(kept, 0)
  endif
enddef

# `about`: the number of the diff with which it goes, if any. `stays`: who is typing something else has time to read it.
def Say(level: string, text: string, about: number, stays: bool)
  const line = substitute(text, '[\n\r]\+', ' ', 'g')
  Keep(line)
  if IsCovered() || !empty(waiting)
    Later(level, line, about, stays)
  else
    Show(level, line, about, stays)
  endif
enddef

export def Info(text: string, about = 0)
  Say('info', text, about, false)
enddef

export def Warn(text: string, about = 0)
  Say('warn', text, about, false)
enddef

export def Error(text: string, about = 0)
  Say('error', text, about, false)
enddef

# Of what is on the screen already.
export def Note(text: string)
  Keep(text)
enddef

# After the command that is carried out: also `:silent w` shows why it did nothing.
export def Soon(level: string, text: string)
  timer_start(0, (_) => Say(level, text, 0, false))
enddef

# The same of what the person did not ask for.
export def Unasked(level: string, text: string, about = 0)
  timer_start(0, (_) => Say(level, text, about, true))
enddef

export def Once(level: string, text: string)
  if !has_key(said_once, text)
    said_once[text] = true
    Unasked(level, text)
  endif
enddef

export def ByLevel(level: string, text: string)
  Say(has_key(HIGHLIGHTS, level) ? level : 'info', text, 0, true)
enddef

# All of what was said lately.
export def Kept(): list<string>
  return copy(kept)
enddef
