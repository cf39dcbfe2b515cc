vim9script

# The problems that the editor shows, from ALE or coc.nvim. Vim has no list of its own.

import autoload './files.vim'
import autoload './utf8.vim'

# Agents get no more, errors first.
const MAX_SENT = 1000

const SEVERITIES = {E: 1, W: 2, I: 3, Error: 1, Warning: 2, Information: 3, Hint: 4}

def Place(buf: number, path: string, line: number, column: number): dict<any>
  const text = get(bufloaded(buf) ? getbufline(buf, line) : [], 0, '')
  const before = utf8.Valid(strpart(text, 0, max([column - 1, 0])))
  return {line: max([line - 1, 0]), character: text == '' ? 0 : strlen(before), text: substitute(before, "\n", ' ', 'g')}
enddef

# One problem as Pillion has it; lines and columns counted from 1, the end before `end_column`.
def Diagnostic(buf: number, path: string, found: dict<any>): dict<any>
  const start = Place(buf, path, found.line, found.column)
  const end = Place(buf, path, found.end_line, found.end_column)
  var diagnostic: dict<any> = {
    range: {
      start: {line: start.line, character: start.character}, end: {line: end.line, character: end.character},
      startLineText: start.text, endLineText: end.text,
    },
    severity: get(SEVERITIES, found.severity, 1),
    message: utf8.Valid(found.message),
  }
  for name in ['source', 'code']
    if get(found, name, '') != ''
      diagnostic[name] = utf8.Valid('' .. found[name])
    endif
  endfor
  return diagnostic
enddef

# By path: what ALE shows.
def OfAle(found: dict<list<dict<any>>>)
  for key in keys(get(g:, 'ale_buffer_info', {}))
    const buf = str2nr(key)
    const path = files.PathOf(buf)
    for item in path == '' ? [] : ale#engine#GetLoclist(buf)
      if get(item, 'bufnr', buf) == buf
        found[path] = get(found, path, []) + [Diagnostic(buf, path, {
          line: item.lnum, column: item.col, end_line: get(item, 'end_lnum', item.lnum),
          end_column: get(item, 'end_col', item.col - 1) + 1, severity: item.type, message: item.text,
          source: get(item, 'linter_name', ''), code: get(item, 'code', ''),
        })]
      endif
    endfor
  endfor
enddef

# The same of coc.nvim.
def OfCoc(found: dict<list<dict<any>>>)
  const listed: any = call('CocAction', ['diagnosticList'])
  for item in type(listed) == v:t_list ? listed : []
    const buf = files.BufferOf(item.file)
    found[item.file] = get(found, item.file, []) + [Diagnostic(buf, item.file, {
      line: item.lnum, column: item.col, end_line: get(item, 'end_lnum', item.lnum),
      end_column: get(item, 'end_col', item.col), severity: item.severity, message: item.message,
      source: get(item, 'source', ''), code: get(item, 'code', ''),
    })]
  endfor
enddef

# All that is known, by path.
def Collect(): dict<list<dict<any>>>
  var found: dict<list<dict<any>>> = {}
  if exists('g:ale_buffer_info')
    OfAle(found)
  elseif get(g:, 'coc_service_initialized', 0) && exists('*CocAction')
    OfCoc(found)
  endif
  return found
enddef

# The problems for an agent (`pillion/diagnostics`).
export def Answer(params: dict<any>): dict<any>
  const wanted = get(params, 'uri', v:null)
  var answer: list<dict<any>> = []
  var left = MAX_SENT
  for [path, all] in items(Collect())
    const uri = files.Uri(path)
    if type(wanted) != v:t_string || uri ==# wanted
      const some = sort(all, (a, b) => a.severity - b.severity)[: left - 1]
      add(answer, {uri: uri, diagnostics: some})
      left -= len(some)
    endif
    if left <= 0
      break
    endif
  endfor
  return {files: answer}
enddef
