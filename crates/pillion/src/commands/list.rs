//! `pillion list`.

use pillion_text::stderr;
mod facts;
mod table;

use std::io::{self, Write};
use std::path::PathBuf;

use pillion_discovery::survey::{Companion, Survey};
use pillion_discovery::{Environment, FileError, survey};

use self::facts::Facts;
use super::output::{print_json, terminal_width};
use crate::args::Target;
use crate::choice::{Need, Running};
use crate::silent_disk;

/// The largest number of unread files that are listed one by one.
const MAX_WARNINGS: usize = 8;

/// List the companions on this machine
///
/// Lists Pillion's companions and others (VS Code's, JetBrains'), with the editors and reviews, agents
/// and pending diffs of Pillion's. `*` marks the one that commands in this folder talk to.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also show companions that are gone but left their discovery files, and why they count as
    /// gone
    #[arg(long)]
    all: bool,

    /// Print a JSON array of `{port, pid, editor, workspace, pillion, state, current, views,
    /// agents, review, pendingDiffs, lastFocusedMs, files}`; `state` is `alive`, `processGone`, `nobodyListens` or `outOfReach`
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    let environment = Environment::current();
    let _watch = silent_disk::Watch::start(&environment);
    let Survey {
        mut companions,
        unread,
        malformed,
        silent,
    } = survey(&environment);
    silent_disk::warn(&silent);
    warn(&unread, &malformed, &environment);
    let running = Running::among(companions.clone(), &environment);
    let here = running.choose(Need::Any, &Target::default());
    let found = companions.len();
    if !args.all {
        companions.retain(|companion| companion.is_alive());
    }
    let gone = found - companions.len();
    let here = here.ok().map(|companion| companion.port);
    let facts = |it: &Companion| Facts::of(it, here);
    let listed: Vec<_> = companions.iter().map(facts).collect();
    for port in listed.iter().filter(|facts| facts.is_silent) {
        let port = port.port;
        stderr::warn(format_args!("the companion on port {port} does not answer"));
    }
    print(&args, &listed, &environment)?;
    if gone > 0 && !args.json {
        let what = if gone == 1 {
            "companion is"
        } else {
            "companions are"
        };
        stderr::print(format_args!(
            "{gone} {what} gone but left files: `pillion list --all` shows them."
        ));
    }
    Ok(())
}

/// Tells what was not looked at.
fn warn(unread: &[FileError], malformed: &[PathBuf], environment: &Environment) {
    // Where several people share a directory, their files are nothing to fix.
    let is_anothers =
        |error: &&FileError| matches!(error, FileError::Foreign { path, .. } if !path.is_dir());
    let (others, unread): (Vec<_>, Vec<_>) = unread.iter().partition(is_anothers);
    for warning in warnings(&unread, malformed, environment) {
        stderr::warn(warning);
    }
    match others.len() {
        0 => {}
        1 => stderr::print("1 file of another user was not read."),
        count => stderr::print(format_args!("{count} files of other users were not read.")),
    }
}

/// The warnings to print. Anybody can put any number of files into a shared directory: they do not get to
/// push what was found off the screen.
fn warnings(
    unread: &[&FileError],
    malformed: &[PathBuf],
    environment: &Environment,
) -> Vec<String> {
    let unread = unread.iter().map(|error| {
        let hint = error.hint_naming(environment.variable_of(error.path()));
        let cause = std::error::Error::source(error);
        let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
        format!("{error}{cause}; {hint}")
    });
    let malformed = malformed.iter().map(|path| {
        let path = path.display();
        format!("{path} is not a discovery file; remove it")
    });
    let mut all: Vec<String> = Vec::new();
    for warning in unread.chain(malformed) {
        // Several places may lie below one folder that cannot be opened.
        if !all.contains(&warning) {
            all.push(warning);
        }
    }
    let more = all.len().saturating_sub(MAX_WARNINGS);
    all.truncate(MAX_WARNINGS);
    all.extend((more > 0).then(|| format!("{more} more files were not read")));
    all
}

fn print(args: &Args, listed: &[Facts], environment: &Environment) -> anyhow::Result<()> {
    if args.json {
        return print_json(listed);
    }
    let mut out = io::stdout().lock();
    if listed.is_empty() {
        writeln!(out, "no companion is running on this machine")?;
        stderr::print(
            "hint: Start one with `pillion` in the folder you work in, or open an editor with the plugin.",
        );
    } else {
        let width = terminal_width().unwrap_or(usize::MAX);
        let table = table::table(listed, args.all, environment.home().as_deref(), width);
        out.write_all(table.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warning_comes_once_and_there_are_not_many() {
        let link = FileError::Link("/t/gemini".into());
        let other = FileError::Link("/t/qwen".into());
        let environment = Environment::default();
        let told = warnings(&[&link, &other, &link, &link], &[], &environment);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].contains("/t/gemini") && told[1].contains("/t/qwen"));
        let malformed: Vec<_> = (0..20)
            .map(|at| PathBuf::from(format!("/t/{at}")))
            .collect();
        let told = warnings(&[&link], &malformed, &environment);
        assert_eq!(told.len(), MAX_WARNINGS + 1);
        assert_eq!(told[MAX_WARNINGS], "13 more files were not read");
    }

    #[test]
    fn a_warning_names_the_variable_that_determines_the_folder() {
        let environment =
            Environment::from_pairs([("HOME", "/t/home"), ("QWEN_HOME", "/q"), ("TMPDIR", "/t")]);
        let configured = environment.clone().with("CLAUDE_CONFIG_DIR", Some("/t/c"));
        let foreign = |path: &str| FileError::Foreign {
            path: path.into(),
            uid: 7,
        };
        for (environment, path, named) in [
            (&environment, "/q/ide", "or set QWEN_HOME to"),
            (&environment, "/t/gemini/ide", "or set TMPDIR to"),
            (
                &environment,
                "/t/home/.claude/ide",
                "or set CLAUDE_CONFIG_DIR to",
            ),
            (&configured, "/t/c/ide", "or set CLAUDE_CONFIG_DIR to"),
            // No variable moves it.
            (
                &configured,
                "/t/home/.claude/ide",
                "; have its owner remove it",
            ),
        ] {
            let told = warnings(&[&foreign(path)], &[], environment).remove(0);
            assert!(told.contains(named), "{told}");
            let sets = told.matches(" set ").count();
            assert_eq!(sets, named.matches(" set ").count(), "{told}");
        }
    }
}
