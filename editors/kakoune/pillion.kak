# Pillion: shows terminal coding agents which files are open here, and the changes that they propose.
# `:doc pillion`, or README.md, says how it is used. Everything that needs a text, a socket or a process is done by
# `pillion kakoune`, which this starts. What is open Kakoune writes into small files in its private folder; everything else
# it says through a process that it starts, by which it is known, because anybody can write files. The program answers with
# `kak -p`. No shell runs while you work on a file, and no text of an agent is ever part of a command.

declare-option -docstring 'the command `pillion`, if it is not on PATH' str pillion_command pillion
declare-option -docstring 'whether a proposal gets a tmux pane of its own; if not, it opens in your client' \
    bool pillion_split true
declare-option -docstring 'a file to which `pillion` appends a log, without texts or tokens' str pillion_log
declare-option -docstring 'whether Pillion starts with Kakoune' bool pillion_autostart true

declare-option -hidden str pillion_module %sh{ dirname -- "$kak_source" }
declare-option -hidden str pillion_dir
# The program that serves this session, and what says to it what its input is: a text, words and an end. What it is about is an
# argument, because others can write into what a process reads. In a command with long parameters it does not run: they are its
# own, too.
declare-option -hidden str pillion_program
declare-option -hidden str pillion_say %{
    [ -S "$kak_opt_pillion_dir/in/said" ] && exec "$kak_opt_pillion_program" kakoune --say "$kak_opt_pillion_dir" "$1"
}
declare-option -hidden int pillion_port 0
# The names of the agents that can be started, as the program said last.
declare-option -hidden str-list pillion_agents
# What `:pillion-review` takes, as the program said last.
declare-option -hidden str-list pillion_choices
declare-option -docstring 'when agents ask before they change files, with a space before it: for your modelinefmt' \
    str pillion_review_mode
declare-option -docstring 'what you decided last and what came of it, with a space before it: for your modelinefmt' \
    str pillion_decided
declare-option -hidden str pillion_at_quit
declare-option -hidden str pillion_folder
declare-option -hidden str pillion_waiting
declare-option -hidden bool pillion_stale true
declare-option -hidden int pillion_taken 0
# Of the list of changes: the row that was told last of a window, and what it was asked for with.
declare-option -hidden str pillion_row
declare-option -hidden str pillion_listed
# Whether what is typed to decide does nothing in other buffers now.
declare-option -hidden bool pillion_guarded false
declare-option -hidden str-list pillion_files
declare-option -hidden str pillion_before
declare-option -hidden str pillion_start
# Of a window: the mode that it is in, and whether the person rests there: whether Kakoune found them idle in normal mode
# after their last key, and that was not part of a count.
declare-option -hidden str pillion_mode normal
declare-option -hidden str pillion_rest busy
declare-option -hidden str pillion_was busy
# Of a window: whether the person has opened a prompt, and pressed no key since it was closed.
declare-option -hidden bool pillion_prompted false
# The clients that record a macro, and those that are not to be disturbed just now.
declare-option -hidden str-list pillion_recording
declare-option -hidden str-list pillion_busy
declare-option -docstring 'what waits to be shown, with a space before it; nothing if nothing does: for your modelinefmt' \
    str pillion_pending
# Of a proposal's buffer.
# No int: that of an editor which a second hub serves needs more than its 32 bits.
declare-option -hidden str pillion_id 0
declare-option -hidden int pillion_revision 0
declare-option -hidden int pillion_first 1
declare-option -hidden str pillion_title
# Whether it was settled, and stays only until nobody is busy in it, or is held until whoever is in it leaves.
declare-option -hidden str pillion_settled false
declare-option -hidden line-specs pillion_changes
# The lines that changed, by number, wherever edits have moved them.
declare-option -hidden line-specs pillion_places
# The state of the buffer that `pillion kakoune` was told last.
declare-option -hidden int pillion_told 0
# From when on it may be accepted, in milliseconds of Unix time.
declare-option -hidden str pillion_ready
# The revision that was on the screen when a prompt was opened, and what was decided in it.
declare-option -hidden str pillion_asked
declare-option -hidden str pillion_decision
# What the agent is told with it.
declare-option -hidden str pillion_reason
# Of a proposal's buffer: the lines with notes, wherever edits have moved them.
declare-option -hidden line-specs pillion_notes
# Of a file's buffer: the lines that an agent wrote and nobody has looked at.
declare-option -hidden line-specs pillion_written
# The same of the text that the file has, and which text that is, by its place in the tree of undo.
declare-option -hidden str-list pillion_flags
declare-option -hidden str pillion_flagged
# Of a file's buffer, while an agent writes the file.
declare-option -hidden str pillion_autoreload

# Says something to `pillion kakoune`: a name, a text, which is empty here, and perhaps a word.
define-command -hidden pillion-say -params 1..2 %{
    echo -quoting kakoune -to-shell-script "set -- %arg{1}; %opt{pillion_say}" -- '' %arg{2} end
}

# The buffer of a file and the file are the same now. What is saved in no client is another program's (`kak -p`).
define-command -hidden pillion-sync -params 1 %{
    echo -quoting kakoune -to-shell-script "set -- synced; %opt{pillion_say}" -- '' %val{buffile} %arg{1} %val{client} end
}

# A client is there, or the session has another name: what the files say of others counts for nothing.
define-command -hidden pillion-begin %{
    pillion-say "here-%val{client_pid}" %val{session}
    pillion-report
}

# What is open, and where the person is.
define-command -hidden pillion-report %{ try %{
    evaluate-commands "pillion-list-%opt{pillion_stale}"
    evaluate-commands -no-hooks -draft %{
        select "%val{cursor_line}.1,%val{cursor_line}.%val{cursor_column}"
        set-option global pillion_before %val{selection}
    }
    evaluate-commands -no-hooks -draft %{
        execute-keys '<a-:><a-;>'
        select "%val{cursor_line}.1,%val{cursor_line}.%val{cursor_column}"
        set-option global pillion_start %val{selection}
    }
    echo -quoting kakoune -to-file "%opt{pillion_dir}/in/context-%val{client_pid}" -- \
        %val{session} %val{client} %val{client_pid} "%val{client_env_PILLION_REVIEW}" %val{buffile} %opt{pillion_id} %val{selection_desc} %opt{pillion_before} \
        %opt{pillion_start} %val{selection} %val{window_width} "%val{client_env_TMUX}" \
        "%val{client_env_TMUX_PANE}" %opt{pillion_folder} %opt{pillion_files} end
} }
define-command -hidden pillion-list-false nop
define-command -hidden pillion-list-true %{
    set-option global pillion_files
    evaluate-commands -no-hooks -buffer * %{ set-option -add global pillion_files %val{buffile} }
    set-option global pillion_stale false
}

# Runs a command in every client.
define-command -hidden pillion-everywhere -params 1 %{ evaluate-commands %sh{
    for client in $kak_client_list; do
        printf 'try %%{ evaluate-commands -client %s %s }\n' "$client" "$1"
    done
} }
# Runs commands without a client: in a copy of the debug buffer's context, which needs no client.
define-command -hidden pillion-aside -params 1 %{
    try %{ evaluate-commands -buffer *debug* nop } catch %{ echo -debug 'pillion: this session is served' }
    evaluate-commands -buffer *debug* -save-regs '"' %arg{1}
}

# In this buffer, what people type to write and to quit are these commands. `:waq` is no decision.
define-command -hidden pillion-alias -params 2 %{ evaluate-commands %sh{
    for name in w write wq write-quit; do printf 'alias buffer %s %s\nalias buffer %s! %s-force\n' $name "$1" $name "$1"; done
    for name in q quit; do printf 'alias buffer %s %s\nalias buffer %s! %s\n' $name "$2" $name "$2"; done
    for name in waq waq! write-all-quit write-all-quit!; do echo "alias buffer $name pillion-explain"; done
} }
define-command -hidden pillion-unalias %{ evaluate-commands %sh{
    for name in w write wq write-quit q quit waq write-all-quit; do printf 'unalias buffer %s\nunalias buffer %s!\n' $name $name; done
} }
define-command -hidden pillion-explain -params .. %{ fail 'pillion: this decides nothing: :w accepts, :q rejects' }

# A proposal has just gone: what is pressed to decide about it a second time neither writes nor quits what is below, until
# the program says that this is over. Commands that run whole names, such as hooks', are not meant.
define-command -hidden pillion-guard %{
    set-option global pillion_guarded true
    pillion-guard-with alias
}
define-command -hidden pillion-unguard %{
    set-option global pillion_guarded false
    pillion-guard-with unalias
}
define-command -hidden pillion-guard-with -params 1 %{ evaluate-commands -buffer * %{ try %{
    evaluate-commands "pillion-new-%opt{pillion_id}"
    evaluate-commands "%arg{1} buffer w pillion-gone; %arg{1} buffer w! pillion-gone"
    evaluate-commands "%arg{1} buffer wq pillion-gone; %arg{1} buffer wq! pillion-gone"
    evaluate-commands "%arg{1} buffer q pillion-gone; %arg{1} buffer q! pillion-gone"
} } }
define-command -hidden pillion-gone -params .. %{
    fail 'pillion: the proposal has just closed: this counts here in a second'
}

# A proposal's buffer: id, revision, line of the first change, title.
define-command -hidden pillion-adopt -params 4 %{
    set-option buffer pillion_id %arg{1}
    set-option buffer pillion_revision %arg{2}
    set-option buffer pillion_first %arg{3}
    set-option buffer pillion_ready ''
    set-option buffer pillion_title %arg{4}
    set-option buffer pillion_settled false
    # Until the person has looked at it: no key that was meant for another text changes this one.
    set-option buffer readonly true
    alias buffer "pillion-is-%arg{1}" nop
    pillion-alias pillion-write pillion-quit
    remove-hooks buffer pillion-view
    hook -group pillion-view buffer NormalIdle .* %{ evaluate-commands "pillion-idle-%opt{pillion_settled}" }
    hook -group pillion-view buffer InsertIdle .* %{ evaluate-commands "pillion-draft-%opt{pillion_settled}" }
    hook -group pillion-view buffer WinDisplay .* pillion-shown
    hook -group pillion-view buffer FocusIn .* %{ pillion-say "focused-%opt{pillion_id}" }
    hook -group pillion-view buffer ModeChange 'push:.*:prompt' %{
        set-option window pillion_asked %opt{pillion_revision}
        pillion-say "asked-%opt{pillion_id}"
    }
    # Keys are reported when they have done what they do. Those of a macro are not, but for the one that plays it.
    hook -group pillion-view buffer RawKey 'q' %{ pillion-finish played }
    hook -group pillion-view buffer RawKey '[^q]|.{2,}' %{ pillion-finish typed }
    hook -group pillion-view buffer BufClose .* %{ pillion-text "removed-%opt{pillion_id}-%opt{pillion_revision}" }
}

# A buffer that holds no proposal yet.
define-command -hidden pillion-new-0 nop

# Says something about the proposal of this number, unless another one is here.
define-command -hidden pillion-announce -params 2 %{
    try %{ evaluate-commands "pillion-new-%opt{pillion_id}" } catch %{ evaluate-commands "pillion-is-%arg{1}" }
    echo -markup -- %arg{2}
}

# It is an ordinary buffer from now on.
define-command -hidden pillion-release %{
    remove-hooks buffer pillion-view
    unalias buffer "pillion-is-%opt{pillion_id}"
    pillion-unalias
    set-option buffer pillion_id 0
    set-option buffer pillion_ready ''
    set-option buffer readonly false
}
# What a companion left that is gone: nobody waits for it any more, but the text is the person's.
define-command -hidden pillion-orphan %{ try %{ evaluate-commands "pillion-orphan-%opt{pillion_id}" } catch %{
    pillion-release
    rename-buffer "%val{bufname} (not answered)"
} }
define-command -hidden pillion-orphan-0 nop

# A message with the text of the buffer, and the client in which the person is.
define-command -hidden pillion-text -params 1 %{ try %{
    update-option buffer pillion_notes
    evaluate-commands -no-hooks -draft %{
        execute-keys '%'
        echo -quoting kakoune -to-shell-script "set -- %arg{1}; %opt{pillion_say}" -- %val{selection} \
            %val{client} %opt{pillion_reason} %opt{pillion_notes} end
    }
} }
# That something tried to decide.
define-command -hidden pillion-untyped %{ pillion-say "untyped-%opt{pillion_id}" %val{client} }

define-command -hidden pillion-shown %{
    pillion-forget
    add-highlighter -override window/pillion flag-lines Default pillion_changes
    add-highlighter -override window/pillion-notes flag-lines Information pillion_notes
    pillion-say "focused-%opt{pillion_id}"
}
# It has been drawn.
define-command -hidden pillion-idle-true %{
    pillion-rests
    try %{
        pillion-at-rest
        pillion-text "left-%opt{pillion_id}"
    }
}
# Nobody has decided about it: whoever is here stays, and changes nothing any more.
define-command -hidden pillion-idle-held %{
    pillion-rests
    pillion-lock
}
define-command -hidden pillion-lock %{ try %{
    pillion-at-rest
    set-option buffer readonly true
} }
# It was settled elsewhere, and whoever is here may not have seen that yet: until then it takes their keys.
define-command -hidden pillion-linger %{
    pillion-lock
    fail settled
}
define-command -hidden pillion-hold %{
    set-option buffer pillion_settled held
    pillion-lock
    fail held
}
define-command -hidden pillion-idle-false %{
    pillion-forget
    pillion-redraw
    pillion-saw
    pillion-draft-false
    info -title was -- %sh{
        stem=$kak_opt_pillion_dir/out/$kak_opt_pillion_id-$kak_opt_pillion_revision
        number=$(awk -v line="$kak_cursor_line" '$1 <= line && line <= $2 { print $3; exit }' "$stem-index" 2>/dev/null)
        [ -n "$number" ] && cat "$stem-$number" 2>/dev/null
    }
}
# What the person makes of it is kept before they decide.
define-command -hidden pillion-draft-true nop
define-command -hidden pillion-draft-held nop
define-command -hidden pillion-draft-false %{ evaluate-commands %sh{
    [ "$kak_timestamp" = "$kak_opt_pillion_told" ] || echo pillion-draft
} }
define-command -hidden pillion-draft %{
    set-option buffer pillion_told %val{timestamp}
    pillion-text "draft-%opt{pillion_id}-%opt{pillion_revision}"
}
# What of it the window shows.
define-command -hidden pillion-saw %{ try %{
    update-option buffer pillion_places
    echo -quoting kakoune -to-shell-script "set -- saw-%opt{pillion_id}-%opt{pillion_revision}; %opt{pillion_say}" -- '' \
        %val{window_range} %val{window_width} %val{window_height} %val{buf_line_count} %val{cursor_line} \
        %val{cursor_display_column} %opt{tabstop} %opt{pillion_places} end
} }
# A newer proposal replaced the text in a window that shows it.
define-command -hidden pillion-redraw %{
    pillion-say "drawn-%opt{pillion_id}-%opt{pillion_revision}" "%val{client_env_PILLION_REVIEW}"
}
# What was typed so far decides nothing any more.
define-command -hidden pillion-forget %{
    set-option window pillion_asked ''
    set-option window pillion_decision ''
    set-option window pillion_reason ''
}

# Opening a window may load a module, which defines commands. Kakoune 2026.05 then loses the rest of the command that is
# running, unless it is the argument of another one.
define-command -hidden pillion-display -params 1 %{ evaluate-commands %{
    # These keys are not the person's.
    set-option global pillion_was %opt{pillion_rest}
    buffer %arg{1}
    set-option buffer readonly true
    pillion-say "locked-%opt{pillion_id}"
    select "%opt{pillion_first}.1,%opt{pillion_first}.1"
    execute-keys vv
    set-option window pillion_rest %opt{pillion_was}
    echo -- "%opt{pillion_title}: :w accepts, :q rejects"
} }
# Fails unless nothing that the person does in this client is interrupted by another buffer.
define-command -hidden pillion-at-rest %{ evaluate-commands %sh{
    case "$kak_opt_pillion_rest  $kak_opt_pillion_recording " in
    "idle "*" $kak_client "*) echo 'fail recording' ;;
    "idle "*) ;;
    *) echo 'fail busy' ;;
    esac
} }
# The same right after the person settled a proposal themselves: they have just pressed a key.
define-command -hidden pillion-in-normal %{ evaluate-commands %sh{
    [ "$kak_opt_pillion_mode" = normal ] || echo 'fail busy'
} }
define-command -hidden pillion-rests %{ evaluate-commands "pillion-rests-%opt{pillion_rest}" }
define-command -hidden pillion-rests-busy %{
    try %{ evaluate-commands "pillion-rests-in-%opt{pillion_mode}" } catch pillion-rests-in-normal
}
# One command of normal mode within an insertion.
define-command -hidden pillion-rests-in-single nop
define-command -hidden pillion-rests-in-normal %{
    set-option window pillion_mode normal
    set-option window pillion_rest idle
}
define-command -hidden pillion-rests-idle nop
define-command -hidden pillion-rests-counting nop
define-command -hidden pillion-record %{ evaluate-commands %sh{
    case " $kak_opt_pillion_recording " in *" $kak_client "*) change=-remove ;; *) change=-add ;; esac
    echo "set-option $change global pillion_recording %val{client}"
} }

# Runs commands in the person's own client, or in the pane for proposals, unless they are busy there.
define-command -hidden pillion-offer -params 1 %{
    pillion-at-rest
    pillion-unless-held %arg{1}
}
# What nobody has decided stays until whoever is in it leaves, and so does what it says.
define-command -hidden pillion-unless-held -params 1 %{ evaluate-commands %sh{
    [ "$kak_opt_pillion_settled" = held ] || echo 'evaluate-commands %arg{1}'
} }
# Runs the second commands if nobody is busy in the proposal of this number, and else the third.
define-command -hidden pillion-undisturbed -params 3 %{
    set-option global pillion_busy
    pillion-everywhere "pillion-watch %arg{1} pillion-at-rest nop"
    evaluate-commands %sh{ [ -z "$kak_opt_pillion_busy" ] && echo 'evaluate-commands %arg{2}' || echo 'evaluate-commands %arg{3}' }
}
# Notes the client as busy if it shows this proposal and does not rest, and else runs a command, perhaps with one word.
define-command -hidden pillion-watch -params 3..4 %{
    evaluate-commands "pillion-is-%arg{1}"
    set-option -add global pillion_busy %val{client}
    evaluate-commands %arg{2}
    set-option -remove global pillion_busy %val{client}
    evaluate-commands "%arg{3} %arg{4}"
}
# Removes the buffer of a settled proposal once nobody is busy in it: its number, its buffer, how to know that nobody is,
# what is shown next in the pane for proposals, and what a person is told who is busy.
define-command -hidden pillion-clear -params 5 %{ evaluate-commands %{
    set-option global pillion_busy
    try %{ evaluate-commands -buffer %arg{2} %{ set-option buffer pillion_settled true } }
    pillion-everywhere "pillion-watch %arg{1} %arg{3} pillion-go-on %arg{4}"
    evaluate-commands %sh{
        [ -n "$kak_opt_pillion_busy" ] || echo 'try %{ delete-buffer! %arg{2} }'
        for client in $kak_opt_pillion_busy; do
            [ -z "$5" ] || printf 'try %%{ evaluate-commands -client %s %%{ echo -markup -- %%arg{5} } }\n' "$client"
        done
    }
} }
# In the pane for proposals the next one is shown; without one it closes. Anywhere else Kakoune goes back itself.
define-command -hidden pillion-go-on -params 0..1 %{ evaluate-commands %sh{
    case "$kak_client $1" in
    'pillion ') printf 'unalias buffer quit!\nquit!' ;;
    'pillion '*) echo 'pillion-display %arg{1}' ;;
    esac
} }
define-command pillion-show -docstring 'show the pending proposal' %{
    try %{ evaluate-commands -buffer %opt{pillion_waiting} nop } catch %{ fail 'pillion: no proposal is pending' }
    pillion-display %opt{pillion_waiting}
}

define-command pillion-next -docstring 'go to the next change that has not been on the screen' %{
    evaluate-commands %sh{ [ "$kak_opt_pillion_id" != 0 ] && echo pillion-next-here || echo pillion-show }
}
define-command -hidden pillion-next-here %{
    pillion-saw
    pillion-say "next-%opt{pillion_id}-%opt{pillion_revision}" %val{client}
}
define-command pillion-bring-back -docstring 'put into this proposal what you had changed in an earlier one of the file' %{
    evaluate-commands %sh{ [ "$kak_opt_pillion_id" != 0 ] || echo "fail 'pillion: this buffer is not a proposal'" }
    pillion-say "bring-%opt{pillion_id}-%opt{pillion_revision}" %val{client}
}
define-command pillion-merge -docstring 'merge this proposal with what has changed in the file on disk since it came' %{
    evaluate-commands %sh{ [ "$kak_opt_pillion_id" != 0 ] || echo "fail 'pillion: this buffer is not a proposal'" }
    pillion-text "merge-%opt{pillion_id}-%opt{pillion_revision}"
}
# Goes to a place of the proposal of this number, if this client still shows it, with these keys afterwards.
define-command -hidden pillion-go -params 3 %{ try %{
    evaluate-commands "pillion-is-%arg{1}"
    execute-keys <c-s>
    select %arg{2}
    execute-keys %arg{3}
} }

define-command pillion-accept -docstring 'accept the proposal in this buffer, as it stands here' %{
    pillion-decide accept ''
}
define-command pillion-reject -params .. -docstring '
pillion-reject [<reason>]: reject the proposal in this buffer, and tell the agent why' %{
    pillion-decide reject "%arg{@}"
}
define-command pillion-note -params .. -docstring '
pillion-note [<text>]: write a note on the selected lines of a proposal, which the agent gets with your decision
Without a text you are asked for one; an empty one removes the note' %{
    evaluate-commands %sh{
        [ "$kak_opt_pillion_id" != 0 ] || { echo "fail 'pillion: this buffer is not a proposal'"; exit; }
        [ $# -gt 0 ] && echo 'pillion-note-as "%arg{@}"' || echo 'prompt note: %{ pillion-note-as %val{text} }'
    }
}
define-command -hidden pillion-note-as -params 1 %{
    update-option buffer pillion_notes
    echo -quoting kakoune -to-shell-script "set -- note-%opt{pillion_id}-%opt{pillion_revision}; %opt{pillion_say}" -- '' \
        %val{client} %arg{1} %val{selection_desc} %opt{pillion_notes} end
}
# As `:w` and `:q` are called here; hooks that save or close everything call them, too, and decide nothing.
define-command -hidden pillion-write -params .. %{ evaluate-commands %sh{
    while [ $# -gt 0 ]; do
        case $1 in
        -method) shift ;;
        -[!-]*) ;;
        *) echo 'pillion-write-copy %arg{@}'; exit ;;
        esac
        shift
    done
    echo "pillion-decide accept ''"
} }
define-command -hidden pillion-write-force -params .. %{ pillion-write -force %arg{@} }
# Another file is named: that decides nothing.
define-command -hidden pillion-write-copy -params .. %{
    unalias buffer write
    try %{
        evaluate-commands -no-hooks %{ write %arg{@} }
        alias buffer write pillion-write
        echo -- 'pillion: this is written as a copy: nothing is decided'
    } catch %{
        alias buffer write pillion-write
        fail %val{error}
    }
}
define-command -hidden pillion-quit -params .. %{ pillion-decide reject '' }

# Counts if it was typed into a prompt of this window, in front of the proposal, and no hook runs.
define-command -hidden pillion-decide -params 2 %{
    evaluate-commands %sh{ [ "$kak_opt_pillion_id" != 0 ] || echo "fail 'pillion: this buffer is not a proposal'" }
    # Never part of a command: it would be read as one.
    set-option window pillion_reason %arg{2}
    try %{
        nop %val{hook_param}
        pillion-untyped
    } catch %{
        evaluate-commands "pillion-decide-%sh{ echo ${kak_opt_pillion_asked:+typed} }" %arg{1}
    }
}
define-command -hidden pillion-decide- -params 1 %{ pillion-untyped }
define-command -hidden pillion-decide-typed -params 1 %{ set-option window pillion_decision %arg{1} }
define-command -hidden pillion-finish -params 1 %{
    evaluate-commands "pillion-finish-%opt{pillion_decision}" %arg{1}
    try %{ evaluate-commands "pillion-unasked-in-%opt{pillion_mode}" }
}
# The prompt is over: what a program writes before the next key was not typed into it.
define-command -hidden pillion-unasked-in-normal %{ set-option window pillion_asked '' }
define-command -hidden pillion-unasked-in-insert %{ set-option window pillion_asked '' }
define-command -hidden pillion-finish- -params 1 nop
define-command -hidden pillion-finish-accept -params 1 %{ pillion-finish-as %arg{1} accept }
define-command -hidden pillion-finish-reject -params 1 %{ pillion-finish-as %arg{1} reject }
define-command -hidden pillion-finish-as -params 2 %{
    set-option window pillion_decision ''
    evaluate-commands "pillion-finish-%arg{1}-as" %arg{2}
}
define-command -hidden pillion-finish-typed-as -params 1 %{
    pillion-text "%arg{1}-%opt{pillion_id}-%opt{pillion_asked}"
}
define-command -hidden pillion-finish-played-as -params 1 %{ pillion-untyped }

# The file of this buffer is about to be written by an agent. Without changes of the person's it is reloaded as soon
# as it was, and Kakoune does not ask; with changes it asks, as ever.
define-command -hidden pillion-await %{ evaluate-commands "pillion-await-%val{modified}" }
define-command -hidden pillion-await-true nop
define-command -hidden pillion-await-false %{ evaluate-commands %sh{
    # What it was before is kept already when it is awaited a second time.
    if [ -z "$kak_opt_pillion_autoreload" ]; then
        echo 'set-option buffer pillion_autoreload %opt{autoreload}'
        echo 'set-option buffer autoreload no'
    fi
} }
define-command -hidden pillion-reload %{ evaluate-commands "pillion-reload-%val{modified}" }
define-command -hidden pillion-reload-true pillion-restore
define-command -hidden pillion-reload-false %{
    pillion-restore
    edit!
}
define-command -hidden pillion-restore %{ evaluate-commands %sh{
    if [ -n "$kak_opt_pillion_autoreload" ]; then
        echo "set-option buffer autoreload $kak_opt_pillion_autoreload"
        echo "set-option buffer pillion_autoreload ''"
    fi
} }

# Flags these lines. Those of a text that the person has changed are elsewhere, until it is saved.
define-command -hidden pillion-flag -params .. %{
    set-option buffer pillion_flags %arg{@}
    evaluate-commands "pillion-flag-%val{modified}"
}
define-command -hidden pillion-flag-true nop
define-command -hidden pillion-flag-false %{
    unalias buffer "pillion-at-%opt{pillion_flagged}"
    set-option buffer pillion_flagged %val{history_id}
    alias buffer "pillion-at-%opt{pillion_flagged}" pillion-flag-again
    pillion-flag-again
}
# Lines that were undone, and are there again, have lost their flags.
define-command -hidden pillion-flag-again %{ set-option buffer pillion_written %val{timestamp} %opt{pillion_flags} }
define-command pillion-next-change -docstring 'go to the next lines that an agent wrote and nobody has looked at' %{
    pillion-go-to-change next
}
define-command pillion-previous-change -docstring 'go to the previous lines that an agent wrote and nobody has looked at' %{
    pillion-go-to-change previous
}
define-command -hidden pillion-go-to-change -params 1 %{
    update-option buffer pillion_written
    evaluate-commands %sh{
        printf '%s\n' $kak_opt_pillion_written | sed -n 's/|.*//p' | sort -n | awk -v at="$kak_cursor_line" -v way="$1" '
            $1 > last + 1 && (way == "next" ? $1 > at && !to : $1 < at) { to = $1 }
            { last = $1 }
            END {
                if (to) print "execute-keys <c-s>" to "gvc"
                else print "fail \"pillion: this file has no " way " change that nobody has looked at\""
            }'
    }
}

define-command pillion-enable -docstring 'let agents see the open files and propose changes, in this session' %{
    evaluate-commands %sh{
        # A build without its number is taken as it is.
        case $kak_version in v20[01][0-9].*|v202[0-3].*)
            echo "fail 'pillion: Kakoune 2024.05 or newer is needed, so it does not start'"
        esac
    }
    pillion-disable
    add-highlighter -override global/pillion-written flag-lines Default pillion_written
    # Also where the person has switched hooks off.
    hook -always -group pillion global NormalIdle .* pillion-rests
    hook -always -group pillion global RawKey '[0-9\\]' %{ set-option window pillion_rest counting }
    hook -always -group pillion global RawKey '[^0-9\\]|.{2,}' %{ set-option window pillion_rest busy }
    # It comes when the key has done what it does.
    hook -group pillion global RawKey .* %{ try %{ evaluate-commands "pillion-prompted-in-%opt{pillion_mode}" } }
    hook -group pillion global ModeChange 'push:.*:prompt' %{ try %{ set-option window pillion_prompted true } }
    hook -always -group pillion global NormalKey Q pillion-record
    hook -always -group pillion global NormalKey <esc> %{
        set-option -remove global pillion_recording %val{client}
    }
    hook -group pillion global NormalIdle .* pillion-report
    hook -group pillion global NormalIdle .* %{ try %{ evaluate-commands "pillion-at-%val{history_id}" } }
    hook -group pillion global InsertIdle .* pillion-report
    hook -group pillion global WinDisplay .* pillion-report
    hook -group pillion global FocusIn .* pillion-report
    hook -group pillion global BufWritePost .* %{ pillion-sync saved }
    hook -group pillion global BufReload .* %{ pillion-sync read }
    hook -group pillion global BufCreate .* %{ set-option global pillion_stale true }
    hook -group pillion global BufClose .* %{ set-option global pillion_stale true }
    hook -always -group pillion global ModeChange '(?:push|pop):.*:([^:]*)' %{ try %{
        set-option window pillion_mode %val{hook_param_capture_1}
        set-option window pillion_rest busy
    } }
    hook -always -group pillion global ModeChange 'push:.*:normal' %{ try %{
        set-option window pillion_mode single
    } }
    hook -group pillion global ClientCreate .* pillion-begin
    hook -group pillion global SessionRenamed .* %{ pillion-say here-0 %val{session} }
    hook -group pillion global ClientClose .* %{
        pillion-say "closed-%val{client_pid}" "%val{client_env_PILLION_REVIEW}"
    }
    hook -group pillion global KakEnd .* %{
        pillion-say end
        # The terminal is the shell's again by then; a session that ends elsewhere has none.
        nop %sh{ [ -z "$kak_opt_pillion_at_quit" ] || printf 'pillion:%s\n' "$kak_opt_pillion_at_quit" 2>/dev/null >/dev/tty }
    }
    evaluate-commands %sh{
        quoted() { printf "'"; printf %s "$1" | sed "s/'/''/g"; printf "'"; }
        # Where it is placed already, it stays. The end is what a long message leaves to be seen.
        case $kak_opt_modelinefmt in
        *pillion_pending*) ;;
        *) printf 'set-option global modelinefmt %s\n' \
            "$(quoted "$kak_opt_modelinefmt{Information}%opt{pillion_decided}%opt{pillion_pending}")" ;;
        esac
        if ! command -v "$kak_opt_pillion_command" >/dev/null; then
            printf 'echo -debug pillion: command not found: %s; ' "$(quoted "$kak_opt_pillion_command")"
            echo "fail 'pillion: the command is not on PATH: set-option global pillion_command PATH'"
            exit
        fi
        set -- --session "$kak_session" --server "$PPID"
        [ "$kak_opt_pillion_split" = true ] || set -- "$@" --no-split
        [ -z "$kak_opt_pillion_log" ] || set -- "$@" --log "$kak_opt_pillion_log"
        # One that was killed is started again; one that says why it cannot run is not. The terminal of the first
        # client may be closed while others stay.
        (
            trap '' HUP
            delay=1
            while :; do
                "$kak_opt_pillion_command" kakoune "$@"
                [ $? -lt 100 ] && exit
                sleep "$delay"
                [ "$delay" -lt 60 ] && delay=$((delay * 2))
            done
        ) >/dev/null 2>&1 </dev/null &
        printf 'set-option global pillion_folder %s' "$(quoted "$PWD")"
    }
}
define-command pillion-disable -docstring 'stop serving agents in this session; open proposals are rejected' %{
    remove-hooks global pillion
    try %{ remove-highlighter global/pillion-written }
    set-option global pillion_port 0
    pillion-say end
}

define-command -hidden pillion-must-run %{ evaluate-commands %sh{
    [ "$kak_opt_pillion_port" != 0 ] || echo "fail 'pillion: not running here: see :pillion-enable'"
} }

define-command -hidden pillion-prompted-in-normal %{ set-option window pillion_prompted false }
define-command -hidden pillion-prompted-in-insert %{ set-option window pillion_prompted false }
# What is done in the person's name was typed by them: hooks, macros and programs (`kak -p`) open no prompt.
define-command -hidden pillion-must-be-typed %{ evaluate-commands "pillion-must-be-typed-%opt{pillion_prompted}" }
define-command -hidden pillion-must-be-typed-true nop
define-command -hidden pillion-must-be-typed-false %{ fail 'pillion: only what you type counts: not what code or another program runs' }

define-command pillion-run -params 1.. -docstring '
pillion-run <agent> [<arguments>]: run an agent in a new terminal, connected to this session' %{
    pillion-in-terminal '"$0" run --port "$@" || { printf "\nExited with status %s. Press Enter. " "$?"; read -r _; }' \
        %opt{pillion_command} %opt{pillion_port} %arg{@}
}
complete-command -menu pillion-run shell-script-candidates %{ printf '%s\n' $kak_opt_pillion_agents }

define-command pillion-terminal -docstring 'open a terminal in which every agent connects to this session' %{
    pillion-in-terminal 'eval "$("$0" env --shell sh --port "$1")"; exec "${SHELL:-/bin/sh}"' \
        %opt{pillion_command} %opt{pillion_port}
}

# A script and its arguments, in a new terminal, in the session's folder. The dot keeps newlines at its end, and keeps
# tmux from taking a semicolon there for its own.
define-command -hidden pillion-in-terminal -params 1.. %{
    pillion-must-run
    terminal sh -c 'cd -- "${0%.}" && exec sh -c "$@"' %sh{ printf %s. "$PWD" } %arg{@}
}

# Runs the program for the person's session, and says what it said.
define-command -hidden pillion-ask -params 1.. %{
    pillion-must-run
    evaluate-commands %sh{
        command=$1
        shift
        said=$("$kak_opt_pillion_command" "$command" --port "$kak_opt_pillion_port" "$@" 2>&1)
        printf "echo -- '"
        printf %s "$said" | tr '\n' ' ' | sed "s/'/''/g"
        printf "'"
    }
}
define-command pillion-send -docstring 'name the selected lines in the prompt of an agent that takes mentions' %{
    pillion-must-run
    evaluate-commands %sh{
        case $kak_buffile in /*) ;; *) echo "fail 'pillion: this buffer has no file'"; exit ;; esac
        anchor=${kak_selection_desc%%.*}
        cursor=${kak_selection_desc#*,}
        cursor=${cursor%%.*}
        [ "$anchor" -le "$cursor" ] || { swap=$anchor; anchor=$cursor; cursor=$swap; }
        echo "pillion-ask mention \"%val{buffile}:$anchor-$cursor\""
    }
}

define-command pillion-send-notes -docstring 'send agents the notes that wait for your next prompt' %{
    pillion-must-be-typed
    pillion-ask send-notes
}

define-command pillion-review -params ..1 -docstring '
pillion-review [<choice>]: choose when agents ask before they change files, or show it' %{
    pillion-must-be-typed
    pillion-ask review-mode -- %arg{@}
}
complete-command -menu pillion-review shell-script-candidates %{ printf '%s\n' $kak_opt_pillion_choices }

define-command -hidden pillion-page -params 2 %{
    edit! -scratch "*pillion-%arg{1}*"
    evaluate-commands -save-regs '"' %{
        set-register dquote %arg{2}
        execute-keys '%Rgg'
    }
}
# What agents have written: the lines of `pillion changes --locations`.
define-command pillion-changes -params ..1 -docstring '
pillion-changes [all]: list what agents have written and nobody has seen, or all of it. <ret> goes there; :pillion-keep
and :pillion-take-back decide about the line, :pillion-undo undoes the last of that' %{
    pillion-must-run
    pillion-page changes ''
    set-option buffer pillion_listed %sh{ [ "$1" = all ] && echo --all }
    pillion-changes-again
    map buffer normal <ret> ': pillion-changes-go<ret>'
    alias buffer pillion-at-row pillion-row
    remove-hooks buffer pillion-row
    hook -group pillion-row buffer WinDisplay .* %{ set-option window pillion_row '' }
    hook -group pillion-row buffer NormalIdle .* pillion-row
}
complete-command -menu pillion-changes shell-script-candidates %{ echo all }
# The row under the cursor of this window, and the one that was told last.
define-command -hidden pillion-row %{ evaluate-commands -no-hooks -draft %{
    execute-keys x
    echo -quoting kakoune -to-shell-script "set -- row; %opt{pillion_say}" -- '' \
        %val{client} %val{cursor_line} %val{selection} %opt{pillion_row} end
    set-option window pillion_row %val{selection}
} }
define-command -hidden pillion-list-again %{
    pillion-aside pillion-changes-again
    pillion-everywhere pillion-at-row
}
# The list is another one: only lines that differ are replaced, so that the cursor stays at its own.
define-command -hidden pillion-changes-again %{ evaluate-commands -buffer *pillion-changes* -draft %{
    execute-keys '%|cd -- "$kak_opt_pillion_folder" 2>/dev/null; "$kak_opt_pillion_command" changes --locations $kak_opt_pillion_listed 2>&1<ret>'
} }

define-command -hidden pillion-changes-go %{ evaluate-commands -save-regs 'fl' %{
    evaluate-commands -draft %{
        execute-keys 'x1s^([^\n]*):\d+: \d+\.\d+ <ret>'
        set-register f %val{selection}
        execute-keys 'x1s:(\d+): \d+\.\d+ <ret>'
        set-register l %val{selection}
    }
    edit -existing -- %reg{f}
    execute-keys "%reg{l}gvc"
} }

# Decides about the change that is named in what was typed, or about that of the line in the list. What else was typed is
# told the agent.
define-command -hidden pillion-change -params 2 %{
    pillion-must-run
    pillion-must-be-typed
    evaluate-commands -save-regs 'i' %{
        set-register i ''
        try %{ evaluate-commands -draft %{
            execute-keys 'x1s^[^\n]*:(\d+: \d+\.\d+) <ret>'
            set-register i %val{selection}
        } }
        echo -quoting kakoune -to-shell-script "set -- act; %opt{pillion_say}" -- '' %val{client} %arg{1} \
            %reg{i} %arg{2} %val{bufname} %val{cursor_line} end
    }
}
define-command pillion-keep -params .. -docstring '
pillion-keep [-file|<change>:] [<note>]: keep what an agent has written: that of the line in the list or in the file, with
-file the newest change of the file, a change (7.2) or a turn (7). The agent is told the note' %{
    evaluate-commands %sh{
        case $kak_buffile in
        /*) echo 'pillion-take-out keep "%arg{@}"' ;;
        *) echo 'pillion-change keep "%arg{@}"' ;;
        esac
    }
}
define-command pillion-take-back -params .. -docstring '
pillion-take-back [-file|<change>:] [<reason>]: take back what an agent has written: the hunks under the main selection, with
-file the file, a change (7.2), a turn (7), or that of the line in the list. The agent is told the reason' %{
    evaluate-commands %sh{
        case $kak_buffile in
        /*) echo 'pillion-take-out take-back "%arg{@}"' ;;
        *) echo 'pillion-take-row "%arg{@}"' ;;
        esac
    }
}
# In the list, of a change with several hunks, that of the row alone, unless another one is named.
define-command -hidden pillion-take-row -params 1 %{
    pillion-must-run
    pillion-must-be-typed
    try %{
        evaluate-commands %sh{ case $1 in -file*|[0-9]*) echo fail ;; esac }
        evaluate-commands -draft %{
            pillion-take-out-of-row %arg{1} %val{cursor_line}
        }
    } catch %{
        pillion-change take-back %arg{1}
    }
}
complete-command -menu pillion-keep shell-script-candidates %{ echo -file }
complete-command -menu pillion-take-back shell-script-candidates %{ echo -file }
define-command -hidden pillion-take-out -params 2 %{
    pillion-must-run
    pillion-must-be-typed
    pillion-take-out-here %arg{@}
}
define-command -hidden pillion-take-out-of-row -params 2 %{
    pillion-changes-go
    pillion-take-out-here take-back %arg{@}
}
# What is done, what was typed, and the line of the list.
define-command -hidden pillion-take-out-here -params 2..3 %{
    set-option -add global pillion_taken 1
    evaluate-commands -save-regs 's' %{
        set-register s %val{selection_desc}
        evaluate-commands -no-hooks -draft %{
            execute-keys '%'
            echo -quoting kakoune -to-shell-script "set -- out-%opt{pillion_taken}; %opt{pillion_say}" -- %val{selection} \
                %arg{1} %val{client} %val{buffile} %val{modified} %val{timestamp} %opt{eolformat} %opt{BOM} %reg{s} \
                %arg{2} %arg{3} end
        }
    }
}
define-command pillion-undo -params ..1 -docstring '
pillion-undo [<change>]: undo what was kept or taken back, that of the change or the last' %{
    pillion-change undo "%arg{@}"
}

define-command pillion-doctor -docstring 'explain why an agent does or does not connect' %{
    pillion-page doctor %sh{ "$kak_opt_pillion_command" doctor 2>&1 }
}
define-command pillion-status -docstring 'show which agents are connected' %{
    info -title Pillion -- %sh{ cat "$kak_opt_pillion_dir/out/status" 2>/dev/null || echo 'Pillion is not running here' }
}
define-command pillion-help -docstring 'show the page about Pillion' %{ evaluate-commands %{
    try %{ require-module doc }
    doc-render "%opt{pillion_module}/pillion.asciidoc"
} }
define-command pillion-original -docstring 'show the file as it is, beside the proposal in this buffer' %{
    pillion-page original %sh{
        cat "$kak_opt_pillion_dir/out/$kak_opt_pillion_id-$kak_opt_pillion_revision-original" 2>/dev/null
    }
}

hook -group pillion-start global KakBegin .* %{ evaluate-commands "pillion-autostart-%opt{pillion_autostart}" }
define-command -hidden pillion-autostart-false nop
define-command -hidden pillion-autostart-true pillion-enable
