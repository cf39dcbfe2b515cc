//! `pillion diff`.

use pillion_system::{Signal, Signals};
use pillion_text::stderr;
mod claude;
mod limit;
mod save;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::time::Duration;

use anyhow::Context;
use pillion_agent::{Client, ClientError, Updates};
use pillion_discovery::{Environment, FileError, kept_text};
use pillion_protocol::{Note, Outcome};
use pillion_text::visible;
use serde_json::json;

use self::save::{Original, SaveError};
use super::control_client;
use super::output::printable;
use crate::absolute::{absolute, unicode};
use crate::agent_connection::{self, AgentConnection, Session};
use crate::args::Target;
use crate::failure::{Failure, Kind};
use crate::second_session::Consent;

/// How long the editor may take to open or close the view when this command is to end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a decision that was made in the very last moment may be under way.
const LAST_MOMENT: Duration = Duration::from_secs(1);

/// Show a text as a diff in the editor, and wait for the decision
///
/// Prints the accepted text, which the reviewer may have edited: byte for byte, unless standard
/// output is a terminal. The exit code is 1 if the change was rejected or not decided in time, and
/// 3 if the editor went away without an answer. Ctrl-C closes the view. If FILE already has this
/// text, it counts as accepted.
///
/// The editor is the one whose workspace contains FILE, else the one of the current folder. If its
/// companion is not Pillion's, this command asks first: such a companion may serve only one
/// session, as VS Code's does, and an agent that is connected to it then stops getting answers.
#[derive(Debug, clap::Args)]
#[command(mut_arg("workspace", |arg| arg.help(Target::WORKSPACE_OF_FILE)))]
pub struct Args {
    /// The file to change; it need not exist yet
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Propose this file's text (`-` for standard input)
    ///
    /// Empty standard input is refused unless FILE is empty too: the command before the pipe
    /// probably failed. To propose an empty text, name an empty file.
    #[arg(long, value_name = "FILE", default_value = "-")]
    content_file: PathBuf,

    /// Write the accepted text to FILE instead of printing it
    ///
    /// If FILE has changed in the meantime, nothing is written and the accepted text is kept
    /// elsewhere, unless the reviewer saw that change in `pillion review`.
    #[arg(long)]
    write: bool,

    /// Give up after this time, such as `90`, `90s`, `5m` or `1h`, even if the editor does not
    /// respond [default: wait forever]
    #[arg(long, value_name = "DURATION", value_parser = limit::parse)]
    timeout: Option<Duration>,

    /// Print `{path, outcome, content}`; `outcome` is `accepted`, `unchanged`, `rejected` or
    /// `timedOut`; `content` is present for the first two
    #[arg(long, conflicts_with = "write")]
    json: bool,

    #[command(flatten)]
    consent: Consent,

    #[command(flatten)]
    target: Target,
}

/// How it ended.
#[derive(Debug)]
enum End {
    Accepted {
        text: String,
        /// What the reviewer compared it with, where the companion says so.
        base: Option<String>,
        notes: Vec<Note>,
    },
    /// No question was asked: the file has this text.
    Unchanged(String),
    Rejected {
        notes: Vec<Note>,
    },
    /// Before anybody decided.
    Stopped {
        stop: Stop,
        /// The editor shows nothing any more.
        is_closed: bool,
        /// What stood in its view, if the person had edited it.
        edited: Option<String>,
    },
}

/// The signal that ends the waiting; none if the time is up.
type Stop = Option<Signal>;

pub fn run(args: Args) -> anyhow::Result<()> {
    let path = file_path(&args.file)?;
    refuse_own_output(Path::new(&path))?;
    let target = args.target.about(Path::new(&path));
    let mut consent = args.consent;
    if args.content_file == Path::new("-") {
        // Checked first, so that nobody types, and no command before the pipe works, in vain.
        match AgentConnection::find(&target) {
            Ok(connection) => consent.ask(&connection.companion)?,
            Err(error) if is_typed(&args.content_file) => return Err(error),
            // It may be started until the text is there.
            Err(_) => {}
        }
    }
    if is_typed(&args.content_file) {
        stderr::print(
            "hint: Type or paste the proposed text, then press Ctrl-D; or name a file with \
             --content-file.",
        );
    }
    let original = args.write.then(|| Original::look(Path::new(&path)));
    let original = original.transpose()?;
    let text = proposed(&args.content_file, Path::new(&path))?;
    let end = if save::holds(Path::new(&path), &text) {
        stderr::print(format_args!(
            "{path} already has this text: there is nothing to decide"
        ));
        End::Unchanged(text)
    } else {
        // Only now: whatever made the text may take long enough for an editor to be started.
        let connection = AgentConnection::find(&target)?;
        consent.ask(&connection.companion)?;
        pillion_agent::runtime()?.block_on(ask(&connection, &path, &text, args.timeout))?
    };
    let is_reported = args.json && !matches!(end, End::Stopped { stop: Some(_), .. });
    if is_reported {
        print_json(&path, &end)?;
    } else {
        print_notes(end.notes());
    }
    match (end, original) {
        (End::Accepted { .. } | End::Unchanged(_), _) if is_reported => Ok(()),
        (End::Accepted { text, base, .. }, Some(original)) => {
            write(&original, base.as_deref(), &text)
        }
        (End::Unchanged(_), Some(_)) => Ok(()),
        (End::Accepted { text, .. } | End::Unchanged(text), None) => print_text(&text),
        (End::Rejected { .. }, _) => {
            Err(Failure::new(Kind::Refused, "the change was rejected").into())
        }
        (
            End::Stopped {
                stop,
                is_closed,
                edited,
            },
            _,
        ) => {
            if let Some(Ok(kept)) = edited.as_deref().map(keep) {
                let kept = kept.display();
                stderr::print(format_args!("note: the edits of {path} are kept in {kept}"));
            }
            Err(stopped(stop, is_closed).into())
        }
    }
}

/// The path as it is sent: the companion finds out where it really leads.
fn file_path(file: &Path) -> anyhow::Result<String> {
    if file == Path::new("-") {
        let message = "FILE names the file to change, and cannot be `-`";
        return Err(Failure::new(Kind::Usage, message)
            .hint(
                "The text comes from standard input anyway. For a file of that name, write `./-`.",
            )
            .into());
    }
    let shown = file.display();
    let cannot = || Failure::new(Kind::Usage, format!("{shown} is not a path"));
    let path = absolute(file).with_context(cannot)?;
    let ends_as_a_folder = file.to_string_lossy().ends_with(std::path::is_separator);
    if ends_as_a_folder || path.is_dir() {
        let failure = Failure::new(Kind::Refused, format!("{shown} is a folder, not a file"));
        return Err(failure.into());
    }
    Ok(unicode(path)?)
}

/// `… | pillion diff FILE > FILE`: the shell has emptied it before anybody could decide.
fn refuse_own_output(path: &Path) -> anyhow::Result<()> {
    if !save::is_output(path) {
        return Ok(());
    }
    let message = format!("standard output is redirected to {} itself", path.display());
    let hint = "Use `--write` instead. With `>`, the shell emptied the file before this command started: restore its text first.";
    Err(Failure::new(Kind::Refused, message).hint(hint).into())
}

/// Returns true if a person types the text.
fn is_typed(content_file: &Path) -> bool {
    content_file == Path::new("-") && io::stdin().is_terminal()
}

fn proposed(content_file: &Path, file: &Path) -> anyhow::Result<String> {
    let is_input = content_file == Path::new("-");
    let text = control_client::read_text(content_file)?;
    let is_full = || file.metadata().is_ok_and(|metadata| metadata.len() > 0);
    if is_input && text.is_empty() && is_full() {
        let message = format!("standard input is empty, but {} is not", file.display());
        let hint = "Did the command before the pipe fail? To propose an empty text, name an empty \
                    file with --content-file.";
        return Err(Failure::new(Kind::Refused, message).hint(hint).into());
    }
    Ok(text)
}

async fn ask(
    connection: &AgentConnection,
    path: &str,
    text: &str,
    timeout: Option<Duration>,
) -> anyhow::Result<End> {
    // Before the view opens: from here on a signal closes it.
    let mut signals = Signals::install().context("cannot catch signals")?;
    let limit = timeout.unwrap_or(Duration::MAX);
    let mut stop = pin!(async { tokio::time::timeout(limit, signals.next()).await.ok() });
    let mut session = tokio::select! {
        session = connection.connect() => session?,
        stop = &mut stop => return Ok(End::stopped(stop, true)),
    };
    let editor = connection.companion.display_name();
    let end = match &mut session {
        Session::Companion(client, updates) => {
            let end = decide(client, updates, editor, path, text, stop).await;
            if end.as_ref().is_err_and(leaves_it_open) {
                let _ = tokio::time::timeout(CLOSE_TIMEOUT, client.close_diff(path)).await;
            }
            end
        }
        Session::Claude(client, _) => claude::decide(client, editor, path, text, stop).await,
    };
    session.end().await;
    end.map_err(agent_connection::failure)
}

async fn decide(
    client: &Client,
    updates: &mut Updates,
    editor: &str,
    path: &str,
    text: &str,
    mut stop: Pin<&mut impl Future<Output = Stop>>,
) -> Result<End, ClientError> {
    let mut opening = pin!(client.open_diff(path, text));
    let stop = tokio::select! {
        biased;
        opened = &mut opening => {
            opened?;
            say_waiting(editor);
            tokio::select! {
                // Who decided in the same moment has decided.
                biased;
                decision = updates.decision(path) => {
                    return decision.map(|outcome| End::new(outcome, updates.take_notes()));
                }
                stop = stop => stop,
            }
        }
        // Only a view that is open can be closed.
        stop = &mut stop => match tokio::time::timeout(CLOSE_TIMEOUT, opening).await {
            Ok(Ok(())) => stop,
            opened => {
                let is_closed = opened.is_ok();
                return Ok(End::stopped(stop, is_closed));
            }
        },
    };
    let closed = tokio::time::timeout(CLOSE_TIMEOUT, client.close_diff(path)).await;
    let mut edited = None;
    let is_closed = match closed {
        Ok(Ok(content)) => {
            edited = Some(content).filter(|content| content != text);
            true
        }
        Ok(Err(error)) => {
            let late = tokio::time::timeout(LAST_MOMENT, updates.decision(path)).await;
            if let Ok(Ok(decision)) = late {
                return Ok(End::new(decision, updates.take_notes()));
            }
            // There is nothing to close any more.
            matches!(error, ClientError::Tool(_))
        }
        Err(_) => false,
    };
    Ok(End::Stopped {
        stop,
        is_closed,
        edited,
    })
}

/// Returns true if the view may be open after this error: of anything else than a refusal that is
/// not known.
fn leaves_it_open(error: &ClientError) -> bool {
    !matches!(
        error,
        ClientError::NoDiffs | ClientError::Tool(_) | ClientError::Refused(400..=499)
    )
}

fn say_waiting(editor: &str) {
    if io::stderr().is_terminal() {
        stderr::print(format_args!(
            "Waiting for a decision in {editor}; Ctrl-C withdraws the proposal."
        ));
    }
}

impl End {
    /// Nothing was decided, and nobody has edited anything.
    fn stopped(stop: Stop, is_closed: bool) -> Self {
        Self::Stopped {
            stop,
            is_closed,
            edited: None,
        }
    }

    fn new(outcome: Outcome, notes: Vec<Note>) -> Self {
        match outcome {
            Outcome::Accepted {
                content: text,
                base,
            } => Self::Accepted { text, base, notes },
            Outcome::Rejected => Self::Rejected { notes },
        }
    }

    /// What the person had to say.
    fn notes(&self) -> &[Note] {
        match self {
            Self::Accepted { notes, .. } | Self::Rejected { notes } => notes,
            Self::Unchanged(_) | Self::Stopped { .. } => &[],
        }
    }
}

/// Prints what the person had to say, with lines from 1.
fn print_notes(notes: &[Note]) {
    for Note { lines, text } in notes {
        match lines {
            Some(lines) if lines.last > lines.first => stderr::print(format_args!(
                "note on lines {} to {}: {text}",
                lines.first + 1,
                lines.last + 1
            )),
            Some(lines) => {
                stderr::print(format_args!("note on line {}: {text}", lines.first + 1));
            }
            None => stderr::print(format_args!("note: {text}")),
        }
    }
}

fn stopped(stop: Stop, is_closed: bool) -> Failure {
    let (kind, what) = match stop {
        None => (Kind::Refused, "nobody decided in time"),
        Some(signal) => (signal.into(), "interrupted"),
    };
    if is_closed {
        return Failure::new(kind, what);
    }
    let message = format!("{what}, and the editor does not respond: it may still show the change");
    Failure::new(kind, message)
        .hint("Was it suspended with Ctrl-Z? `fg` in its terminal resumes it.")
}

/// Prints the text, or what describes it; an accepted text that cannot be printed is kept.
fn print(printed: &str, accepted: Option<&str>) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(printed.as_bytes()).and_then(|()| out.flush());
    let Err(error) = written else {
        return Ok(());
    };
    let failure = Failure::new(Kind::Refused, "cannot print the decision");
    let failure = match accepted.map(keep) {
        Some(Ok(kept)) => failure.hint(hint_at(&kept)),
        Some(Err(_)) | None => failure,
    };
    Err(anyhow::Error::new(error).context(failure))
}

fn print_text(text: &str) -> anyhow::Result<()> {
    print(&printable(text, io::stdout().is_terminal()), Some(text))
}

fn print_json(path: &str, end: &End) -> anyhow::Result<()> {
    let (outcome, content) = match end {
        End::Accepted { text, .. } => ("accepted", Some(text.as_str())),
        End::Unchanged(text) => ("unchanged", Some(text.as_str())),
        End::Rejected { .. } => ("rejected", None),
        End::Stopped { .. } => ("timedOut", None),
    };
    let mut report = json!({"path": path, "outcome": outcome});
    if let Some(content) = content {
        report["content"] = content.into();
    }
    if !end.notes().is_empty() {
        report["notes"] = json!(end.notes());
    }
    print(
        &format!("{}\n", visible::json(&report.to_string())),
        content,
    )
}

/// Puts the text into a private file.
fn keep(text: &str) -> Result<PathBuf, FileError> {
    kept_text::keep(&Environment::current().tmpdir(), Path::new(""), text)
}

fn hint_at(kept: &Path) -> String {
    format!("The accepted text is kept in {}.", kept.display())
}

/// Writes the accepted text into the file, or keeps it where nothing is lost.
fn write(original: &Original, base: Option<&str>, text: &str) -> anyhow::Result<()> {
    let Err(error) = original.replace(base, text) else {
        return Ok(());
    };
    let failure = Failure::new(Kind::Refused, error.to_string());
    let failure = match keep(text) {
        Ok(kept) => failure.hint(hint_at(&kept)),
        Err(_) => {
            // There is no other place left.
            print_text(text)?;
            failure.hint("The accepted text is on standard output.")
        }
    };
    match error {
        SaveError::Changed(_) => Err(failure.into()),
        SaveError::Io { source, .. } => Err(anyhow::Error::new(source).context(failure)),
    }
}
