vim9script

# The buffers of a view: made, filled, replaced, kept. What `:w` means in a proposal is in `decide.vim`.

import autoload '../files.vim'
import autoload './quiet.vim'
import autoload './text.vim'

# The options that autocommands for a filetype must not change in a buffer of a view.
const KEPT = ['buftype', 'bufhidden', 'swapfile', 'undofile', 'readonly', 'buflisted']

# Stands for "as the global option".
const NO_LOCAL_UNDOLEVELS = -123456

# The part of a path in the name of a buffer: tab pages have room for no more, and the label has all of it.
def Tail(diff: dict<any>): string
  return fnamemodify(diff.path, ':t')
enddef

# A new buffer. Its name is never part of a command: the path is the agent's.
def Make(name: string, buftype: string): number
  var free = name
  var number = 1
  while bufexists(free) && number < 100
    number += 1
    free = $'{name} ({number})'
  endwhile
  const buf = bufadd(free)
  setbufvar(buf, '&buftype', buftype)
  setbufvar(buf, '&swapfile', false)
  silent bufload(buf)
  for [option, value] in items({buftype: buftype, bufhidden: 'hide', swapfile: false, undofile: false,
      modeline: false, buflisted: false})
    setbufvar(buf, '&' .. option, value)
  endfor
  return buf
enddef

# Puts lines into a buffer without leaving anything to undo.
export def Fill(buf: number, shape: dict<any>)
  setbufvar(buf, '&modifiable', true)
  setbufvar(buf, '&undolevels', -1)
  silent text.PutLines(buf, shape.lines)
  setbufvar(buf, '&undolevels', NO_LOCAL_UNDOLEVELS)
  text.SetOptions(buf, shape)
  setbufvar(buf, '&modified', false)
enddef

# Makes the buffer of the proposal.
export def Create(diff: dict<any>)
  quiet.Run(() => {
    diff.right = Make($'pillion://{diff.id}/{Tail(diff)}', 'acwrite')
    setbufvar(diff.right, 'pillion_diff', diff.id)
    Fill(diff.right, diff.pristine)
  })
enddef

# Makes the buffer of what the proposal is compared with.
export def CreateOriginal(diff: dict<any>)
  const kind = diff.is_new ? ' (new file)' : diff.is_lossy ? ' (not UTF-8)' : ''
  quiet.Run(() => {
    diff.left = Make($'pillion-original://{diff.id}/{Tail(diff)}{kind}', 'nofile')
    setbufvar(diff.left, 'pillion_diff', diff.id)
  })
  ShowOriginal(diff)
enddef

# The file as the person has it open, unsaved changes and all; else as it is on disk.
export def OriginalShape(diff: dict<any>): dict<any>
  const buf = files.BufferOf(diff.path)
  return buf > 0 ? text.OfBuffer(buf) : diff.original
enddef

# Shows the original as it is now.
export def ShowOriginal(diff: dict<any>)
  const shape = OriginalShape(diff)
  diff.is_buffers = files.BufferOf(diff.path) > 0
  if !bufloaded(diff.left) || getbufvar(diff.left, 'pillion_filled', false) && text.OfBuffer(diff.left) == shape
    return
  endif
  quiet.Run(() => {
    Fill(diff.left, shape)
    setbufvar(diff.left, 'pillion_filled', true)
    setbufvar(diff.left, '&modifiable', false)
  })
enddef

# Names that people's own commands for file types may be shown: others are left without colours.
const PLAIN_NAME = '^[[:alnum:]_./@+=~ -]\+$'

# Patterns take seconds on lines of megabytes.
const MAX_LINE = 10000

def DetectFiletype(path: string)
  const is_long = indexof(getline(1, 100), (_, line) => strlen(line) > MAX_LINE) >= 0
  if !is_long && path =~ PLAIN_NAME && exists('#filetypedetect#BufRead')
    execute 'silent! doautocmd <nomodeline> filetypedetect BufRead' path
  endif
enddef

# Gives the buffers of a view, of which the proposal's is the current one, the colours of the file. What
# autocommands do to text and options meanwhile is taken back: nobody edited the text yet.
export def AddColours(diff: dict<any>)
  const kept = KEPT->mapnew((_, name) => getbufvar(diff.right, '&' .. name))
  const tick = getbufvar(diff.right, 'changedtick')
  const open = files.BufferOf(diff.path)
  const filetype = open > 0 ? getbufvar(open, '&filetype') : ''
  const errmsg = v:errmsg
  try
    if filetype =~ '^[[:alnum:]_.-]\+$'
      execute 'silent! setlocal filetype=' .. filetype
    else
      DetectFiletype(diff.path)
    endif
  catch
    # Missing colours are no reason to hide a diff.
  endtry
  v:errmsg = errmsg
  setbufvar(diff.right, '&modifiable', true)
  for at in range(len(KEPT))
    setbufvar(diff.right, '&' .. KEPT[at], kept[at])
  endfor
  if getbufvar(diff.right, 'changedtick') != tick
    quiet.Run(() => Fill(diff.right, diff.pristine))
  endif
  text.SetOptions(diff.right, diff.pristine)
  setbufvar(diff.right, '&modified', false)
  if diff.left > 0
    setbufvar(diff.left, '&syntax', getbufvar(diff.right, '&syntax'))
  endif
enddef

# Puts another text into the buffer, undoable, touching only what differs so that the cursor stays near.
# The first and the last line of what is new.
export def Put(diff: dict<any>, shape: dict<any>): list<number>
  var lines: list<number> = []
  quiet.Run(() => {
    # Also while the person cannot change it.
    const is_modifiable = getbufvar(diff.right, '&modifiable')
    setbufvar(diff.right, '&modifiable', true)
    # Setting it ends what one `u` takes back.
    setbufvar(diff.right, '&undolevels', getbufvar(diff.right, '&undolevels'))
    lines = text.Change(diff.right, shape.lines)
    setbufvar(diff.right, '&undolevels', getbufvar(diff.right, '&undolevels'))
    text.SetOptions(diff.right, shape)
    setbufvar(diff.right, '&modifiable', is_modifiable)
  })
  return lines
enddef

# The same for a newer proposal.
export def Replace(diff: dict<any>)
  Put(diff, diff.pristine)
  setbufvar(diff.right, '&modified', false)
enddef

# Keeps what the person wrote into a proposal that is no longer pending, in a buffer that Vim does not quit
# over before it is written or thrown away.
export def Rescue(diff: dict<any>): number
  const shape = text.OfBuffer(diff.right)
  return quiet.Run(() => {
    const buf = Make($'pillion-kept://{diff.id}/{Tail(diff)}', '')
    setbufvar(buf, '&buflisted', true)
    setbufvar(buf, 'pillion_kept', true)
    Fill(buf, shape)
    setbufvar(buf, '&modified', true)
    return buf
  })
enddef

export def Remove(diff: dict<any>)
  quiet.Run(() => {
    for buf in [diff.right, diff.left]
      if buf > 0 && bufexists(buf)
        execute 'silent! bwipeout!' buf
      endif
    endfor
  })
enddef
