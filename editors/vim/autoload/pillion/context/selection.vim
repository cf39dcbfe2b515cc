vim9script

# The text that is selected in the current window. By hand, because getregion() reads all of it, and no
# more is read than agents are shown.
#
# A place is {mode, from: [line, byte], to: [line, byte after it], to_end}, lines counted from 1 and bytes from 0; of
# a block, `to_end` says that it goes to the end of every line.

import autoload '../framing.vim'
import autoload '../utf8.vim'

# Agents get 16,384 UTF-16 units at most, and none takes more than three bytes. A little more says that
# something is missing.
const MAX_BYTES = 3 * 16384 + 4

const ENDINGS = {dos: "\r\n", mac: "\r", unix: "\n"}

# True if something is selected in this mode.
export def IsMode(which: string): bool
  return which =~ "^[vVsS\<C-v>\<C-s>]"
enddef

def LengthOfChar(line: string, at: number): number
  return strlen(matchstr(strpart(line, at), '^\_.'))
enddef

def Charwise(from: list<number>, to: list<number>): list<list<number>>
  const first = getline(from[0])
  const last = getline(to[0])
  var start = [from[0], min([from[1], strlen(first)])]
  if &selection == 'exclusive' && from != to
    if to[1] == 0 && to[0] > from[0]
      return [start, [to[0] - 1, strlen(getline(to[0] - 1))]]
    endif
    return [start, [to[0], min([to[1], strlen(last)])]]
  endif
  return [start, [to[0], min([to[1] + LengthOfChar(last, to[1]), strlen(last)])]]
enddef

# A closed fold is selected as a whole.
def Linewise(from: list<number>, to: list<number>): list<list<number>>
  const first = foldclosed(from[0])
  const last = foldclosedend(to[0])
  const end = last > 0 ? last : to[0]
  return [[first > 0 ? first : from[0], 0], [end, strlen(getline(end))]]
enddef

# What is between two screen columns of a line, counted from 1, and its bytes: [text, from, to]. Of a character that
# is cut, what a yank takes: a space for each column.
def Columns(line: string, left: number, right: number): list<any>
  var [column, at, from] = [1, 0, -1]
  var parts: list<string> = []
  for char in split(line, '\zs')
    if column > right
      break
    endif
    const end = column + strdisplaywidth(char, column - 1) - 1
    if end >= left
      from = from < 0 ? at : from
      const is_whole = column >= left && end <= right
      add(parts, is_whole ? char : repeat(' ', min([end, right]) - max([column, left]) + 1))
    endif
    at += strlen(char)
    column = end + 1
  endfor
  return [join(parts, ''), from < 0 ? at : from, at]
enddef

def Block(from: list<number>, to: list<number>, to_end: bool): dict<any>
  const ends = [virtcol([from[0], from[1] + 1], 1), virtcol([to[0], to[1] + 1], 1)]
  const left = min([ends[0][0], ends[1][0]])
  const right = to_end ? v:numbermax : max([ends[0][1], ends[1][1]]) - (&selection == 'exclusive' ? 1 : 0)
  var pieces: list<string> = []
  var [length, first, last] = [0, [from[0], 0], [to[0], 0]]
  for number in range(from[0], to[0])
    const line = getline(number)
    const [piece, start, end] = Columns(line, left, right)
    add(pieces, piece)
    if number == from[0]
      first = [number, start]
    endif
    last = [number, end]
    length += end - start + 1
    if length > MAX_BYTES
      break
    endif
  endfor
  return {pieces: pieces, place: {mode: "\<C-v>", from: first, to: last, to_end: to_end}}
enddef

# The lines of a place in a buffer, no more than agents are shown.
def Lines(buf: number, place: dict<any>): list<string>
  var lines: list<string> = []
  var length = 0
  for number in range(place.from[0], place.to[0])
    var line = get(getbufline(buf, number), 0, '')
    line = number == place.to[0] ? strpart(line, 0, place.to[1]) : line
    line = number == place.from[0] ? strpart(line, place.from[1]) : line
    add(lines, strpart(line, 0, MAX_BYTES))
    length += strlen(line) + 1
    if length > MAX_BYTES
      break
    endif
  endfor
  return lines
enddef

# A line break within a line is how Vim shows a NUL.
def Joined(buf: number, lines: list<string>): dict<any>
  const valid = lines->mapnew((_, line) => utf8.Valid(line))
  const has_nul = indexof(valid, (_, line) => stridx(line, "\n") >= 0) >= 0
  const nul = has_nul ? framing.StandIn(valid) : ''
  const parts = has_nul ? valid->mapnew((_, line) => substitute(line, "\n", nul, 'g')) : valid
  return {text: join(parts, ENDINGS[getbufvar(buf, '&fileformat')]), nul: nul}
enddef

# What is at a place that was read before: {text, nul}. Not for a block.
export def TextAt(buf: number, place: dict<any>): dict<any>
  return Joined(buf, Lines(buf, place))
enddef

def ReadBetween(which: string, one: list<number>, other: list<number>, to_end: bool): dict<any>
  var [from, to] = [one[1 : 2], other[1 : 2]]
  if to[0] < from[0] || to[0] == from[0] && to[1] < from[1]
    [from, to] = [to, from]
  endif
  from[1] -= 1
  to[1] = min([to[1] - 1, strlen(getline(to[0]))])
  const buf = bufnr()
  if which =~ "^[\<C-v>\<C-s>]"
    const block = Block(from, to, to_end)
    return extend({place: block.place}, Joined(buf, block.pieces))
  endif
  const ends = which =~ '^[VS]' ? Linewise(from, to) : Charwise(from, to)
  const place = {mode: which, from: ends[0], to: ends[1], to_end: false}
  return extend({place: place}, TextAt(buf, place))
enddef

# True if a block goes to the end of every line: `$` was pressed. Known only while it is selected.
export def IsToTheEnd(): bool
  return winsaveview().curswant == v:maxcol
enddef

# The selection: {text, nul, place}; empty if nothing is.
export def Read(): dict<any>
  return IsMode(mode()) ? ReadBetween(mode(), getpos('v'), getpos('.'), IsToTheEnd()) : {}
enddef

# The last selection in the current buffer, in this mode.
export def ReadLast(which: string, to_end: bool): dict<any>
  const from = getpos("'<")
  return IsMode(which) && from[1] > 0 ? ReadBetween(which, from, getpos("'>"), to_end) : {}
enddef
