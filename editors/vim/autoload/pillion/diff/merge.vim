vim9script

# A proposal with what was not saved. An agent changes the file on disk, and what the person has in the buffer of that
# file, and has not saved, is not in it, nor what has changed on disk since: Pillion merges both, and the proposal becomes
# that.

import autoload '../client.vim'
import autoload '../files.vim'
import autoload '../notify.vim'
import autoload './label.vim'
import autoload './pending.vim'
import autoload './proposal.vim'
import autoload './text.vim'
import autoload './unseen.vim'

# The person's buffer of the file if it has unsaved changes, or 0.
def Unsaved(diff: dict<any>): number
  const buf = files.BufferOf(diff.path)
  return buf > 0 && getbufvar(buf, '&modified') ? buf : 0
enddef

# Why nothing can be merged with the buffer of the file, or ''.
def Problem(diff: dict<any>, mine: number): string
  if diff.is_deciding
    return 'this diff is being decided'
  endif
  const lines = text.Lines(diff.right) + (mine > 0 ? text.Lines(mine) : [])
  if text.InvalidLine(lines) > 0 || indexof(lines, (_, line) => stridx(line, "\n") >= 0) >= 0
    return 'this is not text, so it cannot be merged'
  endif
  return ''
enddef

def Said(is_mine: bool, conflicts: number): string
  if conflicts == 0
    return $'merged with {is_mine ? "your unsaved changes" : "what has changed on disk"}; u takes it back'
  endif
  const places = conflicts == 1 ? '1 place' : $'{conflicts} places'
  return $'merged, but {places} that both changed: there {is_mine ? "your lines" : "the lines on disk"} stay; u takes it back'
enddef

export def Merge(diff: dict<any>)
  const mine = Unsaved(diff)
  const problem = Problem(diff, mine)
  if problem != ''
    notify.Error(problem)
    return
  endif
  const revision = diff.revision
  var params = {id: diff.id, revision: revision, proposed: text.Encode(text.OfBuffer(diff.right)).text}
  if !diff.is_new
    params.original = text.Encode(diff.original).text
  endif
  # Without it, the file on disk is meant.
  if mine > 0
    params.content = text.Encode(text.OfBuffer(mine)).text
  endif
  const answer: any = client.AskNow('pillion/merge', params)
  if type(answer) == v:t_string
    notify.Error(answer)
    return
  # While it waited, a newer proposal may have come, or this one gone.
  elseif type(answer) != v:t_dict || !pending.IsPending(diff) || diff.revision != revision
    notify.Error('this could not be merged')
    return
  endif
  unseen.Keep(diff, () => proposal.Put(diff, text.Decode(answer.content, '')))
  setbufvar(diff.right, '&modified', true)
  if mine > 0
    diff.merged = {mine: text.Lines(mine), lines: text.Lines(diff.right)}
  endif
  label.Note(diff)
  notify.Info(Said(mine > 0, answer.conflicts))
enddef
