vim9script

# Text on its way into a prompt: what agents read as a file, and what no text may do there.

import autoload '../agents.vim'

# What ends an `@path` for the agents, or means something to them, gets a backslash.
const SPECIAL = '[ ()\[\]{};|*?$`''"#&<>!~,\\]'

# A control character as its picture; a line break within a line is how Vim keeps a NUL.
def Picture(char: string): string
  const code = char2nr(char)
  return code == 127 ? '␡' : code >= 128 ? "\uFFFD" : nr2char(0x2400 + code)
enddef

# Nothing in a pasted text may end the paste or be taken for a key, but for tabs and line breaks.
export def Harmless(text: string): string
  return substitute(substitute(text, "\r\n", "\n", 'g'), '[\x01-\x08\x0b-\x1f\x7f\u80-\u9f]', (found) => Picture(found[0]), 'g')
enddef

# A path as people read it: relative to the agent's folder if it is below.
export def Relative(path: string, folder: string): string
  const start = folder =~ '/$' ? folder : folder .. '/'
  return strpart(path, 0, strlen(start)) ==# start && strlen(path) > strlen(start) ? strpart(path, strlen(start)) : path
enddef

# Which lines (from 1), in words.
export def Lines(first: number, last: number): string
  return first == last ? $'line {first}' : $'lines {first}-{last}'
enddef

# `@path#L3-7`, as some agents read it.
def WithAnchor(item: dict<any>, folder: string): string
  const lines = item.first == 0 ? '' : $'#L{item.first}' .. (item.last == item.first ? '' : $'-{item.last}')
  return item.path =~ '\s' ? $'@"{item.path}{lines}"' : $'@{Relative(item.path, folder)}{lines}'
enddef

# A file or folder {path, first, last} as the agent reads it; `first` is 0 for all of it.
export def Item(item: dict<any>, session: dict<any>): string
  if agents.About(session.agent)->get('readsLinesInPrompt', false)
    return WithAnchor(item, session.cwd)
  endif
  const path = '@' .. substitute(Relative(item.path, session.cwd), SPECIAL, '\\&', 'g')
  return item.first == 0 ? path : path .. ' ' .. Lines(item.first, item.last)
enddef

# A text that the agent cannot take for anything else, whatever is in it.
export def Fenced(text: string): string
  var fence = '```'
  while stridx(text, fence) >= 0
    fence ..= '`'
  endwhile
  return $"{fence}\n{substitute(text, '\n$', '', '')}\n{fence}"
enddef
