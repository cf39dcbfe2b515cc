//! The commands that Kakoune is given. Texts reach it in files, and names as quoted words: nothing that an agent
//! sent is read as a command.

use std::path::Path;
use std::time::{Duration, SystemTime};

use pillion_protocol::{Dialect, ReviewChoice};
use pillion_view::{DiffId, ProposalKey, Proposed, SetPlace};

use crate::files;
use crate::inbox::Taking;
use crate::quote::word;
use crate::removed::Removed;
use crate::seen::Target;
use crate::view::View;

/// The settler of a proposal, on which it depends whether its buffer may go right after a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled {
    ByPerson,
    Elsewhere,
    /// Nobody, for this reason: whoever is in its buffer stays there until they leave it.
    Undecided(String),
}

impl Settled {
    /// Returns why nobody has decided, if so.
    pub fn undecided(&self) -> Option<&str> {
        match self {
            Self::Undecided(why) => Some(why),
            Self::ByPerson | Self::Elsewhere => None,
        }
    }
}

/// The largest lag of a file's time: the systems' clocks for that tick a hundred times a second or more.
const FILE_TIME_STEP: Duration = Duration::from_millis(10);

/// The client that shows proposals beside the person's own.
pub const REVIEW_CLIENT: &str = "pillion";

/// Tells the session what it is to know first: where to write, with which program to say the rest, which port agents connect to, and which agents there are.
/// Buffers that an earlier companion left are the person's now. One that has started beside this one ends: `pillion-enable`
/// was given twice.
pub fn begin(folder: &Path, program: &Path, port: u16) -> String {
    let [folder, program] = [folder, program].map(|it| word(&it.to_string_lossy()));
    let agents = Dialect::ALL.map(Dialect::name).join(" ");
    let choices = ReviewChoice::ALL.map(ReviewChoice::name).join(" ");
    format!(
        "pillion-say end
         set-option global pillion_dir {folder}
         set-option global pillion_program {program}
         set-option global pillion_port {port}
         set-option global pillion_agents {agents}
         set-option global pillion_choices {choices}
         pillion-aside nop
         evaluate-commands -buffer * pillion-orphan
         pillion-everywhere pillion-begin"
    )
}

/// Tells it that agents connect to another port now.
pub fn port(port: u16) -> String {
    format!("set-option global pillion_port {port}")
}

/// Has the session report which process its server is.
pub fn ask_server() -> String {
    "pillion-say server %sh{ echo \"$PPID\" }".to_owned()
}

/// Puts a proposal into its buffer, from this file, and has the buffer's text written back.
pub fn load(view: &View, file: &Path, removed: &Removed) -> String {
    let ProposalKey { id, revision } = view.key();
    let fill = fill(&view.held, file);
    let first = removed.first;
    let marks: Vec<String> = removed.marks.iter().map(|mark| word(mark)).collect();
    let places: Vec<String> = removed.seen_lines.specs().map(|spec| word(&spec)).collect();
    let (agent, path) = (view.diff.proposer.display_name(), view.diff.path.display());
    let place = SetPlace::after_name(view.diff.set);
    let title = format!("{agent}{place} {path}");
    let script = format!(
        "edit -scratch {buffer}
         set-option buffer readonly false
         try %{{ evaluate-commands \"pillion-new-%opt{{pillion_id}}\" }} catch %{{
             pillion-text \"former-%opt{{pillion_id}}-%opt{{pillion_revision}}\"
         }}
         {fill}
         pillion-adopt {id} {revision} {first} {title}
         set-option buffer pillion_changes %val{{timestamp}} {marks}
         set-option buffer pillion_places %val{{timestamp}} {places}
         set-option buffer pillion_notes %val{{timestamp}}
         pillion-text loaded-{id}-{revision}",
        places = places.join(" "),
        buffer = word(&view.buffer()),
        title = word(&pillion_text::visible::one_line(&title)),
        marks = marks.join(" "),
    );
    let shown = "pillion-everywhere pillion-redraw";
    let failed = format!("pillion-say failed-{id}-{revision} %val{{error}}");
    let load = format!(
        "try {} catch {}",
        word(&format!("pillion-aside {}\n{shown}", word(&script))),
        word(&failed)
    );
    // What the person types in the former one goes into no newer one.
    let later = word(&format!("pillion-say later-{id}-{revision}"));
    format!("pillion-undisturbed {id} {} {later}", word(&load))
}

/// Makes this, which lies in a file, the text of the buffer: one change, which can be undone.
fn fill(held: &str, file: &Path) -> String {
    if held == "\n" {
        return "execute-keys '%d'".to_owned();
    }
    let file = file.to_string_lossy().replace('|', "||");
    format!("set-register dquote %file|{file}|\nexecute-keys '%R'")
}

/// Makes what lies in our file of this name the text of the buffer. Only lines that differ are replaced, so that the cursor stays.
fn replace(name: &str) -> String {
    let file = format!("\"$kak_opt_pillion_dir/out/{name}\"");
    format!(
        "evaluate-commands %sh{{ [ -r {file} ] || echo fail not there }}
         execute-keys '%|cat -- {file}<ret>'"
    )
}

/// Puts a text into the buffer of a proposal, where it lies in a file: what the person had made of an earlier one, or a merge.
pub fn bring_back(view: &View) -> String {
    aside_in(&view.buffer(), &replace(&files::kept_name(view.key())))
}

/// Puts a text that lies in a file into the buffer of which it was made, if nobody has changed that since.
pub fn take_out(taking: &Taking) -> String {
    let Taking {
        number, timestamp, ..
    } = taking;
    let script = format!(
        "buffer {path}
         evaluate-commands %sh{{ [ \"$kak_timestamp\" = {timestamp} ] || echo fail not taken }}
         {replace}
         pillion-say taken-{number}",
        path = word(&taking.path.to_string_lossy()),
        replace = replace(&format!("taken-{number}")),
    );
    format!(
        "try {} catch {}",
        word(&format!("pillion-aside {}", word(&script))),
        word(&format!("pillion-say untaken-{number}"))
    )
}

/// Shows it in the review client, unless the person is busy there.
pub fn display(view: &View) -> String {
    let command = format!("pillion-display {}", word(&view.buffer()));
    offer_in(REVIEW_CLIENT, &command)
}

/// Shows it in the client in which the person asked for it.
pub fn display_in(client: &str, view: &View) -> String {
    let command = format!("pillion-display {}", word(&view.buffer()));
    in_client(client, &command)
}

/// Lets it be edited, unless the person is busy in it.
pub fn unlock(view: &View) -> String {
    let (id, script) = (view.diff.id, "set-option buffer readonly false");
    let unlock = format!(
        "{}\npillion-say unlocked-{id}",
        aside_in(&view.buffer(), script)
    );
    format!("pillion-undisturbed {id} {} nop", word(&unlock))
}

pub fn mark_notes(view: &View) -> String {
    let specs: Vec<String> = view.notes.specs().map(|spec| word(&spec)).collect();
    let specs = specs.join(" ");
    let script = format!("set-option buffer pillion_notes %val{{timestamp}} {specs}");
    aside_in(&view.buffer(), &script)
}

/// Puts a text where `p` inserts it: Kakoune has no other clipboard.
pub fn yank(text: &str) -> String {
    format!("set-register dquote {}", word(text))
}

/// Goes to a place of a proposal.
pub fn go(client: &str, id: DiffId, place: Target) -> String {
    let Target { line, byte, is_far } = place;
    let keys = if is_far { "vt2vk" } else { "" };
    let command = format!("pillion-go {id} {line}.{byte},{line}.{byte} '{keys}'");
    in_client(client, &command)
}

/// Shows what waits where the person is, unless they are busy there.
pub fn offer(client: &str) -> String {
    offer_in(client, "pillion-show")
}

fn offer_in(client: &str, command: &str) -> String {
    in_client(client, &format!("pillion-offer {}", word(command)))
}

fn in_client(client: &str, command: &str) -> String {
    let there = format!(
        "evaluate-commands -client {} {}",
        word(client),
        word(command)
    );
    format!("try {}", word(&there))
}

/// Sets the proposal that is shown when the person asks for one, and the number of proposals.
pub fn waiting(view: Option<&View>, count: usize) -> String {
    let buffer = view.map(View::buffer).unwrap_or_default();
    let pending = match count {
        0 => String::new(),
        1 => " 1 proposal: :pillion-show".to_owned(),
        count => format!(" {count} proposals: :pillion-show"),
    };
    format!(
        "set-option global pillion_waiting {}\nset-option global pillion_pending {}",
        word(&buffer),
        word(&pending)
    )
}

/// Puts this into an option of Pillion's for the mode line, with a space before it.
pub fn put(option: &str, text: Option<&str>) -> String {
    let text = text.map(|it| format!(" {it}")).unwrap_or_default();
    format!("set-option global pillion_{option} {}", word(&text))
}

/// The first commands of the review client.
pub fn first_display(view: &View) -> String {
    let buffer = word(&view.buffer());
    // An agent may have taken the proposal back meanwhile.
    format!(
        "try %{{ rename-client {REVIEW_CLIENT} }}; try %{{ buffer {buffer} }} catch %{{ quit! }}; pillion-display {buffer}"
    )
}

/// Has this said in place of its title when it is displayed.
pub fn entitle(view: &View, title: &str) -> String {
    let title = word(&pillion_text::visible::one_line(title));
    let script = format!("set-option buffer pillion_title {title}");
    aside_in(&view.buffer(), &script)
}

/// The list of changes is another one, if it is there.
pub fn list_again() -> String {
    "try pillion-list-again".to_owned()
}

/// Flags the lines of a file that is open, unless the person has changed its text.
pub fn flag(path: &Path, flags: &[String]) -> String {
    let flags: Vec<String> = flags.iter().map(|it| word(it)).collect();
    let command = format!("pillion-flag {}", flags.join(" "));
    aside_in(&path.to_string_lossy(), &command)
}

/// From now on, or no longer, what is typed to decide does nothing in other buffers.
pub fn guard(is_on: bool) -> String {
    let command = if is_on {
        "pillion-guard"
    } else {
        "pillion-unguard"
    };
    aside(command)
}

/// Has its text told, and its buffer taken away.
pub fn close(view: &View, next: Option<&View>, how: &Settled) -> String {
    let (id, buffer) = (view.diff.id, word(&view.buffer()));
    let script = format!(
        "buffer {buffer}
         pillion-text \"given-{id}-%opt{{pillion_revision}}\""
    );
    format!(
        "try {} catch {}\n{}",
        word(&format!("pillion-aside {}", word(&script))),
        word(&format!("pillion-say given-{id}-0")),
        match how {
            Settled::Elsewhere => clear_from(view, None, "pillion-linger", SETTLED),
            _ => clear(view, next, how),
        }
    )
}

const SETTLED: &str = "this proposal was settled elsewhere, and goes once you are done here";

/// Takes its buffer away from who is not busy there. `next` is shown in its place in the review client, which goes if
/// there is none.
pub fn clear(view: &View, next: Option<&View>, how: &Settled) -> String {
    match how {
        Settled::ByPerson => clear_from(view, next, "pillion-in-normal", ""),
        Settled::Elsewhere => clear_from(view, next, "pillion-at-rest", SETTLED),
        Settled::Undecided(why) => clear_from(
            view,
            next,
            "pillion-hold",
            &format!(":q closes this: {why}"),
        ),
    }
}

/// `is_free` is the command that fails in a client from which it is not taken away, whose person reads `note`.
fn clear_from(view: &View, next: Option<&View>, is_free: &str, note: &str) -> String {
    let next = next.map(View::buffer).unwrap_or_default();
    let note = Some(note).filter(|it| !it.is_empty());
    let note = note.map(markup).unwrap_or_default();
    format!(
        "pillion-clear {} {} {is_free} {} {}",
        view.diff.id,
        word(&view.buffer()),
        word(&next),
        word(&note)
    )
}

pub fn ask_text(view: &View) -> String {
    let ProposalKey { id, revision } = view.key();
    aside_in(
        &view.buffer(),
        &format!("pillion-text told-{id}-{revision}"),
    )
}

/// From when on it may be accepted, for its buffer: then the time of the message counts, which lags.
pub fn ready(view: &View, at: SystemTime) -> String {
    let millis = (at + FILE_TIME_STEP)
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis();
    aside_in(
        &view.buffer(),
        &format!("set-option buffer pillion_ready {millis}"),
    )
}

/// Opens a file that keeps what the person wrote, without showing it.
pub fn keep(file: &Path) -> String {
    let file = word(&file.to_string_lossy());
    aside(&format!("edit -existing -- {file}"))
}

/// Removes its buffer as if the person did: that rejects.
pub fn close_as_person(view: &View) -> String {
    let delete = format!("delete-buffer! {}", word(&view.buffer()));
    format!("try {}", word(&delete))
}

/// Shows a message in the first of these clients that is there. `yields`: not over what a proposal says there that nobody has
/// decided.
pub fn message<'a>(
    clients: impl DoubleEndedIterator<Item = &'a str>,
    yields: bool,
    text: &str,
) -> String {
    let mut show = format!("echo -markup -- {}", word(&markup(text)));
    if yields {
        show = format!("pillion-unless-held {}", word(&show));
    }
    let show = word(&show);
    let nowhere = "nop".to_owned();
    let shown = clients.rev().fold(nowhere, |otherwise, client| {
        let there = format!("evaluate-commands -client {} {show}", word(client));
        format!("try {} catch {}", word(&there), word(&otherwise))
    });
    format!("{shown}\necho -debug {}", word(&said(text)))
}

/// Shows a message about a proposal in a client, but not over another one: there it would be read as that one's.
pub fn announce(client: &str, id: DiffId, text: &str) -> String {
    let show = format!("pillion-announce {id} {}", word(&markup(text)));
    format!(
        "{}\necho -debug {}",
        in_client(client, &show),
        word(&said(text))
    )
}

/// A message as its person reads it.
fn said(text: &str) -> String {
    format!("pillion: {}", pillion_text::visible::one_line(text))
}

/// The same in Kakoune's markup.
fn markup(text: &str) -> String {
    let text = said(text).replace('\\', "\\\\").replace('{', "\\{");
    format!("{{Information}}{text}")
}

/// The agent is about to write this file: Kakoune is not to ask about it, if nothing is lost.
pub fn await_write(path: &Path) -> String {
    aside_in(&path.to_string_lossy(), "pillion-await")
}

/// The file was written, or never will be.
pub fn reload(path: &Path, is_written: bool) -> String {
    let command = match is_written {
        true => "pillion-reload",
        false => "pillion-restore",
    };
    aside_in(&path.to_string_lossy(), command)
}

fn aside_in(buffer: &str, script: &str) -> String {
    aside(&format!("buffer {}\n{script}", word(buffer)))
}

/// Runs commands where the person sees nothing of it, if that is possible.
fn aside(script: &str) -> String {
    format!("try {}", word(&format!("pillion-aside {}", word(script))))
}
