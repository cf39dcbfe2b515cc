vim9script

# The pending diffs as people choose among them.

import autoload './hunks.vim'
import autoload './label.vim'
import autoload './proposal.vim'
import autoload './text.vim'

def Row(diff: dict<any>): string
  var [added, removed] = [0, 0]
  for hunk in hunks.Between(proposal.OriginalShape(diff).lines, text.Lines(diff.right))
    added += hunk.new_count
    removed += hunk.old_count
  endfor
  return $'{diff.id}  {diff.agent}  {label.Path(diff)}  +{added} -{removed}'
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
