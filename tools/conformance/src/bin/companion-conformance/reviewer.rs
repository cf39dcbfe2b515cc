//! Does what only a person can do in an editor, through a command that was given, or the person at
//! the terminal.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::time::Duration;

use companion_conformance::{Help, Helper, Step};
use pillion_system::{Child, Group};
use pillion_text::stderr;

use crate::progress;

/// The commands that were given, as lines for a shell.
#[derive(Debug, Clone, clap::Args)]
pub struct Commands {
    /// Run CMD to accept the diff of $PILLION_CONFORMANCE_FILE in the editor
    #[arg(long, value_name = "CMD")]
    pub accept_with: Option<String>,

    /// Run CMD to reject the diff of $PILLION_CONFORMANCE_FILE in the editor
    #[arg(long, value_name = "CMD")]
    pub reject_with: Option<String>,

    /// Run CMD to accept the diff of $PILLION_CONFORMANCE_FILE with another text (Copilot CLI's rules)
    #[arg(long, value_name = "CMD")]
    pub edit_with: Option<String>,

    /// Run CMD to close the view of $PILLION_CONFORMANCE_FILE without a decision (not the contract's
    /// rules)
    #[arg(long, value_name = "CMD")]
    pub close_with: Option<String>,

    /// Run CMD to mention lines of $PILLION_CONFORMANCE_FILE to the agent (not the contract's
    /// rules)
    #[arg(long, value_name = "CMD")]
    pub mention_with: Option<String>,

    /// Run CMD to move the editor's cursor to line $PILLION_CONFORMANCE_LINE of
    /// $PILLION_CONFORMANCE_FILE, often and for up to 11 files of the workspace
    #[arg(long, value_name = "CMD")]
    pub move_with: Option<String>,

    /// Run CMD at the end to stop the companion as its editor does
    #[arg(long, value_name = "CMD")]
    pub stop_with: Option<String>,
}

pub struct Reviewer {
    pub commands: Commands,
    pub port: Option<u16>,
    pub limit: Duration,
    pub is_person_there: bool,
}

impl Helper for Reviewer {
    fn help<'a>(&'a self, step: &'a Step) -> Pin<Box<dyn Future<Output = Help> + 'a>> {
        Box::pin(self.step(step))
    }
}

impl Reviewer {
    async fn step(&self, step: &Step) -> Help {
        match self.command(step) {
            Some(line) => self.run(line, step).await.err().unwrap_or(Help::Done),
            None => self.ask(step),
        }
    }

    /// Runs a line for each file of the step and its first and last line, one after the other.
    async fn run(&self, line: &str, step: &Step) -> Result<(), Help> {
        let places: Vec<(&str, (u32, u32))> = match step {
            Step::Accept(file)
            | Step::AcceptAgain(file)
            | Step::AcceptEdited(file)
            | Step::Reject(file)
            | Step::Close(file) => vec![(file, (1, 1))],
            Step::Mention { file, lines } => vec![(file, *lines)],
            Step::Stop => vec![("", (1, 1))],
            Step::Move { file, lines } => (1..=*lines).map(|at| (&**file, (at, at))).collect(),
            Step::Burst { file, lines, .. } => {
                lines.iter().map(|at| (&**file, (*at, *at))).collect()
            }
            Step::Visit(files) => files.iter().map(|file| (&**file, (1, 1))).collect(),
        };
        let mut running = Vec::new();
        for (file, lines) in places {
            let started = self.start(line, file, lines);
            match step {
                Step::Burst { pace, .. } => {
                    running.push(started);
                    tokio::time::sleep(*pace).await;
                }
                _ => self.end(line, started).await?,
            }
        }
        for started in running {
            self.end(line, started).await?;
        }
        Ok(())
    }

    fn command(&self, step: &Step) -> Option<&str> {
        let command = match step {
            Step::Accept(_) | Step::AcceptAgain(_) => &self.commands.accept_with,
            Step::AcceptEdited(_) => &self.commands.edit_with,
            Step::Close(_) => &self.commands.close_with,
            Step::Mention { .. } => &self.commands.mention_with,
            Step::Reject(_) => &self.commands.reject_with,
            Step::Move { .. } | Step::Burst { .. } | Step::Visit(_) => &self.commands.move_with,
            Step::Stop => &self.commands.stop_with,
        };
        command.as_deref()
    }

    /// Asks the person at the terminal.
    fn ask(&self, step: &Step) -> Help {
        let nobody = |why: &str| Help::Nobody(why.to_owned());
        let (wish, flag) = match step {
            Step::Accept(file) => (format!("Accept the diff of {file} as it is"), "accept"),
            Step::Reject(file) => (format!("Reject the diff of {file}"), "reject"),
            Step::Close(file) => {
                let wish = format!("Close the view of {file} without accepting or rejecting it");
                (wish, "close")
            }
            Step::Move { .. } => ("Open a file and move the cursor in it".to_owned(), "move"),
            Step::AcceptAgain(_) => {
                return nobody(
                    "a person would have to accept too many diffs: pass --accept-with CMD",
                );
            }
            Step::AcceptEdited(_) => {
                return nobody(
                    "pass --edit-with CMD, a command that accepts a diff with another text",
                );
            }
            Step::Mention { .. } => {
                return nobody(
                    "pass --mention-with CMD, a command that mentions lines to the agent",
                );
            }
            Step::Burst { .. } => return nobody("a person cannot move the cursor that quickly"),
            Step::Visit(_) => return nobody("a person would have to focus too many files"),
            Step::Stop => {
                return nobody("pass --stop-with CMD, a command that stops the companion");
            }
        };
        if !self.is_person_there {
            return Help::Nobody(format!(
                "there is no terminal to prompt anyone on: pass --{flag}-with CMD"
            ));
        }
        let seconds = self.limit.as_secs();
        progress::clear();
        stderr::print(format_args!("{wish} in the editor. You have {seconds} s."));
        Help::Asked
    }

    /// Starts a line in the user's shell. What it is about reaches it by the environment: nothing is
    /// pasted into the line.
    fn start(&self, line: &str, file: &str, (first, last): (u32, u32)) -> io::Result<Child> {
        let mut command = shell(line);
        command
            .env("PILLION_CONFORMANCE_FILE", file)
            .env("PILLION_CONFORMANCE_LINE", first.to_string())
            .env("PILLION_CONFORMANCE_LAST_LINE", last.to_string())
            .stdin(Stdio::null())
            // Standard output is the report's.
            .stdout(Stdio::null());
        match self.port {
            Some(port) => command.env("PILLION_CONFORMANCE_PORT", port.to_string()),
            None => command.env_remove("PILLION_CONFORMANCE_PORT"),
        };
        Child::start(&mut command, Group::Own)
    }

    async fn end(&self, line: &str, started: io::Result<Child>) -> Result<(), Help> {
        let cannot = |error| Help::Failed(format!("`{line}` cannot be started: {error}"));
        let ended = started.map_err(cannot)?.ended(self.limit).await;
        Err(Help::Failed(match ended {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => format!("`{line}` failed: {status}"),
            Ok(None) => format!("`{line}` did not end within {:?}", self.limit),
            Err(error) => format!("lost track of `{line}`: {error}"),
        }))
    }
}

#[cfg(unix)]
fn shell(line: &str) -> Command {
    let shell = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
    let mut command = Command::new(shell.unwrap_or_else(|| "/bin/sh".into()));
    command.arg("-c").arg(line);
    command
}

#[cfg(windows)]
fn shell(line: &str) -> Command {
    use std::os::windows::process::CommandExt;
    let mut command = Command::new("cmd");
    // As it is: `cmd` has quoting rules of its own.
    command.arg("/C").raw_arg(line);
    command
}
