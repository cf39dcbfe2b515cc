vim9script

# Files and the buffers that show them. Never by pattern: bufnr('[id].tsx') finds i.tsx.

# The absolute path of a buffer that shows a file; empty for all others.
export def PathOf(buf: number): string
  if !bufexists(buf) || getbufvar(buf, '&buftype') != ''
    return ''
  endif
  const info = getbufinfo(buf)
  const name = empty(info) ? '' : info[0].name
  return name =~ '^/' || has('win32') && name =~ '^\a:[\\/]' ? name : ''
enddef

export def IsOnDisk(path: string): bool
  return getftype(path) =~ '^\%(file\|link\)$' && !isdirectory(path) && getftype(resolve(path)) == 'file'
enddef

# Without the slash at its end.
export def Trimmed(folder: string): string
  return folder =~ '^.[/\\]*$' ? folder : substitute(folder, '[/\\]\+$', '', '')
enddef

# Where a path really leads; empty if nothing is there.
export def Real(path: string): string
  const found = Trimmed(resolve(path))
  return getftype(found) == '' ? '' : found
enddef

# The same if only its folder is there.
def RealNew(path: string): string
  const found = Real(path)
  if found != ''
    return found
  endif
  const folder = Real(fnamemodify(path, ':h'))
  return folder == '' ? '' : Trimmed(folder) .. '/' .. fnamemodify(path, ':t')
enddef

# The loaded buffer of the file `path`; 0 if there is none.
export def BufferOf(path: string): number
  var candidates: list<dict<any>> = []
  for info in getbufinfo({bufloaded: 1})
    const name = PathOf(info.bufnr)
    if name ==# path
      return info.bufnr
    elseif name != ''
      add(candidates, {buf: info.bufnr, name: name})
    endif
  endfor
  const target = RealNew(path)
  for candidate in candidates
    if target != '' && RealNew(candidate.name) ==# target
      return candidate.buf
    endif
  endfor
  return 0
enddef

# A `file:` URI, percent-encoded byte by byte.
export def Uri(path: string): string
  const name = has('win32') ? '/' .. substitute(path, '\\', '/', 'g') : path
  var parts: list<string> = []
  for at in range(strlen(name))
    const char = strpart(name, at, 1)
    add(parts, char =~ '^[A-Za-z0-9/._~:-]$' ? char : printf('%%%02X', char2nr(char)))
  endfor
  return 'file://' .. join(parts, '')
enddef
