vim9script

# Runs code without the person's autocommands, and without traces in what they can look at.

# All events but the one that answers for us when Vim finds that a file has changed: a question would hold up the
# person and the agent.
const IGNORED = getcompletion('', 'event')->filter((_, event) => event !=# 'FileChangedShell')->join(',')

export def Run(Action: func): any
  const ignored = &eventignore
  const errmsg = v:errmsg
  const switchbuf = &switchbuf
  # With it, `:sbuffer` may go elsewhere.
  &switchbuf = ''
  &eventignore = IGNORED
  const shortmess = &shortmess
  # Otherwise Vim describes each buffer that gets a window, and asks for Enter after two of them.
  set shortmess+=F
  try
    return Action()
  finally
    &shortmess = shortmess
    &eventignore = ignored
    &switchbuf = switchbuf
    v:errmsg = errmsg
  endtry
  return 0
enddef
