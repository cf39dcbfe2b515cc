vim9script

# What agents have written and nobody has looked at, in the buffers of these files: signs, colours, the lines that were
# there before, and the way from hunk to hunk.

import autoload './busy.vim'
import autoload './changes.vim'
import autoload './client.vim'
import autoload './config.vim'
import autoload './files.vim'
import autoload './notify.vim'
import autoload './reload.vim'
import autoload './diff/marks.vim'
import autoload './diff/text.vim'

# By path: the hunks that nobody has looked at, as they were listed last.
var unseen: dict<list<any>> = {}

# By buffer, what is marked there: the hunks, the lines that had them, the number of the change that led to these, and
# whether an older text is shown than that: {told, lines, change, is_older}.
var marked: dict<dict<any>> = {}

# True while the list is on its way; true if it is another one already.
var is_asked = false
var is_stale = false

def Clear(buf: number)
  if has_key(marked, buf)
    remove(marked, buf)
    if bufexists(buf)
      marks.Clear(buf)
    endif
  endif
enddef

# By path: the hunks that nobody has looked at.
def UnseenOf(turns: list<any>): dict<list<any>>
  var found: dict<list<any>> = {}
  for turn in turns
    for change in turn.changes
      if change.isUnseen && !empty(change.hunks)
        found[change.path] = get(found, change.path, []) + change.hunks
      endif
    endfor
  endfor
  return found
enddef

def DrawHunks(buf: number, told: list<any>, lines: number)
  const count = max([lines, 1])
  for it in told
    if it.lines.end <= count
      const hunk = {old: 0, old_count: it.removed, new: it.lines.start, new_count: it.lines.end - it.lines.start}
      marks.Draw(buf, hunk, get(it, 'before', []), count)
    endif
  endfor
enddef

# Hunks of a text where their lines are in another one, without those that have other lines there.
def Moved(told: list<any>, lines: list<string>, now: list<string>): list<any>
  const all = text.Differences(lines, now)
  var found: list<any> = []
  for it in told
    const [start, end] = [it.lines.start, it.lines.end]
    const Ends = (other) => other.from_idx + other.from_count
    const Touches = (_, other) => start == end ? other.from_idx <= start && Ends(other) >= start
      : other.from_idx < end && Ends(other) > start
    if indexof(all, Touches) < 0
      const by = reduce(all, (sum, other) => sum + (Ends(other) <= start ? other.to_count - other.from_count : 0), 0)
      add(found, extend({lines: {start: start + by, end: end + by}}, it, 'keep'))
    endif
  endfor
  return found
enddef

# Draws what is in a buffer. Lines are those of the file: where the person has changed some, the marks of before have
# moved with the text.
def Draw(buf: number, told: list<any>)
  const is_modified: bool = !!getbufvar(buf, '&modified')
  if is_modified && !empty(told) && has_key(marked, buf)
    return
  endif
  Clear(buf)
  if is_modified || empty(told)
    return
  endif
  const lines = text.Lines(buf)
  marked[buf] = {told: told, lines: lines, change: undotree(buf).seq_cur, is_older: false}
  DrawHunks(buf, told, len(lines))
enddef

def DrawAll(turns: list<any>)
  unseen = UnseenOf(turns)
  for info in getbufinfo({bufloaded: 1})
    const path = files.PathOf(info.bufnr)
    if path != ''
      const told = get(unseen, files.Real(path), [])
      if !empty(told)
        # The lines are those of the file as it is now.
        reload.LookAt([info.bufnr])
      endif
      Draw(info.bufnr, told)
    endif
  endfor
enddef

def OnRead()
  if !empty(unseen)
    # Lines may be elsewhere now.
    Refresh()
  endif
enddef

# Not in the middle of a command: it may be about what would be read again.
def DrawWhenFree(turns: list<any>)
  if index(['asked', 'command'], busy.With()) < 0
    DrawAll(turns)
    return
  endif
  augroup PillionWrittenLater
    autocmd!
    autocmd SafeState * ++once Refresh()
  augroup END
enddef

# An older text than the file's has some of the lines, elsewhere; back at the file's they are where they were.
def OnChange()
  const buf = bufnr()
  const was = get(marked, buf, {})
  if empty(was) || !was.is_older && changenr() >= was.change
    return
  elseif !&modified
    Draw(buf, get(unseen, files.Real(files.PathOf(buf)), []))
    return
  endif
  was.is_older = changenr() < was.change
  # With some lines Vim brings back what was marked there.
  marks.Clear(buf)
  const now = text.Lines(buf)
  DrawHunks(buf, Moved(was.told, was.lines, now), len(now))
enddef

# Asks what there is, draws it, and fills the list anew, if the person has opened that.
export def Refresh()
  if !config.Get('marks') && !changes.IsKept()
    return
  elseif is_asked
    is_stale = true
    return
  endif
  is_stale = false
  is_asked = client.Ask('pillion/changes', {}, (_, answer) => {
    is_asked = false
    if is_stale
      Refresh()
    elseif type(answer) == v:t_dict && type(get(answer, 'problem', v:null)) != v:t_string
      DrawWhenFree(config.Get('marks') ? answer.turns : [])
      changes.Fill(answer)
    endif
  })
  augroup PillionWritten
    autocmd!
    autocmd BufReadPost,BufWritePost * OnRead()
    autocmd TextChanged,TextChangedI * OnChange()
  augroup END
enddef

# Nothing is known any more.
export def Detach()
  [is_asked, is_stale, unseen] = [false, false, {}]
  for buf in keys(marked)
    Clear(str2nr(buf))
  endfor
  augroup PillionWritten
    autocmd!
  augroup END
enddef

# Goes to the next hunk of the buffer, or with a negative `step` to the one before.
export def Go(step: number)
  const here = line('.')
  const ahead = marks.Places(bufnr())->filter((_, line) => (line - here) * step > 0)
  if empty(ahead)
    notify.Info('no more unseen changes here. Hint: :PillionChanges')
    return
  endif
  normal! m'
  cursor(step > 0 ? min(ahead) : max(ahead), 1)
enddef
