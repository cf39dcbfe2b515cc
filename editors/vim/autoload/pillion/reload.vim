vim9script

# What agents write reaches the buffers: an unmodified one is read again, a modified one is left alone with a message.
# There are no prompts, and nothing is lost. Pillion tells which files have changed; Vim itself compares and reads
# (|:checktime|).

import autoload './busy.vim'
import autoload './client.vim'
import autoload './files.vim'
import autoload './in_place.vim'
import autoload './notify.vim'
import autoload './others.vim'
import autoload './utf8.vim'

# The time until a look, in milliseconds, after something happened in Vim, and where the person is in the middle of a
# command.
const SOON = 50
const AGAIN = 500

# For how many seconds a file that an agent is about to write is watched.
const EXPECTED_FOR = 10

var timer = 0
# The URIs of the files that Pillion watches, and the sizes of those that have changed since they were looked at.
var watched: list<string> = []
var news: dict<number> = {}
# Until when each path is watched.
var expected: dict<number> = {}
# When each path was changed last, as far as it was looked at, and its size then.
var stamps: dict<string> = {}
# By path: what was merged into the text that an agent is about to write, see `Expect`.
var merges: dict<dict<any>> = {}
# True if people have commands of their own for files that changed.
var is_answered = false
# Paths whose conflict the person knows.
var conflicts: dict<bool> = {}

def IsAgentHere(): bool
  return !empty(client.state.agents)
enddef

# In a longer file the encoding is not looked at. Bytes.
const MAX_LOOKED_AT = 8 * 1024 * 1024

# True if the file is in another encoding now: an agent that writes UTF-8 changes what was Latin-1. A plain reload
# keeps what the buffer has.
def HasOtherEncoding(buf: number): bool
  const path = files.PathOf(buf)
  if getfsize(path) > MAX_LOOKED_AT || !filereadable(path)
    return false
  endif
  const encoding: string = getbufvar(buf, '&fileencoding')
  # NUL is a line break within a line here.
  const lines = readfile(path)
  const is_utf8 = utf8.IsValid(join(lines, "\n"))
  if encoding == '' || encoding == 'utf-8'
    return !is_utf8
  elseif encoding =~ '^ucs\|^utf-\d'
    return is_utf8 && indexof(lines, (_, line) => stridx(line, "\n") >= 0) < 0
  endif
  return is_utf8 && match(lines, '[^\x01-\x7f]') >= 0
enddef

# True if all that the person has not saved is part of what the agent wrote.
def IsInFile(buf: number, path: string): bool
  const merged = get(merges, path, {})
  return !empty(merged) && getbufline(buf, 1, '$') == merged.mine
    && readfile(path)->map((_, line) => substitute(line, '\r$', '', '')) == merged.lines
enddef

# True if Pillion itself has written files, and they are looked at for that.
var is_own = false

# Answers Vim's question about a file that changed.
def Answer(buf: number)
  const path = files.PathOf(buf)
  const name = fnamemodify(path, ':~:.')
  v:fcs_choice = ''
  if v:fcs_reason == 'changed' || v:fcs_reason == 'time'
    v:fcs_choice = HasOtherEncoding(buf) ? 'edit' : 'reload'
  elseif v:fcs_reason == 'conflict' && IsInFile(buf, path)
    v:fcs_choice = 'reload'
  elseif v:fcs_reason == 'conflict' && !has_key(conflicts, path)
    conflicts[path] = true
    notify.Soon('warn', $'{name} changed on disk: :e! loads it, :w! keeps yours')
  elseif v:fcs_reason == 'deleted'
    notify.Soon('warn', $'{name} was deleted on disk: :w writes it again')
  endif
enddef

# Vim asks with the buffer that changed in <abuf>.
def OnChanged()
  if is_own || IsAgentHere() || !empty(expected)
    Answer(str2nr(expand('<abuf>')))
  else
    v:fcs_choice = 'ask'
  endif
enddef

# What the person sees, what they changed, and what is expected.
def Watched(): list<number>
  var buffers: dict<bool> = {}
  for info in IsAgentHere() ? getbufinfo({bufloaded: 1}) : []
    if info.changed || !info.hidden && !empty(info.windows)
      buffers[info.bufnr] = true
    endif
  endfor
  for [path, until] in items(expected)
    const buf = files.BufferOf(path)
    if localtime() > until
      remove(expected, path)
    elseif buf > 0
      buffers[buf] = true
    endif
  endfor
  return keys(buffers)->map((_, buf) => str2nr(buf))->filter((_, buf) => files.PathOf(buf) != '')
enddef

# Has Pillion tell when the files of these buffers change.
def Watch(buffers: list<number>)
  const wanted = buffers->mapnew((_, buf) => files.Uri(files.PathOf(buf)))->sort()->uniq()
  if wanted != watched && client.Notify('pillion/watch', {files: wanted})
    watched = wanted
  endif
enddef

# A file that was not there when its buffer was opened: Vim would only ask.
def ReadNew(buf: number)
  const windows = win_findbuf(buf)
  if !empty(windows) && getbufvar(buf, 'pillion_is_new', false) && !getbufvar(buf, '&modified')
      && files.IsOnDisk(files.PathOf(buf))
    setbufvar(buf, 'pillion_is_new', false)
    win_execute(windows[0], 'silent! keepalt keepjumps edit')
  endif
enddef

# Has Vim compare a buffer with its file, where that is another one than before. With 'autoread' it would read it
# without a question.
def CheckTime(buf: number, path: string)
  const stamp = $'{getftime(path)} {getfsize(path)}'
  const is_changed = get(stamps, path, '') != stamp
  stamps[path] = stamp
  if !is_changed || getbufvar(buf, '&modified')
    execute 'silent! checktime' buf
  elseif !is_answered && getfsize(path) <= MAX_LOOKED_AT && !HasOtherEncoding(buf)
    in_place.Take(buf, path, () => execute('silent! checktime ' .. buf))
  elseif &g:autoread && HasOtherEncoding(buf)
    &g:autoread = false
    execute 'silent! checktime' buf
    &g:autoread = true
  else
    execute 'silent! checktime' buf
  endif
enddef

def Look(buffers: list<number>)
  for buf in buffers
    ReadNew(buf)
    const path = files.PathOf(buf)
    if has_key(conflicts, path) && !getbufvar(buf, '&modified')
      # The person took back the changes that stood in the way.
      remove(conflicts, path)
      const windows = win_findbuf(buf)
      if !empty(windows)
        win_execute(windows[0], 'silent! keepalt keepjumps edit')
      endif
    elseif getftype(path) != ''
      CheckTime(buf, path)
    endif
  endfor
enddef

# Looks at what has changed, and where something unsaved stood in the way.
def Tick(_: number)
  # Reading a file in the middle of a command would disturb.
  if index(['asked', 'command'], busy.With()) >= 0
    busy.Refresh()
    Begin(AGAIN)
    return
  endif
  const buffers = Watched()
  Watch(buffers)
  # With another size a file is being written, and told of once more.
  const IsTold = (path) => get(news, files.Uri(path), -1) == getfsize(path)
  filter(stamps, (path, _) => !IsTold(path))
  const meant = copy(buffers)->filter((_, buf) => IsTold(files.PathOf(buf)) || has_key(conflicts, files.PathOf(buf)))
  news = {}
  Look(meant)
enddef

def Begin(after: number)
  timer_stop(timer)
  timer = timer_start(after, Tick)
enddef

# Looks soon at what matters now.
export def Check()
  if IsAgentHere() || !empty(watched)
    Begin(SOON)
  endif
enddef

# A file has another state on the disk. One that is gone has no size.
export def Changed(params: dict<any>)
  news[params.uri] = type(params.size) == v:t_number ? params.size : -1
  Begin(0)
enddef

# Looks at these buffers now: they are about to be shown with what Pillion knows of their files.
export def LookAt(buffers: list<number>)
  is_own = true
  try
    Look(buffers)
  finally
    is_own = false
  endtry
enddef

# Pillion itself has written files: looks at all that are open, now.
export def LookEverywhere()
  LookAt(getbufinfo({bufloaded: 1})->mapnew((_, info) => info.bufnr)->filter((_, buf) => files.PathOf(buf) != ''))
enddef

# An agent is about to write the file: look at its buffer until it has.
# `merged`: what the person has not saved (`mine`), and the lines that it became part of.
export def Expect(path: string, merged: dict<any>)
  merges[path] = merged
  expected[path] = localtime() + EXPECTED_FOR
  Begin(SOON)
  timer_start(EXPECTED_FOR * 1000 + 1000, (_) => Check())
enddef

def NoteNew()
  b:pillion_is_new = true
enddef

def NoteWritten()
  b:pillion_is_new = false
  const path = files.PathOf(bufnr())
  if has_key(conflicts, path)
    remove(conflicts, path)
  endif
enddef

# A buffer and its file are the same now: Pillion tells by that what the person saves apart from what agents write. What
# another program types here is not the person's.
def ReportSync(saved: bool)
  if files.PathOf(bufnr()) != ''
    client.Notify('pillion/didSync', {uri: files.Uri(expand('<afile>:p')), saved: saved})
  endif
enddef

# From now on what agents write is looked for. People's own commands for changed files stay in charge.
export def Attach()
  is_answered = exists('#FileChangedShell')
  augroup PillionReload
    autocmd!
    autocmd BufNewFile * NoteNew()
    autocmd BufWinEnter,TabEnter,FocusGained,CursorHold,CursorHoldI * Check()
    autocmd BufWritePost,BufReadPost * NoteWritten()
    autocmd BufReadPost * ReportSync(false)
    autocmd BufWritePost * ReportSync(!others.Typed())
    if !is_answered
      autocmd FileChangedShell * OnChanged()
    endif
  augroup END
enddef

# From now on it is not.
export def Detach()
  timer_stop(timer)
  [expected, watched, news] = [{}, [], {}]
  augroup PillionReload
    autocmd!
  augroup END
enddef
