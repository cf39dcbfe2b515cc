vim9script

# Pillion's variables in Vim's own environment, so that agents in every terminal and job that is started here
# pick this companion.

# The variables that Pillion set, by name: `value`, and what was there `before` it (v:null: nothing).
var ours: dict<dict<any>> = {}

def Restore(name: string)
  # What others set in the meantime is not ours to restore.
  if getenv(name) == ours[name].value
    setenv(name, ours[name].before)
  endif
  remove(ours, name)
enddef

# Sets the variables. One that was set earlier and is no longer named gets its old value back.
export def Set(variables: dict<any>)
  for name in keys(ours)->filter((_, name) => !has_key(variables, name))
    Restore(name)
  endfor
  for [name, value] in items(variables)
    if name =~ '^\w\+$' && type(value) == v:t_string
      const before = has_key(ours, name) ? ours[name].before : getenv(name)
      ours[name] = {value: value, before: before}
      setenv(name, value)
    endif
  endfor
enddef

# Takes everything back.
export def Clear()
  Set({})
enddef

export def IsSet(): bool
  return !empty(ours)
enddef
