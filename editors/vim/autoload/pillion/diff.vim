vim9script

# The pending diffs: opened and closed for agents, decided by the person.
#
# A diff is {id, revision, path, agent, notes, original, pristine, hunks, is_new, is_lossy, …}, `seen_revision`,
# `seen_since` and `all_seen` of `diff/seen.vim`, `tick` and `parts` of `diff/unseen.vim`, its buffers `right`
# and `left`, and what `diff/view.vim` adds.

import autoload './client.vim'
import autoload './events.vim'
import autoload './notify.vim'
import autoload './diff/decide.vim'
import autoload './diff/draft.vim'
import autoload './diff/hunks.vim'
import autoload './diff/label.vim'
import autoload './diff/list.vim'
import autoload './diff/merge.vim'
import autoload './diff/navigation.vim'
import autoload './diff/notes.vim'
import autoload './diff/pending.vim'
import autoload './diff/place.vim'
import autoload './diff/proposal.vim'
import autoload './diff/quit.vim'
import autoload './diff/seen.vim'
import autoload './diff/session.vim'
import autoload './diff/settle.vim'
import autoload './diff/text.vim'
import autoload './diff/typed.vim'
import autoload './diff/unified.vim'
import autoload './diff/view.vim'
import autoload './diff/waiting.vim'

# A window was closed, or a buffer went: rejects what is no longer shown. `is_wanted`: with all edits.
def CheckLater(diff: dict<any>, was_closed: bool)
  diff.was_inside = diff.was_inside || pending.IsInside(diff)
  const is_wanted = diff.is_quit
  timer_start(0, (_) => {
    if !pending.IsPending(diff)
      return
    endif
    const is_gone = !bufloaded(diff.right)
    if is_gone || was_closed && !view.IsShown(diff)
      diff.keeps_edits = !is_gone && !is_wanted
      if diff.is_deciding
        # If that does not count, it is rejected then.
        diff.is_closed = true
      else
        decide.Close(diff)
      endif
    else
      diff.was_inside = false
    endif
  })
enddef

def OnWinClosed(win: number)
  const diff = pending.OfBuffer(winbufnr(win))
  if !empty(diff)
    CheckLater(diff, true)
  endif
enddef

def OnUnload(buf: number)
  const diff = pending.OfBuffer(buf)
  if !empty(diff)
    notes.Keep(diff)
    CheckLater(diff, false)
  endif
enddef

# A write that was not typed for this buffer. What is written stays modified.
def PassOver(diff: dict<any>)
  if diff.is_quit
    notify.Soon('warn', 'you edited this proposal: :w accepts, :q! rejects')
    return
  endif
  # When Vim quits, `quit.vim` shows the message.
  if diff.is_write_explained || typed.Quits()
    return
  endif
  diff.is_write_explained = true
  notify.Soon('info', 'autosave, maps that run code and :wa do not accept a proposal: type :w in it')
enddef

def OnWrite(buf: number)
  const diff = pending.OfBuffer(buf)
  if empty(diff) && typed.IsPlayed('BufWriteCmd Autocommands')
    return
  elseif empty(diff)
    if !settle.Leave()
      notify.Soon('error', 'this diff is settled. Hint: :w NAME writes a copy')
    endif
  elseif typed.Writes(buf)
    decide.Accept(diff, typed.Drawn(diff))
  else
    PassOver(diff)
  endif
enddef

def OnRead(buf: number)
  const diff = pending.OfBuffer(buf)
  if !empty(diff)
    proposal.Fill(buf, diff.pristine)
    seen.Begin(diff)
    # `:edit` lists what it reads.
    timer_start(0, (_) => setbufvar(buf, '&buflisted', false))
  endif
enddef

def OnEnter()
  label.Keep()
  const diff = pending.OfBuffer(bufnr())
  if !empty(diff)
    typed.RepeatMaps()
  endif
enddef

# Vim renames a buffer unless this fails.
def OnRename(buf: number)
  if !empty(pending.OfBuffer(buf))
    throw 'Pillion: a proposal cannot be renamed. Hint: :w NAME writes a copy'
  endif
enddef

def Attach()
  augroup PillionDiff
    autocmd!
    autocmd BufWriteCmd pillion://* OnWrite(str2nr(expand('<abuf>')))
    autocmd FileWriteCmd,FileAppendCmd pillion://* decide.Refuse('only the whole proposal can be accepted. Hint: :w without a range')
    autocmd BufReadCmd pillion://* OnRead(str2nr(expand('<abuf>')))
    autocmd BufFilePre pillion://* OnRename(str2nr(expand('<abuf>')))
    autocmd WinClosed * OnWinClosed(str2nr(expand('<amatch>')))
    autocmd BufUnload,BufWipeout pillion://* OnUnload(str2nr(expand('<abuf>')))
    autocmd BufEnter,BufWinEnter,WinEnter,TabEnter,InsertLeave,CursorHold,VimResized * OnEnter()
  augroup END
  augroup PillionSettled
    autocmd!
    autocmd BufEnter,WinEnter,TabEnter,FocusGained * settle.FollowPerson(true)
    autocmd FocusLost * settle.FollowPerson(false)
  augroup END
  seen.Attach()
  quit.Attach()
  session.Attach()
  typed.Attach(quit.Prepare)
enddef

# Nothing is pending any more.
export def Detach()
  augroup PillionDiff
    autocmd!
    # Of a view that is about to go, `:w` still says something.
    autocmd BufWriteCmd pillion://* OnWrite(str2nr(expand('<abuf>')))
  augroup END
  seen.Detach()
  quit.Detach()
  session.Detach()
  typed.Detach()
enddef

def Read(diff: dict<any>, params: dict<any>, nul: string)
  const original = get(params, 'original', v:null)
  const agent = get(params, 'agent', {})
  extend(diff, {
    revision: params.revision,
    path: params.path,
    agent: get(agent, 'displayName', '?'),
    does: get(params, 'does', 'proposes'),
    notes: get(params, 'notes', [])->copy(),
    set_label: type(get(params, 'set', v:null)) == v:t_dict ? get(params.set, 'label', '') : '',
    is_new: type(original) != v:t_string,
    is_lossy: !!get(params, 'originalIsLossy', false),
    original: text.Decode(type(original) == v:t_string ? original : '', nul),
    pristine: text.Decode(params.proposed, nul),
    hunks: hunks.Read(get(params, 'hunks', [])), parts: get(params, 'hunks', [])->mapnew((_, hunk) => get(hunk, 'parts', [])),
    merged: {},
  })
enddef

# A newer proposal for a diff that is pending. What the person wrote into the former one stays in a buffer: once this
# one is accepted, `u` brings nothing back.
def Replace(diff: dict<any>, params: dict<any>, nul: string)
  const kept = quit.IsEdited(diff) ? settle.Keep(diff) : 0
  diff.kept = kept > 0 ? kept : diff.kept
  Read(diff, params, nul)
  proposal.Replace(diff)
  view.Refresh(diff)
  label.SayNotes(diff)
  const revised = $'{diff.agent} revised {fnamemodify(label.Name(diff), ":t")}'
  if kept > 0
    notify.Warn($'{revised}; your edits are in buffer {kept} (:w NAME saves), and u restores them', diff.id)
  elseif pending.IsInside(diff)
    notify.Info(revised, diff.id)
  endif
enddef

# Shows a proposed change (`pillion/openDiff`). `nul` stands in for NUL in its texts. Throws why it cannot be shown.
export def Open(params: dict<any>, nul: string)
  if &encoding != 'utf-8'
    throw $"Pillion: Vim's 'encoding' is {&encoding}, and a proposal needs utf-8. Hint: set encoding=utf-8"
  endif
  if type(params.id) != v:t_number || type(params.path) != v:t_string || type(params.proposed) != v:t_string
    throw 'Pillion: this is not a proposal'
  endif
  settle.MakeRoom(params.id)
  const shown = pending.Get(params.id)
  if !empty(shown)
    Replace(shown, params, nul)
    return
  endif
  var diff: dict<any> = {
    id: params.id, right: 0, left: 0, windows: {}, place: {}, seen_revision: 0, seen_since: 0.0, outcome: '',
    is_quit: false, is_marked: false, is_orphan: false, message: '', is_said: false, is_undecided: false, keeps_edits: false, was_inside: false, is_leaving: false, is_going: false,
    is_write_explained: false, has_colours: false, is_unified: false, waits: false, is_deciding: false, is_closed: false,
    all_seen: 0, kept: 0, notes_on: {}, last_notes: [], tick: -1, remarks: [], is_buffers: false,
  }
  Read(diff, params, nul)
  try
    proposal.Create(diff)
    proposal.CreateOriginal(diff)
    if empty(pending.Sorted())
      Attach()
    endif
    pending.Add(diff)
    draft.Attach(diff)
  catch
    const problem = v:exception
    pending.Remove(diff)
    proposal.Remove(diff)
    if empty(pending.Sorted())
      Detach()
    endif
    throw substitute(problem, '^Vim', 'Pillion: Vim', '')
  endtry
  waiting.Offer(diff)
  label.SayNotes(diff)
  events.Emit('PillionDiffOpened', {id: diff.id, path: diff.path, agent: diff.agent, windows: diff.windows})
enddef

# The text of a proposal. Of a buffer that no window shows, Vim does not say whether it is empty.
def Shape(diff: dict<any>): dict<any>
  const is_as_it_came = empty(win_findbuf(diff.right)) && !getbufvar(diff.right, '&modified')
  return is_as_it_came ? diff.pristine : text.OfBuffer(diff.right)
enddef

# The text in a view (`pillion/diffText`), see `text.Encode`.
export def Text(params: dict<any>): dict<any>
  const diff = pending.Get(get(params, 'id', 0))
  if empty(diff) || diff.revision != get(params, 'revision', 0) || !bufloaded(diff.right)
    throw $'Pillion: diff {get(params, "id", "?")} has no view'
  endif
  const shape = Shape(diff)
  if text.InvalidLine(shape.lines) > 0
    throw 'Pillion: the text in the view is not valid UTF-8'
  endif
  return text.Encode(shape)
enddef

# What the person had made of an earlier proposal of the file (`pillion/offerText`).
export def Offer(params: dict<any>, nul: string)
  draft.Offer(params, nul)
enddef

# Takes a view away for the agent (`pillion/closeDiff`): the text as it stood in it, see `text.Encode`.
export def Close(params: dict<any>): dict<any>
  const diff = pending.Get(get(params, 'id', 0))
  if empty(diff) || !bufloaded(diff.right)
    throw $'Pillion: diff {get(params, "id", "?")} has no view'
  endif
  const shape = Shape(diff)
  diff.is_orphan = get(params, 'reason', '') == 'agentGone'
  const message = get(params, 'message', v:null)
  diff.message = type(message) == v:t_string ? message : ''
  diff.is_undecided = diff.message != ''
  settle.Settle(diff, 'closed')
  if text.InvalidLine(shape.lines) > 0
    throw 'Pillion: the text in the view is not valid UTF-8'
  endif
  return text.Encode(shape)
enddef

# Closes all views: the program exited, so no agent waits for an answer. What the person wrote is kept.
export def CloseAll()
  for diff in pending.Sorted()
    diff.is_orphan = true
    settle.Settle(diff, 'closed')
  endfor
enddef

# Calls `Act(diff, drawn)` with the diff that is meant: by id, the one in focus, the only one, or the one that the
# person chooses; and with what of it they had on the screen then.
def WithDiff(id: number, prompt: string, Act: func)
  if id == 0 && settle.Leave()
    return
  endif
  const all = pending.Sorted()
  var drawn: dict<dict<number>> = {}
  for one in all
    drawn[one.id] = typed.Drawn(one)
  endfor
  const ActOn = (one: dict<any>) => {
    if pending.IsPending(one)
      Act(one, drawn[one.id])
    endif
  }
  const diff = id > 0 ? pending.Get(id) : pending.Focused()
  if !empty(diff)
    ActOn(diff)
  elseif id > 0
    notify.Error($'no diff {id} is pending. Hint: :PillionDiffs lists them')
  elseif empty(all)
    notify.Info('no diff is pending')
  elseif len(all) == 1
    ActOn(all[0])
  else
    list.Select(all, prompt, ActOn)
  endif
enddef

def GoTo(diff: dict<any>)
  if getcmdwintype() != ''
    notify.Error('not available in the command-line window')
    return
  endif
  const here = pending.Focused()
  const origin = empty(here) ? place.Capture() : here.place
  view.GoTo(diff)
  if here isnot diff && !empty(origin)
    diff.place = origin
  endif
enddef

export def Accept(id: number)
  # A macro goes on whatever is on the screen, and so does a command for many buffers.
  const is_typed = reg_executing() == '' && !typed.IsRepeating() && !typed.IsOthers()
  WithDiff(id, 'Accept which diff?', (diff, drawn) => decide.Accept(diff, drawn, is_typed))
enddef

# `reason`: what the agent is told besides.
export def Reject(id: number, reason = '')
  const is_typed = !typed.IsOthers()
  WithDiff(id, 'Reject which diff?', (diff, drawn) => decide.Reject(diff, drawn, reason, is_typed))
enddef

# True if a number that stands before a reason is that of a diff: the reason may be about the proposal in focus.
export def IsOther(id: number): bool
  return !empty(pending.Get(id)) && empty(pending.Focused())
enddef

export def Note(words: string, about: dict<any>)
  AtCursor((diff) => notes.Note(diff, words, about))
enddef

# Brings the person to the only diff, or to the one that they choose.
export def Pick(id: number)
  const all = pending.Sorted()
  if id == 0 && len(all) > 1
    list.Select(all, 'Go to which diff?', (diff) => {
      if pending.IsPending(diff)
        GoTo(diff)
      endif
    })
  elseif id == 0 && len(all) == 1 && all[0].right == bufnr()
    notify.Info('this is the only pending diff')
  else
    WithDiff(id, '', (diff, _) => GoTo(diff))
  endif
enddef

# For what is done at the cursor: only a view in focus will do.
def AtCursor(Act: func)
  const diff = pending.Focused()
  if empty(diff)
    notify.Error('the cursor is not in a diff. Hint: :PillionDiffs goes to one')
  else
    Act(diff)
  endif
enddef

export def Merge()
  AtCursor(merge.Merge)
enddef

export def TakeHunk()
  AtCursor(navigation.Take)
enddef

export def DropHunk()
  AtCursor(navigation.Drop)
enddef

export def NextHunk()
  AtCursor((diff) => navigation.Go(diff, true))
enddef

export def PreviousHunk()
  AtCursor((diff) => navigation.Go(diff, false))
enddef

# Compares a proposal anew after an edit.
export def Redraw(id: number)
  const diff = pending.Get(id)
  if !empty(diff) && diff.is_unified && bufloaded(diff.right)
    unified.Show(diff)
  endif
enddef

# For how many milliseconds the proposal in focus, or the only one, has been on the screen; -1 if it has not.
export def DrawnFor(): number
  const all = pending.Sorted()
  const diff = empty(pending.Focused()) && len(all) == 1 ? all[0] : pending.Focused()
  return empty(diff) ? -1 : seen.DrawnFor(diff)
enddef

# Vim is about to quit: waits until what was decided has been answered.
export def Finish()
  decide.Finish()
enddef
