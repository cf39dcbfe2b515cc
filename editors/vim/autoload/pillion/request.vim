vim9script

# Requests of the person's to Pillion, which answers each with a sentence for them: when agents ask before they change
# files, for example, or that notes are sent to them at once.

import autoload './client.vim'
import autoload './notify.vim'
import autoload './others.vim'

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

# The same for what is done in the person's name.
export def AskForPerson(method: string, params: dict<any>, Done: func = null_function)
  others.Refuse()
  Ask(method, params, Done)
enddef

# The choices of when agents ask before they change files, as Pillion lists them.
export def ReviewChoices(): list<string>
  return get(client.state.review, 'choices', [])
enddef

# Chooses one of them; without `choice`, shows what is chosen.
export def ChooseReview(choice: string)
  AskForPerson('pillion/review', choice == '' ? {} : {choice: choice})
enddef

# Sends agents the notes that wait for the next prompt.
export def SendNotes()
  AskForPerson('pillion/sendNotes', {})
enddef
