vim9script

# The subcommands of `:Pillion`, and their completion.

import autoload './client.vim'
import autoload './diff.vim'
import autoload './notify.vim'
import autoload './status.vim'

def Number(arguments: list<string>): number
  return str2nr(get(arguments, 0, '0'))
enddef

# Each takes its arguments and the call: its range.
const SUBCOMMANDS: dict<func> = {
  accept: (arguments, _) => diff.Accept(Number(arguments)),
  diffs: (arguments, _) => diff.Pick(Number(arguments)),
  'drop-hunk': (_, _) => diff.DropHunk(),
  'next-hunk': (_, _) => diff.NextHunk(),
  'previous-hunk': (_, _) => diff.PreviousHunk(),
  reject: (arguments, _) => diff.Reject(Number(arguments)),
  restart: (_, _) => client.Restart(),
  start: (_, _) => client.Start(),
  status: (_, _) => notify.Info(status.Describe()),
  stop: (_, _) => client.Stop(),
  'take-hunk': (_, _) => diff.TakeHunk(),
}

# Runs a subcommand; what goes wrong in it becomes a message.
export def Dispatch(name: string, arguments: list<string>, about: dict<any>)
  if !has_key(SUBCOMMANDS, name)
    notify.Error($'unknown subcommand {name}. Hint: use one of {join(sort(keys(SUBCOMMANDS)), ", ")}')
    return
  endif
  try
    call(SUBCOMMANDS[name], [arguments, about])
  catch /^Pillion: /
    notify.Error(substitute(v:exception, '^Pillion: ', '', ''))
  endtry
enddef

export def Run(words: list<string>, about: dict<any>)
  Dispatch(get(words, 0, 'status'), words[1 :], about)
enddef

def StartingWith(lead: string, words: list<string>): list<string>
  return copy(words)->filter((_, word) => strpart(word, 0, strlen(lead)) ==# lead)->sort()
enddef

export def Complete(lead: string, line: string, position: number): list<string>
  return StartingWith(lead, keys(SUBCOMMANDS))
enddef
export def CompleteShort(lead: string, line: string, position: number): list<string>
  return []
enddef
