//! What is to be done, as data: shown, or carried out step by step.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::folder::{Put, Take};

/// The steps, and what to tell beside them.
#[derive(Debug, Default)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// What the user should know, whether or not there is something to do.
    pub notes: Vec<String>,
    /// What to do then.
    pub next: Option<&'static str>,
}

/// One change.
#[derive(Debug)]
pub enum Step {
    /// Put a folder of files in place.
    Put(Put),
    /// Take such a folder away.
    Take(Take),
    /// Run the editor's own program.
    Run {
        program: PathBuf,
        arguments: Vec<String>,
        /// What that does.
        what: String,
    },
}

/// What became of a step.
#[derive(Debug)]
pub struct Outcome {
    pub success: bool,
    /// For people: what was done, or why not.
    pub message: String,
}

impl Step {
    /// Does it. Whatever fails leaves things as they were.
    pub fn carry_out(&self) -> Outcome {
        let result = match self {
            Step::Put(put) => put.carry_out().map_err(|error| format!("{error:#}")),
            Step::Take(take) => take.carry_out().map_err(|error| format!("{error:#}")),
            Step::Run {
                program,
                arguments,
                what,
            } => run(program.as_os_str(), arguments, what),
        };
        let success = result.is_ok();
        let (Ok(message) | Err(message)) = result;
        Outcome { success, message }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Put(put) => put.fmt(f),
            Step::Take(take) => take.fmt(f),
            Step::Run {
                program,
                arguments,
                what,
            } => {
                write!(f, "{what}: run {}", program.display())?;
                arguments.iter().try_for_each(|word| write!(f, " {word}"))
            }
        }
    }
}

/// Runs a program with these very arguments: no shell reads them. What it did, in its own words.
fn run(program: &OsStr, arguments: &[String], what: &str) -> Result<String, String> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{what}: cannot run {}: {error}", program.display()))?;
    let said = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
        last.map(str::to_owned)
    };
    let (out, errors) = (said(&output.stdout), said(&output.stderr));
    if output.status.success() {
        let said = out.or(errors).unwrap_or_else(|| "done".to_owned());
        return Ok(format!("{what}: {said}"));
    }
    // Most of these programs print warnings of their own after the reason.
    let reason = String::from_utf8_lossy(&output.stderr);
    let reason: Vec<_> = reason
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let reason = if reason.is_empty() {
        out.unwrap_or_else(|| "it does not say why".to_owned())
    } else {
        reason.join("\n  ")
    };
    Err(format!("{what}: failed ({}): {reason}", output.status))
}
