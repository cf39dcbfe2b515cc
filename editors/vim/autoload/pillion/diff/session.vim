vim9script

# Sessions: views are no part of them. What was saved with one is saved once more without.

import autoload './pending.vim'
import autoload './quiet.vim'
import autoload './view.vim'

var is_saving = false

# For how long a session counts as written while Vim ends. Seconds.
const ENDING = 10

# Writes the session again. Its path is the person's.
def SaveAgain()
  const shown = pending.Sorted()->filter((_, diff) => view.IsShown(diff))
  if is_saving || empty(shown)
    return
  endif
  is_saving = true
  const inside = pending.Focused()
  const here = win_getid()
  const scrolled = winsaveview()
  try
    for diff in shown
      view.PutAway(diff)
    endfor
    quiet.Run(() => execute('mksession! ' .. fnameescape(v:this_session)))
    for diff in shown
      const place = diff.place
      view.Show(diff, true)
      diff.place = place
    endfor
    if empty(inside)
      quiet.Run(() => win_gotoid(here))
    else
      win_gotoid(inside.windows.right)
      winrestview(scrolled)
    endif
  finally
    is_saving = false
  endtry
enddef

# Vim ends: what is saved from now on has no views, nor has what was saved by those who heard of it before us, of which
# no event tells.
def End()
  const shown = pending.Sorted()->filter((_, diff) => view.IsShown(diff))
  for diff in shown
    view.PutAway(diff)
  endfor
  if !empty(shown) && v:this_session != '' && getftime(v:this_session) >= localtime() - ENDING
      && match(readfile(v:this_session), 'pillion[a-z-]*://') >= 0
    quiet.Run(() => execute('mksession! ' .. fnameescape(v:this_session)))
  endif
enddef

# Takes away what a session restored of views that it was saved with.
export def Clean()
  for info in getbufinfo()->filter((_, info) => info.name =~ '^pillion[a-z-]*://')
    const is_ours = getbufvar(info.bufnr, 'pillion_diff', 0) != 0 || getbufvar(info.bufnr, 'pillion_kept', false)
    if !is_ours && !info.changed
      execute 'silent! bwipeout!' info.bufnr
    endif
  endfor
enddef

export def Attach()
  augroup PillionSession
    autocmd!
    autocmd SessionWritePost * SaveAgain()
    autocmd VimLeavePre * End()
  augroup END
enddef

export def Detach()
  augroup PillionSession
    autocmd!
  augroup END
enddef
