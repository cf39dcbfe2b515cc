vim9script

# The changes that agents have written already: their list is a quickfix list, and the person keeps them or takes them
# back. Pillion decides what that means; here is only what stands under the cursor, and what is put into buffers.

import autoload './files.vim'
import autoload './notify.vim'
import autoload './reload.vim'
import autoload './request.vim'
import autoload './row.vim'
import autoload './diff/text.vim'

const TITLE = 'Pillion: what agents have written'

# The quickfix list, whether it has what was decided, too, and what names each of its lines.
var list = {id: 0, has_all: false, keys: []}

# By the name of a change: {revision, path}, as they were listed last.
var listed: dict<dict<any>> = {}

# The entries of a change: one for each hunk that stands in the file.
def Entries(change: dict<any>): list<dict<any>>
  const count = len(change.hunks)
  const about = {filename: change.path, type: 'I', user_data: {id: change.id, hunks: count}}
  var found = change.hunks->mapnew((_, hunk) => {
    const first = hunk.lines.start + 1
    const words = get(hunk, 'label', change.label)
    return extendnew(about, {lnum: first, end_lnum: max([hunk.lines.end, first]), text: words})
  })
  if empty(found)
    # Nothing of it can be pointed to: it is gone, or not text.
    add(found, extendnew(about, {lnum: 1, end_lnum: 1, text: $'{change.label}  {change.shown}'}))
  endif
  return found
enddef

# The lines of the list, and what names each of them, whatever comes before it.
def LinesOf(answer: dict<any>, has_all: bool): dict<list<any>>
  var items: list<dict<any>> = []
  var keys: list<string> = []
  listed = {}
  for turn in answer.turns
    var found: list<dict<any>> = []
    var names: list<string> = []
    for change in turn.changes
      listed[change.id] = {revision: change.revision, path: change.path}
      if has_all || change.isUnseen
        const entries = Entries(change)
        extend(found, entries)
        extend(names, entries->mapnew((nth, _) => $'{change.id}/{nth}'))
      endif
    endfor
    if !empty(found)
      add(items, {text: turn.title, valid: false})
      extend(items, found)
      extend(keys, [turn.id] + names)
    endif
  endfor
  if answer.leftOut > 0
    add(items, {text: $'{answer.leftOut} more changes are not listed', valid: false})
  endif
  return {items: items, keys: keys}
enddef

# Where in the list with these keys the line is that was the nth, or the first one after it that is still there.
def PlaceOf(nth: number, before: list<string>, keys: list<string>): number
  for key in before[max([nth, 1]) - 1 :]
    const place = index(keys, key)
    if place >= 0
      return place + 1
    endif
  endfor
  return max([min([nth, len(keys)]), 1])
enddef

def Ask(Done: func)
  request.Ask('pillion/changes', {}, (answer) => {
    if type(get(answer, 'problem', v:null)) == v:t_string
      notify.Error(answer.problem)
    else
      Done(answer)
    endif
  })
enddef

def IsKept(): bool
  return list.id != 0 && getqflist({id: list.id}).id == list.id
enddef

def Show(answer: dict<any>, has_all: bool)
  const lines = LinesOf(answer, has_all)
  if empty(lines.items)
    notify.Info('there are no unseen changes here')
    return
  endif
  setqflist([], ' ', {title: TITLE, items: lines.items})
  list = {id: getqflist({id: 0}).id, has_all: has_all, keys: lines.keys}
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

# What the line of the list under the cursor is, as it is now.
def RowHere(): string
  const key = get(list.keys, line('.') - 1, '')
  return $'{key} {get(get(listed, matchstr(key, "^[^/]*"), {}), "revision", "")}'
enddef

def NoteRow(by_itself: bool)
  if IsInList()
    row.Note(RowHere(), by_itself)
  endif
enddef

# Fills the quickfix list, and opens it. `has_all`: with what was decided.
export def Open(has_all: bool)
  Ask((answer) => Show(answer, has_all))
enddef

# Fills the list anew; the cursor stays at the line that it is at. Not while a command is typed, which may be about it.
def Fill(answer: dict<any>)
  if !IsKept()
    return
  elseif mode() =~ '^c' || getcmdwintype() != ''
    # The event comes before the command is done.
    augroup PillionChanges
      autocmd!
      autocmd CmdlineLeave * ++once timer_start(0, (_) => Refresh())
    augroup END
    return
  endif
  const of_list = getqflist({id: list.id, idx: 0, winid: 0})
  const line = of_list.winid == 0 ? 0 : line('.', of_list.winid)
  const before = list.keys
  const lines = LinesOf(answer, list.has_all)
  list.keys = lines.keys
  setqflist([], 'r', {id: list.id, title: TITLE, items: lines.items})
  setqflist([], 'a', {id: list.id, idx: PlaceOf(of_list.idx, before, lines.keys)})
  if line > 0
    win_execute(of_list.winid, $'call cursor({PlaceOf(line, before, lines.keys)}, 1)')
  endif
  NoteRow(true)
enddef

def Refresh()
  if IsKept()
    Ask(Fill)
  endif
enddef

# The list is another one now. It is asked for if somebody sees it.
export def Changed()
  if IsKept() && getqflist({id: list.id, winid: 0}).winid != 0
    Refresh()
  endif
enddef

# The entry of the list under the cursor: its name, its lines, and how many hunks its change has; or nothing between entries.
def EntryUnderCursor(): dict<any>
  const item = get(getqflist({items: 0}).items, line('.') - 1, {})
  const about: any = get(item, 'valid', 0) ? get(item, 'user_data', '') : ''
  if type(about) != v:t_dict || !has_key(listed, about.id)
    return {}
  endif
  return {id: about.id, first: item.lnum - 1, last: item.end_lnum - 1, hunks: about.hunks}
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
  Refresh()
enddef

def Act(method: string, params: dict<any>, sent: list<dict<any>>)
  request.AskForPerson(method, params, (result) => OnDone(result, sent))
enddef

# How the line came under the cursor, if it is meant: what is named in what was typed is meant wherever the cursor is.
def RowOf(typed: string): dict<any>
  return typed =~ '^\s*\d' ? {} : {row: row.Decide(RowHere())}
enddef

# Keeps a change or a turn that is named in what was typed, the change under the cursor in the list, or that of the file
# in the window. A hunk is not kept by itself: with `bang` all of them are.
export def Keep(typed: string, bang: bool)
  var params: dict<any> = {typed: typed}
  if !IsInList()
    extend(params, FileHere())
  else
    const entry = EntryUnderCursor()
    if get(entry, 'hunks', 0) > 1 && !bang && typed !~ '^\s*\d'
      throw $'Pillion: {entry.id} has {entry.hunks} hunks, and is kept as a whole: :PillionKeep! keeps it'
    elseif !empty(entry)
      extend(params, {id: entry.id, revision: listed[entry.id].revision})->extend(RowOf(typed))
    endif
  endif
  Act('pillion/keep', params, [])
enddef

# True if a buffer had another text than its file: it is read now, and the person sees what they act on.
def IsReadOnlyNow(buf: number): bool
  if buf == 0 || files.PathOf(buf) == '' || getbufvar(buf, '&modified')
    return false
  endif
  const tick = getbufvar(buf, 'changedtick')
  reload.LookAt([buf])
  return getbufvar(buf, 'changedtick') != tick
enddef

# Takes back a change or a turn that is named in what was typed; if none is, the hunks at the cursor or in the range, or
# with `about.bang` all of the file's.
export def TakeBack(typed: string, about: dict<any>)
  var params: dict<any> = {typed: typed}
  const is_in_list = IsInList()
  const entry = is_in_list ? EntryUnderCursor() : {}
  var own = 0
  if !is_in_list
    extend(params, FileHere())
    own = bufnr()
    if !about.bang
      params.lines = about.range > 0
        ? {first: about.line1 - 1, last: about.line2 - 1}
        : {first: line('.') - 1, last: line('.') - 1}
    endif
  elseif !empty(entry)
    extend(params, {id: entry.id})->extend(RowOf(typed))
    own = files.BufferOf(listed[entry.id].path)
    if !about.bang && entry.hunks > 0
      params.lines = {first: entry.first, last: entry.last}
    endif
    # What is merged with is a buffer that is not saved, and not what was listed.
    if own == 0 || !getbufvar(own, '&modified')
      params.revision = listed[entry.id].revision
    endif
  endif
  if IsReadOnlyNow(own)
    notify.Warn('the file had changed on disk, and is read only now: the same again takes back')
    return
  endif
  params.buffers = OpenBuffers(own)
  Act('pillion/takeBack', params, params.buffers)
enddef

# Shows a change or a turn as diffs: the one that is named, or that under the cursor in the list, or else the newest turn.
export def Look(word: string)
  const id = word != '' || !IsInList() ? word : get(EntryUnderCursor(), 'id', '')
  Act('pillion/look', id == '' ? {} : {id: id}, [])
enddef

# Undoes what was done with a change or a turn, or what was done last.
export def Undo(word: string)
  Act('pillion/undo', word == '' ? {} : {id: word}, [])
enddef
