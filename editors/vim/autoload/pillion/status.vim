vim9script

# The state of Pillion, in words.

import autoload './client.vim'
import autoload './events.vim'

def Agents(): list<string>
  return mapnew(client.state.agents, (_, agent) => get(agent, 'displayName', get(agent, 'name', '?')))
enddef

def Diffs(count: number): string
  return count == 1 ? '1 diff' : $'{count} diffs'
enddef

# Once Pillion has said what the roots are.
def IsNowhere(): bool
  return type(client.state.port) == v:t_number && empty(client.state.roots)
enddef

# For the status line: `Pillion: Gemini CLI, 1 diff`, or `Pillion: Claude Code, review: always, a.txt: written`. Empty if
# Pillion does not run.
export def Line(): string
  if !client.IsRunning()
    return ''
  endif
  const count = client.state.pendingDiffs
  const label = get(client.state.review, 'label', '')
  const words = filter([label, client.state.decided], (_, it) => it != '')
  const parts = Agents() + words + (count > 0 ? [Diffs(count)] : [])
  return empty(parts) ? 'Pillion' : 'Pillion: ' .. join(parts, ', ')
enddef

# For `:Pillion status`.
export def Describe(): string
  if !client.IsRunning()
    return client.Phase() == 'stopped' ? 'not running. Hint: :Pillion start' : client.Phase()
  endif
  const names = Agents()
  return printf('version %s, port %s, %s, %s%s%s',
    client.state.version, client.state.port, empty(names) ? 'no agent' : join(names, ', '),
    Diffs(client.state.pendingDiffs), IsNowhere() ? ', no workspace root. Hint: :cd PROJECT' : '',
    mapnew(client.state.notes, (_, note) => $'. {note}')->join('')->substitute('\.$', '', ''))
enddef

# Called when something of this changed.
export def Update()
  events.Emit('PillionStatusChanged', {
    running: client.IsRunning(),
    agents: client.state.agents,
    pendingDiffs: client.state.pendingDiffs,
    warnings: client.state.warnings,
    notes: client.state.notes,
    review: get(client.state.review, 'label', ''),
    decided: client.state.decided,
  })
  # Nothing else would draw it before the next key; on the command line it would be in the way.
  if mode() !~ '^[cr!]'
    redrawstatus!
  endif
enddef
