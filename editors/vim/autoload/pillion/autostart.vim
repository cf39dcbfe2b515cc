vim9script

# Starting on the first real file, once in the life of a Vim.

import autoload './client.vim'
import autoload './config.vim'
import autoload './files.vim'

var is_done = false

# Starts Pillion if the buffer in focus is a file, or may become one, and then never looks again.
export def Consider(may_be_new: bool)
  if is_done || !config.Get('auto_start') || !v:vim_did_enter
    return
  endif
  const path = files.PathOf(bufnr())
  if path != '' && (files.IsOnDisk(path) || may_be_new && getftype(path) == '')
    is_done = true
    autocmd! PillionAutoStart
    client.Start(true)
  endif
enddef
