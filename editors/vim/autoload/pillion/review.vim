vim9script

# When agents ask before they change files, and notes that are sent to them at once. Pillion knows what can be chosen,
# and says what came of it.

import autoload './client.vim'
import autoload './request.vim'

# What can be chosen.
export def Choices(): list<string>
  return get(client.state.review, 'choices', [])
enddef

# Chooses this, or without it says what is chosen.
export def Choose(choice: string)
  request.Ask('pillion/review', choice == '' ? {} : {choice: choice})
enddef

# Sends agents the notes that wait for the next prompt.
export def SendNotes()
  request.Ask('pillion/sendNotes', {})
enddef
