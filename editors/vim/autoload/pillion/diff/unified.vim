vim9script

# The unified layout: one buffer with the proposal, in which the lines that it removes are drawn, too.

import autoload './hunks.vim'
import autoload './marks.vim'
import autoload './proposal.vim'
import autoload './text.vim'

# The time after a change until the lines are compared again, so that typing stays quick. Milliseconds.
const REFRESH_DELAY = 100

var timer = 0

# Draws what differs.
export def Show(diff: dict<any>)
  hunks.WithShown(diff, (all) => {
    marks.Clear(diff.right)
    const old: list<string> = proposal.OriginalShape(diff).lines
    const count = max([len(text.Lines(diff.right)), 1])
    for hunk in all
      const removed = hunk.old_count > 0 ? old[hunk.old : hunk.old + hunk.old_count - 1] : []
      marks.Draw(diff.right, hunk, removed, count)
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
