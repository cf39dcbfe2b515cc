vim9script

# Reads the scripts of the plugin ahead.

# Between two of them, in milliseconds.
const PAUSE = 10

# Vim takes a function that it reads for the first time in a callback for one that the person types, and asks for Enter
# after their next command. So everything is read ahead, one script at a time, by `:silent`, which undoes that.
export def Read(done: dict<bool>)
  for script in getscriptinfo({name: '\<autoload/pillion/.*\.vim$'})->filter((_, it) => !has_key(done, it.sid))
    done[script.sid] = true
    if script.autoload
      execute 'silent source' fnameescape(script.name)
    endif
    for name in getscriptinfo({sid: script.sid})[0].functions
      execute 'silent defcompile' name
    endfor
    timer_start(PAUSE, (_) => Read(done))
    return
  endfor
enddef
