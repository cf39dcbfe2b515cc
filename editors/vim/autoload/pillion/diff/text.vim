vim9script

# Texts ↔ the lines and options of a buffer, so that a text comes back byte for byte.
#
# A shape is {lines, fileformat, endofline, bomb}: what Vim keeps of a file. No lines at all is the empty text; one
# empty line is a line feed. A line break within a line is how Vim keeps a NUL.

import autoload '../framing.vim'
import autoload '../utf8.vim'

const BOM = "\uFEFF"
const ENDINGS = {unix: "\n", dos: "\r\n", mac: "\r"}

def EndsInReturn(line: string): bool
  return strpart(line, strlen(line) - 1) == "\r"
enddef

# The shape of a text, in which `nul` stands in for NUL if it is not empty.
export def Decode(text: string, nul: string): dict<any>
  const bomb = strpart(text, 0, 3) == BOM
  const body = bomb ? strpart(text, 3) : text
  var lines = body == '' ? [] : split(body, "\n", true)
  const endofline = body == '' || lines[-1] == ''
  if endofline && body != ''
    remove(lines, -1)
  endif
  const ended = endofline ? len(lines) : len(lines) - 1
  var fileformat = 'unix'
  # Mixed endings stay what they are: the carriage returns are part of the lines.
  if ended > 0 && EndsInReturn(lines[0]) && indexof(lines[: ended - 1], (_, line) => !EndsInReturn(line)) < 0
    fileformat = 'dos'
    lines = lines->map((at, line) => at < ended ? strpart(line, 0, strlen(line) - 1) : line)
  endif
  if nul != ''
    lines = lines->map((_, line) => substitute(line, nul, "\n", 'g'))
  endif
  return {lines: lines, fileformat: fileformat, endofline: endofline, bomb: bomb}
enddef

# The text of a shape, and what stands in for NUL in it: {text, nul}.
export def Encode(shape: dict<any>): dict<any>
  const has_nul = indexof(shape.lines, (_, line) => stridx(line, "\n") >= 0) >= 0
  const nul = has_nul ? framing.StandIn(shape.lines) : ''
  const lines = has_nul ? mapnew(shape.lines, (_, line) => substitute(line, "\n", nul, 'g')) : shape.lines
  const ending = ENDINGS[shape.fileformat]
  const last = shape.endofline && !empty(lines) ? ending : ''
  return {text: (shape.bomb ? BOM : '') .. join(lines, ending) .. last, nul: nul}
enddef

# Only the byte count tells an emptied buffer from one with an empty line.
def IsEmptied(buf: number): bool
  if buf == bufnr()
    return wordcount().bytes == 0
  endif
  const windows = win_findbuf(buf)
  return !empty(windows) && win_execute(windows[0], 'echo wordcount().bytes')->trim() == '0'
enddef

# The lines of a buffer; none if it is empty.
export def Lines(buf: number): list<string>
  const lines = getbufline(buf, 1, '$')
  return lines == [''] && IsEmptied(buf) ? [] : lines
enddef

# The shape that writing a buffer would give.
export def OfBuffer(buf: number): dict<any>
  return {
    lines: Lines(buf),
    fileformat: getbufvar(buf, '&fileformat'),
    endofline: getbufvar(buf, '&endofline') || getbufvar(buf, '&fixendofline') && !getbufvar(buf, '&binary'),
    bomb: !!getbufvar(buf, '&bomb'),
  }
enddef

export def PutLines(buf: number, lines: list<string>)
  if empty(lines)
    deletebufline(buf, 1, '$')
    return
  endif
  # Where a buffer is empty, an empty line counts as no change.
  setbufline(buf, 1, lines[0] .. '.')
  setbufline(buf, 1, lines)
  if get(getbufinfo(buf), 0, {linecount: 0}).linecount > len(lines)
    deletebufline(buf, len(lines) + 1, '$')
  endif
enddef

# Where two lists of lines differ, from the top, as |diff()| says; Vim before 9.1.0071 knows the first and the last place.
export def Differences(old: list<string>, new: list<string>): list<dict<number>>
  if exists('*diff')
    return call('diff', [old, new, {output: 'indices'}])
  endif
  const most = min([len(old), len(new)])
  var head = 0
  while head < most && old[head] ==# new[head]
    head += 1
  endwhile
  var tail = 0
  while tail < most - head && old[-1 - tail] ==# new[-1 - tail]
    tail += 1
  endwhile
  return [{from_idx: head, from_count: len(old) - head - tail, to_idx: head, to_count: len(new) - head - tail}]
enddef

# Gives a buffer these lines, touching only what differs, so that the cursor stays near, marks stay at their lines, and `u`
# takes back just that. The first and the last line of what is new.
export def Change(buf: number, new: list<string>): list<number>
  const old = Lines(buf)
  if empty(old) || empty(new)
    PutLines(buf, new)
    return [1, max([1, len(new)])]
  endif
  const all = Differences(old, new)
  for it in reverse(copy(all))
    const both = min([it.from_count, it.to_count])
    const added = it.to_count > 0 ? new[it.to_idx : it.to_idx + it.to_count - 1] : []
    if both > 0
      setbufline(buf, it.from_idx + 1, added[: both - 1])
    endif
    if it.to_count > both
      appendbufline(buf, it.from_idx + both, added[both :])
    elseif it.from_count > both
      deletebufline(buf, it.from_idx + both + 1, it.from_idx + it.from_count)
    endif
  endfor
  const first = empty(all) ? 1 : max([min([all[0].to_idx + 1, len(new)]), 1])
  return [first, empty(all) ? first : max([first, all[-1].to_idx + all[-1].to_count])]
enddef

# Gives a buffer the options of a shape, but not its lines.
export def SetOptions(buf: number, shape: dict<any>)
  for [name, value] in items({
      fileencoding: 'utf-8', binary: false, fixendofline: false, fileformat: shape.fileformat,
      endofline: shape.endofline, bomb: shape.bomb})
    setbufvar(buf, '&' .. name, value)
  endfor
enddef

# The first line with bytes that are no UTF-8, counted from 1; 0 if there is none.
export def InvalidLine(lines: list<string>): number
  return utf8.IsValid(join(lines, "\n")) ? 0 : indexof(lines, (_, line) => !utf8.IsValid(line)) + 1
enddef

# The changes between two shapes that no line shows, as phrases for people.
export def UnseenChanges(from: dict<any>, to: dict<any>): list<string>
  var phrases: list<string> = []
  if !empty(from.lines) && !empty(to.lines)
    if from.fileformat != to.fileformat
      add(phrases, $'line endings {from.fileformat} → {to.fileformat}')
    endif
    if from.endofline != to.endofline
      add(phrases, to.endofline ? 'final newline added' : 'no final newline')
    endif
  endif
  if from.bomb != to.bomb
    add(phrases, to.bomb ? 'BOM added' : 'BOM removed')
  endif
  return phrases
enddef
