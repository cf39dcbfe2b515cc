vim9script

# Which hunks of a proposal have not been on the screen. A hunk was when each of its lines was, and of a line that is
# wider than its window what changed in it.

# What has not been on the screen has this property. It goes with the text when the person takes it out; its number is
# that of the hunk.
const UNSEEN = 'PillionUnseen'
# What asks for a type that is not there fails, and a proposal may be in sight before it is shown, see `quit.vim`.
if empty(prop_type_get(UNSEEN))
  prop_type_add(UNSEEN, {})
endif

# The proposal's text was put into its buffer: nobody has seen any of its hunks.
export def Begin(diff: dict<any>)
  prop_remove({type: UNSEEN, bufnr: diff.right, all: true})
  const count = getbufinfo(diff.right)[0].linecount
  for at in range(len(diff.hunks))
    const hunk: dict<number> = diff.hunks[at]
    # Of one that only removes lines, where they were.
    const first = min([hunk.new + 1, count])
    const last = max([first, min([hunk.new + hunk.new_count, count])])
    const Add = (from, col, to, end) => prop_add(from, col, {type: UNSEEN, bufnr: diff.right, id: at, end_lnum: to, end_col: end})
    const EndOf = (line) => strlen(getbufoneline(diff.right, line)) + 1
    var next = first
    for part in diff.parts[at]
      const line = part.line + 1
      if line > next
        Add(next, 1, line - 1, EndOf(line - 1))
      endif
      const text = getbufoneline(diff.right, line)
      Add(line, byteidxcomp(text, part.start) + 1, line, byteidxcomp(text, part.end) + 1)
      next = line + 1
    endfor
    if next <= last
      Add(next, 1, last, hunk.new_count > 0 ? EndOf(last) : min([EndOf(last), 2]))
    endif
  endfor
  diff.tick = getbufvar(diff.right, 'changedtick')
enddef

# The hunks that have not been on the screen, by their index.
export def Hunks(diff: dict<any>): list<number>
  if diff.tick < 0
    # It was never shown.
    return range(len(diff.hunks))
  endif
  return prop_list(1, {bufnr: diff.right, end_lnum: -1, types: [UNSEEN]})->mapnew((_, prop) => prop.id)->sort('n')->uniq()
enddef

# Hunks that nobody has seen stay so while `Act`, which is nobody's typing, changes lines: the first and the last one is
# what it returns.
export def Keep(diff: dict<any>, Act: func)
  const hidden = Hunks(diff)
  const changed: list<number> = Act()
  const [first, last] = changed
  const left = Hunks(diff)
  const length = strlen(getbufoneline(diff.right, last))
  for id in hidden
    if index(left, id) < 0
      prop_add(first, 1, {type: UNSEEN, bufnr: diff.right, id: id, end_lnum: last, end_col: length + 1})
    endif
  endfor
enddef

# The bytes from `from` on, without `to`, of a line need no look any more.
def TakeOut(diff: dict<any>, line: number, from: number, to: number)
  if from >= to
    return
  endif
  const unseen = prop_list(line, {bufnr: diff.right, types: [UNSEEN]})
  prop_remove({type: UNSEEN, bufnr: diff.right, all: true}, line)
  const length = strlen(getbufoneline(diff.right, line))
  for prop in unseen
    const end = min([prop.col + prop.length, length + 1])
    for [start, stop] in [[prop.col, min([end, from])], [max([prop.col, to]), end]]
      if start < stop
        prop_add(line, start, {type: UNSEEN, bufnr: diff.right, id: prop.id, length: stop - start})
      endif
    endfor
  endfor
enddef

# The columns of a line that a window shows, as |virtcol()| counts: the first, and the last; empty for none. `last`:
# the last line of which the end is on the screen.
def Columns(diff: dict<any>, win: number, line: number, last: number): list<number>
  const info = getwininfo(win)[0]
  const view: dict<number> = win_execute(win, 'echo json_encode(winsaveview())')->trim()->json_decode()
  const width = info.width - info.textoff
  if !getwinvar(win, '&wrap')
    if diff.is_unified && view.leftcol > 0
      # Beside the removed lines Vim counts columns wrongly.
      return []
    endif
    # The last one may say that there is more.
    const mark = getwinvar(win, '&list') && getwinvar(win, '&listchars') =~ 'extends:' ? 1 : 0
    return [view.leftcol + 1, view.leftcol + width - mark]
  endif
  const hidden = line == info.topline ? view.skipcol : 0
  # `<<<` stands in front of the rest.
  const first = hidden > 0 ? hidden + 4 : 1
  if line <= last && last > info.topline
    return [first, v:numbermax]
  endif
  # In the last row, `@@@` says that there is more.
  const cut = line > last ? 1 : 0
  const row = hidden > 0 ? info.winrow : screenpos(win, line, 1).row
  return row == 0 ? [] : [first, hidden + (info.winrow + info.height - row - cut) * width]
enddef

# What a window shows of a line is seen.
def NoteLine(diff: dict<any>, win: number, line: number, last: number)
  const columns = Columns(diff, win, line, last)
  # Called like this, since Vim takes what it returns for a list.
  const end: number = call('virtcol', [[line, '$'], 0, win]) - 1
  if empty(columns)
    return
  endif
  const [first, final] = columns
  if first <= 1 && final >= end
    prop_remove({type: UNSEEN, bufnr: diff.right, all: true}, line)
    return
  endif
  if first <= end && final >= first
    const from = virtcol2col(win, line, first)
    const to = virtcol2col(win, line, min([final, end]))
    const char = strpart(getbufoneline(diff.right, line), to - 1)->strpart(0, 1, true)
    TakeOut(diff, line, from, to + strlen(char))
  endif
enddef

# Where a closed fold ends in a window; -1 if there is none at the line.
def FoldEnd(win: number, line: number): number
  return win == win_getid() ? foldclosedend(line) : win_execute(win, $'echo foldclosedend({line})')->trim()->str2nr()
enddef

# What a window shows of a proposal is seen.
export def Note(diff: dict<any>, win: number)
  const last = line('w$', win)
  # Of one that does not fit, the beginning may be shown.
  const more = getwinvar(win, '&wrap') && &display =~ 'lastline\|truncate' ? 1 : 0
  const end = min([last + more, line('$', win)])
  const unseen = prop_list(line('w0', win), {bufnr: diff.right, end_lnum: end, types: [UNSEEN]})
  for line in mapnew(unseen, (_, prop) => prop.lnum)->uniq()
    if FoldEnd(win, line) < 0
      NoteLine(diff, win, line, last)
    endif
  endfor
enddef
