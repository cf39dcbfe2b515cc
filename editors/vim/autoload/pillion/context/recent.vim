vim9script

# The files by when they were focused last.

import autoload '../files.vim'

# As many files as agents are shown, and how many are looked for on disk at most in search of them.
const SHOWN = 10
const MAX_LOOKED_AT = 64

# Of how many folders the repositories are looked for at most, and among how many files.
const MAX_FOLDERS = 64
const MAX_AMONG = 512

# By buffer: when its file was focused last, in milliseconds.
var times: dict<number> = {}
var last_time = 0

def Now(): number
  const seconds = reltime()
  return localtime() * 1000 + float2nr(reltimefloat(seconds) * 1000.0) % 1000
enddef

# Notes that the file of this buffer has the focus now.
export def Touch(buf: number)
  # Agents ignore the order of files with equal times.
  last_time = max([Now(), last_time + 1])
  times[buf] = last_time
enddef

export def Forget(buf: number)
  if has_key(times, buf)
    remove(times, buf)
  endif
enddef

# Begins with the buffers that were in use before, as Vim remembers them.
export def Seed()
  times = {}
  last_time = 0
  for info in getbufinfo({buflisted: 1})->sort((a, b) => a.lastused - b.lastused)
    if info.lastused > 0
      last_time = max([info.lastused * 1000, last_time + 1])
      times[info.bufnr] = last_time
    endif
  endfor
enddef

def Newest(): list<number>
  return keys(times)->map((_, buf) => str2nr(buf))->sort((a, b) => times[b] - times[a])
enddef

# `{buf, path, time}` of the files to be shown, the newest first.
export def Shown(): list<dict<any>>
  var shown: list<dict<any>> = []
  for buf in Newest()[: MAX_LOOKED_AT - 1]
    const path = files.PathOf(buf)
    if path != '' && files.IsOnDisk(path)
      add(shown, {buf: buf, path: path, time: times[buf]})
    endif
    if len(shown) == SHOWN
      break
    endif
  endfor
  return shown
enddef

# The paths of the files that were focused last, one of each folder, the newest first; before anything was looked at, of the
# one in focus.
export def Paths(): list<string>
  var paths: list<string> = []
  var folders: dict<bool> = {}
  for buf in Newest()[: MAX_AMONG - 1]
    const path = files.PathOf(buf)
    const folder = fnamemodify(path, ':h')
    if path != '' && !has_key(folders, folder)
      folders[folder] = true
      add(paths, path)
    endif
    if len(paths) == MAX_FOLDERS
      break
    endif
  endfor
  const here = files.PathOf(bufnr())
  return !empty(paths) || here == '' ? paths : [here]
enddef
