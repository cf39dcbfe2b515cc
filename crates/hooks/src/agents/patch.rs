//! Patches in the format of Codex, which are calls of more than one agent: the files that they change, and the patch that
//! writes what a person has accepted of them.

use std::collections::BTreeSet;
use std::path::Path;

use pillion_protocol::{path, remarks};
use pillion_text::patch::{self, FileChange, FilePatch, Program};

use super::edit;
use crate::call::Scope;
use crate::change::{After, Change, Changes, Files};
use crate::ruling::{Accepted, Reviewed};

/// The changes that a patch makes, whose relative paths are below `folder`.
pub(super) fn changes(
    program: Program,
    folder: Option<&Path>,
    patch: &str,
    files: &mut dyn Files,
) -> Changes {
    read_changes(program, folder, patch, files).unwrap_or_else(|changes| changes)
}

/// The same. A patch that cannot be shown or cannot work is the error.
fn read_changes(
    program: Program,
    folder: Option<&Path>,
    patch: &str,
    files: &mut dyn Files,
) -> Result<Changes, Changes> {
    let unclear = |why: String| Changes::Unclear(format!("Pillion cannot show this patch: {why}"));
    let patch = patch::read(patch).map_err(|error| unclear(error.to_string()))?;
    let (mut changes, mut named) = (Vec::new(), BTreeSet::new());
    let absolute = |path: &str| edit::absolute(path, folder).map_err(unclear);
    for FilePatch {
        path,
        line,
        operation,
    } in &patch
    {
        let path = absolute(path)?;
        let before = edit::before(&path, files).map_err(unclear)?;
        let after = operation.apply(program, *line, before.as_deref());
        let after = after.map_err(|error| match error.is_about_form {
            true => unclear(format!("{path}, {error}")),
            false => Changes::Invalid(remarks::unapplicable(&path, &error.to_string())),
        })?;
        if let Some(to) = operation.move_to() {
            changes.push(Change::of_file(path, before, After::Deleted));
            let path = absolute(to)?;
            let before = edit::before(&path, files).map_err(unclear)?;
            let after = After::Text(after.unwrap_or_default());
            changes.push(Change::of_file(path, before, after));
        } else {
            let after = after.map_or(After::Deleted, After::Text);
            changes.push(Change::of_file(path, before, after));
        }
    }
    for change in &changes {
        if change.after == After::Deleted && files.is_link(Path::new(&change.path)) {
            let path = &change.path;
            return Err(unclear(format!("it deletes {path}, a symbolic link")));
        }
        if !named.insert(path::absolute(Path::new("/"), Path::new(&change.path))) {
            return Err(unclear(format!("{} is named twice", change.path)));
        }
    }
    Ok(Changes::Files(changes))
}

/// Returns the scope of a patch: of one file, it is that one.
pub(super) fn scope(folder: Option<&Path>, patch: &str) -> Scope {
    match patch::read(patch).as_deref() {
        Ok([file]) if file.operation.move_to().is_none() => {
            let path = edit::absolute(&file.path, folder);
            path.map_or(Scope::Anything, Scope::File)
        }
        _ => Scope::Anything,
    }
}

/// Returns true if a patch has this outcome.
pub(super) fn can_write(program: Program, before: Option<&str>, text: &str) -> bool {
    let change = FileChange {
        path: "file",
        move_to: None,
        before,
        after: Some(text),
    };
    patch::write(program, &[change]).is_ok()
}

/// What an agent writes of an accepted patch.
pub(super) struct Rewritten {
    pub(super) patch: String,
    /// What its model is told.
    pub(super) context: Option<String>,
    /// The files for which a text was accepted that no patch can have as its outcome.
    pub(super) inexpressible: Vec<String>,
}

/// The patch by which `program` writes what was accepted of `patch`, as far as a patch can.
///
/// # Errors
/// When it can write none of it: what the model is told instead.
pub(super) fn rewritten(
    program: Program,
    patch: &str,
    accepted: &Accepted,
) -> Result<Rewritten, String> {
    let patch = patch::read(patch).map_err(|error| error.to_string())?;
    let mut files = accepted.files.iter();
    let mut wanted = Vec::new();
    for FilePatch {
        path, operation, ..
    } in &patch
    {
        let mut next = || files.next().ok_or("a file of the patch was not decided");
        let here = (path.as_str(), next()?);
        match operation.move_to() {
            None => wanted.extend(only(here)),
            Some(to) => wanted.extend(moved(here, (to, next()?))),
        }
    }
    let (mut told, mut inexpressible) = (Vec::new(), Vec::new());
    while !wanted.is_empty() {
        let changes: Vec<FileChange<'_>> = wanted.iter().map(|(change, _)| *change).collect();
        let at = match patch::write(program, &changes) {
            Ok(patch) => {
                return Ok(Rewritten {
                    patch,
                    context: accepted.told_after(told),
                    inexpressible,
                });
            }
            Err(at) => at,
        };
        let files = wanted.remove(at).1.into_iter();
        let paths: Vec<_> = files.map(|file| file.change.path.clone()).collect();
        told.extend(paths.last().map(|path| remarks::inexpressible(path)));
        inexpressible.extend(paths);
    }
    Err(accepted.told_after(told).unwrap_or_default())
}

/// A file that the person has decided about, and its path in the patch.
type Decided<'a> = (&'a str, &'a Reviewed);

type Wanted<'a> = (FileChange<'a>, Vec<&'a Reviewed>);

/// Returns the change of a file, if it is to change.
fn only<'a>((path, file): Decided<'a>) -> Option<Wanted<'a>> {
    let written = file.written.as_ref()?;
    let change = FileChange {
        path,
        move_to: None,
        before: file.change.before.as_deref(),
        after: written.text(),
    };
    Some((change, vec![file]))
}

/// Returns the changes of a file that is to be moved: it is moved only if both sides of it were accepted.
fn moved<'a>(from: Decided<'a>, to: Decided<'a>) -> impl Iterator<Item = Wanted<'a>> {
    let is_left = from.1.written == Some(After::Deleted);
    let text = to.1.text();
    let whole = text.filter(|_| is_left).map(|text| {
        let change = FileChange {
            path: from.0,
            move_to: Some(to.0),
            before: from.1.change.before.as_deref(),
            after: Some(text),
        };
        (change, vec![from.1, to.1])
    });
    let parts = match whole {
        Some(_) => [None, None],
        None => [only(from), only(to)],
    };
    whole.into_iter().chain(parts.into_iter().flatten())
}
