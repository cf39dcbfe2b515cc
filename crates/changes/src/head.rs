//! The commit that git's HEAD names in a work tree, and what has moved it, by the log of HEAD that git writes. A commit moves it, too, and
//! changes no file; a checkout, a reset, a stash write the files of another commit. Nothing here runs a program or reads an object.

use std::path::{Path, PathBuf};

use pillion_discovery::regular_file;
use pillion_discovery::version_control::GitFolders;

use crate::remark::Remark;

/// Neither a log nor a file of git's that is longer is read, in bytes.
const MAX_READ: u64 = 16 << 20;

/// So many letters name a commit for people.
const SHORT: usize = 10;

/// The place of HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    git: GitFolders,
    /// A branch, or a commit.
    place: String,
    /// The lengths of the logs of HEAD and of the stash.
    log: u64,
    stash: u64,
    is_jj: bool,
}

/// A line of the log of HEAD.
struct Step<'a> {
    old: &'a str,
    new: &'a str,
    /// The command, and what it did: `checkout: moving from main to other`.
    what: &'a str,
}

impl Step<'_> {
    /// Returns true if files may have been written. A commit has those that are there, and a new branch is another name.
    fn writes_files(&self) -> bool {
        let is_commit = self.what.starts_with("commit");
        !is_commit && (self.old != self.new || self.what.starts_with("reset"))
    }
}

impl Head {
    /// That of the work tree with this top folder; none if there is none. Waits for the disk.
    pub fn of(work_tree: &Path) -> Option<Self> {
        let git = GitFolders::of(work_tree)?;
        let place = regular_file::read(&git.own.join("HEAD"), MAX_READ).ok()?;
        let place = String::from_utf8_lossy(&place).trim().to_owned();
        let branch = place.strip_prefix("ref: refs/heads/").map(str::to_owned);
        let length = |path: PathBuf| path.symlink_metadata().map_or(0, |it| it.len());
        Some(Self {
            place: branch.unwrap_or_else(|| short(&place)),
            log: length(log_of(&git)),
            stash: length(git.common.join("logs/refs/stash")),
            is_jj: work_tree.join(".jj").is_dir(),
            git,
        })
    }

    /// What has moved it here from where it was before, and written files; none if nothing has. Waits for the disk.
    pub fn moved_from(&self, before: &Self, work_tree: &Path) -> Option<Remark> {
        if self == before {
            return None;
        }
        let log = regular_file::read(&log_of(&self.git), MAX_READ).unwrap_or_default();
        let from = usize::try_from(before.log).ok();
        let log = from.and_then(|from| log.get(from..)).unwrap_or_default();
        let log = String::from_utf8_lossy(log);
        let steps: Vec<_> = log.lines().filter_map(step).collect();
        let mut writing = steps.iter().filter(|it| it.writes_files());
        let first = match writing.next() {
            Some(first) => first,
            // Who writes no log says nothing of what it does.
            None if steps.is_empty() && self.place != before.place => {
                return Some(self.remark(before, work_tree, &before.place, &self.place, None));
            }
            None => return None,
        };
        let last = writing.next_back().unwrap_or(first);
        let (old, new) = (short(first.old), short(last.new));
        Some(self.remark(before, work_tree, &old, &new, Some(last.what)))
    }

    fn remark(
        &self,
        before: &Self,
        work_tree: &Path,
        old: &str,
        new: &str,
        what: Option<&str>,
    ) -> Remark {
        let is_stash = self.stash > before.stash;
        let back = match () {
            () if self.is_jj => Some("jj undo".to_owned()),
            () if is_stash => Some("git stash pop".to_owned()),
            () if self.place != before.place => Some(format!("git checkout {}", before.place)),
            () if old != new => Some(format!("git reset --keep {old}")),
            // What was not committed is in no commit.
            () => None,
        };
        let is_branch = self.place != before.place;
        Remark::Head {
            path: work_tree.to_owned(),
            before: if is_branch { &before.place } else { old }.to_owned(),
            after: if is_branch { &self.place } else { new }.to_owned(),
            what: what.map(str::to_owned),
            back,
        }
    }
}

fn log_of(git: &GitFolders) -> PathBuf {
    git.own.join("logs/HEAD")
}

fn short(commit: &str) -> String {
    commit.chars().take(SHORT).collect()
}

/// `OLD NEW WHO <MAIL> TIME ZONE<TAB>WHAT`
fn step(line: &str) -> Option<Step<'_>> {
    let (facts, what) = line.split_once('\t')?;
    let mut facts = facts.split(' ');
    Some(Step {
        old: facts.next()?,
        new: facts.next()?,
        what,
    })
}
