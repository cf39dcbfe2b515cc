vim9script

# The options: their defaults, and what may stand in them. An option NAME is the variable g:pillion_NAME.

import autoload './notify.vim'

const DEFAULTS: dict<any> = {
  command: ['pillion'],
  auto_start: true,
  log_level: 'warn',
  log_file: '',
  is_trusted: v:null,
  roots: v:null,
  agents: {},
  terminal_split_side: 'right',
  terminal_split_width_percentage: 0.30,
  terminal_auto_close: true,
  diffs: true,
  diff_layout: 'vertical',
  diff_keep_terminal_focus: true,
  marks: true,
}

def OneOf(value: any, allowed: list<string>): string
  return type(value) == v:t_string && index(allowed, value) >= 0 ? '' : 'one of "' .. join(allowed, '", "') .. '"'
enddef

def IsFlag(value: any): bool
  return type(value) == v:t_bool || type(value) == v:t_number && (value == 0 || value == 1)
enddef

def IsCommand(value: any): bool
  return type(value) == v:t_list && !empty(value)
    && empty(copy(value)->filter((_, word) => type(word) != v:t_string || word == ''))
enddef

# The requirement of an option that it does not meet.
def Problem(name: string, value: any): string
  if name == 'command'
    return IsCommand(value) ? '' : "a list of words, such as ['pillion']"
  elseif name == 'agents'
    const is_fine = type(value) == v:t_dict && empty(copy(value)->filter((_, words) => !IsCommand(words)))
    return is_fine ? '' : "a dictionary of commands, such as {'mine': ['my-agent']}"
  elseif name == 'log_level'
    return OneOf(value, ['error', 'warn', 'info', 'debug', 'trace'])
  elseif name == 'terminal_split_side'
    return OneOf(value, ['right', 'left', 'top', 'bottom'])
  elseif name == 'diff_layout'
    return OneOf(value, ['vertical', 'horizontal', 'unified'])
  elseif name == 'terminal_split_width_percentage'
    return type(value) == v:t_float && value > 0.0 && value < 1.0 ? '' : 'a number between 0 and 1, such as 0.3'
  elseif name == 'log_file'
    return type(value) == v:t_string ? '' : 'a string'
  elseif name == 'roots'
    return type(value) == v:t_func ? '' : 'a function that returns a list of paths'
  endif
  return IsFlag(value) ? '' : 'true or false'
enddef

# A program that does not depend on a shell to find the home folder.
def AtHome(command: list<any>): list<string>
  return [substitute(command[0], '^\~/', (_) => expand('$HOME') .. '/', '')] + command[1 :]
enddef

# The value of an option; its default if what is set cannot be used.
export def Get(name: string): any
  const value: any = get(g:, 'pillion_' .. name, DEFAULTS[name])
  if type(value) != v:t_none
    const problem = Problem(name, value)
    if problem != ''
      notify.Once('warn', $'g:pillion_{name} must be {problem}')
      return DEFAULTS[name]
    endif
  endif
  if name == 'agents'
    return mapnew(value, (_, words) => AtHome(words))
  elseif name == 'command'
    return AtHome(value)
  elseif name == 'log_file'
    return value == '' ? '' : fnamemodify(value, ':p')
  endif
  return value
enddef

# The problems with the options that are set, a sentence each; also names that mean nothing.
export def Problems(): list<string>
  const internal = ['start_folder', 'event']
  var found: list<string> = []
  for [key, value] in items(g:)->filter((_, pair) => pair[0] =~ '^pillion_')
    const name = key[8 :]
    if index(internal, name) >= 0
      continue
    elseif !has_key(DEFAULTS, name)
      add(found, $'unknown option g:{key}')
    elseif Problem(name, value) != ''
      add(found, $'g:{key} must be {Problem(name, value)}')
    endif
  endfor
  return sort(found)
enddef

# The names of all options.
export def Names(): list<string>
  return sort(keys(DEFAULTS))
enddef
