" The commands, the <Plug> maps, and starting on the first real file.
" Everything else is loaded when it is needed.
if exists('g:loaded_pillion')
  finish
elseif !has('vim9script') || v:version < 901 || !has('channel') || !has('job')
  echohl ErrorMsg
  echomsg 'Pillion needs Vim 9.1 or newer, with channels and jobs, so it does not start'
  echohl None
  finish
endif
vim9script

g:loaded_pillion = true

import autoload '../autoload/pillion/command.vim'
import autoload '../autoload/pillion/autostart.vim'

# 'autochdir' has not moved it yet.
g:pillion_start_folder = getcwd()

def Complete(lead: string, line: string, position: number): list<string>
  return command.Complete(lead, line, position)
enddef

def CompleteShort(lead: string, line: string, position: number): list<string>
  return command.CompleteShort(lead, line, position)
enddef

command -nargs=* -range -bar -complete=customlist,Complete Pillion
      \ command.Run([<f-args>], {range: <range>, line1: <line1>, line2: <line2>, text: <q-args>, bang: false})
command -nargs=? -bar PillionAccept command.Dispatch('accept', [<f-args>], {})
# The rest of the line is what the agent is told, with any `|` and `"`.
command -nargs=* PillionReject command.Dispatch('reject', [], {words: <q-args>})
command -nargs=* -range -bang PillionNote
      \ command.Dispatch('note', [], {words: <q-args>, line1: <line1>, line2: <line2>, bang: <bang>false})
command -nargs=? -bar PillionDiffs command.Dispatch('diffs', [<f-args>], {})
command -nargs=0 -bar PillionMerge command.Dispatch('merge', [], {})
command -nargs=0 -bar PillionTakeHunk command.Dispatch('take-hunk', [], {})
command -nargs=0 -bar PillionDropHunk command.Dispatch('drop-hunk', [], {})
command -nargs=0 -bar PillionNextHunk command.Dispatch('next-hunk', [], {})
command -nargs=0 -bar PillionPreviousHunk command.Dispatch('previous-hunk', [], {})
command -nargs=* -range -bar -complete=customlist,CompleteShort PillionSend
      \ command.Dispatch('send', [<f-args>], {range: <range>, line1: <line1>, line2: <line2>})
command -nargs=+ -bar -complete=customlist,CompleteShort PillionAdd
      \ command.Dispatch('add', [<f-args>], {})
command -nargs=? -bar -bang PillionChanges command.Dispatch('changes', [<f-args>], {bang: <bang>false})
command -nargs=* -bang PillionKeep command.Dispatch('keep', [], {words: <q-args>, bang: <bang>false})
command -nargs=0 -bar PillionNextChange command.Dispatch('next-change', [], {})
command -nargs=0 -bar PillionPreviousChange command.Dispatch('previous-change', [], {})
command -nargs=0 -bar PillionLog command.Dispatch('decisions', [], {})
command -nargs=? -bar PillionLook command.Dispatch('look', [<f-args>], {})
command -nargs=* -range -bang PillionTakeBack
      \ command.Dispatch('take-back', [], {words: <q-args>, range: <range>, line1: <line1>, line2: <line2>, bang: <bang>false})
command -nargs=? -bar PillionUndo command.Dispatch('undo', [<f-args>], {})
command -nargs=0 -bar PillionSendNotes command.Dispatch('send-notes', [], {})
command -nargs=? -bar -complete=customlist,CompleteShort PillionReview
      \ command.Dispatch('review', [<f-args>], {})

for [key, name] in [['accept', 'Accept'], ['reject', 'Reject'], ['diffs', 'Diffs'], ['take-hunk', 'TakeHunk'],
    ['drop-hunk', 'DropHunk'], ['next-hunk', 'NextHunk'], ['previous-hunk', 'PreviousHunk'], ['send', 'Send'],
    ['send-notes', 'SendNotes'], ['changes', 'Changes'], ['keep', 'Keep'], ['look', 'Look'], ['take-back', 'TakeBack'],
    ['undo', 'Undo'], ['next-change', 'NextChange'], ['previous-change', 'PreviousChange']]
  execute $'nnoremap <silent> <Plug>(pillion-{key}) <Cmd>Pillion{name}<CR>'
  execute $'xnoremap <silent> <Plug>(pillion-{key}) :Pillion{name}<CR>'
  execute $'tnoremap <silent> <Plug>(pillion-{key}) <Cmd>Pillion{name}<CR>'
endfor
# These take no range.
for [key, name] in [['accept', 'Accept'], ['reject', 'Reject'], ['diffs', 'Diffs'], ['take-hunk', 'TakeHunk'],
    ['drop-hunk', 'DropHunk'], ['next-hunk', 'NextHunk'], ['previous-hunk', 'PreviousHunk'],
    ['send-notes', 'SendNotes'], ['changes', 'Changes'], ['keep', 'Keep'], ['look', 'Look'],
    ['undo', 'Undo'], ['next-change', 'NextChange'], ['previous-change', 'PreviousChange']]
  execute $'xnoremap <silent> <Plug>(pillion-{key}) <Esc><Cmd>Pillion{name}<CR>'
endfor

# Later: the options may be set, and the file be a real one, only after the event.
def ConsiderSoon(may_be_new: bool, everywhere = false)
  timer_start(0, (_) => autostart.Consider(may_be_new, everywhere))
enddef

augroup PillionAutoStart
  autocmd!
  autocmd BufEnter,BufFilePost,BufWritePost * ConsiderSoon(false)
  autocmd BufNewFile * ConsiderSoon(true)
  autocmd VimEnter,SessionLoadPost * ConsiderSoon(true, true)
augroup END

if v:vim_did_enter
  # A package manager loads the plugin late.
  ConsiderSoon(true, true)
endif
