vim9script

# What the plugin says to people, never a question. Texts may hold what came from outside; Vim shows control
# characters as ^X.

import autoload './busy.vim'

const PREFIX = 'Pillion: '

# How many messages are kept for `:Pillion messages`.
const KEPT = 50

# How long one is shown where the command line is taken or too short. Milliseconds.
const SHOWN_FOR = 8000

# The last one that is shown so, and those that only inform.
var above = 0
var informing: list<number> = []

const HIGHLIGHTS = {error: 'ErrorMsg', warn: 'WarningMsg', info: 'None'}

var kept: list<string> = []
var waiting: list<list<string>> = []
var said_once: dict<bool> = {}

# Above the command line, with what is written there in Insert or Visual mode, and above the status line.
def ShowAbove(level: string, text: string)
  const has_status = &laststatus > 1 || &laststatus == 1 && winnr('$') > 1
  const lowest = &lines - &cmdheight - (has_status ? 1 : 0)
  const last = popup_getpos(above)
  const line = empty(last) ? lowest : last.line - 1
  above = popup_create(text, {
    line: line < 2 ? lowest : line, col: 1, pos: 'botleft', tabpage: -1, minwidth: &columns, zindex: 300, time: SHOWN_FOR,
    highlight: HIGHLIGHTS[level] == 'None' ? 'Pmenu' : HIGHLIGHTS[level],
  })
  if level == 'info'
    add(informing, above)
  endif
enddef

# Takes away what only informs: what it is about is no more.
export def Forget()
  for id in informing
    popup_close(id)
  endfor
  informing = []
enddef

# For |:messages|.
def Remember(text: string)
  silent echomsg text
enddef

def Show(level: string, line: string)
  const text = PREFIX .. line
  const is_aside = state('c') != '' && busy.With() != ''
  if is_aside || strdisplaywidth(text) > max([v:echospace, 20])
    Remember(text)
    ShowAbove(level, text)
    return
  endif
  # Two messages in a row would ask for Enter.
  redraw
  execute 'echohl' HIGHLIGHTS[level]
  echomsg text
  echohl None
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
  for [level, text] in remove(waiting, 0, -1)
    Show(level, text)
  endfor
enddef

def Later(level: string, text: string)
  add(waiting, [level, text])
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

def Say(level: string, text: string)
  const line = substitute(text, '[\n\r]\+', ' ', 'g')
  Keep(line)
  if IsCovered() || !empty(waiting)
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

# Of what is on the screen already.
export def Note(text: string)
  Keep(text)
  Remember(PREFIX .. text)
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
