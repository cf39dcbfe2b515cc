vim9script

# The person's notes for the agent, on lines of a proposal: shown at these lines, wherever edits move them, and sent
# with the decision. `diff.notes_on` has the text of each by the id of its text property.

import autoload '../client.vim'
import autoload '../notify.vim'
import autoload './label.vim'

# The lines of a note, and what is shown behind the first one.
const LINES = 'PillionNoteLines'
const SHOWN = 'PillionNote'

# Shown of a note; the rest is in the list.
const MAX_SHOWN = 60

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

var last_id = 0

def Define()
  highlight default link PillionNote Todo
  if empty(prop_type_get(LINES))
    prop_type_add(LINES, {})
    prop_type_add(SHOWN, {highlight: 'PillionNote'})
  endif
enddef

# A note in one line.
def Line(text: string): string
  const line = substitute(text, '[[:cntrl:][:space:]]\+', ' ', 'g')->trim()
  return strcharlen(line) > MAX_SHOWN ? strcharpart(line, 0, MAX_SHOWN - 1) .. '…' : line
enddef

def Lines(note: dict<any>): string
  return note.first < 0 ? 'no lines' : note.first == note.last ? $'line {note.first + 1}' : $'lines {note.first + 1} to {note.last + 1}'
enddef

# All notes of a diff where they are now, from top to bottom: {id, text, first, last}, lines from 0; -1 where edits have
# taken the lines away.
def List(diff: dict<any>): list<dict<any>>
  var notes: dict<dict<any>> = mapnew(diff.notes_on, (id, text) => ({id: str2nr(id), text: text, first: -1, last: -1}))
  if !bufloaded(diff.right)
    return copy(diff.last_notes)
  endif
  if !empty(notes)
    for property in prop_list(1, {bufnr: diff.right, end_lnum: -1, types: [LINES]})
      if has_key(notes, property.id)
        const note = notes[property.id]
        note.first = note.first < 0 ? property.lnum - 1 : note.first
        note.last = property.lnum - 1
      endif
    endfor
  endif
  return values(notes)->sort((a, b) => a.first == b.first ? a.id - b.id : a.first - b.first)
enddef

# Its buffer is about to go.
export def Keep(diff: dict<any>)
  diff.last_notes = List(diff)
enddef

# Shows those of a diff anew.
def Draw(diff: dict<any>)
  prop_remove({bufnr: diff.right, type: SHOWN, all: true})
  for note in List(diff)
    if note.first >= 0
      const where = note.first == note.last ? '' : Lines(note) .. ': '
      prop_add(note.first + 1, 0, {
        bufnr: diff.right, type: SHOWN, text: $'▸ {where}{Line(note.text)}', text_align: 'after', text_padding_left: 1,
        text_wrap: 'truncate',
      })
    endif
  endfor
  label.Note(diff)
  redrawstatus!
enddef

def Remove(diff: dict<any>, first: number, last: number): number
  const gone = List(diff)->filter((_, note) => note.first <= last && note.last >= first)
  for note in gone
    remove(diff.notes_on, note.id)
    prop_remove({bufnr: diff.right, type: LINES, id: note.id, both: true, all: true})
  endfor
  return len(gone)
enddef

def Add(diff: dict<any>, first: number, last: number, text: string)
  last_id += 1
  diff.notes_on[last_id] = text
  prop_add(first + 1, 1, {
    bufnr: diff.right, type: LINES, id: last_id, end_lnum: last + 1,
    end_col: strlen(getbufoneline(diff.right, last + 1)) + 1,
  })
enddef

# Lists them; the person goes to the one that they choose.
def Choose(diff: dict<any>)
  const notes = List(diff)
  popup_menu(mapnew(notes, (_, note) => $'{Lines(note)}: {Line(note.text)}'), {
    title: ' Go to which note? ',
    callback: (_, choice) => {
      if choice > 0 && bufnr() == diff.right && notes[choice - 1].first >= 0
        normal! m'
        cursor(notes[choice - 1].first + 1, 1)
      endif
    },
  })
enddef

# `:PillionNote`: `about` is what Vim knows about it: `line1`, `line2`, `bang`.
export def Note(diff: dict<any>, words: string, about: dict<any>)
  if bufnr() != diff.right
    notify.Error('the cursor is not in the proposal, which is the window on the right')
    return
  endif
  Define()
  const text = trim(words)
  const removed = about.bang ? Remove(diff, about.line1 - 1, about.line2 - 1) : 0
  if text != ''
    Add(diff, about.line1 - 1, about.line2 - 1, text)
  endif
  if text != '' || removed > 0
    # At once: Vim may quit before the person decides.
    client.Notify('pillion/didChangeNotes', {id: diff.id, revision: diff.revision, notes: get(Params(diff), 'notes', [])})
  elseif about.bang && removed == 0
    notify.Info('there is no note on these lines')
  elseif !about.bang && empty(diff.notes_on)
    notify.Info('there are no notes on this proposal. Hint: :PillionNote TEXT adds one to the line')
  elseif !about.bang
    Choose(diff)
  endif
  Draw(diff)
enddef

# As they are sent, as a part of `pillion/decide`: `reason` is about the whole change.
export def Params(diff: dict<any>, reason = ''): dict<any>
  var notes: list<dict<any>> = reason == '' ? [] : [{text: reason}]
  for note in List(diff)
    add(notes, note.first < 0 ? {text: note.text} : {text: note.text, lines: {first: note.first, last: note.last}})
  endfor
  return empty(notes) ? {} : {notes: notes}
enddef

def Base64(text: string): string
  const bytes = range(strlen(text))->mapnew((_, at) => char2nr(strpart(text, at, 1)))
  var coded = ''
  for at in range(0, len(bytes) - 1, 3)
    const three = bytes[at : at + 2]
    const bits = three[0] * 65536 + get(three, 1, 0) * 256 + get(three, 2, 0)
    const digits = [bits / 262144, bits / 4096 % 64, bits / 64 % 64, bits % 64]
    coded ..= mapnew(digits, (index, digit) => index <= len(three) ? BASE64[digit] : '=')->join('')
  endfor
  return coded
enddef

# By the terminal, too: it may be on another machine.
def Copy(text: string)
  if has('clipboard')
    setreg('+', text)
  endif
  if !has('gui_running')
    echoraw($"\<Esc>]52;c;{Base64(text)}\<C-G>")
  endif
enddef

# They are on their way, whatever is decided about them.
export def Forget(diff: dict<any>)
  [diff.notes_on, diff.last_notes] = [{}, []]
enddef

# Those of `params` went with a decision that counts: says what becomes of them.
export def SayTold(params: dict<any>, ruling: any)
  const answer = type(ruling) == v:t_dict ? ruling : {}
  var [message, text] = [get(answer, 'message', v:null), get(answer, 'clipboard', v:null)]
  if has_key(params, 'notes') && !(get(answer, 'settled', false) && type(message) == v:t_string)
    message = 'the agent cannot be told your notes: they are on the clipboard'
    text = mapnew(params.notes, (_, note) => note.text)->join("\n")
  endif
  if type(text) == v:t_string
    Copy(text)
  endif
  if type(message) == v:t_string
    notify.Soon('info', message)
  endif
enddef

# Says those of a diff that went without a decision of the person's.
export def SayLost(diff: dict<any>)
  const texts = List(diff)->mapnew((_, note) => note.text)
  if !empty(texts)
    notify.Unasked('warn', $'{diff.agent} was not told your notes: {join(texts, "; ")}')
  endif
enddef
