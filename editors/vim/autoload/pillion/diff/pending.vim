vim9script

# Which diffs wait for a decision.

# By id.
var diffs: dict<dict<any>> = {}

# The number of the one that comes next, as the program says with a decision: another file of the same set. 0 if there
# is none.
var next_id = 0

export def NextId(): number
  return next_id
enddef

export def SetNextId(id: number)
  next_id = id
enddef

export def Add(diff: dict<any>)
  diffs[diff.id] = diff
enddef

export def Remove(diff: dict<any>)
  if has_key(diffs, diff.id)
    remove(diffs, diff.id)
  endif
enddef

# The pending diff with this number; empty if there is none.
export def Get(id: number): dict<any>
  return get(diffs, id, {})
enddef

export def IsPending(diff: dict<any>): bool
  return Get(diff.id) is diff
enddef

# All of them, the oldest first.
export def Sorted(): list<dict<any>>
  return values(diffs)->sort((a, b) => a.id - b.id)
enddef

# The one whose proposal a buffer holds.
export def OfBuffer(buf: number): dict<any>
  for diff in values(diffs)
    if diff.right == buf
      return diff
    endif
  endfor
  return {}
enddef

# True if a window of its view has the focus.
export def IsInside(diff: dict<any>): bool
  return bufnr() == diff.right || getwinvar(win_getid(), 'pillion_diff', 0) == diff.id
enddef

# The one whose view has the focus.
export def Focused(): dict<any>
  for diff in values(diffs)
    if IsInside(diff)
      return diff
    endif
  endfor
  return {}
enddef
