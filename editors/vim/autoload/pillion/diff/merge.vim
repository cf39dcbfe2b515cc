vim9script

# A proposal with what was not saved. An agent changes the file on disk, and what the person has in the buffer of that
# file, and has not saved, is not in it: Pillion merges both, and the proposal becomes that.

import autoload '../client.vim'
import autoload '../files.vim'
import autoload '../notify.vim'
import autoload './label.vim'
import autoload './pending.vim'
import autoload './proposal.vim'
import autoload './text.vim'
import autoload './unseen.vim'

# Why nothing can be merged, or ''.
def Problem(diff: dict<any>): string
  const buf = files.BufferOf(diff.path)
  if diff.is_deciding
    return 'this diff is being decided'
  elseif buf == 0 || !getbufvar(buf, '&modified')
    return 'the buffer of this file has no unsaved changes'
  endif
  const lines = text.Lines(buf) + text.Lines(diff.right)
  if text.InvalidLine(lines) > 0 || indexof(lines, (_, line) => stridx(line, "\n") >= 0) >= 0
    return 'this is not text, so it cannot be merged'
  endif
  return ''
enddef

def Said(conflicts: number): string
  if conflicts == 0
    return 'merged with your unsaved changes; u takes it back'
  endif
  const places = conflicts == 1 ? '1 place' : $'{conflicts} places'
  return $'merged, but {places} that both changed: there your lines stay; u takes it back'
enddef

export def Merge(diff: dict<any>)
  const problem = Problem(diff)
  if problem != ''
    notify.Error(problem)
    return
  endif
  const mine = text.OfBuffer(files.BufferOf(diff.path))
  const revision = diff.revision
  var params = {proposed: text.Encode(text.OfBuffer(diff.right)).text, content: text.Encode(mine).text}
  if !diff.is_new
    params.original = text.Encode(diff.original).text
  endif
  const answer: any = client.AskNow('pillion/merge', params)
  # While it waited, a newer proposal may have come, or this one gone.
  if type(answer) != v:t_dict || !pending.IsPending(diff) || diff.revision != revision
    notify.Error('this could not be merged')
    return
  endif
  unseen.Keep(diff, () => proposal.Put(diff, text.Decode(answer.content, '')))
  setbufvar(diff.right, '&modified', true)
  diff.merged = {mine: mine.lines, lines: text.Lines(diff.right)}
  label.Note(diff)
  notify.Info(Said(answer.conflicts))
enddef
