vim9script

# The selection while a terminal, a diff or anything else that is not a file has the focus: the person selects, goes
# to the agent and asks. It ends when they come back and go on.

import autoload './selection.vim'

# {buf, tick, count, text, nul, place}, and `cursor` once the person was elsewhere; empty if there is none.
var kept: dict<any> = {}

# Where selecting began, and when: an operator that changes the text leaves nothing that was selected.
var started: list<number> = []

var to_end = false

def Tick(buf: number): number
  return getbufvar(buf, 'changedtick', 0)
enddef

def Count(buf: number): number
  return get(getbufinfo(buf), 0, {linecount: 0}).linecount
enddef

def Keep(found: dict<any>)
  const buf = bufnr()
  kept = empty(found) ? {} : extendnew(found, {buf: buf, tick: Tick(buf), count: Count(buf), is_held: false})
enddef

# Selecting begins.
export def Begin()
  kept = {}
  to_end = false
  started = [bufnr(), Tick(bufnr())]
enddef

# The selection now.
export def Note(): dict<any>
  to_end = selection.IsToTheEnd()
  Keep(selection.Read())
  return kept
enddef

# Selecting has ended, in this mode.
export def Finish(which: string)
  if started == [bufnr(), Tick(bufnr())]
    Keep(selection.ReadLast(which, to_end))
  else
    kept = {}
  endif
enddef

# A command is given that is about the selection, in this mode: it stays, whatever has the focus then.
export def Hold(which: string)
  const found = selection.ReadLast(which, to_end)
  if !empty(found)
    Keep(found)
    kept.is_held = true
  endif
enddef

# The file `buf` has the focus, and nothing is selected there.
export def InFile(buf: number): dict<any>
  if empty(kept) || kept.buf != buf
    kept = {}
    return {}
  endif
  # On the command line, or asked something: what was selected may be what the command is about.
  if mode() =~ '^[cr!]'
    return kept
  endif
  const here = getpos('.')
  const is_first = !has_key(kept, 'cursor')
  if kept.tick != Tick(buf) || is_first && !kept.is_held || !is_first && kept.cursor != here
    kept = {}
    return {}
  endif
  kept.cursor = here
  return kept
enddef

# The place moved by so many lines, if the same text is there.
def Moved(lines: number): dict<any>
  const place = extendnew(kept.place, {
    from: [kept.place.from[0] + lines, kept.place.from[1]],
    to: [kept.place.to[0] + lines, kept.place.to[1]],
  })
  return place.from[0] > 0 && selection.TextAt(kept.buf, place).text ==# kept.text ? place : {}
enddef

# The text of the file changed meanwhile: where the selection went.
def Follow(): bool
  const buf = kept.buf
  if kept.tick == Tick(buf)
    return true
  endif
  const more = Count(buf) - kept.count
  const found = kept.place.mode =~ "^[\<C-v>\<C-s>]" ? {} : Moved(0)
  kept.place = empty(found) ? Moved(more) : found
  [kept.tick, kept.count] = [Tick(buf), Count(buf)]
  return !empty(kept.place)
enddef

# Something that is not a file has the focus, and the file `buf` had it before; the cursor is there.
export def Away(buf: number, cursor: list<number>): dict<any>
  if empty(kept) || kept.buf != buf || !bufloaded(buf) || !Follow()
    kept = {}
    return {}
  endif
  kept.cursor = cursor
  return kept
enddef

# The selection in a buffer, or the last one: {text, first, last}; empty if nothing.
export def Of(buf: number): dict<any>
  return !empty(kept) && kept.buf == buf && kept.tick == Tick(buf)
    ? {text: kept.text, nul: kept.nul, first: kept.place.from[0], last: kept.place.to[0]} : {}
enddef
