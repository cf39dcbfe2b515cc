vim9script

# The workspace roots, in which agents connect: the working folders of Vim, of its tab pages and windows, and
# the repositories of the files that are open. Never the home folder itself, nor the root of the file system.

import autoload './client.vim'
import autoload './config.vim'
import autoload './context/recent.vim'
import autoload './files.vim'
import autoload './notify.vim'

# What stands in the folder of a repository; in a work tree or a submodule `.git` is a file.
const MARKS = ['.git', '.jj', '.hg', '.svn', '.bzr', '.pijul', '_darcs']

# By folder: the repository, or '' for none.
var repositories: dict<string> = {}

var known: list<string> = []

# Whether this folder may be a root at all: neither the whole machine nor the home folder is a workspace.
def IsWorkspace(folder: string): bool
  return folder != fnamemodify(folder, ':h') && folder != files.Trimmed($HOME) && folder != files.Real($HOME)
enddef

# The nearest repository at or above a folder (a real path), or ''.
def RepositoryOf(folder: string): string
  if has_key(repositories, folder)
    return repositories[folder]
  endif
  var found = ''
  const above = fnamemodify(folder, ':h')
  if above != folder
    const has_mark = indexof(MARKS, (_, mark) => getftype(folder .. '/' .. mark) != '') >= 0
    found = has_mark && IsWorkspace(folder) ? folder : RepositoryOf(above)
  endif
  repositories[folder] = found
  return found
enddef

def FolderOf(path: string): string
  return files.Real(fnamemodify(files.Real(path), ':h'))
enddef

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

# The real paths of those that are there, each once.
def Existing(paths: list<any>): list<string>
  var found: list<string> = []
  for path in paths
    const real = type(path) == v:t_string && path != '' ? files.Real(fnamemodify(path, ':p')) : ''
    if real != '' && isdirectory(real) && index(found, real) < 0
      add(found, real)
    endif
  endfor
  return found
enddef

def Given(): list<string>
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
  return Existing(result)
enddef

# The roots as real paths, each once; the global working folder first.
export def List(): list<string>
  const given = Given()
  if !empty(given)
    return given
  endif
  const paths = recent.Paths()
  var folders: list<any> = WorkingFolders()
  folders += paths->mapnew((_, path) => RepositoryOf(FolderOf(path)))->sort()->uniq()
  # Where coc.nvim's language servers work.
  folders += get(g:, 'WorkspaceFolders', [])
  const roots = Existing(folders)->filter((_, folder) => IsWorkspace(folder))
  if empty(roots) && !empty(paths)
    # A file of the home folder's, say: its own folder is better than no agent at all.
    return Existing([FolderOf(paths[0])])->filter((_, folder) => IsWorkspace(folder))
  endif
  return roots
enddef

# Says, the first time, that agents find this Vim nowhere.
export def WarnIfNone()
  if empty(List())
    notify.Once('warn', 'no workspace root, so no agent connects. Hint: :cd PROJECT')
  endif
enddef

def Contains(root: string, path: string): bool
  const folder = root == '/' ? root : root .. '/'
  return path ==# root || strpart(path, 0, strlen(folder)) ==# folder
enddef

# Where an agent starts: in the window's own working folder if it has one; else in the repository of the file
# used last, or another root that it lies in; else in the first root.
export def ForTerminal(): string
  const roots = List()
  const here = files.Real(getcwd())
  if (haslocaldir() > 0) && index(roots, here) >= 0
    return here
  endif
  const paths = recent.Paths()
  const at = empty(paths) ? '' : FolderOf(paths[0])
  const repository = at == '' ? '' : RepositoryOf(at)
  if repository != '' && index(roots, repository) >= 0
    return repository
  endif
  const around = copy(roots)->filter((_, root) => at != '' && Contains(root, at))
    ->sort((a, b) => strlen(b) - strlen(a))
  return get(around, 0, get(roots, 0, getcwd()))
enddef

def Folder(path: string): dict<any>
  return {uri: files.Uri(path), name: fnamemodify(path, ':t')}
enddef

# The roots for `initialize`; later changes are compared with them.
export def Begin(): list<dict<any>>
  repositories = {}
  known = List()
  return mapnew(known, (_, path) => Folder(path))
enddef

# Reports the roots if they are others than before. `is_new`: folders may have become repositories.
export def Refresh(is_new: bool)
  if is_new
    repositories = {}
  endif
  const now = List()
  const added = copy(now)->filter((_, path) => index(known, path) < 0)
  const removed = copy(known)->filter((_, path) => index(now, path) < 0)
  known = now
  if !empty(added) || !empty(removed)
    client.Notify('workspace/didChangeWorkspaceFolders', {event: {
      added: added->mapnew((_, path) => Folder(path)),
      removed: removed->mapnew((_, path) => Folder(path)),
    }})
  endif
enddef
