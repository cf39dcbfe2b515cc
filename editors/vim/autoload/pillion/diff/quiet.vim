vim9script

# Runs code without the person's autocommands, and without traces in what they can look at.

export def Run(Action: func): any
  const ignored = &eventignore
  const errmsg = v:errmsg
  const switchbuf = &switchbuf
  # With it, `:sbuffer` may go elsewhere.
  &switchbuf = ''
  &eventignore = 'all'
  try
    return Action()
  finally
    &eventignore = ignored
    &switchbuf = switchbuf
    v:errmsg = errmsg
  endtry
  return 0
enddef
