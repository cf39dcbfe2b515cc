vim9script

# The activity that the person is in the middle of: the one place that knows it, for all that would disturb them. While
# it is anything, no window opens at all: in Vim, that would end Visual mode and completion.

# A menu, a dialog, or anything else that gets the next key; a message only looks at it.
def IsInPopup(): bool
  return indexof(popup_list(), (_, id) => has_key(popup_getoptions(id), 'filter') && get(popup_getpos(id), 'visible', 0)
    && !getwinvar(id, 'pillion_message', false)) >= 0
enddef

# `asked`: a command line, a question, or a message that waits for Enter. `terminal`: keys go to a program. `typing`:
# Insert mode. `command`: whatever else a change of windows would spoil. Empty: they may be taken elsewhere.
export def With(): string
  const which = mode(1)
  if which =~ '^[cr!]'
    return 'asked'
  # A macro would go on elsewhere, or be recorded there.
  elseif getcmdwintype() != '' || reg_recording() != '' || reg_executing() != ''
    return 'command'
  elseif win_gettype() == 'popup'
    # No window can be opened from there.
    return 'command'
  elseif which == 't'
    return 'terminal'
  elseif which == 'i'
    return 'typing'
  endif
  # `S`: in the middle of a command of several keys.
  return index(['n', 'nt'], which) >= 0 && state('moS') == '' && !IsInPopup() ? '' : 'command'
enddef

# A key that does nothing, also in the middle of a command: Vim goes once through its loop. Otherwise it takes what a
# timer drew for output of the next command, and asks for Enter after that.
export def Nudge()
  if index(['n', 'nt'], mode(1)) >= 0 && state('mo') == '' && getcmdwintype() == '' && reg_recording() == ''
    feedkeys("\<Ignore>", 'n')
  endif
enddef

# A `:normal` in an autocommand that a timer or a channel caused leaves `S` behind until a key comes.
export def Refresh()
  if state('S') != ''
    Nudge()
  endif
enddef
