vim9script

# The changes that agents have written already: their list is a quickfix list, and the person keeps them or takes them
# back. Pillion decides what that means; here is only what stands under the cursor, and what is put into buffers.

import autoload './files.vim'
import autoload './notify.vim'
import autoload './reload.vim'
import autoload './request.vim'
import autoload './row.vim'
import autoload './written.vim'
import autoload './diff/text.vim'

const TITLE = 'Pillion: what agents have written'

# The quickfix list, and whether it has what was decided, too.
var list = {id: 0, has_all: false}

# The entries of a change: one for each hunk that stands in the file. With each goes what it is about, and a key that
# names it whatever comes before it.
def Entries(change: dict<any>): list<dict<any>>
  const Entry = (nth, first, last, words) => {
    const about = {key: $'{change.id}/{nth}', id: change.id, revision: change.revision, path: change.path, hunks: len(change.hunks)}
    return {filename: change.path, type: 'I', lnum: first, end_lnum: last, text: words, user_data: about}
  }
  if empty(change.hunks)
    # Nothing of it can be pointed to: it is gone, or not text.
    return [Entry(0, 1, 1, $'{change.label}  {change.shown}')]
  endif
  return change.hunks->mapnew((nth, hunk) => {
    const first = hunk.lines.start + 1
    return Entry(nth, first, max([hunk.lines.end, first]), get(hunk, 'label', change.label))
  })
enddef

# The lines of the list.
def ItemsOf(answer: dict<any>, has_all: bool): list<dict<any>>
  var items: list<dict<any>> = []
  for turn in answer.turns
    const found = copy(turn.changes)->filter((_, change) => has_all || change.isUnseen)->mapnew((_, change) => Entries(change))
    if !empty(found)
      add(items, {text: turn.title, valid: false, user_data: {key: turn.id}})
      extend(items, flattennew(found, 1))
    endif
  endfor
  if answer.leftOut > 0
    add(items, {text: $'{answer.leftOut} more changes are not listed', valid: false})
  endif
  return items
enddef

# What a line of the list is about.
def About(item: dict<any>): dict<any>
  const about: any = get(item, 'user_data', '')
  return type(about) == v:t_dict ? about : {}
enddef

def KeysOf(items: list<dict<any>>): list<string>
  return mapnew(items, (_, item) => get(About(item), 'key', ''))
enddef

# Where in a list the line is that was the nth before, or the first one after it that is still there.
def PlaceOf(nth: number, before: list<string>, keys: list<string>): number
  for key in before[max([nth, 1]) - 1 :]
    const place = index(keys, key)
    if place >= 0 && key != ''
      return place + 1
    endif
  endfor
  return max([min([nth, len(keys)]), 1])
enddef

export def IsKept(): bool
  return list.id != 0 && getqflist({id: list.id}).id == list.id
enddef

def Show(answer: dict<any>, has_all: bool)
  const items = ItemsOf(answer, has_all)
  if empty(items)
    notify.Info('there are no unseen changes here')
    return
  endif
  setqflist([], ' ', {title: TITLE, items: items})
  list = {id: getqflist({id: 0}).id, has_all: has_all}
  botright copen
  augroup PillionRow
    autocmd!
    autocmd BufEnter,CursorMoved * NoteRow(false)
  augroup END
  NoteRow(false)
enddef

# True if the cursor is in the list.
def IsInList(): bool
  return &buftype == 'quickfix' && getqflist({id: 0}).id == list.id
enddef

# What is under the cursor in the list: what it is about, and its lines; or nothing of that between entries.
def EntryUnderCursor(): dict<any>
  const item: dict<any> = get(getqflist({items: 0, idx: line('.')}).items, 0, {})
  return empty(item) ? {} : extendnew({first: item.lnum - 1, last: item.end_lnum - 1}, About(item))
enddef

# What the line of the list under the cursor is, as it is now.
def RowHere(): string
  const entry = EntryUnderCursor()
  return $'{get(entry, "key", "")} {get(entry, "revision", "")}'
enddef

def NoteRow(by_itself: bool)
  if IsInList()
    row.Note(RowHere(), by_itself)
  endif
enddef

# Fills the quickfix list, and opens it. `has_all`: with what was decided.
export def Open(has_all: bool)
  request.Ask('pillion/changes', {}, (answer) => {
    if type(get(answer, 'problem', v:null)) == v:t_string
      notify.Error(answer.problem)
    else
      Show(answer, has_all)
    endif
  })
enddef

# Fills the list anew; the cursor stays at the line that it is at. Not while a command is typed, which may be about it.
export def Fill(answer: dict<any>)
  if !IsKept()
    return
  elseif mode() =~ '^c' || getcmdwintype() != ''
    # The event comes before the command is done.
    augroup PillionChanges
      autocmd!
      autocmd CmdlineLeave * ++once timer_start(0, (_) => written.Refresh())
    augroup END
    return
  endif
  const of_list = getqflist({id: list.id, idx: 0, winid: 0})
  const line = of_list.winid == 0 ? 0 : line('.', of_list.winid)
  const before = KeysOf(getqflist({id: list.id, items: 0}).items)
  const items = ItemsOf(answer, list.has_all)
  const keys = KeysOf(items)
  setqflist([], 'r', {id: list.id, title: TITLE, items: items})
  setqflist([], 'a', {id: list.id, idx: PlaceOf(of_list.idx, before, keys)})
  if line > 0
    win_execute(of_list.winid, $'call cursor({PlaceOf(line, before, keys)}, 1)')
  endif
  NoteRow(true)
enddef

# The file in the window, if there is one.
def FileHere(): dict<string>
  const path = files.PathOf(bufnr())
  return path == '' ? {} : {uri: files.Uri(path)}
enddef

# The buffers with unsaved changes, and this one. What has NUL is not text.
def OpenBuffers(own: number): list<dict<any>>
  var found: list<dict<any>> = []
  for info in getbufinfo({bufloaded: 1})
    const path = files.PathOf(info.bufnr)
    if path != '' && (info.bufnr == own || info.changed)
      const encoded = text.Encode(text.OfBuffer(info.bufnr))
      if encoded.nul == ''
        add(found, {uri: files.Uri(path), content: encoded.text, isModified: !!info.changed})
      endif
    endif
  endfor
  return found
enddef

# Puts another text into a buffer as one edit. False if the buffer has not the text any more that Pillion was told.
def Apply(change: dict<any>, sent: list<dict<any>>): bool
  const buf = files.BufferOf(change.path)
  if buf == 0 || !getbufvar(buf, '&modifiable')
    return false
  endif
  const now = text.Encode(text.OfBuffer(buf)).text
  if indexof(sent, (_, told) => told.uri ==# change.uri && told.content ==# now) < 0
    return false
  endif
  # Setting it ends what one `u` takes back.
  setbufvar(buf, '&undolevels', getbufvar(buf, '&undolevels'))
  text.Change(buf, text.Decode(change.content, '').lines)
  setbufvar(buf, '&undolevels', getbufvar(buf, '&undolevels'))
  return true
enddef

def OnDone(result: dict<any>, sent: list<dict<any>>)
  for change in get(result, 'edits', [])
    if !Apply(change, sent)
      notify.Error('the buffer was edited meanwhile: nothing was taken out of it')
      request.Ask('pillion/undo', {id: change.id})
    endif
  endfor
  reload.LookEverywhere()
  written.Refresh()
enddef

def Act(method: string, params: dict<any>)
  request.AskForPerson(method, params, (result) => OnDone(result, get(params, 'buffers', [])))
enddef

# True if a buffer had another text than its file: it is read now, and the person sees what they act on.
def IsReadOnlyNow(buf: number): bool
  if buf == 0 || files.PathOf(buf) == '' || getbufvar(buf, '&modified')
    return false
  endif
  const tick = getbufvar(buf, 'changedtick')
  reload.LookAt([buf])
  const is_read = getbufvar(buf, 'changedtick') != tick
  if is_read
    notify.Warn('the file had changed on disk, and is read only now: look at it, then do the same again')
  endif
  return is_read
enddef

# Does this with what is meant: in the list what is under the cursor, elsewhere what is there in the file, or with
# `about.bang` all of the change. `part`: the field for its lines.
def Decide(method: string, typed: string, about: dict<any>, part: string)
  var params: dict<any> = {typed: typed}
  var own = bufnr()
  var lines = get(about, 'range', 0) > 0 ? [about.line1, about.line2] : [line('.'), line('.')]
  if IsInList()
    const entry = EntryUnderCursor()
    own = has_key(entry, 'path') ? files.BufferOf(entry.path) : 0
    lines = get(entry, 'hunks', 0) > 0 ? [entry.first + 1, entry.last + 1] : []
    # What is merged with is a buffer that is not saved, and not what was listed.
    const is_listed = part == 'at' || own == 0 || !getbufvar(own, '&modified')
    extend(params, has_key(entry, 'id') ? {id: entry.id, row: row.Decide(RowHere())} : {})
    extend(params, is_listed && has_key(entry, 'revision') ? {revision: entry.revision} : {})
  else
    extend(params, FileHere())
  endif
  if !about.bang && !empty(lines)
    params[part] = {first: lines[0] - 1, last: lines[1] - 1}
  endif
  if !IsReadOnlyNow(own)
    params.buffers = OpenBuffers(own)
    Act(method, params)
  endif
enddef

# Keeps a change or a turn that is named in what was typed, or else what is meant: all of a change, of which others than
# the hunk at the cursor may not have been looked at.
export def Keep(typed: string, about: dict<any>)
  Decide('pillion/keep', typed, about, 'at')
enddef

# Takes back a change or a turn that is named in what was typed; if none is, the hunks at the cursor or in the range, or
# with `about.bang` all of the file's.
export def TakeBack(typed: string, about: dict<any>)
  Decide('pillion/takeBack', typed, about, 'lines')
enddef

# Shows a change or a turn as diffs: the one that is named, or that under the cursor in the list, or else the newest turn.
export def Look(word: string)
  const id = word != '' || !IsInList() ? word : get(EntryUnderCursor(), 'id', '')
  Act('pillion/look', id == '' ? {} : {id: id})
enddef

# Undoes what was done with a change or a turn, or what was done last.
export def Undo(word: string)
  Act('pillion/undo', word == '' ? {} : {id: word})
enddef
