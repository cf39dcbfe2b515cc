vim9script

# How the line under the cursor of the list came there, and since when it stands there: a key that is held down is not to
# decide about the lines that move up under it. Pillion rules on that.

# The line: `what` it is, `since` when it stands there or a key last decided, and whether the person went to it.
var row: dict<any> = {what: '', since: 0.0, is_chosen: false}

def Now(): float
  return reltime()->reltimefloat() * 1000
enddef

# `what` is under the cursor now. `by_itself`: the list was filled anew.
export def Note(what: string, by_itself = false)
  if what !=# row.what
    row = {what: what, since: Now(), is_chosen: !by_itself}
  endif
enddef

# For how many milliseconds the line stands there.
export def Rested(): number
  return float2nr(Now() - row.since)
enddef

# What Pillion is told with a decision about what is under the cursor: the next one begins anew.
export def Decide(what: string): dict<any>
  Note(what)
  const told = {restedMs: Rested(), isChosen: row.is_chosen}
  extend(row, {since: Now(), is_chosen: false})
  return told
enddef
