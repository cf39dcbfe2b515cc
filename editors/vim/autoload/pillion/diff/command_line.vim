vim9script

# Reading command lines: what the command that a person typed does with the current buffer, and with all.

# The shortest and the whole name of each command, and what it is to a proposal.
const COMMANDS = [
  ['w', 'write', 'write'],
  ['wn', 'wnext', 'write'],
  ['wN', 'wNext', 'write'],
  ['wp', 'wprevious', 'write'],
  ['up', 'update', 'update'],
  ['wq', 'wq', 'exit'],
  ['x', 'xit', 'exit'],
  ['exi', 'exit', 'exit'],
  ['q', 'quit', 'quit'],
  ['qa', 'qall', 'quit_all'],
  ['quita', 'quitall', 'quit_all'],
  ['wa', 'wall', 'write_all'],
  ['wqa', 'wqall', 'exit_all'],
  ['xa', 'xall', 'exit_all'],
]

# Those that carry out another one many times.
const REPEATING = [
  ['argdo', 'argdo'], ['bufd', 'bufdo'], ['cdo', 'cdo'], ['cfd', 'cfdo'], ['foldd', 'folddoopen'],
  ['folddoc', 'folddoclosed'], ['g', 'global'], ['ld', 'ldo'], ['lfd', 'lfdo'], ['norm', 'normal'], ['tabd', 'tabdo'],
  ['v', 'vglobal'], ['wind', 'windo'],
]

# Those that may stand before a write.
const MODIFIERS = [
  ['sil', 'silent'], ['uns', 'unsilent'], ['verb', 'verbose'], ['conf', 'confirm'], ['kee', 'keepmarks'],
  ['keepj', 'keepjumps'], ['keepp', 'keeppatterns'], ['keepalt', 'keepalt'], ['loc', 'lockmarks'],
  ['nos', 'noswapfile'],
]

def Find(list: list<list<string>>, name: string): list<string>
  for entry in list
    if strlen(name) >= strlen(entry[0]) && strpart(entry[1], 0, strlen(name)) ==# name
      return entry
    endif
  endfor
  return []
enddef

def WithoutRange(line: string): string
  return substitute(line, '^\%([ \t0-9:.,;%$*+-]\|''.\|/[^/]*/\|?[^?]*?\)*', '', '')
enddef

# A line from its first command on, and the name of that.
def WithoutModifiers(typed: string): list<string>
  var line = WithoutRange(typed)
  var name = matchstr(line, '^\a\+')
  while name != '' && !empty(Find(MODIFIERS, name)) && empty(Find(COMMANDS, name))
    line = WithoutRange(substitute(strpart(line, strlen(name)), '^!', '', ''))
    name = matchstr(line, '^\a\+')
  endwhile
  return [line, name]
enddef

# True if the first command of a line carries out another one many times, whatever is on the screen then.
export def IsRepeating(typed: string): bool
  const name = WithoutModifiers(typed)[1]
  return name != '' && !empty(Find(REPEATING, name))
enddef

# The effect of the first command of a line: `write`, `update`, `exit` (write and quit), `quit`, `write_all`, `exit_all`
# or `quit_all`; empty for everything else. Its argument, and `!` if it has that.
export def Kind(typed: string): list<string>
  const [line, name] = WithoutModifiers(typed)
  if name == ''
    return ['', '', '']
  endif
  const force = strpart(line, strlen(name), 1) == '!' ? '!' : ''
  const argument = trim(substitute(strpart(line, strlen(name)), '^!', '', ''))
  # `:W` is taken for what people who type it mean.
  const entry = Find(COMMANDS, name =~# '^\u' ? tolower(name) : name)
  return [empty(entry) ? '' : entry[2], argument, force]
enddef

# True if a write with this argument goes to the file of the buffer: not to another one, not to a command, and not
# to the end of a file.
export def WritesBuffer(argument: string, buf: number): bool
  var file = argument
  while file =~ '^++'
    file = substitute(file, '^++\S*\s*', '', '')
  endwhile
  file = trim(substitute(file, '\\\@<![|"].*', '', ''))
  return index(['', '%', '%:p'], file) >= 0 || substitute(file, '\\\(.\)', '\1', 'g') ==# bufname(buf)
enddef
