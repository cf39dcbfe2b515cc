vim9script

# Quitting while something waits for agents: Vim refuses once, as with a buffer that is not written. What it says of that
# asks for Enter, which it gets, and what waits is said in its place. `:wqa` and `ZZ` write the buffer, which fails
# without a word because it stays modified; and with `:confirm` Vim would ask whether to save it.

import autoload './notify.vim'

augroup PillionAtQuit
augroup END

var said_at_quit = ''

# The buffer by which Vim refuses to quit; what is put back afterwards.
var refusing = 0
var before: dict<any> = {}

# True if the command that is carried out would ask about what is not written.
var is_asking = false

# A command was typed.
export def OnCommand()
  is_asking = getcmdline() =~# '\<conf\a*\s\+q'
  if is_asking
    autocmd PillionAtQuit SafeState * ++once is_asking = false
  endif
enddef

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
  before = {win: win_getid(), buf: bufnr(), confirm: &confirm, write: &write, asks: &confirm || is_asking}
  [&confirm, &write] = [false, &write && !is_asking]
  v:errmsg = ''
  refusing = bufadd($'pillion-notes://{said_at_quit}')
  setbufvar(refusing, '&swapfile', false)
  noautocmd silent bufload(refusing)
  setbufvar(refusing, '&buftype', 'acwrite')
  setbufvar(refusing, '&modified', true)
  autocmd PillionAtQuit BufWriteCmd pillion-notes://* setbufvar(str2nr(expand('<abuf>')), '&modified', true)
  # Answers Vim if it asks for Enter, and does nothing else.
  feedkeys("\<Cmd>\<CR>", 'nit')
  timer_start(0, (_) => PutBack())
enddef

# Vim may be asking for Enter, in the window that shows the buffer.
def PutBack()
  autocmd! PillionAtQuit BufWriteCmd
  [&confirm, &write] = [before.confirm, before.write]
  if winbufnr(win_id2win(before.win)) == refusing
    win_execute(before.win, $'noautocmd buffer! {before.buf}')
  endif
  noautocmd execute 'silent! bwipeout!' refusing
  # Where Vim asks about other buffers, it does so the next time.
  const refuses_again = v:errmsg != '' && !before.asks && indexof(getbufinfo(), (_, info) => info.changed) >= 0
  notify.Unasked('warn', refuses_again ? $'{v:errmsg}; {said_at_quit}' : $'{said_at_quit}: the same again quits')
enddef
