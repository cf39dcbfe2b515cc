//! What there is to say of a turn beside its changes of files, and how it is said.

use std::io;
use std::path::{Path, PathBuf};

use pillion_discovery::exact;
use pillion_text::visible;
use serde::{Deserialize, Serialize};
use shell_words::quote;

use crate::scan::has_other_names;

const CUT_OFF: &str =
    "Pillion ended while a call of this turn ran: what changed until it was there again is unclear";
const UNRECORDED: &str =
    "calls ran before everything had been compared: who changed what is unclear";
const LINKED: &str =
    "has other names (hard links), which may lie elsewhere: what was written to it is there, too";
const UNREAD: &str = ", it cannot be read, and what is in it is not compared";

/// Something about a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Remark {
    /// The companion ended while a call ran.
    CutOff,
    /// Calls ran before everything had been looked at.
    Unrecorded,
    /// A folder has other permissions.
    Folder {
        /// The folder.
        #[serde(with = "exact::path")]
        path: PathBuf,
        /// Its permissions before.
        before: u32,
        /// Those after.
        after: u32,
        /// True if nobody can read it any more: what is in it is not compared.
        is_unread: bool,
    },
    /// A file that was changed has other names.
    Linked {
        /// The file.
        #[serde(with = "exact::path")]
        path: PathBuf,
    },
    /// A repository's program went to another commit.
    Head {
        /// The work tree.
        #[serde(with = "exact::path")]
        path: PathBuf,
        /// The place before: a branch, or a commit.
        before: String,
        /// The place after.
        after: String,
        /// The command that git has noted, and what it did; none where it has noted none.
        what: Option<String>,
        /// The command that leads back; none if it is at the same commit.
        back: Option<String>,
        /// True if what was not committed was put into git's stash, and comes out of it after that.
        #[serde(default)]
        is_stash: bool,
        /// True if something was overwritten that git has no copy of.
        #[serde(default)]
        is_lost: bool,
    },
    /// A work tree of git's is gone with its own `.git`.
    Gone {
        /// The work tree.
        #[serde(with = "exact::path")]
        path: PathBuf,
        /// The command that makes it again; none if its repository was in it.
        back: Option<String>,
        /// True if something was in it that git has no copy of.
        #[serde(default)]
        is_lost: bool,
    },
}

impl Remark {
    /// Returns true if the file at this path went with a work tree.
    pub(crate) fn took_along(&self, file: &Path) -> bool {
        matches!(self, Self::Gone { path, back: Some(_), .. } if file.starts_with(path))
    }

    /// Returns true if both are about the same thing: the later one says all.
    pub(crate) fn is_of_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Folder { path, .. }, Self::Folder { path: of, .. })
            | (Self::Linked { path }, Self::Linked { path: of })
            | (Self::Head { path, .. }, Self::Head { path: of, .. })
            | (Self::Gone { path, .. }, Self::Gone { path: of, .. }) => path == of,
            _ => self == other,
        }
    }

    /// The same with what came before, if that was said already.
    pub(crate) fn since(mut self, former: &Self) -> Self {
        match (&mut self, former) {
            (Self::Folder { before, .. }, Self::Folder { before: first, .. }) => *before = *first,
            (
                Self::Head {
                    before,
                    after,
                    what,
                    back,
                    is_stash,
                    is_lost,
                    ..
                },
                Self::Head {
                    before: first,
                    after: then,
                    back: way,
                    is_stash: was_stash,
                    is_lost: was_lost,
                    ..
                },
            ) => {
                if first != then {
                    if before == after {
                        after.clone_from(then);
                    }
                    before.clone_from(first);
                    let abort = back.iter().flat_map(|it| it.split(" && "));
                    let abort = abort.filter(|it| it.ends_with(" --abort"));
                    let ways: Vec<_> = abort.chain(way.as_deref()).collect();
                    *back = Some(ways.join(" && ")).filter(|it| !it.is_empty());
                    *what = None;
                }
                back.take_if(|_| before == after);
                *is_stash |= was_stash;
                *is_lost |= was_lost;
            }
            _ => {}
        }
        self
    }

    /// The permissions of this folder before and after, if it is about these.
    pub(crate) fn modes_of(&self, folder: &Path) -> Option<(u32, u32)> {
        match self {
            Self::Folder {
                path,
                before,
                after,
                ..
            } if path == folder => Some((*before, *after)),
            _ => None,
        }
    }

    /// The folder that it is about.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Folder { path, .. }
            | Self::Linked { path }
            | Self::Head { path, .. }
            | Self::Gone { path, .. } => Some(path),
            Self::CutOff | Self::Unrecorded => None,
        }
    }

    /// Returns true if it is so still, as far as that can be seen: a folder may be gone, or have other permissions by now.
    #[cfg(unix)]
    pub(crate) fn stands(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let (path, after) = match self {
            Self::Folder { path, after, .. } => (path, after),
            Self::Linked { path } => return has_other_names(path),
            Self::Gone { path, .. } => return path.join(".git").symlink_metadata().is_err(),
            _ => return true,
        };
        match path.symlink_metadata() {
            Ok(found) => found.is_dir() && found.mode() & 0o7777 == *after,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Folders have no permissions elsewhere.
    #[cfg(not(unix))]
    pub(crate) fn stands(&self) -> bool {
        true
    }

    /// Returns true if everything is as it was before.
    pub(crate) fn is_undone(&self) -> bool {
        match self {
            Self::Folder {
                before,
                after,
                is_unread,
                ..
            } => before == after && !is_unread,
            Self::Head {
                before,
                after,
                what,
                is_stash,
                is_lost,
                ..
            } => before == after && what.is_none() && !is_stash && !is_lost,
            Self::CutOff | Self::Unrecorded | Self::Linked { .. } | Self::Gone { .. } => false,
        }
    }

    /// It as a sentence for people, about the turn of this number, whose files are `shown` so.
    pub fn text(&self, number: u64, shown: impl Fn(&Path) -> String) -> String {
        let text = match self {
            Self::CutOff => CUT_OFF.to_owned(),
            Self::Unrecorded => UNRECORDED.to_owned(),
            Self::Folder {
                path,
                before,
                after,
                is_unread,
            } => {
                let unread = if *is_unread { UNREAD } else { "" };
                let path = shown(path);
                format!(
                    "the permissions of {path} are {after:o}{unread}: `chmod {before:o} {}` undoes it",
                    quote(&path)
                )
            }
            Self::Linked { path } => format!("{} {LINKED}", shown(path)),
            Self::Gone {
                path,
                back,
                is_lost,
            } => {
                let path = Some(shown(path)).filter(|it| !it.is_empty());
                let of = path.map_or_else(String::new, |it| format!(" of {it}"));
                let left_out = format!("`pillion revert {number}` leaves its files out");
                match (back, is_lost) {
                    (None, _) => format!(
                        "the git repository{of} is gone, and there is no copy of it: only its files come back"
                    ),
                    (Some(back), false) => {
                        format!(
                            "the git work tree{of} is gone: `{back}` makes it again, and {left_out}"
                        )
                    }
                    (Some(back), true) => format!(
                        "the git work tree{of} is gone: `{back}` makes it again but for what was not committed, `pillion revert --all {number}` brings back its files instead, without their `.git`, and {left_out}"
                    ),
                }
            }
            Self::Head {
                path,
                before,
                after,
                what,
                back,
                is_stash,
                is_lost,
            } => {
                let path = Some(shown(path)).filter(|it| !it.is_empty());
                // A repository within the folder is not the one that these commands would mean there.
                let there = |way: &str| match (&path, way.split_once(' ')) {
                    (Some(path), Some(("git", rest))) => format!("git -C {} {rest}", quote(path)),
                    (Some(path), Some(("jj", rest))) => format!("jj -R {} {rest}", quote(path)),
                    _ => way.to_owned(),
                };
                let stash = is_stash.then_some("git stash pop");
                let ways = back.iter().flat_map(|it| it.split(" && ")).chain(stash);
                let ways: Vec<_> = ways.map(there).collect();
                let back = Some(ways.join(" && ")).filter(|it| !it.is_empty());
                let of = path.map_or_else(String::new, |it| format!(" of {it}"));
                let what = what
                    .as_ref()
                    .map_or_else(String::new, |it| format!(" ({it})"));
                let moved = match before == after {
                    true => format!("what was not committed{of} was put away{what}"),
                    false => format!("HEAD{of} was moved from {before} to {after}{what}"),
                };
                let way = format!("`pillion revert --all {number}` brings it back");
                let left_out = format!("`pillion revert {number}` leaves it out");
                match (back, is_lost) {
                    (Some(back), false) if *is_stash => format!(
                        "{moved}: `{back}` undoes it as long as the stash is there, and {left_out}, but for what was changed again since"
                    ),
                    (Some(back), false) => format!("{moved}: `{back}` undoes it, and {left_out}"),
                    (Some(back), true) => format!(
                        "{moved}: `{back}` undoes it but for what was not committed, of which git has no copy: {way}, and {left_out}"
                    ),
                    (None, _) => {
                        format!("{moved}: git has no copy of it, {way}, and {left_out}")
                    }
                }
            }
        };
        visible::one_line(&text)
    }
}
