vim9script

# Requests of the person's to Pillion, which answers each with a sentence for them.

import autoload './client.vim'
import autoload './notify.vim'

# Asks, and shows the sentence of the answer; then `Done(result)`, if there was one.
export def Ask(method: string, params: dict<any>, Done: func = null_function)
  const OnAnswer = (error: any, result: any) => {
    if type(error) == v:t_dict
      const is_unknown = get(error, 'code', 0) == -32601
      notify.Error(is_unknown ? '`pillion` is too old for this. Hint: update it' : get(error, 'message', 'it failed'))
    elseif type(result) == v:t_dict
      if has_key(result, 'message')
        notify.ByLevel(result.done ? 'info' : 'error', result.message)
      endif
      if Done != null_function
        Done(result)
      endif
    endif
  }
  if !client.Ask(method, params, OnAnswer)
    throw 'Pillion: not running. Hint: :Pillion start'
  endif
enddef
