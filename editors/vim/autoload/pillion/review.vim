vim9script

# When agents ask before they change files, and notes that are sent to them at once. Pillion knows what can be chosen,
# and says what came of it.

import autoload './client.vim'
import autoload './notify.vim'

# What can be chosen.
export def Choices(): list<string>
  return get(client.state.review, 'choices', [])
enddef

def Ask(method: string, params: dict<any>)
  const OnAnswer = (error: any, result: any) => {
    if type(error) == v:t_dict
      notify.Error(get(error, 'message', 'it failed'))
    elseif type(result) == v:t_dict && result.done
      notify.Info(result.message)
    elseif type(result) == v:t_dict
      notify.Error(result.message)
    endif
  }
  if !client.Ask(method, params, OnAnswer)
    throw 'Pillion: not running. Hint: :Pillion start'
  endif
enddef

# Chooses this, or without it says what is chosen.
export def Choose(choice: string)
  Ask('pillion/review', choice == '' ? {} : {choice: choice})
enddef

# Sends agents the notes that wait for the next prompt.
export def SendNotes()
  Ask('pillion/sendNotes', {})
enddef
