vim9script

# The subcommands of `:Pillion`, and their completion.

import autoload './agents.vim'
import autoload './changes.vim'
import autoload './client.vim'
import autoload './diff.vim'
import autoload './doctor.vim'
import autoload './notify.vim'
import autoload './request.vim'
import autoload './send.vim'
import autoload './status.vim'
import autoload './terminal.vim'
import autoload './written.vim'

def Number(arguments: list<string>): number
  return str2nr(get(arguments, 0, '0'))
enddef

# What `:PillionReject` is given: a number alone is that of a diff.
def RejectBy(words: string)
  const number = matchstr(words, '^\d\+\ze\%(\s\|$\)')
  const rest = trim(strpart(words, strlen(number)))
  if number != '' && (rest == '' || diff.IsOther(str2nr(number)))
    diff.Reject(str2nr(number), rest)
  else
    diff.Reject(0, words)
  endif
enddef

# Each takes its arguments and the call: its range.
const SUBCOMMANDS: dict<func> = {
  add: (arguments, _) => send.Add(arguments),
  accept: (arguments, _) => diff.Accept(Number(arguments)),
  changes: (arguments, about) => changes.Open(about.bang || get(arguments, 0, '') == 'all'),
  decisions: (_, _) => doctor.Decisions(),
  diffs: (arguments, _) => diff.Pick(Number(arguments)),
  doctor: (_, _) => doctor.Show(),
  'drop-hunk': (_, _) => diff.DropHunk(),
  focus: (arguments, _) => terminal.Focus(get(arguments, 0, '')),
  keep: (_, about) => changes.Keep(about.words, about),
  look: (arguments, _) => changes.Look(get(arguments, 0, '')),
  merge: (_, _) => diff.Merge(),
  log: (_, _) => doctor.OpenLog(),
  messages: (_, _) => doctor.Messages(),
  'next-change': (_, _) => written.Go(1),
  'previous-change': (_, _) => written.Go(-1),
  'next-hunk': (_, _) => diff.NextHunk(),
  'previous-hunk': (_, _) => diff.PreviousHunk(),
  note: (_, about) => diff.Note(about.words, about),
  reject: (_, about) => RejectBy(trim(about.words)),
  review: (arguments, _) => request.ChooseReview(get(arguments, 0, '')),
  restart: (_, _) => client.Restart(),
  run: (arguments, _) => terminal.Run(arguments),
  send: (arguments, about) => send.Send(arguments, about),
  'send-notes': (_, _) => request.SendNotes(),
  start: (_, _) => client.Start(),
  status: (_, _) => notify.Info(status.Describe()),
  stop: (_, _) => client.Stop(),
  'take-back': (_, about) => changes.TakeBack(about.words, about),
  'take-hunk': (_, _) => diff.TakeHunk(),
  undo: (arguments, _) => changes.Undo(get(arguments, 0, '')),
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
  about.words = substitute(about.text, '^\S\+\s*', '', '')
  Dispatch(get(words, 0, 'status'), words[1 :], about)
enddef

def StartingWith(lead: string, words: list<string>): list<string>
  return copy(words)->filter((_, word) => strpart(word, 0, strlen(lead)) ==# lead)->sort()
enddef

# The completions after a subcommand. A backslash makes a blank part of a word.
def Arguments(name: string, lead: string, is_first: bool): list<string>
  const paths = getcompletion(substitute(lead, '\\\(.\)', '\1', 'g'), 'file')
    ->map((_, path) => escape(path, " \t\\|\""))
  if name == 'run' || name == 'focus'
    return is_first ? StartingWith(lead, agents.Names()) : []
  elseif name == 'review'
    return is_first ? StartingWith(lead, request.ReviewChoices()) : []
  elseif name == 'send'
    return (is_first ? StartingWith(lead, agents.Names()) : []) + paths
  elseif name == 'add'
    return is_first ? paths : []
  endif
  return []
enddef

def WordsBefore(lead: string, line: string, position: number): list<string>
  const before = strpart(line, 0, position)
  return split(substitute(strpart(before, 0, strlen(before) - strlen(lead)), '\\.', '__', 'g'))
enddef

# Completion for `:Pillion`.
export def Complete(lead: string, line: string, position: number): list<string>
  const words = WordsBefore(lead, line, position)
  return len(words) <= 1 ? StartingWith(lead, keys(SUBCOMMANDS)) : Arguments(words[1], lead, len(words) == 2)
enddef

# Completion for `:PillionSend`, `:PillionAdd` and `:PillionReview`.
export def CompleteShort(lead: string, line: string, position: number): list<string>
  const words = WordsBefore(lead, line, position)
  const name = get({PillionAdd: 'add', PillionReview: 'review'}, get(words, 0, ''), 'send')
  return Arguments(name, lead, len(words) == 1)
enddef
