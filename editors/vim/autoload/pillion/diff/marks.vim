vim9script

# A hunk as it is drawn in the text that has it: a sign at what is added or changed, and as virtual text the lines that
# are gone.

const GROUP = 'pillion'
const PROPERTY = 'PillionDelete'
# At the beginning of each hunk, wherever it moves.
const PLACE = 'PillionHunk'

# Virtual lines are drawn however many there are: a removed file of megabytes would stall Vim.
const MAX_REMOVED = 1000

def Define()
  highlight default link PillionAdd DiffAdd
  highlight default link PillionDelete DiffDelete
  highlight default link PillionAddSign PillionAdd
  highlight default link PillionDeleteSign PillionDelete
  sign_define('PillionAdd', {text: '+', texthl: 'PillionAddSign', linehl: 'PillionAdd'})
  sign_define('PillionChange', {text: '~', texthl: 'PillionAddSign', linehl: 'PillionAdd'})
  sign_define('PillionDelete', {text: '_', texthl: 'PillionDeleteSign'})
  if empty(prop_type_get(PROPERTY))
    prop_type_add(PROPERTY, {highlight: 'PillionDelete'})
    prop_type_add(PLACE, {})
  endif
enddef

# Draws lines that are gone above or below a line that is there.
def DrawRemoved(buf: number, lines: list<string>, at: number, where: string)
  for line in lines
    const shown = substitute(line, '[\x00-\x08\x0a-\x1f]', '?', 'g')->substitute("\t", repeat(' ', &tabstop), 'g')
    prop_add(at, 0, {bufnr: buf, type: PROPERTY, text: shown == '' ? ' ' : shown, text_align: where})
  endfor
enddef

# Draws a hunk of a buffer with `count` lines, see `hunks.vim`, which has taken the place of the lines `removed`. Not all
# of these need to be known; if none is, another hunk says what was there.
export def Draw(buf: number, hunk: dict<number>, removed: list<string>, count: number)
  Define()
  const is_below = hunk.new >= count
  const known = removed[: MAX_REMOVED - 1]
  const rest = empty(known) ? 0 : hunk.old_count - len(known)
  const more = rest > 0 ? [$'… {rest} more line{rest > 1 ? "s" : ""}'] : []
  DrawRemoved(buf, known + more, is_below ? count : hunk.new + 1, is_below ? 'below' : 'above')
  const name = hunk.old_count > 0 ? 'PillionChange' : 'PillionAdd'
  for line in range(hunk.new + 1, hunk.new + hunk.new_count)
    sign_place(0, GROUP, name, buf, {lnum: line})
  endfor
  const first = max([min([hunk.new + 1, count]), 1])
  if hunk.new_count == 0
    sign_place(0, GROUP, 'PillionDelete', buf, {lnum: first})
  endif
  prop_add(first, 1, {bufnr: buf, type: PLACE, length: 0})
enddef

# The lines at which hunks begin now.
export def Places(buf: number): list<number>
  Define()
  return prop_list(1, {bufnr: buf, end_lnum: -1, types: [PLACE]})->mapnew((_, place) => place.lnum)
enddef

export def Clear(buf: number)
  Define()
  sign_unplace(GROUP, {buffer: buf})
  prop_remove({bufnr: buf, types: [PROPERTY, PLACE], all: true})
enddef
