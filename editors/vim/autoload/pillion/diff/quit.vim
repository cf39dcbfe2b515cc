vim9script

# Quitting with proposals that wait: Vim refuses what would throw them away unsaid, as it does with buffers that are
# not written and with terminals that run. `!` throws them away.

import autoload '../notify.vim'
import autoload './decide.vim'
import autoload './label.vim'
import autoload './pending.vim'
import autoload './quiet.vim'
import autoload './typed.vim'

var is_saying = false

# Where the person was when Vim asked for Enter.
var came_from = {win: 0, buf: 0}

# True if the person edited a proposal.
export def IsEdited(diff: dict<any>): bool
  return !!getbufvar(diff.right, '&modified') && !diff.is_marked
enddef

# Makes Vim take a proposal for edited while the command is carried out.
def Mark(diff: dict<any>)
  if !bufloaded(diff.right) || getbufvar(diff.right, '&modified')
    return
  endif
  diff.is_marked = true
  setbufvar(diff.right, '&modified', true)
  timer_start(0, (_) => {
    if diff.is_marked && bufloaded(diff.right)
      setbufvar(diff.right, '&modified', false)
    endif
    diff.is_marked = false
  })
enddef

# True if Vim ends with the window in focus.
def IsLastWindow(): bool
  return tabpagenr('$') == 1 && winnr('$') == 1
enddef

# Vim shows the buffer that it asks to be written: one that waits is shown otherwise.
def PutBack()
  const is_elsewhere = came_from.win == win_getid() && came_from.buf != bufnr() && bufexists(came_from.buf)
  if is_elsewhere && get(pending.OfBuffer(bufnr()), 'waits', false)
    quiet.Run(() => execute($'buffer {came_from.buf}'))
  endif
enddef

# What Vim says of a buffer that nobody knows is no news, and nobody is to press Enter for it.
def PassPrompt()
  if mode() == 'r' && v:errmsg =~ '^E162:.*"pillion\%(-notes\)\=://'
    came_from = {win: win_getid(), buf: bufnr()}
    autocmd PillionQuit SafeState * ++once PutBack()
    feedkeys("\<CR>", 'n')
  endif
enddef

# What `!` would reject; if Vim is still there.
def SayWhatWaits()
  if is_saying
    return
  endif
  is_saying = true
  timer_start(0, (_) => {
    is_saying = false
    PassPrompt()
    const diffs = pending.Sorted()
    if len(diffs) == 1
      notify.Warn($"{diffs[0].agent}'s change to {label.Path(diffs[0])} is pending: :qa! rejects it")
    elseif len(diffs) > 1
      notify.Warn($'{len(diffs)} diffs pending: :PillionDiffs lists, :qa! rejects them')
    endif
  })
enddef

# Before a command that was typed in the buffer `buf`, see `command_line.Kind`. What to carry out instead, if anything:
# Vim itself would say more than once that something is not written, and name a buffer that nobody knows.
export def Prepare(kind: string, buf: number, force: string): any
  const here = pending.OfBuffer(buf)
  const is_all = kind == 'quit_all' || kind == 'exit_all'
  if is_all || IsLastWindow() && (kind == 'quit' || kind == 'exit') && empty(here)
    decide.Finish()
    if empty(pending.Sorted()) || is_all && force != ''
      return v:none
    endif
    SayWhatWaits()
    return kind == 'exit_all' ? 'wall' : ''
  elseif kind == 'exit' && !empty(here)
    # `:x` writes only what is modified, but "write and quit" here means the proposal.
    Mark(here)
  elseif kind == 'update' && !empty(here) && !getbufvar(buf, '&modified')
    notify.Soon('info', ':update writes only what you edited: :w accepts')
  elseif kind == 'write_all' && !empty(here) && !getbufvar(buf, '&modified')
    notify.Soon('info', ':wa does not accept a proposal: type :w in it')
  endif
  return v:none
enddef

# Vim is about to end, by what may have been no command line: `ZQ`, a map, a function. The last window may be that of
# a proposal, which goes with it.
def OnExit()
  if typed.Quits(true)
    return
  endif
  decide.Finish()
  const is_last = IsLastWindow()
  const rest = pending.Sorted()->filter((_, diff) => !is_last || diff.right != bufnr())
  for diff in rest
    Mark(diff)
  endfor
  if !empty(rest)
    SayWhatWaits()
  endif
enddef

# `:q`: with 'hidden' Vim would hide an edited proposal without a word. A buffer that is unloaded when it is hidden
# is asked about.
def OnQuit(buf: number)
  const diff = pending.OfBuffer(buf)
  if empty(diff) || len(win_findbuf(buf)) > 1
    return
  endif
  diff.is_quit = true
  setbufvar(buf, '&bufhidden', 'unload')
  timer_start(0, (_) => {
    diff.is_quit = false
    if bufloaded(buf)
      setbufvar(buf, '&bufhidden', 'hide')
    endif
  })
enddef

export def Attach()
  augroup PillionQuit
    autocmd!
    autocmd ExitPre * OnExit()
    autocmd QuitPre pillion://* OnQuit(str2nr(expand('<abuf>')))
  augroup END
enddef

export def Detach()
  augroup PillionQuit
    autocmd!
  augroup END
enddef
