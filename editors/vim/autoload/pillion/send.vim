vim9script

# `:PillionSend` and `:PillionAdd`: files, lines or a selection into the prompt of an agent.
#
# Agents that know mentions put files and lines there themselves. For all others it arrives as if it were pasted.

import autoload './agents.vim'
import autoload './client.vim'
import autoload './context.vim'
import autoload './context/kept.vim'
import autoload './context/recent.vim'
import autoload './files.vim'
import autoload './notify.vim'
import autoload './send/text.vim'
import autoload './terminal.vim'

# Refuses a path that no agent could read in a prompt. A folder ends in a slash.
def Checked(path: string): string
  if path =~ '[[:cntrl:]]'
    throw 'Pillion: cannot send a file with control characters in its name'
  elseif getftype(path) == ''
    throw 'Pillion: the file is not on disk yet. Hint: :w first'
  endif
  return isdirectory(path) ? substitute(path, '/*$', '/', '') : path
enddef

# The file in focus, or the one that had it before a terminal or a diff got it.
def CurrentFile(): string
  var path = files.PathOf(bufnr())
  if path == '' && (&buftype == 'terminal' || has_key(w:, 'pillion_diff'))
    path = get(recent.Paths(), 0, '')
  endif
  if path == ''
    throw 'Pillion: this buffer is not a file. Hint: select text instead'
  endif
  return Checked(path)
enddef

# The file or folder that a word names, and the lines after a colon.
def Read(word: string): dict<any>
  const parts = matchlist(word, '^\(.\{-1,}\)\%(:\(\d\+\)\%(-\(\d\+\)\)\=\)\=$')
  var [name, first, last] = [word, 0, 0]
  if getftype(fnamemodify(word, ':p')) == '' && !empty(parts)
    name = parts[1]
    first = str2nr(parts[2])
    last = parts[3] == '' ? first : str2nr(parts[3])
    if last < first || parts[2] =~ '^0\+$'
      throw $'Pillion: {word}: lines count from 1, and the first line comes first'
    endif
  endif
  name = name =~ '^[%#]' && getftype(name) == '' ? expand(name) : name
  const path = files.Trimmed(simplify(fnamemodify(name, ':p')))
  if getftype(path) == ''
    throw $'Pillion: there is no file {name}. Hint: escape spaces in a name with a backslash'
  endif
  return {path: Checked(path), first: first, last: last}
enddef

# The connected agents that know mentions.
def Mentioned(): list<string>
  return mapnew(client.state.agents, (_, agent) => agent.name)
    ->filter((_, name) => index(client.state.mentions, name) >= 0)
enddef

def NameOf(agent: string): string
  return fnamemodify(agents.Commands()[agent][0], ':t')
enddef

# True if an agent is to be mentioned: Pillion chooses the session, so it has to be the one in the terminal, if there is
# one.
def IsMention(agent: string, session: dict<any>): bool
  const names = Mentioned()
  if empty(names) || !empty(session) && len(names) != 1
    return false
  endif
  const wanted = empty(session) ? agent : session.agent
  return wanted == '' || indexof(names, (_, name) => name != wanted && name !~ NameOf(wanted)) < 0
enddef

def Params(item: dict<any>): dict<any>
  const uri = files.Uri(item.path)
  return item.first == 0 ? {uri: uri} : {uri: uri, lines: {first: item.first - 1, last: item.last - 1}}
enddef

def Missing(agent: string): string
  const what = agent == '' ? 'no agent is running in a terminal here' : $'{agent} is not running in a terminal here'
  return $'{what}. Hint: :Pillion run {agent == "" ? agents.Example() : agent}'
enddef

# Pastes, or reports that there is no agent to paste to.
def PasteItems(items: list<dict<any>>, agent: string, session: dict<any>)
  if empty(session)
    throw 'Pillion: ' .. Missing(agent)
  endif
  terminal.Paste(session, text.Harmless(mapnew(items, (_, item) => text.Item(item, session))->join(' ') .. ' '))
enddef

# Mentions one item after the other: agents put them where their cursor is.
def MentionFrom(items: list<dict<any>>, at: number, agent: string, session: dict<any>)
  const OnAnswer = (error: any, result: any) => {
    const told: any = type(error) == v:t_none && type(result) == v:t_dict ? get(result, 'agent', v:null) : v:null
    if type(told) != v:t_dict
      try
        PasteItems(items[at :], agent, session)
      catch /^Pillion: /
        notify.Error(substitute(v:exception, '^Pillion: ', '', ''))
      endtry
    elseif at + 1 < len(items)
      MentionFrom(items, at + 1, agent, session)
    elseif empty(session)
      notify.Info($'mentioned in the prompt of {told.displayName}')
    else
      terminal.Show(session)
    endif
  }
  client.Ask('pillion/mention', Params(items[at]), OnAnswer)
enddef

def SendItems(items: list<dict<any>>, agent: string)
  const session = terminal.Target(agent)
  if IsMention(agent, session)
    MentionFrom(items, 0, agent, session)
  else
    PasteItems(items, agent, session)
  endif
enddef

# Lines, or what is selected. Of unsaved text the path has no `@`, because the agent would read the old file.
def SendLines(first: number, last: number, content: string, agent: string)
  const path = files.PathOf(bufnr())
  const is_file = path != '' && files.IsOnDisk(path) && path !~ '[[:cntrl:]]'
  const session = terminal.Target(agent)
  if is_file && !&modified && IsMention(agent, session)
    MentionFrom([{path: path, first: first, last: last}], 0, agent, session)
    return
  elseif empty(session)
    throw 'Pillion: ' .. (Mentioned() == [] ? Missing(agent) : 'the buffer has unsaved changes. Hint: :w first')
  endif
  const name = !is_file ? '' : &modified ? text.Relative(path, session.cwd) : text.Item({path: path, first: 0}, session)
  const head = name == '' ? '' : $'{name} {text.Lines(first, last)} '
  terminal.Paste(session, text.Harmless($"{head}\n{text.Fenced(content)}\n"))
enddef

def SendRange(about: dict<any>, agent: string)
  const is_selection = about.line1 == line("'<") && about.line2 == line("'>") && about.range == 2
  if is_selection
    context.Hold()
    const kept_one = kept.Of(bufnr())
    if !empty(kept_one) && kept_one.nul == ''
      SendLines(about.line1, about.line2, kept_one.text, agent)
      return
    endif
  endif
  SendLines(about.line1, about.line2, join(getline(about.line1, about.line2), "\n"), agent)
enddef

# `:PillionSend [agent] [path …]`; with a range, these lines.
export def Send(words: list<string>, about: dict<any>)
  const has_agent = !empty(words) && index(agents.Names(), words[0]) >= 0 && getftype(words[0]) == ''
  const agent = has_agent ? words[0] : ''
  const paths = has_agent ? words[1 :] : words
  if get(about, 'range', 0) > 0 && empty(paths)
    SendRange(about, agent)
  elseif empty(paths)
    SendItems([{path: CurrentFile(), first: 0, last: 0}], agent)
  else
    SendItems(paths->mapnew((_, word) => Read(word)), agent)
  endif
enddef

# `:PillionAdd {path} [from] [to]`
export def Add(words: list<string>)
  if empty(words) || indexof(words[1 :], (_, word) => word !~ '^[1-9]\d*$') >= 0 || len(words) > 3
    throw 'Pillion: expected a path, optionally with lines. Hint: :PillionAdd src/a.rs 3 7'
  endif
  const lines = len(words) > 1 ? ':' .. join(words[1 :], '-') : ''
  SendItems([Read(words[0] .. lines)], '')
enddef
