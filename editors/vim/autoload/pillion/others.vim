vim9script

# Programs that speak to Vim's server, as an agent's shell can (`--remote-send`, `--remote-expr`): what they type and call
# is not the person's. What an expression of theirs does beside that, nothing in Vim can refuse: it may do all that this
# plugin does. A Vim that is no server has no such programs; one older than |KeyInputPre| does not tell their keys.

# Whether the person pressed a key since Vim rested, and whether a map took its place: keys of the map follow then.
var has_typed = false
var is_mapped = false
# True if a key came from elsewhere since then.
var is_key_others = false

def OnKey()
  if get(v:event, 'typedchar', '') != ''
    has_typed = true
    is_mapped = !v:event.typed
  elseif !has_typed || !is_mapped
    is_key_others = true
  endif
enddef

def OnRest()
  has_typed = false
  is_mapped = false
  is_key_others = false
enddef

# True if one of the last keys may be another program's.
export def Typed(): bool
  return v:servername != '' && is_key_others
enddef

# True if a program may have typed or called what is carried out: what the person types is, before Vim rests again.
export def Ask(): bool
  return v:servername != '' && (is_key_others || state() !~# 'S')
enddef

# Throws the reason if a program does this in the person's name.
export def Refuse()
  if Ask()
    throw 'Pillion: another program types or calls this in Vim: only you decide'
  endif
enddef

# Notes who types from now on.
export def Attach()
  augroup PillionOthers
    autocmd!
    if exists('##KeyInputPre')
      autocmd KeyInputPre * OnKey()
      autocmd SafeState * OnRest()
    endif
  augroup END
enddef
