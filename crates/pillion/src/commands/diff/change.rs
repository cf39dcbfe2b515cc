//! One file that is to change: its path, the text that is proposed for it, and what came of that.

use std::io::{self, IsTerminal};
use std::mem;
use std::path::{Path, PathBuf};

use anyhow::Context;
use pillion_changes::save::{self, Original, in_place};
use pillion_discovery::real_path;
use pillion_protocol::{Note, ProposedFile};
use pillion_text::stderr;
use pillion_view::ask::End;

use super::text;
use crate::commands::control_client;
use crate::failure::{self, Failure, Kind};
use crate::paths::{absolute, unicode};

/// A file that is to change.
#[derive(Debug)]
pub struct Change {
    /// As it is sent. Its text is handed over with it.
    pub file: ProposedFile,
    /// The file as it was, if the accepted text is to be written.
    pub original: Option<Original>,
    /// Its end; none of a file that has its text already: nobody is asked about that.
    pub end: Option<End>,
}

impl Change {
    /// Looks at all files before anybody makes a text for them.
    pub fn all<'a>(
        files: impl Iterator<Item = &'a Path>,
        writes: bool,
    ) -> anyhow::Result<Vec<Self>> {
        let mut changes: Vec<Self> = Vec::new();
        let mut targets: Vec<PathBuf> = Vec::new();
        for file in files {
            let path = file_path(file)?;
            refuse_own_output(Path::new(&path))?;
            let target = real_path(Path::new(&path));
            if let Some(other) = targets.iter().position(|it| *it == target) {
                let other = &changes[other].file.path;
                let message = match *other == path {
                    true => format!("{path} is there twice"),
                    false => format!("{path} and {other} are the same file"),
                };
                let hint = "Name each file once.";
                return Err(Failure::new(Kind::Usage, message).hint(hint).into());
            }
            targets.push(target);
            let original =
                writes.then(|| Original::look(Path::new(&path)).map_err(failure::of_file));
            changes.push(Self {
                file: ProposedFile::new(path, ""),
                original: original.transpose()?,
                end: None,
            });
        }
        Ok(changes)
    }

    /// Reads the text that is proposed.
    pub fn read(&mut self, content_file: &Path) -> anyhow::Result<()> {
        let file = Path::new(&self.file.path);
        let is_input = content_file == Path::new("-");
        if is_input && is_input_typed() {
            stderr::print(
                "hint: Type or paste the proposed text, then press Ctrl-D; or name a file with \
                 --content-file.",
            );
        }
        let text = control_client::read_text(content_file)?;
        let is_full = || file.metadata().is_ok_and(|metadata| metadata.len() > 0);
        if is_input && text.is_empty() && is_full() {
            let message = format!("standard input is empty, but {} is not", file.display());
            let hint = "Did the command before the pipe fail? To propose an empty text, name an empty \
                        file with --content-file.";
            return Err(Failure::new(Kind::Refused, message).hint(hint).into());
        }
        self.file.content = text;
        Ok(())
    }

    /// Says so if the file has this text already.
    pub fn is_unchanged(&self) -> bool {
        let is_unchanged = save::holds(Path::new(&self.file.path), &self.file.content);
        if is_unchanged {
            let path = &self.file.path;
            stderr::print(format_args!(
                "{path} already has this text: there is nothing to decide"
            ));
        }
        is_unchanged
    }

    /// Returns the proposal. The text is handed over.
    pub fn proposed(&mut self) -> ProposedFile {
        let left = ProposedFile::new(self.file.path.clone(), "");
        mem::replace(&mut self.file, left)
    }

    /// The text that the file is to have: the accepted one, or the one that it has.
    pub fn accepted(&self) -> Option<&str> {
        match &self.end {
            None => Some(&self.file.content),
            Some(end) => end.accepted(),
        }
    }

    pub fn notes(&self) -> &[Note] {
        self.end.as_ref().map_or(&[], End::notes)
    }

    /// Writes the accepted text into the file, or keeps it where nothing is lost.
    pub fn write(&self, original: &Original, accepted: &str) -> anyhow::Result<()> {
        let base = match &self.end {
            None => return Ok(()),
            Some(End::Accepted { base, .. }) => base.as_deref(),
            Some(End::Rejected { .. } | End::Withdrawn { .. }) => None,
        };
        let note = |copy: &Path| {
            stderr::print(in_place(original.target(), copy));
        };
        let Err(error) = original.replace(base, accepted.as_bytes(), note) else {
            return Ok(());
        };
        let failure = Failure::new(Kind::Refused, error.to_string());
        let failure = match text::keep(accepted) {
            Ok(kept) => failure.hint(text::hint_at(&[kept])),
            Err(_) => {
                // There is no other place left.
                text::print_text(accepted)?;
                failure.hint("The accepted text is on standard output.")
            }
        };
        Err(failure::above(error, failure))
    }
}

/// Returns true if a person types what is read from standard input.
pub fn is_input_typed() -> bool {
    io::stdin().is_terminal()
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
