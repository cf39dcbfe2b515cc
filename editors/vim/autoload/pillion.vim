vim9script

# The functions for people's own settings. |pillion-functions|

import autoload './pillion/client.vim'
import autoload './pillion/diff.vim'
import autoload './pillion/notify.vim'
import autoload './pillion/status.vim'

export def Start()
  client.Start()
enddef

export def Stop()
  client.Stop()
enddef

export def Restart()
  client.Restart()
enddef

# For 'statusline': `%{pillion#Statusline()}`.
export def Statusline(): string
  return status.Line()
enddef

export def Accept(id = 0)
  diff.Accept(id)
enddef

export def Reject(id = 0, reason = '')
  diff.Reject(id, reason)
enddef

# The state of Pillion: `running`, `version`, `port`, `pid`, `agents`, `pendingDiffs`, `warnings`.
export def Status(): dict<any>
  return extendnew(client.state, {running: client.IsRunning()})
enddef

# The latest messages, a line each.
export def Messages(): list<string>
  return notify.Kept()
enddef
