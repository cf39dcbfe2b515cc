vim9script

# Hunks: where two texts differ, as Pillion says. One is {old, old_count, new, new_count}: lines counted from 0.

import autoload '../client.vim'
import autoload '../framing.vim'
import autoload './proposal.vim'
import autoload './text.vim'

# Those of a message.
export def Read(found: list<any>): list<dict<number>>
  return mapnew(found, (_, hunk) => ({
    old: hunk.before.start, old_count: hunk.before.end - hunk.before.start,
    new: hunk.after.start, new_count: hunk.after.end - hunk.after.start,
  }))
enddef

# Lines as the text of a message. How they end in the file is no matter here: no line shows it.
def Joined(lines: list<string>, nul: string): string
  return empty(lines) ? '' : mapnew(lines, (_, line) => substitute(line, "\n", nul, 'g'))->join("\n") .. "\n"
enddef

def Question(old: list<string>, new: list<string>): list<any>
  const nul = framing.StandIn(old + new)
  return ['pillion/hunks', {original: Joined(old, nul), content: Joined(new, nul)}, nul]
enddef

def OfAnswer(result: any): list<dict<number>>
  return type(result) == v:t_dict ? Read(get(result, 'hunks', [])) : []
enddef

# The hunks between two lists of lines.
export def Between(old: list<string>, new: list<string>): list<dict<number>>
  const [method, params, nul] = Question(old, new)
  return OfAnswer(client.AskNow(method, params, nul))
enddef

# True if what is shown is what came with the proposal.
def IsAsItCame(diff: dict<any>): bool
  const original: dict<any> = proposal.OriginalShape(diff)
  return diff.tick == getbufvar(diff.right, 'changedtick') && original.lines == diff.original.lines
    && diff.original.fileformat == diff.pristine.fileformat
enddef

# The hunks that the view of a diff shows.
export def Shown(diff: dict<any>): list<dict<number>>
  return IsAsItCame(diff) ? diff.hunks : Between(proposal.OriginalShape(diff).lines, text.Lines(diff.right))
enddef

# Calls `Act(hunks)` with those between two lists of lines, later; not if the proposal's text changes meanwhile, or if
# there is no answer.
export def Compare(diff: dict<any>, old: list<string>, new: list<string>, Act: func)
  const tick = getbufvar(diff.right, 'changedtick')
  const [method, params, nul] = Question(old, new)
  client.Ask(method, params, (_, result) => {
    if type(result) == v:t_dict && bufloaded(diff.right) && getbufvar(diff.right, 'changedtick') == tick
      Act(OfAnswer(result))
    endif
  }, nul)
enddef

# The same for what is shown, at once if it is known.
export def WithShown(diff: dict<any>, Act: func)
  if IsAsItCame(diff)
    Act(diff.hunks)
  else
    Compare(diff, proposal.OriginalShape(diff).lines, text.Lines(diff.right), Act)
  endif
enddef

# The hunk at a line of the new text, counted from 1; one without lines there is at the lines around it.
export def At(hunks: list<dict<number>>, line: number): dict<number>
  for hunk in hunks
    if hunk.new_count == 0
      if line == hunk.new || line == hunk.new + 1
        return hunk
      endif
    elseif line > hunk.new && line <= hunk.new + hunk.new_count
      return hunk
    endif
  endfor
  return {}
enddef
