vim9script

# What the plugin says to people: one line each, never a question. Texts may hold what came from outside; Vim
# shows control characters as ^X.

const PREFIX = 'Pillion: '

# How many messages are kept for `:Pillion messages`, and how often to look whether one can be shown.
const KEPT = 50
const RETRY_INTERVAL = 100

const HIGHLIGHTS = {error: 'ErrorMsg', warn: 'WarningMsg', info: 'None'}

var kept: list<string> = []
var waiting: list<list<string>> = []
var said_once: dict<bool> = {}
var timer = 0

# As much of a text as fits on the command line.
def Shortened(text: string): string
  const room = max([v:echospace, 20])
  if strdisplaywidth(text) <= room
    return text
  endif
  const ending = ' … :Pillion messages'
  var length = min([strchars(text), room])
  while length > 0 && strdisplaywidth(strcharpart(text, 0, length) .. ending) > room
    length -= 1
  endwhile
  return strcharpart(text, 0, length) .. ending
enddef

def Show(level: string, text: string)
  # Two messages in a row would ask for Enter.
  redraw
  execute 'echohl' HIGHLIGHTS[level]
  echomsg Shortened(PREFIX .. text)
  echohl None
enddef

# On the command line, or in a question, a message would be in the way. In the middle of a command (`S`) one of a
# callback would ask for Enter.
def IsBusy(): bool
  return mode() =~ '^[cr!]' || mode() == 'n' && state('c') != '' && state('S') != ''
enddef

def Flush(_: number)
  if IsBusy()
    return
  endif
  timer_stop(timer)
  timer = 0
  for [level, text] in remove(waiting, 0, -1)
    Show(level, text)
  endfor
enddef

def Later(level: string, text: string)
  add(waiting, [level, text])
  if timer == 0
    timer = timer_start(RETRY_INTERVAL, Flush, {repeat: -1})
  endif
enddef

# An unsolicited message: it waits until the person is done with the command line.
def Say(level: string, text: string)
  const line = substitute(text, '[\n\r]\+', ' ', 'g')
  add(kept, strftime('%H:%M:%S ') .. line)
  if len(kept) > KEPT
    remove(kept, 0)
  endif
  if IsBusy() || !empty(waiting)
    Later(level, line)
  else
    Show(level, line)
  endif
enddef

export def Info(text: string)
  Say('info', text)
enddef

export def Warn(text: string)
  Say('warn', text)
enddef

export def Error(text: string)
  Say('error', text)
enddef

# After the command that is carried out: also `:silent w` shows why it did nothing.
export def Soon(level: string, text: string)
  timer_start(0, (_) => Say(level, text))
enddef

export def Once(level: string, text: string)
  if !has_key(said_once, text)
    said_once[text] = true
    Soon(level, text)
  endif
enddef

export def ByLevel(level: string, text: string)
  Say(has_key(HIGHLIGHTS, level) ? level : 'info', text)
enddef

# All of what was said lately.
export def Kept(): list<string>
  return copy(kept)
enddef
