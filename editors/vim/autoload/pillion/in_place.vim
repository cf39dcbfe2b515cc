vim9script

# A file that changed comes into its buffer hunk by hunk: cursors, views, marks and folds stay at their text, and one `u`
# takes all of it back. Then Vim itself reads the file, which changes nothing any more.

import autoload './diff/text.vim'

# At the cursor and at the top of each window, wherever these move.
const PLACE = 'PillionPlace'

def AddPlace(buf: number, line: number, id: number)
  prop_add(line, 1, {bufnr: buf, type: PLACE, id: id, length: 0})
enddef

def LineOf(buf: number, id: number, otherwise: number): number
  const found = prop_list(1, {bufnr: buf, end_lnum: -1, types: [PLACE], ids: [id]})
  return empty(found) ? otherwise : found[0].lnum
enddef

# Gives a buffer other lines, and does what may not move anything any more. What is in sight in its windows stays so.
def KeepingViews(buf: number, lines: list<string>, Act: func)
  if empty(prop_type_get(PLACE))
    prop_type_add(PLACE, {})
  endif
  var views: dict<dict<any>> = {}
  for win in win_findbuf(buf)
    win_execute(win, 'w:pillion_view = winsaveview()')
    # Also of another tab page, unlike |getwinvar()|; the variable itself is what is changed below.
    views[win] = getwininfo(win)[0].variables.pillion_view
    AddPlace(buf, views[win].lnum, 2 * win)
    AddPlace(buf, views[win].topline, 2 * win + 1)
  endfor
  text.Change(buf, lines)
  for [win, view] in items(views)
    view.lnum = LineOf(buf, 2 * str2nr(win), view.lnum)
    view.topline = LineOf(buf, 2 * str2nr(win) + 1, view.topline)
  endfor
  prop_remove({bufnr: buf, type: PLACE, all: true})
  Act()
  for win in keys(views)
    win_execute(str2nr(win), 'winrestview(w:pillion_view) | unlet w:pillion_view')
  endfor
enddef

# The lines of the file as the buffer would have them; none if it is to be read in another way.
def LinesOfFile(buf: number, path: string): list<string>
  var lines = readfile(path, 'b')
  const is_ended = !empty(lines) && lines[-1] == ''
  const format = getbufvar(buf, '&fileformat')
  if getbufvar(buf, '&bomb') || !is_ended || index(['unix', 'dos'], format) < 0 || index(['', 'utf-8'], getbufvar(buf, '&fileencoding')) < 0
    return []
  endif
  remove(lines, -1)
  if format == 'dos'
    return match(lines, '\r\@<!$') < 0 ? map(lines, (_, line) => strpart(line, 0, strlen(line) - 1)) : []
  endif
  return lines
enddef

# Has an unmodified buffer in sight read its file again, by `Read`.
export def Take(buf: number, path: string, Read: func)
  const lines = LinesOfFile(buf, path)
  const windows = win_findbuf(buf)
  if empty(lines) || empty(windows) || !getbufvar(buf, '&modifiable') || text.Lines(buf) == lines
    Read()
    return
  endif
  # Setting it ends what one `u` takes back.
  setbufvar(buf, '&undolevels', getbufvar(buf, '&undolevels'))
  # `u` leads to a text that is not the file's.
  setbufvar(buf, '&modified', true)
  KeepingViews(buf, lines, () => {
    setbufvar(buf, '&modified', false)
    # Reading would be one more thing to undo.
    const undo = tempname()
    win_execute(windows[0], $'silent noautocmd wundo {fnameescape(undo)}')
    Read()
    if filereadable(undo)
      win_execute(windows[0], $'silent! noautocmd rundo {fnameescape(undo)}')
      delete(undo)
    endif
  })
enddef
