vim9script

# The workspace, of which Pillion makes the roots, in which agents connect: the folders that Vim works in, and the files
# that were used.

import autoload './client.vim'
import autoload './config.vim'
import autoload './context/recent.vim'
import autoload './files.vim'
import autoload './notify.vim'

# The message that was sent last.
var sent: dict<any> = {}

# With 'autochdir' a working folder says no more than which file has the focus; then it is the folder that Vim
# was started in.
def WorkingFolders(): list<string>
  if &autochdir
    return [g:pillion_start_folder]
  endif
  var folders = [getcwd(-1, -1)]
  for tab in range(1, tabpagenr('$'))
    for window in range(1, tabpagewinnr(tab, '$'))
      add(folders, getcwd(window, tab))
    endfor
  endfor
  return folders
enddef

# The URIs of paths, each once.
def Uris(paths: list<any>): list<string>
  var found: list<string> = []
  for path in paths
    const uri = type(path) == v:t_string && path != '' ? files.Uri(fnamemodify(path, ':p')) : ''
    if uri != '' && index(found, uri) < 0
      add(found, uri)
    endif
  endfor
  return found
enddef

def Chosen(): list<any>
  const Option = config.Get('roots')
  if type(Option) != v:t_func
    return []
  endif
  var result: any
  try
    result = call(Option, [])
  catch
    notify.Once('warn', $'g:pillion_roots failed: {v:exception}')
    return []
  endtry
  if type(result) != v:t_list
    notify.Once('warn', 'g:pillion_roots must be a function that returns a list of paths')
    return []
  endif
  return result
enddef

def Workspace(): dict<any>
  const chosen = Chosen()
  # With those in which coc.nvim's language servers work.
  const folders = empty(chosen) ? WorkingFolders() + get(g:, 'WorkspaceFolders', []) : chosen
  return {folders: Uris(folders), files: Uris(recent.Paths()), chosen: !empty(chosen)}
enddef

# The workspace for `initialize`; later changes are compared with it.
export def Begin(): dict<any>
  sent = Workspace()
  return sent
enddef

# Reports the workspace if it is another one than before. `is_new`: folders may have become repositories.
export def Refresh(is_new: bool)
  const now = Workspace()
  if is_new || now != sent
    sent = client.Notify('pillion/didChangeWorkspace', now) ? now : {}
  endif
enddef

# Has the roots of this moment worked out, and waits until Pillion has said what they are. Not for long: disks may hang.
export def Await()
  const now = Workspace()
  if client.IsRunning()
    sent = now
    client.AskNow('pillion/workspace', now)
  endif
enddef

# Says, the first time, that agents find this Vim nowhere.
export def WarnIfNone()
  if empty(client.state.roots)
    const hint = empty(Chosen()) ? ':cd PROJECT' : 'g:pillion_roots names no folder that is there'
    notify.Once('warn', $'no workspace root, so no agent connects. Hint: {hint}')
  endif
enddef

# Where an agent starts: in the window's own working folder if that is a root; else where Pillion says.
export def ForTerminal(): string
  const here = files.Real(getcwd())
  if haslocaldir() > 0 && index(client.state.roots, here) >= 0
    return here
  endif
  return client.state.startFolder ?? getcwd()
enddef
