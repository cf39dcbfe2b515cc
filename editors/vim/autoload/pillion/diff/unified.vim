vim9script

# The unified layout: one buffer with the proposal, in which the lines that it removes are drawn, too.

import autoload './hunks.vim'
import autoload './proposal.vim'
import autoload './text.vim'

const GROUP = 'pillion'
const PROPERTY = 'PillionDelete'

# The time after a change until the lines are compared again, so that typing stays quick. Milliseconds.
const REFRESH_DELAY = 100

var timer = 0

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
  endif
enddef

# Draws lines that are gone above or below a line that is there.
def DrawRemoved(buf: number, lines: list<string>, at: number, where: string)
  for line in lines
    const shown = substitute(line, '[\x00-\x08\x0a-\x1f]', '?', 'g')->substitute("\t", repeat(' ', &tabstop), 'g')
    prop_add(at, 0, {bufnr: buf, type: PROPERTY, text: shown == '' ? ' ' : shown, text_align: where})
  endfor
enddef

def Draw(buf: number, hunk: dict<number>, old: list<string>, count: number)
  const removed = hunk.old_count > 0 ? old[hunk.old : hunk.old + hunk.old_count - 1] : []
  const is_below = hunk.new >= count
  DrawRemoved(buf, removed, is_below ? count : hunk.new + 1, is_below ? 'below' : 'above')
  const name = hunk.old_count > 0 ? 'PillionChange' : 'PillionAdd'
  for line in range(hunk.new + 1, hunk.new + hunk.new_count)
    sign_place(0, GROUP, name, buf, {lnum: line})
  endfor
  if hunk.new_count == 0
    sign_place(0, GROUP, 'PillionDelete', buf, {lnum: max([min([hunk.new + 1, count]), 1])})
  endif
enddef

def Clear(buf: number)
  sign_unplace(GROUP, {buffer: buf})
  prop_remove({bufnr: buf, type: PROPERTY, all: true})
enddef

# Draws what differs.
export def Show(diff: dict<any>)
  Define()
  hunks.WithShown(diff, (all) => {
    Clear(diff.right)
    const old: list<string> = proposal.OriginalShape(diff).lines
    const count = max([len(text.Lines(diff.right)), 1])
    for hunk in all
      Draw(diff.right, hunk, old, count)
    endfor
  })
  execute $'augroup PillionUnified{diff.id}'
  autocmd!
  execute $'autocmd TextChanged,TextChangedI <buffer={diff.right}> pillion#diff#unified#Soon({diff.id})'
  augroup END
enddef

# Draws it again once nothing is typed for a moment.
export def Soon(id: number)
  timer_stop(timer)
  timer = timer_start(REFRESH_DELAY, (_) => pillion#diff#Redraw(id))
enddef

# Takes it away.
export def Hide(diff: dict<any>)
  if exists($'#PillionUnified{diff.id}')
    execute $'autocmd! PillionUnified{diff.id}'
    execute $'augroup! PillionUnified{diff.id}'
  endif
enddef
