vim9script

# Quitting while something waits for agents: Vim refuses once, as with a buffer that is not written, whose name says why.
# `:wqa` and `ZZ` write it: that fails without a word, because it stays modified, and so the words are said here.

import autoload './notify.vim'

augroup PillionAtQuit
augroup END

var said_at_quit = ''

var is_to_be_said = false

# The buffer by which Vim refuses to quit, and true while it does.
var refusing = 0
var is_quitting = false

# What waits for agents is `text`.
export def RefuseOnce(text: string)
  if text == '' || text == said_at_quit
    if refusing > 0 && bufexists(refusing)
      # It is still there if Vim asked for Enter.
      setbufvar(refusing, '&modified', false)
    endif
    return
  endif
  said_at_quit = text
  const before = {win: win_getid(), buf: bufnr()}
  const buf = bufadd($'pillion-notes://{said_at_quit}')
  setbufvar(buf, '&swapfile', false)
  noautocmd silent bufload(buf)
  refusing = buf
  setbufvar(buf, '&buftype', 'acwrite')
  setbufvar(buf, '&modified', true)
  is_quitting = true
  autocmd PillionAtQuit BufWriteCmd pillion-notes://* OnWriteAtQuit(str2nr(expand('<abuf>')))
  timer_start(0, (_) => {
    is_quitting = false
    autocmd! PillionAtQuit BufWriteCmd
    if winbufnr(win_id2win(before.win)) == buf
      win_execute(before.win, $'noautocmd buffer! {before.buf}')
    endif
    noautocmd execute 'silent! bwipeout!' buf
    # Vim draws once more what it thought to leave.
    autocmd PillionAtQuit SafeState * ++once SayAtQuit()
  })
enddef

def OnWriteAtQuit(buf: number)
  setbufvar(buf, '&modified', is_quitting)
  is_to_be_said = true
enddef

def SayAtQuit()
  if is_to_be_said
    is_to_be_said = false
    notify.Warn($'{said_at_quit}: the same again quits')
  endif
enddef
