vim9script

# `pillion lsp`: its life, and what is said to and by it.

import autoload './agents.vim'
import autoload './ahead.vim'
import autoload './config.vim'
import autoload './context.vim'
import autoload './diagnostics.vim'
import autoload './diff.vim'
import autoload './environment.vim'
import autoload './events.vim'
import autoload './framing.vim'
import autoload './notify.vim'
import autoload './others.vim'
import autoload './quitting.vim'
import autoload './reload.vim'
import autoload './roots.vim'
import autoload './status.vim'
import autoload './version.vim'
import autoload './written.vim'

# The time that Pillion may take to start, and to end when it is asked to. Milliseconds.
const START_TIMEOUT = 10000
const END_TIMEOUT = 2000

# The time that the person waits for an answer, and the time between two looks for it. Milliseconds.
const ANSWER_TIMEOUT = 2000
const POLL_INTERVAL = 1

# After how long a companion that died is started again, doubled for each that dies young; after so many
# nothing is tried any more. One that lived for this long was no failure.
const FIRST_DELAY = 1000
const MAX_RETRIES = 5
const GOOD_LIFE = 60

# As much of what it prints is kept for `:Pillion doctor`.
const MAX_SAID = 2000

# `stopped`, `starting`, `running` or `stopping`.
var phase = 'stopped'
var job: any = v:none
# The channel over which messages go.
var wire: any = v:none
var reader: dict<any> = {}
var next_id = 1
var callbacks: dict<func> = {}
var said = ''
var restart_wanted = false
var retries = 0
var retry_timer = 0
var started_at = 0

def FreshState(): dict<any>
  return {agents: [], mentions: [], warnings: [], notes: [], review: {}, files: [], roots: [], startFolder: '', pendingDiffs: 0, unseen: 0, changes: 0, decided: '', atQuit: '', version: '?', port: '?', pid: 0}
enddef

# The facts about the running companion.
export var state: dict<any> = FreshState()

# The end of the last one, for `:Pillion doctor`.
export var last_end = ''

export def Phase(): string
  return phase
enddef

export def IsRunning(): bool
  return phase == 'running'
enddef

def Send(message: dict<any>, nul = ''): bool
  if type(wire) != v:t_channel || ch_status(wire) != 'open'
    return false
  endif
  try
    framing.Write(wire, framing.Encode(extendnew(message, {jsonrpc: '2.0'}), nul))
  catch /^Vim\%((\S\+)\)\=:E\%(630\|631\|906\)/
    # It is going: its end is reported by itself.
    return false
  endtry
  return true
enddef

def Request(method: string, params: any, Callback: func, nul = ''): bool
  callbacks[next_id] = Callback
  const message = {id: next_id, method: method}
  next_id += 1
  return Send(type(params) == v:t_dict ? extendnew(message, {params: params}) : message, nul)
enddef

# Sends a notification; false if the companion is not running. `nul` stands in for NUL in its texts.
export def Notify(method: string, params: dict<any>, nul = ''): bool
  return phase == 'running' && Send({method: method, params: params}, nul)
enddef

# Sends a request; `Callback(error, result)` runs when the answer is there. `nul` stands in for NUL in its texts.
export def Ask(method: string, params: dict<any>, Callback: func, nul = ''): bool
  return phase == 'running' && Request(method, params, Callback, nul)
enddef

# The same for what the person waits for: its result, or v:null if there is none in time.
export def AskNow(method: string, params: dict<any>, nul = ''): any
  var answer: dict<any> = {}
  const OnAnswer = (error, result) => extend(answer, {result: type(error) == v:t_dict ? get(error, 'message', '') : result})
  if !Ask(method, params, OnAnswer, nul)
    return v:null
  endif
  var waited = 0
  while empty(answer) && waited < ANSWER_TIMEOUT
    execute $'sleep {POLL_INTERVAL}m'
    waited += POLL_INTERVAL
  endwhile
  return get(answer, 'result', v:null)
enddef

def ShowMessage(params: dict<any>)
  const level = get(['error', 'warn', 'info'], get(params, 'type', 3) - 1, 'info')
  notify.ByLevel(level, substitute(get(params, 'message', ''), '^Pillion: ', '', ''))
enddef

# The message types of the language-server protocol that each `log_level` lets through.
const LOGGED = {error: 1, warn: 2, info: 3, debug: 4, trace: 4}

def OnNotification(method: string, params: dict<any>, nul: string)
  if method == 'pillion/environment'
    state.port = get(params, 'port', '?')
    state.pid = get(params, 'pid', 0)
    state.files = get(params, 'discoveryFiles', [])
    state.roots = get(params, 'roots', [])
    const start: any = get(params, 'startFolder', '')
    state.startFolder = type(start) == v:t_string ? start : ''
    environment.Set(get(params, 'variables', {}))
    agents.Set(get(params, 'agents', []))
    if has_key(params, 'roots')
      roots.WarnIfNone()
    endif
  elseif method == 'pillion/didChangeStatus'
    for name in ['agents', 'mentions', 'warnings', 'notes']
      state[name] = get(params, name, [])
    endfor
    const review: any = get(params, 'review', v:null)
    state.review = type(review) == v:t_dict ? review : {}
    state.pendingDiffs = get(params, 'pendingDiffs', 0)
    state.unseen = get(params, 'unseen', 0)
    const decided: any = get(params, 'decided', v:null)
    state.decided = type(decided) == v:t_string ? decided : ''
    const at_quit: any = get(params, 'atQuit', v:null)
    state.atQuit = type(at_quit) == v:t_string ? at_quit : ''
    if state.changes != get(params, 'changes', 0)
      state.changes = get(params, 'changes', 0)
      written.Refresh()
    endif
    status.Update()
    reload.Check()
  elseif method == 'pillion/didChangeFile'
    reload.Changed(params)
  elseif method == 'pillion/offerText'
    diff.Offer(params, nul)
  elseif method == 'window/showMessage'
    ShowMessage(params)
  elseif method == 'window/logMessage' && get(params, 'type', 4) <= LOGGED[config.Get('log_level')]
    ShowMessage(params)
  endif
enddef

def OnRequest(id: any, method: string, params: dict<any>, nul: string)
  var answer: dict<any> = {id: id}
  var answer_nul = ''
  try
    if method == 'pillion/openDiff'
      diff.Open(params, nul)
      answer.result = {}
    elseif method == 'pillion/closeDiff'
      const content = diff.Close(params)
      answer.result = {content: content.text}
      answer_nul = content.nul
    elseif method == 'pillion/diffText'
      const content = diff.Text(params)
      answer.result = {content: content.text}
      answer_nul = content.nul
    elseif method == 'pillion/diagnostics'
      answer.result = diagnostics.Answer(params)
    else
      answer.error = {code: -32601, message: $'the plugin does not support {method}'}
    endif
  catch
    const message = substitute(v:exception, '^\%(Vim\%((\S\+)\)\=:\|Pillion: \)', '', '')
    answer.error = {code: -32603, message: message}
  endtry
  Send(answer, answer_nul)
enddef

def OnMessage(message: dict<any>, nul: string)
  if has_key(message, 'method')
    const params = get(message, 'params', {})
    const fields = type(params) == v:t_dict ? params : {}
    if has_key(message, 'id')
      OnRequest(message.id, message.method, fields, nul)
    elseif phase != 'stopped'
      OnNotification(message.method, fields, nul)
    endif
  elseif has_key(callbacks, get(message, 'id', ''))
    const Callback = remove(callbacks, message.id)
    call(Callback, [get(message, 'error', v:null), get(message, 'result', v:null)])
  endif
enddef

def OnOutput(channel: channel, piece: string)
  if type(wire) != v:t_channel || ch_info(channel).id != ch_info(wire).id
    return
  endif
  var messages: list<list<any>>
  try
    messages = framing.Read(reader, piece)
  catch
    notify.Error('cannot understand pillion: ' .. substitute(v:exception, '^Pillion: ', '', ''))
    Terminate()
    return
  endtry
  for [message, nul] in messages
    if type(message) == v:t_dict
      OnMessage(message, nul)
    endif
  endfor
enddef

def OnError(_: channel, line: string)
  said = strpart(said .. line .. "\n", max([0, strlen(said) + strlen(line) + 1 - MAX_SAID]))
enddef

def Terminate()
  if type(job) == v:t_job
    job_stop(job, 'term')
  endif
enddef

def DescribeEnd(code: number, signal: string): string
  const how = signal != '' ? $'signal {signal}' : $'exit code {code}'
  const words = trim(said)
  return words == '' ? how : $'{how}: {words}'
enddef

# A companion that died is started again, ever later.
def RetryLater(how: string)
  retries = localtime() - started_at >= GOOD_LIFE ? 0 : retries
  if retries >= MAX_RETRIES
    notify.Error($'pillion keeps exiting ({how}). Hint: :Pillion doctor, then :Pillion start')
    return
  endif
  const delay = FIRST_DELAY * float2nr(pow(2, retries))
  retries += 1
  notify.Warn($'pillion exited ({how}); restarting in {delay / 1000} s')
  retry_timer = timer_start(delay, (_) => Start())
enddef

def AfterTheEnd()
  context.Detach()
  reload.Detach()
  written.Detach()
  diff.CloseAll()
  environment.Clear()
  state = FreshState()
  callbacks = {}
  status.Update()
enddef

def OnExit(ended: job, code: number)
  if type(job) != v:t_job || job_info(ended).process != job_info(job).process
    return
  endif
  const was = phase
  const signal = get(job_info(ended), 'termsig', '')
  const how = DescribeEnd(code, signal)
  phase = 'stopped'
  [job, wire] = [v:none, v:none]
  last_end = was == 'stopping' ? last_end : how
  if v:exiting != v:null
    return
  endif
  AfterTheEnd()
  events.Emit('PillionStopped', {code: code, signal: signal, expected: was == 'stopping'})
  if restart_wanted
    restart_wanted = false
    Start()
  elseif was == 'starting'
    notify.Error('`pillion lsp` failed. Hint: :Pillion doctor')
  elseif was == 'running'
    RetryLater(signal != '' ? $'signal {signal}' : $'exit code {code}')
  endif
enddef

def OnInitialized(error: any, result: any)
  if phase != 'starting'
    return
  endif
  if type(error) == v:t_dict
    phase = 'stopping'
    last_end = get(error, 'message', 'no reason was given')
    notify.Error($'cannot start pillion: {last_end}')
    Terminate()
    return
  endif
  phase = 'running'
  state.version = get(get(result, 'serverInfo', {}), 'version', '?')
  Notify('initialized', {})
  ahead.Read({})
  context.Attach()
  reload.Attach()
  status.Update()
  events.Emit('PillionStarted', {version: state.version})
enddef

def VimVersion(): string
  return printf('%d.%d.%d', v:versionlong / 1000000, v:versionlong / 10000 % 100, v:versionlong % 10000)
enddef

def InitializeParams(): dict<any>
  return {
    processId: getpid(),
    clientInfo: {name: 'Vim', version: VimVersion()},
    capabilities: {
      general: {positionEncodings: ['utf-8']},
      experimental: {pillion: {
        version: version.NUMBER,
        diffs: config.Get('diffs') ? 'lastUsed' : 'never',
        workspace: roots.Begin(),
      }},
    },
  }
enddef

def GiveUpIfSilent(starting: job)
  if type(job) == v:t_job && phase == 'starting' && job_info(starting).process == job_info(job).process
    OnError(job_getchannel(starting), $'it did not respond within {START_TIMEOUT / 1000} s')
    Terminate()
  endif
enddef

# It listens.
def Connect(output: channel, socket: string, params: dict<any>)
  if type(job) != v:t_job || ch_info(output).id != ch_info(job_getchannel(job)).id || type(wire) == v:t_channel
    return
  endif
  wire = ch_open($'unix:{socket}', {mode: 'raw', callback: OnOutput})
  if ch_status(wire) == 'open'
    Request('initialize', params, OnInitialized)
  else
    OnError(output, 'it cannot be reached')
    Terminate()
  endif
enddef

# Starts the companion if it does not run. `is_automatic`: without being asked to.
export def Start(is_automatic = false)
  timer_stop(retry_timer)
  if phase != 'stopped'
    restart_wanted = restart_wanted || phase == 'stopping'
    return
  endif
  var command: list<string> = config.Get('command')
  const program = exepath(command[0])
  if program == ''
    const text = $'`{command[0]}` was not found. Hint: install the program, or set g:pillion_command'
    if is_automatic
      notify.Once('warn', text)
    else
      notify.Error(text)
    endif
    return
  endif
  command = [program] + command[1 :] + ['lsp']
  const log_file = config.Get('log_file')
  if log_file != ''
    command += ['--log', log_file]
  endif
  phase = 'starting'
  others.Attach()
  [state, said, callbacks, next_id, started_at] = [FreshState(), '', {}, 1, localtime()]
  # All that Vim starts later has the pipes, too: whoever speaks at a socket is told apart, and what they read there is
  # missed. A path may not be longer.
  const socket = tempname()
  const params = InitializeParams()
  const has_socket = has('unix') && exists('*sha256') == 1 && strlen(socket) < 100
  reader = framing.Reader(has_socket)
  command += has_socket ? ['--socket', socket] : []
  # A signal could come before what `Leave` has sent. It ends with its input.
  job = job_start(command, {
    in_mode: 'raw', out_mode: 'raw', err_mode: 'nl', noblock: 1, stoponexit: '',
    out_cb: has_socket ? (it, _) => Connect(it, socket, params) : OnOutput, err_cb: OnError, exit_cb: OnExit,
  })
  if job_status(job) == 'fail'
    [phase, job] = ['stopped', v:none]
    notify.Error($'cannot start `{program}`')
    return
  endif
  if !has_socket
    wire = job_getchannel(job)
    Request('initialize', params, OnInitialized)
  endif
  const starting = job
  timer_start(START_TIMEOUT, (_) => GiveUpIfSilent(starting))
enddef

# Asks the companion to end. Pending diffs then count as rejected.
export def Stop()
  restart_wanted = false
  retries = 0
  timer_stop(retry_timer)
  if phase != 'starting' && phase != 'running'
    return
  endif
  phase = 'stopping'
  const ending = job
  Request('shutdown', v:null, (_, _) => Send({method: 'exit'}))
  timer_start(END_TIMEOUT, (_) => {
    if type(job) == v:t_job && job_info(ending).process == job_info(job).process
      Terminate()
    endif
  })
enddef

export def Restart()
  Stop()
  Start()
enddef

# Vim quits: does not wait for an answer.
def Leave()
  if type(job) == v:t_job
    diff.Finish()
    phase = 'stopping'
    # A signal, or another program, is not the person.
    if v:dying == 0 && !others.Ask()
      Request('shutdown', v:null, (_, _) => 0)
    endif
    Send({method: 'exit'})
  endif
enddef

augroup PillionClient
  autocmd!
  autocmd CmdlineLeave : quitting.OnCommand()
  autocmd ExitPre * quitting.RefuseOnce(state.atQuit)
  autocmd VimLeavePre * Leave()
augroup END
