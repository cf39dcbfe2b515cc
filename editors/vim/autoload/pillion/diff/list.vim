vim9script

# The pending diffs as people choose among them.

import autoload './label.vim'

def Row(diff: dict<any>): string
  return $'{diff.id}  {diff.agent}  {label.Name(diff)}  {label.Counts(diff)}'
enddef

# Asks which of `diffs` it shall be; `Chosen(diff)` unless the person thinks better of it.
export def Select(diffs: list<dict<any>>, prompt: string, Chosen: func)
  popup_menu(mapnew(diffs, (_, diff) => Row(diff)), {
    title: $' {prompt} ',
    callback: (_, choice) => {
      if choice > 0
        Chosen(diffs[choice - 1])
      endif
    },
  })
enddef
