vim9script

# Hunk by hunk, in all layouts: to the next one, and taking one from either side.

import autoload '../notify.vim'
import autoload './astray.vim'
import autoload './hunks.vim'
import autoload './proposal.vim'
import autoload './text.vim'

# Lines of the original are not those of the proposal.
def InProposal(diff: dict<any>): bool
  if bufnr() != diff.right
    notify.Error('the cursor is not in the proposal, which is the window on the right')
    return false
  endif
  return true
enddef

def Put(hunk: dict<number>, lines: list<string>)
  if !&modifiable
    notify.Info(astray.JUST_OPENED)
    return
  endif
  const view = winsaveview()
  const is_whole = hunk.new_count == line('$')
  if !empty(lines)
    append(hunk.new + hunk.new_count, lines)
  endif
  if hunk.new_count > 0
    deletebufline(bufnr(), hunk.new + 1, hunk.new + hunk.new_count)
  elseif text.Lines(bufnr()) == []
    setline(1, lines)
  endif
  winrestview(view)
enddef

# The hunk under the cursor becomes what it was.
export def Drop(diff: dict<any>)
  if !InProposal(diff)
    return
  endif
  const old: list<string> = proposal.OriginalShape(diff).lines
  const hunk = hunks.At(hunks.Shown(diff), line('.'))
  if empty(hunk)
    notify.Error('there is no hunk under the cursor. Hint: :PillionNextHunk')
    return
  endif
  Put(hunk, hunk.old_count > 0 ? old[hunk.old : hunk.old + hunk.old_count - 1] : [])
enddef

# The hunk under the cursor becomes what the agent proposed.
export def Take(diff: dict<any>)
  if !InProposal(diff)
    return
  endif
  const proposed: list<string> = diff.pristine.lines
  const hunk = hunks.At(hunks.Between(proposed, text.Lines(diff.right)), line('.'))
  if empty(hunk)
    notify.Error('this is already what the agent proposed')
    return
  endif
  Put(hunk, hunk.old_count > 0 ? proposed[hunk.old : hunk.old + hunk.old_count - 1] : [])
enddef

# To the next hunk, or to the previous one.
export def Go(diff: dict<any>, is_forward: bool)
  if !InProposal(diff)
    return
  endif
  const here = line('.')
  var ahead: list<number> = []
  for hunk in hunks.Shown(diff)
    const start = max([1, min([hunk.new + 1, line('$')])])
    if is_forward ? start > here : start < here
      add(ahead, start)
    endif
  endfor
  if empty(ahead)
    notify.Info('no more hunks')
    return
  endif
  cursor(is_forward ? ahead[0] : ahead[-1], 1)
enddef
