vim9script

# Where the person is, and how their windows look: kept before a view opens, restored after.

def WindowsOfTab(): list<number>
  return range(1, winnr('$'))->mapnew((_, number) => win_getid(number))
enddef

def View(win: number): dict<any>
  const text = win_execute(win, 'echo json_encode(winsaveview())')
  return json_decode(trim(text))
enddef

# The facts that `GoBack` and `Restore` need.
export def Capture(): dict<any>
  var views: dict<dict<any>> = {}
  for win in WindowsOfTab()
    if getbufvar(winbufnr(win), '&buftype') != 'terminal'
      views[win] = View(win)
    endif
  endfor
  return {
    win: win_getid(),
    last_win: win_getid(winnr('#')),
    # A tab page is found again by one of its windows.
    last_tab: tabpagenr('#') > 0 ? win_getid(1, tabpagenr('#')) : 0,
    layout: winlayout(),
    sizes: winrestcmd(),
    views: views,
  }
enddef

def IsThere(win: number): bool
  return win > 0 && !empty(getwininfo(win))
enddef

# Goes back; `g<Tab>` and `CTRL-W p` lead where they led. Without events, where they are ignored.
export def GoBack(place: dict<any>)
  if !IsThere(place.win)
    return
  endif
  if IsThere(place.last_tab)
    win_gotoid(place.last_tab)
  endif
  win_gotoid(place.win)
  # With 'winwidth' and 'winheight' a window grows when it is entered.
  const sizes = winrestcmd()
  if IsThere(place.last_win) && place.last_win != place.win && win_id2win(place.last_win) > 0
    win_gotoid(place.last_win)
    win_gotoid(place.win)
    execute sizes
  endif
enddef

# Gives the windows of the tab page in focus the sizes and views that they had, where the layout is the same again
# and the person did not move the cursor.
export def Restore(place: dict<any>)
  if !IsThere(place.win) || win_id2win(place.win) == 0
    return
  endif
  if winlayout() == place.layout
    execute place.sizes
  endif
  for [key, view] in items(place.views)
    const win = str2nr(key)
    if IsThere(win) && win_id2win(win) > 0
      const now = View(win)
      if now.lnum == view.lnum && now.col == view.col
        win_execute(win, $'winrestview({string(view)})')
      endif
    endif
  endfor
enddef
