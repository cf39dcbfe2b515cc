vim9script

# When agents ask before they change files. Pillion knows what can be chosen, and says what came of it.

import autoload './client.vim'
import autoload './notify.vim'

# What can be chosen.
export def Choices(): list<string>
  return get(client.state.review, 'choices', [])
enddef

# Chooses this, or without it says what is chosen.
export def Choose(choice: string)
  const OnAnswer = (error: any, result: any) => {
    if type(error) == v:t_dict
      notify.Error(get(error, 'message', 'it failed'))
    elseif type(result) == v:t_dict && result.done
      notify.Info(result.message)
    elseif type(result) == v:t_dict
      notify.Error(result.message)
    endif
  }
  if !client.Ask('pillion/review', choice == '' ? {} : {choice: choice}, OnAnswer)
    throw 'Pillion: not running. Hint: :Pillion start'
  endif
enddef
