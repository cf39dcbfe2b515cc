vim9script

# `:Pillion doctor`: what the plugin knows of itself, and what `pillion doctor` finds on this machine. `:PillionLog`: what
# was decided.

import autoload './client.vim'
import autoload './config.vim'
import autoload './notify.vim'
import autoload './status.vim'
import autoload './version.vim'

# Opens a window with lines that cannot be saved.
def Scratch(name: string, lines: list<string>): number
  const known = bufnr($'^{name}$')
  if known > 0
    execute 'silent! bwipeout!' known
  endif
  botright new
  setlocal buftype=nofile bufhidden=wipe noswapfile nobuflisted nomodeline
  execute 'silent file' name
  setline(1, lines)
  return bufnr()
enddef

def Facts(): list<string>
  var lines = [$'Pillion for Vim {version.NUMBER}, Vim {v:versionlong}', 'Companion: ' .. status.Describe()]
  if client.last_end != ''
    lines += ['It last ended with ' .. substitute(client.last_end, '\n', ' ', 'g')]
  endif
  const roots: list<string> = client.state.roots
  lines += ['Workspace roots: ' .. (empty(roots) ? 'none' : join(roots, ', '))]
  lines += mapnew(client.state.warnings, (_, warning) => 'Warning: ' .. warning)
  lines += copy(client.state.notes)
  lines += mapnew(config.Problems(), (_, problem) => 'Option: ' .. problem)
  if &encoding != 'utf-8'
    lines += [$"Vim's 'encoding' is {&encoding}: proposals need utf-8. Hint: set encoding=utf-8"]
  endif
  return lines
enddef

# Shows what the program prints for a word.
def Run(word: string, lines: list<string>)
  const command: list<string> = config.Get('command')
  const program = exepath(command[0])
  if program == ''
    Scratch($'pillion-{word}', lines + [$'`{command[0]}` was not found: install it, or set g:pillion_command'])
    return
  endif
  const buf = Scratch($'pillion-{word}', lines + [$'$ pillion {word}'])
  job_start([program] + command[1 :] + [word], {
    in_io: 'null', err_io: 'out', noblock: 1,
    out_cb: (_, line) => {
      if bufexists(buf)
        appendbufline(buf, '$', line)
      endif
    },
  })
enddef

export def Show()
  Run('doctor', Facts() + [''])
enddef

# What was decided in this project, and what came of it.
export def Decisions()
  Run('log', [])
enddef

# All of what was said lately: a long message does not fit on the command line.
export def Messages()
  const lines = notify.Kept()
  Scratch('pillion-messages', empty(lines) ? ['nothing was said yet'] : lines)
enddef

export def OpenLog()
  const file = config.Get('log_file')
  if file == ''
    throw 'Pillion: no log file is set. Hint: set g:pillion_log_file, then :Pillion restart'
  endif
  split
  execute 'buffer' bufadd(file)
enddef
