vim9script

# What agents write reaches the buffers: an unmodified one is read again, a modified one is left alone with a message.
# There are no prompts, and nothing is lost. Vim itself compares and reads (|:checktime|).

import autoload './busy.vim'
import autoload './client.vim'
import autoload './files.vim'
import autoload './notify.vim'

# How often to look, in milliseconds: soon after something is expected, ever more seldom until `REST`.
const SOON = 50
const REST = 1000

# For how many seconds a file that an agent is about to write is watched.
const EXPECTED_FOR = 10

var timer = 0
var delay = REST
# Until when each path is watched.
var expected: dict<number> = {}
# Paths whose conflict the person knows.
var conflicts: dict<bool> = {}

def IsAgentHere(): bool
  return !empty(client.state.agents)
enddef

# Answers Vim's question about a file that changed.
def Answer(buf: number)
  const path = files.PathOf(buf)
  const name = fnamemodify(path, ':~:.')
  v:fcs_choice = ''
  if v:fcs_reason == 'changed' || v:fcs_reason == 'time'
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
  if IsAgentHere() || !empty(expected)
    Answer(str2nr(expand('<abuf>')))
  else
    v:fcs_choice = 'ask'
  endif
enddef

# What the person sees, what they changed, and what is expected.
def Watched(): list<number>
  var buffers: dict<bool> = {}
  for info in getbufinfo({bufloaded: 1})
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

# A file that was not there when its buffer was opened: Vim would only ask.
def ReadNew(buf: number)
  const windows = win_findbuf(buf)
  if !empty(windows) && getbufvar(buf, 'pillion_is_new', false) && !getbufvar(buf, '&modified')
      && files.IsOnDisk(files.PathOf(buf))
    setbufvar(buf, 'pillion_is_new', false)
    win_execute(windows[0], 'silent! keepalt keepjumps edit')
  endif
enddef

def LookAt(buffers: list<number>)
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
      execute 'silent! checktime' buf
    endif
  endfor
enddef

def Tick(_: number)
  if !IsAgentHere() && empty(expected)
    timer = 0
    return
  endif
  delay = min([delay * 3 / 2, REST])
  timer = timer_start(delay, Tick)
  # Reading a file in the middle of a command would disturb.
  if index(['asked', 'command'], busy.With()) >= 0
    busy.Refresh()
  else
    LookAt(Watched())
  endif
enddef

def Begin(first: number)
  timer_stop(timer)
  delay = first
  timer = timer_start(delay, Tick)
enddef

# Looks at what is visible from now on, while an agent is here.
export def Check()
  if IsAgentHere() && timer == 0
    Begin(REST)
  endif
enddef

# An agent is about to write the file: look at its buffer until it has.
export def Expect(path: string)
  expected[path] = localtime() + EXPECTED_FOR
  Begin(SOON)
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

# From now on what agents write is looked for. People's own commands for changed files stay in charge.
export def Attach()
  const is_taken = exists('#FileChangedShell')
  augroup PillionReload
    autocmd!
    autocmd BufNewFile * NoteNew()
    autocmd BufWritePost,BufReadPost * NoteWritten()
    if !is_taken
      autocmd FileChangedShell * OnChanged()
    endif
  augroup END
enddef

# From now on it is not.
export def Detach()
  timer_stop(timer)
  timer = 0
  expected = {}
  augroup PillionReload
    autocmd!
  augroup END
enddef
