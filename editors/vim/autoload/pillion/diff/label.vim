vim9script

# The description of a view in itself: the status lines of its windows.

import autoload './pending.vim'
import autoload './proposal.vim'
import autoload './settle.vim'
import autoload './text.vim'
import autoload '../files.vim'
import autoload '../notify.vim'

# A constant, so that nothing of an agent is ever part of a status line's format.
const RIGHT = '%{pillion#diff#label#Right()}'
const LEFT = '%{pillion#diff#label#Left()}'

# A path with less room than this says nothing.
const MIN_ROOM = 8

# The path as people say it: below the current folder without it.
export def Path(diff: dict<any>): string
  return fnamemodify(diff.path, ':.')->substitute("\n", '^J', 'g')
enddef

# The path with the place of the file in its set: `a.txt (2 of 3)`.
export def Name(diff: dict<any>): string
  return Path(diff) .. (diff.set_label == '' ? '' : $' ({diff.set_label})')
enddef

# The numbers of lines that it adds and removes.
export def Counts(diff: dict<any>): string
  var [added, removed] = [0, 0]
  for hunk in diff.hunks
    added += hunk.new_count
    removed += hunk.old_count
  endfor
  return $'+{added} −{removed}'
enddef

# The facts that no line shows: notes of the program, line endings, BOM, an unreadable original.
export def Note(diff: dict<any>)
  diff.remarks = copy(diff.notes)
  const notes = len(diff.notes_on)
  if notes > 0
    insert(diff.remarks, notes == 1 ? '1 note' : $'{notes} notes')
  endif
  if !diff.is_new
    diff.remarks += text.UnseenChanges(proposal.OriginalShape(diff), diff.pristine)
  endif
  if diff.is_lossy
    const encoding = getbufvar(files.BufferOf(diff.path), '&fileencoding')
    const is_known = encoding != '' && encoding != 'utf-8'
    # Short, so that it is not cut.
    insert(diff.remarks, is_known ? $'{encoding} → utf-8' : 'not UTF-8: bytes shown as �')
  endif
  if diff.kept > 0 && bufexists(diff.kept)
    insert(diff.remarks, $'your edits: buffer {diff.kept}')
  endif
  const open = files.BufferOf(diff.path)
  if open > 0 && getbufvar(open, '&modified')
    # They look like lines that the agent removes.
    add(diff.remarks, empty(diff.merged) ? 'unsaved lines not in it' : 'has your unsaved changes')
  endif
enddef

def EndOf(line: string, room: number): string
  if strdisplaywidth(line) <= room
    return line
  endif
  var from = 0
  while from < strchars(line) && strdisplaywidth(strcharpart(line, from)) > room - 1
    from += 1
  endwhile
  return '…' .. strcharpart(line, from)
enddef

def StartOf(line: string, room: number): string
  if strdisplaywidth(line) <= room
    return line
  endif
  var count = strchars(line)
  while count > 0 && strdisplaywidth(strcharpart(line, 0, count)) > room - 1
    count -= 1
  endwhile
  return strcharpart(line, 0, count) .. '…'
enddef

# The keys and commands that decide where the person is: in full, and ever shorter for narrow windows.
def Keys(buftype: string): list<string>
  if buftype == 'terminal'
    return ['CTRL-W :PillionAccept or :PillionReject', ':PillionAccept/:PillionReject', ':PillionAccept']
  endif
  return [':w accepts, :q rejects', ':w yes, :q no', ':w yes']
enddef

def Of(win: number): dict<any>
  return pending.Get(getwinvar(win, 'pillion_diff', 0))
enddef

# The status line of the proposal's window, which is the current one while it is drawn.
export def Right(): string
  const win = win_getid()
  const diff = Of(win)
  const columns = winwidth(win)
  if empty(diff)
    return StartOf(settle.Said(getwinvar(win, 'pillion_diff', 0)), columns - 1)
  endif
  const forms = Keys(getbufvar(winbufnr(str2nr(g:actual_curwin)), '&buftype'))->filter((_, form) => strwidth(form) + 2 <= columns)
  const keys = get(forms, 0, ':w yes')
  var room = columns - strwidth(keys) - 5
  if room < MIN_ROOM
    return ' ' .. keys
  endif
  const remarks_wanted = empty(diff.remarks) ? 0 : strdisplaywidth(join(diff.remarks, '; ')) + 3
  var counts = ' ' .. Counts(diff)
  counts = room - strwidth(counts) >= remarks_wanted + 2 * MIN_ROOM ? counts : ''
  room -= strwidth(counts)
  const head = strwidth(diff.agent .. diff.does) + 3 + MIN_ROOM + remarks_wanted < room ? $'{diff.agent} {diff.does}: ' : ''
  const path = EndOf(Name(diff), room - strwidth(head))
  const left = room - strwidth(head) - strdisplaywidth(path) - 3
  const remarks = empty(diff.remarks) || left < MIN_ROOM ? '' : $' [{StartOf(join(diff.remarks, "; "), left)}]'
  return $' {head}{path}{remarks}{counts} — {keys}'
enddef

def YourBuffer(diff: dict<any>): string
  return getbufvar(files.BufferOf(diff.path), '&modified') ? 'your buffer, unsaved: :PillionMerge merges' : 'your buffer'
enddef

# The status line of the original's window.
export def Left(): string
  const diff = Of(win_getid())
  if empty(diff)
    return ''
  endif
  const kind = diff.is_new ? 'new file' : diff.is_buffers ? YourBuffer(diff) : 'on disk'
  return EndOf($' {Path(diff)} ({kind})', winwidth(0) - 1)
enddef

# Puts the labels where they belong, also if a plugin wrote its own there.
export def Keep()
  for diff in pending.Sorted()
    for [name, line] in [['right', RIGHT], ['left', LEFT]]
      const win = get(diff.windows, name, 0)
      if win > 0 && winbufnr(win) == diff[name] && getwinvar(win, '&statusline') !=# line
        setwinvar(win, '&statusline', line)
      endif
    endfor
  endfor
enddef

# Says what a narrow window has no room for, once for each proposal.
export def SayNotes(diff: dict<any>)
  if !empty(diff.notes)
    notify.Unasked('warn', join(diff.notes, ' '), diff.id)
  endif
enddef

# Says which keys decide, where the window of the proposal has no status line.
export def SayKeys(diff: dict<any>)
  if &laststatus == 0 || &laststatus == 1 && winnr('$') == 1
    notify.Unasked('info', $'{diff.agent} {diff.does} {EndOf(Name(diff), max([v:echospace - 60, MIN_ROOM]))}: {Keys(&buftype)[0]}', diff.id)
  endif
enddef

# What ends that a proposal waits: in full, and for narrow screens.
def WhenShown(): list<string>
  if !empty(pending.Focused())
    return [':PillionDiffs shows it', ':PillionDiffs']
  endif
  return mode() == 't' ? ['CTRL-W N shows it', 'CTRL-W N'] : ['opens when you are done', 'opens later']
enddef

# The agent's action, once that is over.
def Past(diff: dict<any>): string
  return substitute(diff.does, '^proposes', 'proposed', '')
enddef

# The line about proposals that wait: the first one, and how many there are.
export def Notice(diff: dict<any>, count: number): string
  const more = count > 1 ? $' (1 of {count})' : ''
  const [full, short] = WhenShown()
  for [head, tail] in [[$' {diff.agent} {diff.does} ', $'{more}: {full} '], [$' {Past(diff)}: ', $'{more}: {short} ']]
    const room = &columns - strdisplaywidth(head .. tail)
    if room >= MIN_ROOM
      return head .. EndOf(Path(diff), room) .. tail
    endif
  endfor
  return EndOf($' {Past(diff)}: {Path(diff)}', &columns)
enddef

# Notes for later that a proposal waits: the line about it is on the screen.
export def NoteWaiting(diff: dict<any>)
  notify.Note($'{diff.agent} {diff.does} {Path(diff)}: {WhenShown()[0]}')
enddef

# Says that a proposal which waited is on the screen now.
export def SayOpened(diff: dict<any>)
  const room = v:echospace - strdisplaywidth($'Pillion: {diff.agent} {Past(diff)}  meanwhile')
  notify.Unasked('info', $'{diff.agent} {Past(diff)} {EndOf(Name(diff), max([room, MIN_ROOM]))} meanwhile', diff.id)
enddef
