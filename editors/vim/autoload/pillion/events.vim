vim9script

# The `User` autocommands, for people's own settings. What they are about is in g:pillion_event.

import autoload './notify.vim'

export def Emit(name: string, data: dict<any>)
  if !exists('#User#' .. name)
    return
  endif
  g:pillion_event = data
  try
    execute 'doautocmd <nomodeline> User' name
  catch
    notify.Warn($'an autocommand for {name} failed: {v:exception}')
  finally
    unlet! g:pillion_event
  endtry
enddef
