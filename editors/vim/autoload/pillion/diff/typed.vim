vim9script

# The person's typing: only that decides. A write of an autocommand, a timer, an option or a command for many
# buffers looks the same to the buffer that is written.
#
# Commands that are typed pass through the command line, and so do those of maps such as `:w<CR>`. What |:normal|
# plays there from a function or an autocommand has these before it on the stack; keys from |feedkeys()| look the same
# as the person's. Maps such as `<Cmd>w<CR>` leave no trace: they are repeated in the proposal's buffer, where they
# come through `Run`; so is `ZZ`.

import autoload '../notify.vim'
import autoload '../others.vim'
import autoload './command_line.vim'
import autoload './seen.vim'

# The command that is carried out: {buf, kind, argument, force, is_typed, drawn}, with what was on the screen when it
# began, see `seen.Snapshot`; empty for nothing.
var running: dict<any> = {}
# The same of the command line in which the person is.
var entered: dict<any> = {}
# Called with what is about to be carried out. What it returns, if it is a text, is carried out instead.
var OnCommand: func = (_, _, _) => v:none

# True if code plays what happens: it stands on the stack before `event`.
export def IsPlayed(event: string): bool
  const before = matchstr(expand('<stack>'), $'^.\{{-}}\ze{event}')
  return reg_executing() != '' || before =~ 'function \|script \|Autocommands'
enddef

def Enter()
  entered = {buf: bufnr(), drawn: seen.Snapshot(), is_typed: !IsPlayed('CmdlineEnter Autocommands')}
  Key()
enddef

# A key of the command line: all of them are the person's, or none.
def Key()
  if !empty(entered) && others.Typed()
    entered.is_typed = false
    entered.is_others = true
  endif
enddef

# What is to be carried out instead of this line, if it is a text.
def Begin(line: string, buf: number, drawn: dict<dict<number>>, is_typed: bool): any
  const [kind, argument, force] = command_line.Kind(line)
  # A macro goes on typing whatever is on the screen.
  running = {buf: buf, kind: kind, argument: argument, force: force, is_typed: is_typed && reg_executing() == '', drawn: drawn,
    is_users: line =~# '^[ :]*\u', is_repeating: command_line.IsRepeating(line)}
  return kind == '' ? v:none : OnCommand(kind, buf, force)
enddef

def Leave()
  if empty(entered)
    return
  endif
  const start = entered
  entered = {}
  # Where it was begun in another buffer, it was not typed for this one.
  const instead = Begin(getcmdline(), start.buf == bufnr() ? start.buf : -1, start.drawn, start.is_typed)
  if type(instead) == v:t_string
    setcmdline(instead)
  endif
  running.is_others = get(start, 'is_others', false)
  const mine = running
  timer_start(0, (_) => Finish(mine))
enddef

def Finish(mine: dict<any>)
  if running is mine
    running = {}
  endif
enddef

# The person is asked for the next key: whatever was carried out is done.
def Rest()
  running = {}
enddef

# Listens. `Prepare(kind, buf, force)` is called before a command that writes or quits, see `command_line.Kind`. If it
# returns a text, that is carried out instead.
export def Attach(Prepare: func)
  OnCommand = Prepare
  augroup PillionTyped
    autocmd!
    autocmd CmdlineEnter : Enter()
    autocmd CmdlineChanged : Key()
    autocmd CmdlineLeave : Key()
    autocmd CmdlineLeave : Leave()
    autocmd SafeState * Rest()
  augroup END
enddef

export def Detach()
  [running, entered] = [{}, {}]
  augroup PillionTyped
    autocmd!
  augroup END
enddef

# True if a write comes from an autocommand, a timer or a function that no command of the person's called: they typed
# `:w` and thought better of it, and a change that was typed ahead saves.
def IsWrittenByCode(): bool
  const before = matchstr(expand('<stack>'), '^.\{-}\zeBufWriteCmd Autocommands')
  return before =~ 'Autocommands' || before =~ 'function \%(pillion#diff#typed#Run\)\@!' && !running.is_users
enddef

# True if what is carried out was typed to write this buffer; once for each command.
export def Writes(buf: number): bool
  if empty(running) || !running.is_typed || running.buf != buf
      || index(['write', 'update', 'exit'], running.kind) < 0
      || !command_line.WritesBuffer(running.argument, buf) || IsWrittenByCode()
    return false
  endif
  # What an autocommand writes after it was not typed.
  running.kind = 'done'
  return true
enddef

# True if what is carried out is a command for many buffers, lines or keys.
export def IsRepeating(): bool
  return get(running, 'is_repeating', false)
enddef

# True if another program may have typed or called what is carried out.
export def IsOthers(): bool
  return empty(running) ? others.Ask() : get(running, 'is_others', others.Typed())
enddef

# True if what is carried out quits Vim; with `!`, if `is_forced`.
export def Quits(is_forced = false): bool
  return index(['quit_all', 'exit_all'], get(running, 'kind', '')) >= 0 && (!is_forced || running.force != '')
enddef

# What of a diff was on the screen when the person began to type what is carried out.
export def Drawn(diff: dict<any>): dict<number>
  return get(get(running, 'drawn', seen.Snapshot()), diff.id, {revision: 0, drawn: -1})
enddef

# Carries out a command of a map of the proposal's buffer. Code that plays the keys of the map stands before it on
# the stack.
export def Run(line: string)
  const outer = running
  Begin(line, bufnr(), seen.Snapshot(), !IsPlayed('function pillion#diff#typed#Run') && !others.Ask())
  try
    execute line
  catch
    notify.Soon('error', substitute(v:exception, '^Vim\%((\a\+)\)\=:', '', ''))
  finally
    running = outer
  endtry
enddef

# The effect of a map that does nothing but write, as a command; '' for all others.
def CommandOf(map: dict<any>): string
  if map.expr || map.lhs =~ '^<Plug>\||'
    return ''
  elseif map.rhs ==# 'ZZ'
    return 'exit'
  endif
  const line = matchstr(map.rhs, '\c^\%(<Esc>\|<C-O>\|<C-C>\)*\%(:\%(<C-U>\)\=\|<Cmd>\)\zs[[:alpha:]! ]\+\ze<CR>\%(<Esc>\)*$')
  return index(['write', 'update', 'exit'], command_line.Kind(line)[0]) >= 0 ? line : ''
enddef

# Repeats the person's maps that write in the proposal's buffer, the current one, so that they count as typed.
export def RepeatMaps()
  var is_taken: dict<bool> = {}
  # Those of `astray.vim` are gone in a second.
  for map in maplist()->filter((_, map) => map.rhs !~ 'pillion#diff#astray#')->sort((a, b) => b.buffer - a.buffer)
    for kind in ['n', 'x', 'i']
      const key = kind .. ' ' .. map.lhs
      const line = (map.mode =~ kind || map.mode == ' ' && kind == 'n' || map.mode == 'v' && kind == 'x')
        && !has_key(is_taken, key) ? CommandOf(map) : ''
      if map.mode =~ kind
        is_taken[key] = true
      endif
      if line != ''
        # Both are short words of letters and keys that the person mapped.
        const leave = kind == 'x' || kind == 'i' && map.rhs =~? '^<Esc>' ? '<Esc>' : ''
        execute $'{kind}noremap <buffer> <silent> {map.lhs} {leave}<Cmd>call pillion#diff#typed#Run({string(line)})<CR>'
      endif
    endfor
  endfor
  if !has_key(is_taken, 'n ZZ')
    nnoremap <buffer> <silent> ZZ <Cmd>call pillion#diff#typed#Run('exit')<CR>
  endif
enddef
