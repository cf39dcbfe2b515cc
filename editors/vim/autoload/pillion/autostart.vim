vim9script

# Starting on the first real file, once in the life of a Vim.

import autoload './client.vim'
import autoload './config.vim'
import autoload './files.vim'
import autoload './diff/session.vim'

# So many listed buffers are looked at: a session may list thousands.
const LOOKED_AT = 64

var is_done = false

# True if the buffer in focus is a file, or may become one; or, `everywhere`, any other is that a window shows or that
# is listed: after a session was loaded, the focus may be in a terminal, or in a help page beside the files.
def FindsFile(may_be_new: bool, everywhere: bool): bool
  const path = files.PathOf(bufnr())
  if path != '' && (files.IsOnDisk(path) || may_be_new && getftype(path) == '')
    return true
  elseif !everywhere
    return false
  endif
  const all = getbufinfo()->filter((_, info) => info.listed || !empty(info.windows))
  return indexof(all[: LOOKED_AT - 1], (_, info) => files.IsOnDisk(files.PathOf(info.bufnr))) >= 0
enddef

# Starts Pillion if there is a file, and then never looks again.
export def Consider(may_be_new: bool, everywhere: bool)
  if everywhere
    session.Clean()
  endif
  if is_done || !config.Get('auto_start') || !v:vim_did_enter
    return
  endif
  if FindsFile(may_be_new, everywhere)
    is_done = true
    autocmd! PillionAutoStart BufEnter,BufFilePost,BufWritePost,BufNewFile
    client.Start(true)
  endif
enddef
