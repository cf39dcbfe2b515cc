vim9script

# Agents in terminal windows: `:Pillion run`. A session is one run of an agent. It goes on while its window is hidden.

import autoload './agents.vim'
import autoload './client.vim'
import autoload './config.vim'
import autoload './context.vim'
import autoload './environment.vim'
import autoload './notify.vim'
import autoload './roots.vim'

# The time that an agent waits for Pillion's variables, and the time between two looks, in milliseconds.
const START_TIMEOUT = 3000
const POLL_INTERVAL = 10

# {agent, number, buf, cwd, back, size, used}
var sessions: list<dict<any>> = []
var clock = 0

def Command(agent: string): list<string>
  const command = agents.Commands()->get(agent, [])
  if empty(command)
    const problem = agent == '' ? 'an agent is missing' : $'unknown agent {agent}'
    const names = agents.Names()
    throw $'Pillion: {problem}. Hint: :Pillion {empty(names) ? "doctor" : "run " .. join(names, "|")}'
  endif
  if !executable(command[0])
    const package: any = agents.About(agent)->get('package')
    const how = type(package) == v:t_string ? $'npm install -g {package}' : 'see g:pillion_agents'
    throw $'Pillion: {command[0]} is not installed. Hint: {how}'
  endif
  return command
enddef

def Find(agent: string, number: number): dict<any>
  const at = indexof(sessions, (_, session) => session.agent == agent && session.number == number)
  return at < 0 ? {} : sessions[at]
enddef

def Touch(session: dict<any>)
  clock += 1
  session.used = clock
enddef

# Agents look for Pillion when they start, so they start after it; and it says which there are.
def WaitForPillion()
  client.Start()
  var waited = 0
  while !environment.IsSet() && client.Phase() != 'stopped' && waited < START_TIMEOUT
    execute $'sleep {POLL_INTERVAL}m'
    waited += POLL_INTERVAL
  endwhile
enddef

def WarnIfWithoutPillion(agent: string)
  # If it could not start, the person knows why already.
  if !environment.IsSet() && client.Phase() != 'stopped'
    notify.Warn($'{agent} is starting without Pillion. Hint: :Pillion doctor')
  endif
enddef

# A `<Cmd>` map may come from Visual or Insert mode, which Vim would take along into the terminal.
def EndMode()
  if mode() =~ "^[vVsS\<C-v>\<C-s>]"
    execute "normal! \<Esc>"
  elseif mode() =~ '^[iR]'
    stopinsert
  endif
enddef

def Split(size: number)
  EndMode()
  const side = config.Get('terminal_split_side')
  const share: float = config.Get('terminal_split_width_percentage')
  const is_upright = side == 'left' || side == 'right'
  const wanted = size > 0 ? size : float2nr((is_upright ? &columns : &lines) * share)
  const how = (side == 'left' || side == 'top' ? 'topleft' : 'botright') .. (is_upright ? ' vertical' : '')
  execute $'{how} :{max([wanted, 1])}split'
enddef

def SizeOf(win: number): number
  const side = config.Get('terminal_split_side')
  return side == 'left' || side == 'right' ? winwidth(win) : winheight(win)
enddef

def Hide(session: dict<any>)
  for win in win_findbuf(session.buf)
    if win_id2win(win) > 0
      session.size = SizeOf(win)
    endif
    if win == win_getid() && win_id2tabwin(session.back)[0] == tabpagenr()
      win_gotoid(session.back)
    endif
    if tabpagenr('$') > 1 || winnr('$') > 1
      win_execute(win, 'close!')
    endif
  endfor
enddef

# The window to go back to when a terminal is hidden: none of a terminal, that may go itself.
def WhereFrom(): number
  const at = indexof(sessions, (_, session) => session.buf == bufnr())
  return at < 0 ? win_getid() : sessions[at].back
enddef

# Shows the window of a session, and goes there.
export def Show(session: dict<any>)
  const windows = win_findbuf(session.buf)->filter((_, win) => win_id2win(win) > 0)
  if empty(windows)
    session.back = WhereFrom()
    Split(session.size)
    execute 'silent buffer' session.buf
  else
    EndMode()
    win_gotoid(windows[0])
  endif
  Touch(session)
  if mode() != 't' && term_getstatus(session.buf) =~ 'running' && term_getstatus(session.buf) =~ 'normal'
    feedkeys('i', 'n')
  endif
enddef

def OnExit(session: dict<any>, status: number)
  if v:exiting != v:null
    return
  endif
  filter(sessions, (_, other) => other isnot session)
  if status == 0 && config.Get('terminal_auto_close') && bufexists(session.buf)
    Hide(session)
    execute 'silent! bwipeout!' session.buf
  elseif status != 0
    notify.Warn($'{session.agent} exited with status {status}; its terminal shows why')
  endif
enddef

# The command behind `pillion run`, for an agent to which the variables are not enough.
def ThroughRun(agent: string, command: list<string>): list<string>
  const own: list<string> = config.Get('command')
  const program = exepath(own[0])
  const about = agents.About(agent)
  const is_known = get(about, 'needsRun', false) && fnamemodify(command[0], ':t') == about.command[0]
  if !is_known || program == '' || !environment.IsSet()
    return command
  endif
  return [program] + own[1 :] + ['run', '--port', string(client.state.port)] + command
enddef

def Start(agent: string, number: number, arguments: list<string>)
  WaitForPillion()
  const command = Command(agent)
  WarnIfWithoutPillion(agent)
  context.Flush()
  var session: dict<any> = {agent: agent, number: number, buf: 0, cwd: roots.ForTerminal(), back: WhereFrom(),
    size: 0, used: 0}
  Split(0)
  session.buf = term_start(ThroughRun(agent, command + arguments), {
    curwin: true,
    cwd: session.cwd,
    term_name: number == 1 ? $'pillion-{agent}' : $'pillion-{agent}-{number}',
    exit_cb: (_, status) => {
      # Once the terminal has shown what the agent said last.
      timer_start(0, (_) => OnExit(session, status))
    },
  })
  if session.buf == 0
    close
    throw $'Pillion: cannot start {command[0]}'
  endif
  setbufvar(session.buf, 'pillion_agent', agent)
  setbufvar(session.buf, '&buflisted', false)
  Touch(session)
  add(sessions, session)
enddef

# `:Pillion run {agent} [N] [arguments]`: opens the agent, hides its window, or shows it again.
export def Run(words: list<string>)
  const agent = get(words, 0, '')
  var arguments = words[1 :]
  var number = 1
  if get(arguments, 0, '') =~ '^[1-9]\d*$'
    number = str2nr(remove(arguments, 0))
  endif
  const session = Find(agent, number)
  if empty(session)
    Start(agent, number, arguments)
  elseif empty(win_findbuf(session.buf)->filter((_, win) => win_id2win(win) > 0))
    Show(session)
  else
    Hide(session)
  endif
enddef

# Goes to the agent's terminal, and from there back.
export def Focus(agent: string)
  const at = indexof(sessions, (_, session) => session.buf == bufnr())
  if at >= 0 && agent == ''
    if !win_gotoid(sessions[at].back)
      wincmd p
    endif
    return
  endif
  const session = Target(agent)
  if empty(session)
    throw 'Pillion: no agent is running here. Hint: :Pillion run'
  endif
  if has_key(session, 'back')
    session.back = win_getid()
  endif
  Show(session)
enddef

def Basename(word: string): string
  return fnamemodify(word, ':t')
enddef

# An agent that the person started in a `:terminal` themselves.
def Foreign(agent: string): dict<any>
  for buf in term_list()
    if term_getstatus(buf) =~ 'running'
      const command = job_info(term_getjob(buf)).cmd
      const words: list<string> = type(command) == v:t_list ? command : split(command)
      for name in agent == '' ? agents.Names() : [agent]
        if indexof(words[: 1], (_, word) => Basename(word) == name) >= 0
          return {agent: name, number: 0, buf: buf, cwd: getcwd(), size: 0, used: 0}
        endif
      endfor
    endif
  endfor
  return {}
enddef

# The session that a text is for: of the agent that is named, else the one that was used last, else one that the
# person started in a terminal. Empty if there is none.
export def Target(agent: string): dict<any>
  const names = agents.Names()
  if agent != '' && index(names, agent) < 0
    throw $'Pillion: unknown agent {agent}. Hint: use one of {join(names, ", ")}'
  endif
  const running = copy(sessions)->filter((_, session) => (agent == '' || session.agent == agent)
    && term_getstatus(session.buf) =~ 'running')->sort((a, b) => b.used - a.used)
  return empty(running) ? Foreign(agent) : running[0]
enddef

# Pastes a text into an agent's prompt. Enter is never pressed: whatever could be taken for a key was replaced.
export def Paste(session: dict<any>, text: string)
  term_sendkeys(session.buf, $"\<Esc>[200~{text}\<Esc>[201~")
  Show(session)
enddef
