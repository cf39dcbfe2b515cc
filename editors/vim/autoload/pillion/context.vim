vim9script

# The context that agents are shown: open files, cursor and selection, sent when they change.
#
# Events only note that something may have changed. What is so is read once, when Vim is back in its loop: a macro
# that moves a thousand times costs one message. Quiet is waited for by Pillion.

import autoload './client.vim'
import autoload './config.vim'
import autoload './files.vim'
import autoload './roots.vim'
import autoload './utf8.vim'
import autoload './context/kept.vim'
import autoload './context/recent.vim'
import autoload './context/selection.vim'

var is_attached = false
var is_scheduled = false
var have_files_changed = true
var have_repositories_changed = false

# The files to be shown, and where the cursor is in the first one.
var shown: list<dict<any>> = []
var cursor: list<number> = [0, 1, 1, 0]
# The window in which the person was in it.
var window = 0

var sent = ''

# True if a window is one for files: not of a diff of ours, and none that floats.
def IsForFiles(win: number): bool
  return type(getwinvar(win, 'pillion_diff', v:none)) == v:t_none && win_gettype(win) == ''
enddef

def FocusedFile(): number
  const buf = bufnr()
  const path = files.PathOf(buf)
  return path != '' && IsForFiles(win_getid()) && files.IsOnDisk(path) ? buf : 0
enddef

# A place in a line as the protocol has it: the bytes before it, as they are sent, and these bytes.
def Position(buf: number, line: number, byte: number): dict<any>
  const before = utf8.Valid(strpart(get(getbufline(buf, line), 0, ''), 0, byte))
  return {line: line - 1, character: strlen(before), text: substitute(before, "\n", ' ', 'g')}
enddef

def Selection(buf: number, kept_one: dict<any>): dict<any>
  const start = Position(buf, kept_one.place.from[0], kept_one.place.from[1])
  const end = Position(buf, kept_one.place.to[0], kept_one.place.to[1])
  return {
    start: {line: start.line, character: start.character},
    end: {line: end.line, character: end.character},
    startLineText: start.text,
    endLineText: end.text,
  }
enddef

# Where the cursor is in a file that has not the focus.
def CursorElsewhere(buf: number)
  if win_id2win(window) > 0 && winbufnr(window) == buf || !empty(win_id2tabwin(window)) && winbufnr(window) == buf
    cursor = getcurpos(window)
  endif
enddef

# Completes the active file, which is the one focused last. What stands in for NUL in it.
def Complete(entry: dict<any>, open_file: dict<any>): string
  const focused = FocusedFile()
  var selected: dict<any> = {}
  if focused == entry.buf
    [window, cursor] = [win_getid(), getcurpos()]
    selected = selection.IsMode(mode()) ? kept.Note() : kept.InFile(entry.buf)
  else
    CursorElsewhere(entry.buf)
    selected = kept.Away(entry.buf, getpos('.')->map((at, value) => cursor[at]))
  endif
  const position = Position(entry.buf, max([cursor[1], 1]), max([cursor[2] - 1, 0]))
  open_file.active = true
  open_file.position = {line: position.line, character: position.character}
  open_file.lineText = position.text
  if get(selected, 'text', '') != ''
    open_file.selectedText = selected.text
    open_file.selection = Selection(entry.buf, selected)
    return selected.nul
  endif
  return ''
enddef

def LookAtFiles()
  const focused = FocusedFile()
  shown = recent.Shown()
  if focused > 0 && get(shown, 0, {buf: 0}).buf != focused
    recent.Touch(focused)
    shown = recent.Shown()
  endif
enddef

def Look(_: number)
  is_scheduled = false
  if !is_attached
    return
  endif
  const focused = FocusedFile()
  if have_files_changed || focused > 0 && get(shown, 0, {buf: 0}).buf != focused
    have_files_changed = false
    LookAtFiles()
    roots.Refresh(have_repositories_changed)
    have_repositories_changed = false
  endif
  var open_files = shown->mapnew((_, entry) => ({uri: files.Uri(entry.path), lastFocused: entry.time}))
  const nul = empty(shown) ? '' : Complete(shown[0], open_files[0])
  var params: dict<any> = {openFiles: open_files}
  const is_trusted = config.Get('is_trusted')
  if type(is_trusted) != v:t_none
    params.isTrusted = is_trusted ? true : false
  endif
  const text = string(params)
  if text !=# sent && client.Notify('pillion/didChangeContext', params, nul)
    sent = text
  endif
enddef

# Tells Pillion what has changed, and waits until it knows the roots: an agent starts right after |:tcd| or |:edit|.
export def Flush()
  Look(0)
  roots.Await()
enddef

def Schedule()
  if !is_scheduled
    is_scheduled = true
    timer_start(0, Look)
  endif
enddef

def FilesMayDiffer()
  have_files_changed = true
  Schedule()
enddef

def RepositoriesMayDiffer()
  have_repositories_changed = true
  FilesMayDiffer()
enddef

def OnEnter()
  const buf = bufnr()
  if IsForFiles(win_getid()) && files.PathOf(buf) != ''
    recent.Touch(buf)
  endif
  FilesMayDiffer()
enddef

def OnDelete()
  recent.Forget(str2nr(expand('<abuf>')))
  RepositoriesMayDiffer()
enddef

def OnMode()
  const was = selection.IsMode(v:event.old_mode)
  const is = selection.IsMode(v:event.new_mode)
  if is && !was
    kept.Begin()
  elseif was && !is
    kept.Finish(v:event.old_mode)
  endif
  Schedule()
enddef

# No event reports a selection that changes under a cursor that stays, as `viw` does at the end of a word.
def OnSafeState()
  if selection.IsMode(mode())
    Schedule()
  endif
enddef

# What was selected is what a command is about that is given now.
export def Hold()
  kept.Hold(visualmode())
enddef

# From now on agents are shown what the person does.
export def Attach()
  recent.Seed()
  [sent, shown, is_attached] = ['', [], true]
  augroup PillionContext
    autocmd!
    autocmd BufEnter,WinEnter * OnEnter()
    autocmd BufNewFile,BufReadPost,BufFilePost,TabEnter,TerminalWinOpen * FilesMayDiffer()
    autocmd BufWritePost,DirChanged,FocusGained * RepositoriesMayDiffer()
    autocmd BufDelete,BufWipeout * OnDelete()
    autocmd CursorMoved,CursorMovedI,TextChanged,TextChangedI,InsertEnter * Schedule()
    autocmd ModeChanged * OnMode()
    autocmd SafeState * OnSafeState()
  augroup END
  OnEnter()
enddef

# From now on they are not.
export def Detach()
  is_attached = false
  augroup PillionContext
    autocmd!
  augroup END
enddef
