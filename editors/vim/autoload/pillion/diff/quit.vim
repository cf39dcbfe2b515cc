vim9script

# Quitting with proposals that wait: Vim refuses what would throw them away unsaid, as it does with buffers that are
# not written and with terminals that run. `!` throws them away.

import autoload '../notify.vim'
import autoload './decide.vim'
import autoload './label.vim'
import autoload './pending.vim'

var is_saying = false

# Whether the person edited a proposal.
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

# What `!` would reject; if Vim is still there.
def SayWhatWaits()
  if is_saying
    return
  endif
  is_saying = true
  timer_start(0, (_) => {
    is_saying = false
    const diffs = pending.Sorted()
    if len(diffs) == 1
      notify.Warn($"{diffs[0].agent}'s change to {label.Path(diffs[0])} is pending: :qa! rejects it")
    elseif len(diffs) > 1
      notify.Warn($'{len(diffs)} diffs pending: :PillionDiffs lists, :qa! rejects them')
    endif
  })
enddef

# Before a command that was typed in the buffer `buf`, see `command_line.Kind`.
export def Prepare(kind: string, buf: number)
  const here = pending.OfBuffer(buf)
  if kind == 'quit_all' || kind == 'exit_all'
    decide.Finish()
    for diff in pending.Sorted()
      Mark(diff)
    endfor
    SayWhatWaits()
  elseif kind == 'exit' && !empty(here)
    # `:x` writes only what is modified, but "write and quit" here means the proposal.
    Mark(here)
  elseif kind == 'update' && !empty(here) && !getbufvar(buf, '&modified')
    notify.Soon('info', ':update writes only what you edited: :w accepts')
  elseif kind == 'write_all' && !empty(here) && !getbufvar(buf, '&modified')
    notify.Soon('info', ':wa does not accept a proposal: type :w in it')
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
    autocmd QuitPre pillion://* OnQuit(str2nr(expand('<abuf>')))
  augroup END
enddef

export def Detach()
  augroup PillionQuit
    autocmd!
  augroup END
enddef
