//! The commands that Kakoune is given. Texts reach it in files, and names as quoted words: nothing that an agent
//! sent is read as a command.

use std::path::Path;
use std::time::{Duration, SystemTime};

use pillion_companion::{ProposalKey, Proposed};

use crate::quote::word;
use crate::view::View;

/// How far the time of a file may lag: the systems' clocks for that tick a hundred times a second or more.
const FILE_TIME_STEP: Duration = Duration::from_millis(10);

/// The client that shows proposals beside the person's own.
pub const REVIEW_CLIENT: &str = "pillion";

/// What the session is to know first: where to write, and which port agents connect to. What an earlier companion
/// left is the person's now.
pub fn begin(folder: &Path, port: u16) -> String {
    let folder = word(&folder.to_string_lossy());
    format!(
        "set-option global pillion_dir {folder}
         set-option global pillion_port {port}
         pillion-aside nop
         evaluate-commands -buffer * pillion-orphan
         pillion-everywhere pillion-report"
    )
}

/// Has the session report which process its server is.
pub fn ask_server() -> String {
    "pillion-say-word server %sh{ echo \"$PPID\" }".to_owned()
}

/// Puts a proposal into its buffer, from this file, and has the buffer's text written back.
pub fn load(view: &View, file: &Path, marks: &[String], first: usize) -> String {
    let ProposalKey { id, revision } = view.key();
    let fill = if view.held == "\n" {
        "execute-keys '%d'".to_owned()
    } else {
        let file = file.to_string_lossy().replace('|', "||");
        format!("set-register dquote %file|{file}|\nexecute-keys '%R'")
    };
    let marks: Vec<String> = marks.iter().map(|mark| word(mark)).collect();
    let (agent, path) = (view.diff.agent.display_name(), view.diff.path.display());
    let title = format!("{agent} {path}");
    let script = format!(
        "edit -scratch {buffer}
         {fill}
         execute-keys '%'
         echo -to-file \"%opt{{pillion_dir}}/in/text-loaded-{id}-{revision}\" -- %val{{selection}}
         pillion-adopt {id} {revision} {first} {title}
         set-option buffer pillion_changes %val{{timestamp}} {marks}",
        buffer = word(&view.buffer()),
        title = word(&pillion_text::visible::one_line(&title)),
        marks = marks.join(" "),
    );
    format!(
        "try {load} catch {failed}",
        load = word(&format!(
            "pillion-aside {}
             pillion-say loaded-{id}-{revision}
             pillion-everywhere pillion-redraw",
            word(&script)
        )),
        failed = word(&format!(
            "pillion-say-word failed-{id}-{revision} %val{{error}}"
        )),
    )
}

/// Shows it in the review client.
pub fn display(view: &View) -> String {
    let command = format!("pillion-display {}", word(&view.buffer()));
    show(view, REVIEW_CLIENT, &command)
}

/// Shows it where the person is, unless they are busy there.
pub fn offer(view: &View, client: &str) -> String {
    show(view, client, "pillion-try-display")
}

fn show(view: &View, client: &str, command: &str) -> String {
    let (client, command) = (word(client), word(command));
    let there = format!("evaluate-commands -client {client} {command}");
    format!("{}\ntry {}", waiting(Some(view)), word(&there))
}

/// Which proposal is shown when the person asks for one.
pub fn waiting(view: Option<&View>) -> String {
    let buffer = view.map(View::buffer).unwrap_or_default();
    format!("set-option global pillion_waiting {}", word(&buffer))
}

/// What the review client does when it starts.
pub fn first_display(view: &View) -> String {
    let buffer = word(&view.buffer());
    // An agent may have taken the proposal back meanwhile.
    format!(
        "try %{{ rename-client {REVIEW_CLIENT} }}; try %{{ buffer {buffer} }} catch %{{ quit! }}; pillion-display {buffer}"
    )
}

/// Takes its buffer away. `next` is shown where it was; the review client goes if there is none.
pub fn close(view: &View, next: Option<&View>) -> String {
    let id = view.diff.id;
    let there = match next {
        Some(next) => format!("pillion-display {}", word(&next.buffer())),
        // In a proposal this would be the person's way to reject it.
        None => "unalias buffer quit!\nquit!".to_owned(),
    };
    let buffer = word(&view.buffer());
    let inside = format!("pillion-is-{id}\n{there}");
    let review = format!(
        "evaluate-commands -client {REVIEW_CLIENT} {}",
        word(&inside)
    );
    let script = format!(
        "buffer {buffer}
         execute-keys '%'
         echo -to-file \"%opt{{pillion_dir}}/in/text-given-{id}\" -- %val{{selection}}
         pillion-release"
    );
    format!(
        "try {review}
         {given}
         try {delete}
         pillion-say given-{id}",
        review = word(&review),
        given = aside(&script),
        delete = word(&format!("delete-buffer! {buffer}")),
    )
}

/// Has its text told, as it stands.
pub fn ask_text(view: &View) -> String {
    let (key, buffer) = (view.key(), word(&view.buffer()));
    let script = format!(
        "buffer {buffer}\npillion-text told-{}-{}",
        key.id, key.revision
    );
    aside(&script)
}

/// From when on it may be accepted, for its buffer: then the time of the message counts, which lags.
pub fn ready(view: &View, at: SystemTime) -> String {
    let millis = (at + FILE_TIME_STEP)
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis();
    let buffer = word(&view.buffer());
    aside(&format!(
        "buffer {buffer}\nset-option buffer pillion_ready {millis}"
    ))
}

/// Opens a file that keeps what the person wrote, without showing it.
pub fn keep(file: &Path) -> String {
    aside(&format!(
        "edit -existing -- {}",
        word(&file.to_string_lossy())
    ))
}

/// Removes its buffer as if the person did: that rejects.
pub fn close_as_person(view: &View) -> String {
    format!(
        "try {}",
        word(&format!("delete-buffer! {}", word(&view.buffer())))
    )
}

/// Shows a message where the person is.
pub fn message(client: &str, text: &str) -> String {
    let text = format!("pillion: {}", pillion_text::visible::one_line(text));
    let markup = text.replace('\\', "\\\\").replace('{', "\\{");
    let markup = word(&format!("{{Information}}{markup}"));
    format!(
        "evaluate-commands -try-client {client} {show}
         echo -debug {text}",
        client = word(client),
        show = word(&format!("echo -markup -- {markup}")),
        text = word(&text),
    )
}

/// The agent is about to write this file: Kakoune is not to ask about it, if nothing is lost.
pub fn await_write(path: &Path) -> String {
    in_buffer(path, "pillion-await")
}

/// The file was written, or never will be.
pub fn reload(path: &Path, is_written: bool) -> String {
    let command = if is_written {
        "pillion-reload"
    } else {
        "pillion-restore"
    };
    in_buffer(path, command)
}

fn in_buffer(path: &Path, command: &str) -> String {
    let path = word(&path.to_string_lossy());
    aside(&format!("buffer {path}\n{command}"))
}

/// Runs commands where the person sees nothing of it, if that is possible.
fn aside(script: &str) -> String {
    format!("try {}", word(&format!("pillion-aside {}", word(script))))
}
