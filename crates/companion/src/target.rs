//! Checks that a file which an agent wants to change can be shown (C5.1), and reads what it is compared with.
//! Looks at the disk, and never writes (C5.9).
//!
//! A file may be held by another program, and a file system may hang: a check that takes too long fails its own
//! call and no other. The loop keeps the order of an agent's calls for one path, whichever check ends first.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pillion_changes::looking::Shown;
use pillion_discovery::{real_path, regular_file, runner, why_each_programs_own};
use pillion_protocol::held::Held;
use pillion_text::fingerprint;
use pillion_text::hunks::Hunk;
use pillion_view::{Original, OriginalError};

use crate::line_endings::{self, Tool};
use crate::on_disk::OnDisk;
use crate::proposal::Proposal;
use crate::stand_in::StandIn;

/// The time for which a file is tried again that another program holds: shorter than
/// [`CHECK_TIMEOUT`](crate::disk::CHECK_TIMEOUT), so that the agent gets the reason.
const HELD_TIMEOUT: Duration = Duration::from_millis(1500);

#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    pub(crate) original: Original,
    /// Fingerprint of the file's bytes, if they were read or there are none.
    pub(crate) fingerprint: Option<String>,
    /// The proposal as it is to be shown, if that is not how it came.
    pub(crate) proposed: Option<Arc<String>>,
    /// What a notebook has beside the cell that stands for it.
    pub(crate) beside: Option<String>,
    /// The tool with which the agent will write it, if that is known.
    pub(crate) tool: Option<Tool>,
    /// The notes for the person about what the agent will write.
    pub(crate) notes: Vec<String>,
    /// The program that runs or obeys the file, in a sentence.
    pub(crate) runner: Option<String>,
    /// The places where the proposal differs from the file, if somebody wants to know.
    pub(crate) hunks: Vec<Hunk>,
}

/// Checks that the `filePath` of an agent can name a file at all.
///
/// # Errors
/// A sentence for the agent: the path is empty, relative, or none of this system's.
pub(crate) fn validate(file_path: &str) -> Result<(), String> {
    if file_path.is_empty() {
        return Err("openDiff: filePath is empty".to_owned());
    }
    if !Path::new(file_path).is_absolute() {
        return Err(format!("openDiff: filePath {file_path:?} is not absolute"));
    }
    if file_path.contains('\0') {
        return Err(format!("openDiff: filePath {file_path:?} contains a NUL"));
    }
    Ok(())
}

impl Target {
    /// One whose proposal is shown as it came.
    pub(crate) fn new(path: PathBuf, original: Original) -> Self {
        Self {
            path,
            fingerprint: (original.text.is_some() || original.stamp.is_none())
                .then(|| fingerprint::of(original.text.as_deref())),
            original,
            proposed: None,
            beside: None,
            tool: None,
            notes: Vec::new(),
            runner: None,
            hunks: Vec::new(),
        }
    }

    /// The one of a change that is written already: what stands at its own path, which may be a link. Waits for the disk.
    pub(crate) fn written(shown: &Shown) -> Self {
        let OnDisk { leads_to, stamp } = OnDisk::itself(&shown.path);
        let text = shown.present.now.clone();
        let mut target = Self::new(leads_to, Original { text, stamp });
        target.runner = runner(&shown.path).map(|it| it.sentence().to_owned());
        target
    }

    /// Fits text and proposal to each other, for an agent whose proposals do not have the file's own
    /// line endings and encoding, and which restores those when it writes.
    pub(crate) fn adapted(mut self, proposed: &str, tool: Option<Tool>) -> Self {
        if let Some(text) = self.original.text.take() {
            let adapted = line_endings::adapt(text, proposed, tool);
            self.original.text = Some(adapted.original);
            self.proposed = adapted.proposed.map(Arc::new);
            self.tool = adapted.tool;
            self.notes.extend(adapted.note);
        }
        self
    }

    /// Fits the proposal to the text, for an agent that sends LF alone and writes CRLF over any file that has one.
    pub(crate) fn with_crlf(mut self, proposed: &str) -> Self {
        let text = self.original.text.as_deref();
        let shown = text.and_then(|text| line_endings::with_crlf_of(text, proposed));
        self.proposed = shown.map(Arc::new);
        self
    }

    /// Says so if the last line of the file does not end, and its agent has no way to leave it like that.
    pub(crate) fn noted(mut self, proposal: &Proposal) -> Self {
        let before = self.original.text.as_deref();
        let before = before.and_then(|it| str::from_utf8(it).ok());
        let before = before.filter(|it| !it.is_empty() && !it.ends_with('\n'));
        let open = before.zip(proposal.proposed.strip_suffix('\n'));
        if open.is_some_and(|(before, text)| proposal.cannot_write(Some(before), text)) {
            let agent = proposal.proposer.display_name();
            let note =
                "ends the last line of a file that it patches: this hunk cannot be excluded.";
            self.notes.push(format!("{agent} {note}"));
        }
        self
    }

    /// Takes what stands in for the text of the file. Waits for the disk if that was not read.
    ///
    /// # Errors
    /// A sentence for the agent: there is no such part.
    pub(crate) fn replaced(mut self, stand_in: &StandIn) -> Result<Self, String> {
        let bytes = match self.original.text.take() {
            Some(bytes) => bytes,
            None => {
                let read = Original::read(&self.path).map_err(|error| error.to_string())?;
                read.text.unwrap_or_default()
            }
        };
        let Held { text, notes } = stand_in.find(&bytes)?;
        self.original.text = text.map(String::into_bytes);
        self.beside = stand_in.beside(&bytes);
        self.notes.extend(notes);
        Ok(self)
    }

    /// Finds where a proposal differs from the file.
    pub(crate) fn compared(mut self, proposed: &str) -> Self {
        let shown = self.proposed.as_deref().map_or(proposed, String::as_str);
        self.hunks = self.original.differences(shown);
        self
    }
}

/// Checks a valid `filePath` on the disk, and reads the file if `reads` is set.
/// Waits for the disk, and for [`HELD_TIMEOUT`] if another program holds the file.
///
/// A file that is not there yet is fine, and so are `..` and strange characters: the outcome
/// carries the agent's own spelling (C5.8), while the reviewer is shown where the change would
/// really go.
///
/// # Errors
/// A sentence for the agent: a folder, no regular file, one that cannot be read, or another one for each program.
pub(crate) fn check(file_path: &str, reads: bool) -> Result<Target, String> {
    if let Some(why) = why_each_programs_own(Path::new(file_path)) {
        return Err(format!("openDiff: filePath {file_path:?} {why}"));
    }
    let is_held = |error: &OriginalError| matches!(error, OriginalError::Busy(_));
    let check = || check_once(Path::new(file_path), reads);
    let checked = regular_file::while_held(HELD_TIMEOUT, is_held, check);
    let mut target = checked.map_err(|error| format!("openDiff: {error}"))?;
    target.runner = runner(Path::new(file_path)).map(|it| it.sentence().to_owned());
    Ok(target)
}

fn check_once(file_path: &Path, reads: bool) -> Result<Target, OriginalError> {
    let probed = Original::probe(file_path)?;
    let path = real_path(file_path);
    let original = match reads {
        true => Original::read(&path)?,
        false => probed,
    };
    Ok(Target::new(path, original))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use pillion_protocol::{Dialect, Proposer};

    use super::*;

    fn check(path: &Path) -> Result<Target, String> {
        super::check(path.to_str().expect("a Unicode path"), true)
    }

    #[test]
    fn a_file_that_something_runs_or_obeys_is_named_as_such_by_each_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("store/objects")).unwrap();
        fs::create_dir_all(at("store/refs")).unwrap();
        fs::write(at("store/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::os::unix::fs::symlink("plain", at(".envrc")).unwrap();
        for (name, said) in [
            ("store/config", Some("git runs or obeys this file")),
            (".envrc", Some("your shell runs this file")),
            ("plain", None),
        ] {
            let checked = check(&at(name)).unwrap();
            assert_eq!(checked.runner.as_deref(), said, "{name}");
        }
    }

    #[test]
    fn names_of_no_file_are_refused_with_a_reason() {
        for (path, reason) in [
            ("", "filePath is empty"),
            ("src/a.rs", "is not absolute"),
            ("/a\0b", "contains a NUL"),
        ] {
            let error = validate(path).unwrap_err();
            assert!(error.contains(reason), "{path:?}: {error}");
        }
    }

    #[test]
    fn paths_that_cannot_be_shown_are_refused_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "x").unwrap();
        for (path, reason) in [
            (folder.path(), "is a folder"),
            (Path::new("/dev/null"), "is not a regular file"),
            (&file.join("x"), "cannot read"),
        ] {
            let error = check(path).unwrap_err();
            assert!(error.contains(reason), "{path:?}: {error}");
        }
    }

    /// `pillion hook codex` proposes a patch, after which every last line ends.
    #[test]
    fn what_cannot_be_taken_out_is_said_beforehand() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for (tool, before, proposed, is_said) in [
            (Some("apply_patch"), "a\nb", "A\nb\n", true),
            (Some("apply_patch"), "a\nb\n", "A\nb\n", false),
            (Some("apply_patch"), "a\nb", "a\nb\nc", false),
            (None, "a\nb", "A\nb\n", false),
        ] {
            fs::write(&file, before).unwrap();
            let codex = Dialect::CodexCli;
            let path = file.to_str().unwrap();
            let proposal = Proposal {
                held_tool: tool.map(|tool| (codex, tool.to_owned())),
                ..Proposal::new("1".into(), Proposer::For(codex), path, proposed)
            };
            let notes = check(&file).unwrap().noted(&proposal).notes;
            let said = [
                "Codex CLI ends the last line of a file that it patches: this hunk cannot be excluded.",
            ];
            assert_eq!(
                notes,
                &said[..usize::from(is_said)],
                "{before:?} {proposed:?}"
            );
        }
    }

    #[test]
    fn what_is_another_file_for_each_program_is_refused_also_through_links() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("here");
        std::os::unix::fs::symlink("/proc/self/cwd", &here).unwrap();
        for path in [Path::new("/proc/self/cwd/a.txt"), &here.join("a.txt")] {
            let error = check(path).unwrap_err();
            assert!(error.contains("leads through /proc"), "{error}");
        }
    }

    #[test]
    fn the_reviewer_is_shown_where_the_change_would_really_go() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        fs::create_dir(real.join("real")).unwrap();
        fs::write(real.join("real/there"), "x").unwrap();
        std::os::unix::fs::symlink(real.join("real"), real.join("link")).unwrap();
        let checked = |path: &str| check(&real.join(path)).unwrap();
        assert_eq!(checked("new/file").path, real.join("new/file"));
        assert_eq!(checked("link/../other").path, real.join("other"));
        assert_eq!(checked("link/new\nfile").path, real.join("real/new\nfile"));
        let there = checked("link/there");
        assert_eq!(there.path, real.join("real/there"));
        assert_eq!(there.original.text.as_deref(), Some(&b"x"[..]));
    }
}
