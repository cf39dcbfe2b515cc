//! Puts what a person accepted or kept into git's index, as `git add -p` would: the change, and nothing else that is in the
//! file. Only `git apply --cached` writes there, with a patch of the index as it is. Blocking.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pillion_discovery::version_control::git;
use pillion_system::child::{Child, Group};
use pillion_text::{Text, merge, visible};

use crate::current_hunks::CurrentHunks;
use crate::kept::{self, Kept};
use crate::patch;
use crate::state::FileState;
use crate::store::{MAX_TEXT, Store, StoreError};
use crate::turn::{Change, ChangeState, Judged};

/// The time limit for each command of git's: a filter or a slow disk may keep it.
const LIMIT: Duration = Duration::from_secs(20);

/// What came of a change, and why nothing did where that is no failure.
pub const STAGED: &str = "staged";
const STAGED_ALREADY: &str = "staged already";

/// The reason why a change was not staged. The index is as it was then.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Nobody has decided that it stays.
    #[error("nobody has accepted or kept it")]
    Unseen,
    /// There is nothing of it.
    #[error("nothing of it is in the file any more")]
    Gone,
    /// No hunk of it stands at the lines that were named.
    #[error("at these lines, nothing of it stands as it was accepted or kept")]
    NoHunk,
    /// Its file is in no work tree of git's.
    #[error("it is in no git work tree")]
    NoRepository,
    /// Git does not know the file that was changed.
    #[error("git does not track the file")]
    Untracked,
    /// The file is new, and git is told to leave it alone.
    #[error("git ignores the file")]
    Ignored,
    /// The file is being merged.
    #[error("the file has conflicts of a merge in git's index")]
    Unmerged,
    /// The index has other lines in the same places.
    #[error("git's index has other lines in {0} of the same places")]
    Conflict(usize),
    /// Only git can tell what it would put into the index.
    #[error("git turns the file into something else when it adds it (attribute `filter`)")]
    Filtered,
    /// It has no lines.
    #[error("it is not text")]
    NotText,
    /// Its contents are not in the store.
    #[error("its contents are not kept")]
    NotKept,
    /// Git refused.
    #[error("git says: {0}")]
    Refused(String),
    /// Git did not run, or not to its end.
    #[error("cannot run git")]
    Git(#[source] io::Error),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl StageError {
    /// Advice on what a person can do about it, if there is something.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unseen => "Keep it first.",
            Self::Untracked | Self::NotText | Self::NotKept | Self::Filtered => {
                "`git add` adds all of it."
            }
            Self::Ignored => "`git add --force` adds it.",
            Self::Unmerged => "Resolve them first.",
            Self::Conflict(_) => "Stage what came before it first, or use `git add -p`.",
            Self::Store(error) => return error.hint().map(|hint| format!("{hint}.")),
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// A file as git's index has it: its mode there, and its text. None if it is not there.
type Indexed = Option<(u32, Text)>;

/// Stages a change; of its hunks those that touch these lines of the file as it is now, or all. Returns what came of it in a
/// word or two.
///
/// # Errors
/// When nobody has accepted or kept it, or git does not take it.
pub fn stage(
    store: &Store,
    kept: &Kept,
    change: &Change,
    lines: Option<Range<usize>>,
) -> Result<&'static str, StageError> {
    // What was decided before the agent made more of it stays so, whatever becomes of the rest.
    let (first, part) = (kept.first(change), &change.before);
    let (from, to, judged) = match kept.state(change) {
        _ if first != part => (first, part, None),
        ChangeState::Unseen => return Err(StageError::Unseen),
        ChangeState::TakenBack | ChangeState::Gone => return Err(StageError::Gone),
        _ => (first, &change.after, kept.judged(change)),
    };
    // What was accepted is staged whatever became of the file since, as long as that is not the one before.
    if kept::is_at(from, &change.path) && from != to {
        return Err(StageError::Gone);
    }
    let (git, indexed) = Git::that_knows(&change.path)?;
    let (mode, is_new) = (patch::mode(to), from.is_absent());
    let is_mode_kept = patch::mode(from) == mode;
    let mode = mode.map(|mode| git.mode(mode, &indexed));
    let (before, left) = what_stays(store, judged, from, to)?;
    let (before, left) = match lines {
        None => (before, left),
        Some(lines) => at_lines(change, before, left, lines)?,
    };
    let wanted = match (&indexed, mode) {
        (None, None) if git.is_committed() => None,
        (None, _) if !is_new => return Err(StageError::Untracked),
        (_, None) => None,
        (None, Some(_)) if git.ignores()? => return Err(StageError::Ignored),
        (None, Some(mode)) => {
            let [left] = git.as_indexed([(left, to)], None)?;
            Some((mode, left))
        }
        (Some((known, text)), Some(mode)) => {
            let [before, left] = git.as_indexed([(before, from), (left, to)], Some(text))?;
            let merged = merge::texts(&before, &left, text);
            if merged.conflicts > 0 && left.bytes() != text.bytes() {
                return Err(StageError::Conflict(merged.conflicts));
            }
            let mode = if is_mode_kept { *known } else { mode };
            Some((mode, Text::new(merged.text)))
        }
    };
    if indexed == wanted {
        return Ok(STAGED_ALREADY);
    }
    let [old, new] = [&indexed, &wanted].map(|it| it.as_ref().map(|(mode, _)| *mode));
    let texts = [indexed, wanted].map(|it| it.map_or_else(|| Text::new(""), |(_, text)| text));
    if texts.iter().any(|it| it.bytes().contains(&0)) {
        return Err(StageError::NotText);
    }
    let [before, after] = texts;
    git.apply(&patch::written(
        &git.name,
        [old, new],
        Some((&before, &after)),
    ))?;
    Ok(STAGED)
}

/// The text before a change, and the one with what the person left of it: without the lines that they took back, with those
/// that they wrote, and with nothing else that came into the file.
fn what_stays(
    store: &Store,
    judged: Option<&Judged>,
    before: &FileState,
    after: &FileState,
) -> Result<(Text, Text), StageError> {
    if !before.is_known() || !after.is_known() {
        return Err(StageError::NotKept);
    }
    let (before, mut left) = store.texts_of(before, after)?;
    let steps = judged.into_iter().flat_map(Judged::writes);
    let mut steps: Vec<_> = steps.collect();
    // The newest comes first.
    steps.reverse();
    for (overwritten, written) in steps {
        let (overwritten, written) = store.texts_of(overwritten, written)?;
        left = Text::new(merge::texts(&overwritten, &written, &left).text);
    }
    Ok((before, left))
}

/// The text of the file without the hunks of a change that touch these lines, and with them.
fn at_lines(
    change: &Change,
    before: Text,
    left: Text,
    lines: Range<usize>,
) -> Result<(Text, Text), StageError> {
    let now = kept::now(&change.path).ok_or(StageError::NoHunk)?;
    let found = CurrentHunks::find(before, left, Text::new(now.clone()));
    let without = found.without(lines).ok_or(StageError::NoHunk)?;
    Ok((Text::new(without.text), Text::new(now)))
}

/// Git, at the work tree that has a file.
struct Git {
    top: PathBuf,
    /// The file, from there.
    name: PathBuf,
}

impl Git {
    /// The innermost work tree that has the file in its index or its last commit, or the innermost one: a folder may have become
    /// a repository since.
    fn that_knows(path: &Path) -> Result<(Self, Indexed), StageError> {
        let mut next = Self::around(path, path);
        let mut first = None;
        while let Ok(git) = next {
            let found = git.indexed()?;
            if found.is_some() || git.is_committed() {
                return Ok((git, found));
            }
            next = Self::around(path, &git.top);
            first.get_or_insert((git, found));
        }
        first.ok_or_else(|| next.err().unwrap_or(StageError::NoRepository))
    }

    /// The work tree of `path` that lies around `inside`.
    fn around(path: &Path, inside: &Path) -> Result<Self, StageError> {
        let folders = inside.ancestors().skip(1);
        let folder = { folders }.find(|it| it.is_dir());
        let folder = folder.ok_or(StageError::NoRepository)?;
        let printed = run(folder, &["rev-parse", "--show-toplevel"], None, b"");
        let printed = printed.map_err(|error| match error {
            StageError::Refused(_) => StageError::NoRepository,
            error => error,
        })?;
        let top = path_of(printed.strip_suffix(b"\n").unwrap_or(&printed));
        let name = path.strip_prefix(&top);
        let name = name.map_err(|_| StageError::NoRepository)?.to_owned();
        Ok(Self { top, name })
    }

    /// The texts of a file in these states as git would put them into the index, where it has that text now.
    fn as_indexed<const COUNT: usize>(
        &self,
        texts: [(Text, &FileState); COUNT],
        indexed: Option<&Text>,
    ) -> Result<[Text; COUNT], StageError> {
        let is_link = |it: &FileState| matches!(it, FileState::Link { .. });
        if texts.iter().all(|(_, state)| is_link(state)) {
            return Ok(texts.map(|(text, _)| text));
        }
        let asked = [self.name.as_os_str().as_encoded_bytes(), b"\0"].concat();
        // `PATH NUL ATTRIBUTE NUL VALUE NUL`.
        let attributes = ["check-attr", "-z", "--stdin", "filter"];
        let attributes = run(&self.top, &attributes, None, &asked)?;
        let filter = attributes.split(|it| *it == 0).nth(2);
        if filter.is_some_and(|it| !matches!(it, b"unspecified" | b"unset")) {
            return Err(StageError::Filtered);
        }
        // What git writes on the way does not stay.
        let objects = tempfile::tempdir().map_err(StageError::Git)?;
        let command = |arguments: &[&str]| {
            let mut git = git::command(&self.top);
            git.args(arguments)
                .env("GIT_OBJECT_DIRECTORY", objects.path());
            git
        };
        let has_crlf = |text: &[u8]| text.windows(2).any(|it| it == b"\r\n");
        let mut failed = Ok(());
        let texts = texts.map(|(text, state)| {
            let mut add = command(&["hash-object", "-w", "--stdin", "--path"]);
            add.arg(&self.name);
            let added = (!is_link(state) && failed.is_ok()).then(|| {
                let object = finished(add, text.bytes())?;
                let object = String::from_utf8_lossy(&object);
                finished(command(&["cat-file", "blob", object.trim_end()]), b"")
            });
            match added.transpose() {
                // Line endings that the index has other than git would write them now stay: they are no part of the change.
                Ok(Some(added))
                    if !has_crlf(indexed.map_or(b"", Text::bytes)) || has_crlf(&added) =>
                {
                    Text::new(added)
                }
                Ok(_) => text,
                Err(error) => {
                    failed = Err(error);
                    text
                }
            }
        });
        failed.map(|()| texts)
    }

    /// Returns true if git leaves the file alone, unless somebody adds it by name.
    fn ignores(&self) -> Result<bool, StageError> {
        let ignored = ["check-ignore", "-q"];
        // Alone, a name could say something else: `:!file`.
        let mut name = OsString::from(":(top)");
        name.push(&self.name);
        match run(&self.top, &ignored, Some(Path::new(&name)), b"") {
            Ok(_) => Ok(true),
            Err(StageError::Refused(said)) if said == NOTHING => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The file as the index has it.
    fn indexed(&self) -> Result<Indexed, StageError> {
        // `MODE OBJECT STAGE TAB PATH NUL`.
        let list = ["--literal-pathspecs", "ls-files", "-sz"];
        let listed = run(&self.top, &list, Some(&self.name), b"")?;
        let Some(entry) = listed
            .split(|it| *it == 0)
            .next()
            .filter(|it| !it.is_empty())
        else {
            return Ok(None);
        };
        let entry = String::from_utf8_lossy(entry);
        let (facts, _) = entry.split_once('\t').unwrap_or((&entry, ""));
        let mut facts = facts.split(' ');
        let mode = facts.next().and_then(|it| u32::from_str_radix(it, 8).ok());
        let (Some(mode), Some(object), Some(stage)) = (mode, facts.next(), facts.next()) else {
            return Err(StageError::Refused(entry.into_owned()));
        };
        if stage != "0" {
            return Err(StageError::Unmerged);
        }
        let text = run(&self.top, &["cat-file", "blob", object], None, b"")?;
        Ok(Some((mode, Text::new(text))))
    }

    /// The mode that git would add of a file, which may pass over who may run it.
    fn mode(&self, mode: u32, indexed: &Indexed) -> u32 {
        let asked = ["config", "--type=bool", "--get", "core.fileMode"];
        let is_passed_over = run(&self.top, &asked, None, b"").is_ok_and(|it| it == b"false\n");
        let files = [0o100_644, 0o100_755];
        let known = indexed.as_ref().map_or(files[0], |(known, _)| *known);
        match is_passed_over && files.contains(&mode) && files.contains(&known) {
            true => known,
            false => mode,
        }
    }

    fn is_committed(&self) -> bool {
        self.name
            .to_str()
            .is_some_and(|name| committed_at(&self.top, name).is_some())
    }

    fn apply(&self, patch: &[u8]) -> Result<(), StageError> {
        let apply = ["apply", "--cached", "--whitespace=nowarn", "-"];
        run(&self.top, &apply, None, patch).map(drop)
    }
}

/// The text of a file in the last commit; none if git has none there.
pub fn committed(path: &Path) -> Option<Vec<u8>> {
    committed_at(path.parent()?, path.file_name()?.to_str()?)
}

fn committed_at(folder: &Path, name: &str) -> Option<Vec<u8>> {
    // An object is named in a line of its own.
    let asked = format!("HEAD:./{name}\n");
    let arguments = ["cat-file", "--batch"];
    let told = run(folder, &arguments, None, asked.as_bytes()).ok()?;
    // `OBJECT blob SIZE`, the text, and a newline.
    let end = told.iter().position(|it| *it == b'\n')?;
    let head = str::from_utf8(&told[..end]).ok()?;
    let size = head.split_once(" blob ")?.1.parse::<usize>().ok()?;
    told.get(end + 1..end + 1 + size).map(<[u8]>::to_vec)
}

/// Runs git in a folder, with a file at the end of its arguments, and returns what it prints.
fn run(
    folder: &Path,
    arguments: &[&str],
    file: Option<&Path>,
    input: &[u8],
) -> Result<Vec<u8>, StageError> {
    let mut git = git::command(folder);
    git.args(arguments);
    if let Some(file) = file {
        git.arg("--").arg(file);
    }
    finished(git, input)
}

/// What git says where it says nothing.
const NOTHING: &str = "nothing";

/// What this command of git's prints.
fn finished(mut git: Command, input: &[u8]) -> Result<Vec<u8>, StageError> {
    let (is_done, out, errors) = output(&mut git, input).map_err(StageError::Git)?;
    match is_done {
        true => Ok(out),
        false => {
            let errors = String::from_utf8_lossy(&errors);
            let first = errors.lines().find(|it| !it.trim().is_empty());
            let first = first.unwrap_or(NOTHING).trim_start_matches("error: ");
            Err(StageError::Refused(visible::one_line(first)))
        }
    }
}

/// Whether it succeeded, what it printed, and what it said of errors.
fn output(git: &mut Command, input: &[u8]) -> io::Result<(bool, Vec<u8>, Vec<u8>)> {
    let mut stdin = tempfile::tempfile()?;
    stdin.write_all(input)?;
    stdin.rewind()?;
    let (mut out, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
    git.stdin(stdin).stdout(out.try_clone()?);
    git.stderr(errors.try_clone()?);
    let status = Child::start(git, Group::Own)?.wait(LIMIT)?;
    let status = status.ok_or(io::ErrorKind::TimedOut)?;
    Ok((status.success(), all_of(&mut out)?, all_of(&mut errors)?))
}

fn all_of(file: &mut File) -> io::Result<Vec<u8>> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.take(MAX_TEXT + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_TEXT {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}
