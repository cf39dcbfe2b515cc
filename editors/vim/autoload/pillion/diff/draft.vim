vim9script

# What the person made of a proposal, in case Vim, the hub or the agent ends before they decide: Pillion hears of it a moment
# after each change, and when the file is proposed again, `u` brings it back. It decides nothing.

import autoload '../client.vim'
import autoload '../notify.vim'
import autoload './label.vim'
import autoload './pending.vim'
import autoload './proposal.vim'
import autoload './quit.vim'
import autoload './text.vim'
import autoload './view.vim'

# The time for which nothing changes before Pillion hears of it, in milliseconds.
const PAUSE = 300

def Tell(diff: dict<any>)
  if !pending.IsPending(diff) || !bufloaded(diff.right)
    return
  endif
  var params = {id: diff.id, revision: diff.revision}
  var nul = ''
  if quit.IsEdited(diff)
    const shape = text.OfBuffer(diff.right)
    if text.InvalidLine(shape.lines) > 0
      return
    endif
    const content = text.Encode(shape)
    params.content = content.text
    nul = content.nul
  endif
  const told = get(params, 'content', v:null)
  if get(diff, 'told_draft', [diff.revision, v:null]) != [diff.revision, told]
    diff.told_draft = [diff.revision, told]
    client.Notify('pillion/didChangeDiff', params, nul)
  endif
enddef

def TellLater(diff: dict<any>)
  timer_stop(get(diff, 'draft_timer', -1))
  diff.draft_timer = timer_start(PAUSE, (_) => Tell(diff))
enddef

# Follows what becomes of a proposal.
export def Attach(diff: dict<any>)
  listener_add((_, _, _, _, _) => TellLater(diff), diff.right)
enddef

# Puts what the person had made of an earlier proposal of the file where `u` finds it (`pillion/offerText`). `nul` stands in for
# NUL in it.
export def Offer(params: dict<any>, nul: string)
  const diff = pending.Get(get(params, 'id', 0))
  const content: any = get(params, 'content', v:null)
  if empty(diff) || type(content) != v:t_string || diff.revision != get(params, 'revision', 0) || !bufloaded(diff.right)
    return
  endif
  const shape = text.Decode(content, nul)
  const offered: list<any> = get(diff, 'offered', [])
  const is_known = index(offered, content) >= 0 || shape == diff.pristine
  if is_known || quit.IsEdited(diff) || diff.kept > 0
    return
  endif
  diff.offered = offered + [content]
  proposal.Put(diff, shape)
  proposal.Replace(diff)
  view.Refresh(diff)
  const name = fnamemodify(label.Name(diff), ':t')
  notify.Unasked('info', $'what you had changed in {name} was kept; u brings it back', diff.id)
enddef
