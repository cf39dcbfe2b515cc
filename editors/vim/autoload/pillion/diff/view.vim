vim9script

# The windows of a diff: made, taken away, and everything as it was then. The left side is a copy, because
# the options of diff mode would stay with the person's own buffer.
#
# A diff has `windows` ({right, left, terminal}, those that there are) while it is shown, and `place`: where the person
# was before.

import autoload '../busy.vim'
import autoload '../config.vim'
import autoload './astray.vim'
import autoload './label.vim'
import autoload './pending.vim'
import autoload './place.vim'
import autoload './proposal.vim'
import autoload './quiet.vim'
import autoload './seen.vim'
import autoload './typed.vim'
import autoload './unified.vim'

# Beside a terminal that leaves fewer columns or lines than this, no view fits.
const MIN_COLUMNS = 40
const MIN_LINES = 8

# True if the proposal is in some window.
export def IsShown(diff: dict<any>): bool
  return !empty(win_findbuf(diff.right))
enddef

# Which side of its tab page a terminal window takes, and how much; empty if no view fits beside it.
def SideOf(win: number): dict<any>
  const info = getwininfo(win)[0]
  if win_gettype(win) != ''
    return {}
  elseif info.height >= &lines - &cmdheight - 3 && &columns - info.width > MIN_COLUMNS
    return {how: info.wincol == 1 ? 'topleft vertical' : 'botright vertical', size: info.width}
  elseif info.width >= &columns && &lines - info.height > MIN_LINES
    return {how: info.winrow <= 2 ? 'topleft' : 'botright', size: info.height}
  endif
  return {}
enddef

def Mark(diff: dict<any>, name: string)
  diff.windows[name] = win_getid()
  w:pillion_diff = diff.id
enddef

def AddTerminal(diff: dict<any>, buf: number, side: dict<any>)
  execute $'{side.how} :{side.size}split'
  execute 'silent buffer' buf
  Mark(diff, 'terminal')
  setlocal winfixwidth winfixheight
enddef

# Splits the window of the proposal for the original.
def AddOriginal(diff: dict<any>)
  const how = config.Get('diff_layout') == 'horizontal'
    ? $'leftabove :{max([winheight(0) / 2, 1])}' : $'leftabove vertical :{max([winwidth(0) / 2, 1])}'
  execute $'{how}split'
  execute 'silent buffer' diff.left
  Mark(diff, 'left')
  setlocal nospell
  win_gotoid(diff.windows.right)
enddef

def GoToFirstHunk(diff: dict<any>)
  if !empty(diff.hunks)
    const first: dict<number> = diff.hunks[0]
    cursor(max([1, min([first.new + (first.new_count == 0 ? 0 : 1), line('$')])]), 1)
  endif
enddef

# True while the tab line is left out that would come with the second tab page.
var is_without_tabline = false

# A terminal in sight would get a line less, and its program a signal to draw itself anew.
def LeaveTablineOut()
  if &showtabline == 1 && tabpagenr('$') == 1 && indexof(tabpagebuflist(), (_, buf) => getbufvar(buf, '&buftype') == 'terminal') >= 0
    &showtabline = 0
    is_without_tabline = true
  endif
enddef

def BringTablineBack()
  if is_without_tabline && indexof(getwininfo(), (_, info) => has_key(info.variables, 'pillion_diff')) < 0
    is_without_tabline = false
    &showtabline = &showtabline == 0 ? 1 : &showtabline
  endif
enddef

# Puts the buffers into a tab page of their own. `terminal`: its buffer and side, if it stays in sight.
def Build(diff: dict<any>, terminal: dict<any>)
  diff.windows = {}
  LeaveTablineOut()
  diff.had_hor = index(split(&scrollopt, ','), 'hor') >= 0
  execute 'silent tab sbuffer' diff.right
  Mark(diff, 'right')
  if !empty(terminal)
    AddTerminal(diff, terminal.buf, terminal.side)
    win_gotoid(diff.windows.right)
  endif
  diff.is_unified = config.Get('diff_layout') == 'unified'
  if !diff.is_unified
    try
      AddOriginal(diff)
      diffthis
      win_execute(diff.windows.left, 'diffthis')
    catch /^Vim\%((\S\+)\)\=:E36:/
      # Where two windows find no room, one may.
      diff.is_unified = true
    endtry
  endif
  if diff.is_unified
    # Beside the removed lines Vim counts columns wrongly, and scrolls to others than it should.
    setlocal wrap
  endif
  label.Keep()
enddef

# The terminal that the person is in, if it keeps the focus: its buffer and its side; empty if there is none.
def Kept(): dict<any>
  if &buftype != 'terminal' || !config.Get('diff_keep_terminal_focus')
    return {}
  endif
  const side = SideOf(win_getid())
  return empty(side) ? {} : {buf: bufnr(), side: side}
enddef

# True if a proposal can be shown now without disturbing the person.
export def CanShow(): bool
  const what = busy.With()
  if what == 'terminal'
    # What they type must go on to the program.
    return !config.Get('diff_keep_terminal_focus') || !empty(Kept())
  endif
  return what == ''
enddef

# Shows a proposal. `is_wanted`: the person asked for it; else they keep the focus if they are in a terminal.
export def Show(diff: dict<any>, is_wanted: bool)
  const terminal = is_wanted ? {} : Kept()
  diff.waits = false
  diff.place = place.Capture()
  proposal.ShowOriginal(diff)
  try
    quiet.Run(() => Build(diff, terminal))
  catch
    const problem = v:exception
    CloseWindows(diff)
    quiet.Run(() => place.GoBack(diff.place))
    throw problem
  endtry
  if !diff.has_colours
    diff.has_colours = true
    proposal.AddColours(diff)
    seen.Begin(diff)
  endif
  typed.RepeatMaps()
  if diff.is_unified
    unified.Show(diff)
  endif
  GoToFirstHunk(diff)
  label.Note(diff)
  if !empty(terminal)
    quiet.Run(() => win_gotoid(diff.windows.terminal))
  endif
  if !is_wanted && empty(terminal)
    astray.Begin(diff.right)
  endif
  label.SayKeys(diff)
  seen.Draw()
  busy.Nudge()
enddef

# Shows another proposal in the view that is there.
export def Refresh(diff: dict<any>)
  label.Note(diff)
  if diff.has_colours
    seen.Begin(diff)
  endif
  if !IsShown(diff)
    return
  endif
  proposal.ShowOriginal(diff)
  if diff.is_unified
    unified.Show(diff)
  else
    win_execute(diff.windows.right, 'diffupdate')
  endif
  seen.Draw()
enddef

def TabOf(win: number): number
  return get(win_id2tabwin(win), 0, 0)
enddef

# Without the tab page's last window, Vim would end.
def Vacate(win: number)
  const next = getbufinfo({buflisted: 1})->filter((_, info) => getbufvar(info.bufnr, '&buftype') == '')
  win_execute(win, empty(next) ? 'enew' : $'buffer {next[0].bufnr}')
enddef

# `:diffthis` puts `hor` into 'scrollopt', and `:diffoff` takes it out.
def RestoreScrolling(diff: dict<any>)
  if !has_key(diff, 'had_hor')
    return
  elseif diff.had_hor
    set scrollopt+=hor
  else
    set scrollopt-=hor
  endif
enddef

# Takes the windows away that still show what the view put there; the others only lose diff mode.
def CloseWindows(diff: dict<any>)
  quiet.Run(() => {
    for name in ['terminal', 'left', 'right']
      const win = get(diff.windows, name, 0)
      if TabOf(win) == 0
        continue
      endif
      win_execute(win, 'diffoff')
      win_execute(win, 'unlet! w:pillion_diff')
      if name == 'terminal' || winbufnr(win) == diff[name]
        const is_last = tabpagenr('$') == 1 && winnr('$') == 1
        if is_last
          Vacate(win)
        else
          win_execute(win, 'close!')
        endif
      else
        setwinvar(win, '&statusline', '')
      endif
    endfor
    diff.windows = {}
    BringTablineBack()
    RestoreScrolling(diff)
  })
enddef

# Takes the windows of a view away for a moment.
export def PutAway(diff: dict<any>)
  const is_inside = pending.IsInside(diff)
  CloseWindows(diff)
  if is_inside
    quiet.Run(() => place.GoBack(diff.place))
  endif
  quiet.Run(() => place.Restore(diff.place))
enddef

# Takes the view away. `is_inside`: the person was in it, and goes back to where they came from.
export def Finish(diff: dict<any>, is_inside: bool)
  const is_inserting = is_inside && mode() =~ '^[iR]'
  const was = diff.place
  CloseWindows(diff)
  unified.Hide(diff)
  proposal.Remove(diff)
  if is_inserting
    stopinsert
  endif
  if empty(was)
    return
  endif
  if is_inside
    quiet.Run(() => place.GoBack(was))
  endif
  quiet.Run(() => place.Restore(was))
  busy.Nudge()
enddef

# Brings the person to the proposal.
export def GoTo(diff: dict<any>)
  if IsShown(diff)
    const windows = win_findbuf(diff.right)
    const win = get(diff.windows, 'right', 0)
    win_gotoid(index(windows, win) >= 0 ? win : windows[0])
    return
  endif
  CloseWindows(diff)
  Show(diff, true)
enddef
