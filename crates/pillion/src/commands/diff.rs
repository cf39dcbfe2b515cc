//! `pillion diff`.

mod limit;
mod save;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use pillion_agent::{Decision, Session};
use serde_json::json;

use self::save::{Original, SaveError};
use super::remote;
use crate::cli::Target;
use crate::failure::{self, Failure, Kind};
use crate::interrupt::Interrupt;
use crate::reach::{self, Reach};
use crate::visible;

/// How long the editor may take to close the view when this command is to end.
const PARTING: Duration = Duration::from_secs(2);

/// Propose a text for a file in the running editor, and wait for the decision
///
/// Prints the accepted text, which the reviewer may have edited: byte for byte, except to a
/// terminal. The exit code is 1 if it was rejected or not decided in time, 3 if the editor went
/// away. Ctrl-C closes the view.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file to change; it may not be there yet
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Propose this file's text (`-`: standard input)
    #[arg(long, value_name = "FILE", default_value = "-")]
    content_file: PathBuf,

    /// Write the accepted text into FILE instead of printing it
    ///
    /// Refused if FILE was changed in the meantime; the accepted text is kept elsewhere then.
    #[arg(long)]
    write: bool,

    /// Give up after this time, such as `90`, `90s`, `5m` or `1h` [default: wait for ever]
    #[arg(long, value_name = "DURATION", value_parser = limit::parse)]
    timeout: Option<Duration>,

    /// Print `{path, outcome, content}`; `outcome` is `accepted`, `rejected` or `timedOut`, and only
    /// an accepted change has a `content`
    #[arg(long, conflicts_with = "write")]
    json: bool,

    #[command(flatten)]
    target: Target,
}

/// How it ended.
#[derive(Debug)]
enum End {
    Accepted(String),
    Rejected,
    TimedOut,
    /// By a signal.
    Interrupted(Kind),
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let path = absolute(&args.file)?;
    let reach = Reach::find(&args.target)?;
    let text = proposed(&args.content_file)?;
    let original = args.write.then(|| Original::look(Path::new(&path)));
    let original = original.transpose()?;
    let end = reach::runtime()?.block_on(ask(&reach, &path, &text, args.timeout))?;
    drop(text);
    match (end, original) {
        (End::Interrupted(kind), _) => Err(Failure::new(kind, "interrupted").into()),
        (end, _) if args.json => report(&path, end),
        (End::Accepted(text), Some(original)) => write(&original, &text),
        (End::Accepted(text), None) => print(&text),
        (End::Rejected, _) => Err(rejected().into()),
        (End::TimedOut, _) => Err(timed_out().into()),
    }
}

/// The path as it is sent: the companion finds out where it really leads.
fn absolute(file: &Path) -> anyhow::Result<String> {
    let shown = file.display();
    let cannot = || Failure::new(Kind::Usage, format!("{shown} is not a path"));
    let path = std::path::absolute(file).with_context(cannot)?;
    if path.is_dir() {
        let failure = Failure::new(Kind::Refused, format!("{shown} is a folder, not a file"));
        return Err(failure.into());
    }
    path.into_os_string().into_string().map_err(|path| {
        let path = path.display();
        Failure::new(Kind::Refused, format!("{path} is not valid Unicode")).into()
    })
}

fn proposed(content_file: &Path) -> anyhow::Result<String> {
    if content_file == Path::new("-") && io::stdin().is_terminal() {
        failure::tell(
            "Hint: Type or paste the proposed text, then press Ctrl-D; or name a file with \
             --content-file.",
        );
    }
    remote::read_text(content_file)
}

async fn ask(
    reach: &Reach,
    path: &str,
    text: &str,
    timeout: Option<Duration>,
) -> anyhow::Result<End> {
    // Before the view opens: from here on a signal closes it.
    let mut interrupt = Interrupt::install().context("cannot catch signals")?;
    let session = tokio::select! {
        session = reach.connect() => session?,
        kind = interrupt.next() => return Ok(End::Interrupted(kind)),
    };
    let end = tokio::select! {
        end = decide(&session, path, text, timeout) => end,
        kind = interrupt.next() => {
            // That it was not open yet, or is closed already, is fine.
            let _ = tokio::time::timeout(PARTING, session.close_diff(path)).await;
            Ok(End::Interrupted(kind))
        }
    };
    session.end().await;
    end
}

async fn decide(
    session: &Session,
    path: &str,
    text: &str,
    timeout: Option<Duration>,
) -> anyhow::Result<End> {
    let opened = session.open_diff(path, text).await;
    let mut proposal = opened.map_err(reach::failure)?;
    let decision = match timeout {
        None => proposal.decision().await,
        Some(timeout) => match tokio::time::timeout(timeout, proposal.decision()).await {
            Ok(decision) => decision,
            Err(_) => match tokio::time::timeout(PARTING, proposal.withdraw()).await {
                // In the last moment.
                Ok(Ok(decision)) => Ok(decision),
                Ok(Err(_)) | Err(_) => return Ok(End::TimedOut),
            },
        },
    };
    Ok(match decision.map_err(reach::failure)? {
        Decision::Accepted(text) => End::Accepted(text),
        Decision::Rejected => End::Rejected,
        Decision::Closed(_) => End::TimedOut,
    })
}

fn rejected() -> Failure {
    Failure::new(Kind::Refused, "the change was rejected")
}

fn timed_out() -> Failure {
    Failure::new(Kind::Refused, "nobody decided in time; the view is closed")
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = if out.is_terminal() {
        // A terminal would do what control characters in it say.
        out.write_all(visible::lines(text).as_bytes())
    } else {
        out.write_all(text.as_bytes())
    };
    written
        .and_then(|()| out.flush())
        .context("cannot print the accepted text")
}

fn report(path: &str, end: End) -> anyhow::Result<()> {
    let (outcome, content, failure) = match end {
        End::Accepted(text) => ("accepted", Some(text), None),
        End::Rejected => ("rejected", None, Some(rejected())),
        End::TimedOut | End::Interrupted(_) => ("timedOut", None, Some(timed_out())),
    };
    let mut report = json!({"path": path, "outcome": outcome});
    if let Some(content) = content {
        report["content"] = content.into();
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{}", visible::json(&report.to_string()))?;
    out.flush()?;
    failure.map_or(Ok(()), |failure| Err(failure.into()))
}

/// Writes the accepted text into the file, or keeps it where nothing is lost.
fn write(original: &Original, text: &str) -> anyhow::Result<()> {
    let Err(error) = original.replace(text) else {
        return Ok(());
    };
    let failure = Failure::new(Kind::Refused, error.to_string());
    let failure = match save::keep(text) {
        Ok(kept) => failure.hint(format!("The accepted text is kept in {}.", kept.display())),
        Err(_) => {
            // There is no other place left.
            print(text)?;
            failure.hint("The accepted text is on standard output.")
        }
    };
    match error {
        SaveError::Changed(_) => Err(failure.into()),
        SaveError::Io { source, .. } => Err(anyhow::Error::new(source).context(failure)),
    }
}
