//! The commit that git's HEAD names in a work tree, and what has moved it, by the log of HEAD that git writes. A commit moves it, too, and
//! changes no file; a checkout, a reset, a stash write the files of another commit. Nothing here reads an object; git is asked which untracked
//! files a stash has put away, and when Jujutsu's commits were made.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pillion_discovery::regular_file;
use pillion_discovery::version_control::{GitFolders, git};

use crate::git::{Index, Tracked};
use crate::remark::Remark;
use crate::scan::Stat;

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

/// A move of HEAD in a work tree, in which files may have been written.
#[derive(Debug)]
pub struct Move {
    work_tree: PathBuf,
    remark: Remark,
    /// True if it is at another commit than before.
    is_elsewhere: bool,
    is_stash: bool,
    /// The untracked files that went into git's stash.
    untracked: Vec<PathBuf>,
    /// The tracked files before and after; none where git does not know them.
    tracked: Option<[HashMap<PathBuf, Tracked>; 2]>,
}

impl Move {
    /// Returns whether a commit has a copy of what a file was before, if the file came with this: it has the text of git's index, and
    /// that is not what was added to it. Both are the facts about the file.
    pub fn has_copy(&self, path: &Path, before: Option<&Stat>, now: Option<&Stat>) -> Option<bool> {
        if !path.starts_with(&self.work_tree) {
            return None;
        }
        let Some(tracked) = &self.tracked else {
            return Some(true);
        };
        let [was, is] = tracked.each_ref().map(|tracked| tracked.get(path));
        let was_clean = before.is_none_or(|stat| was.is_some_and(|was| was.is_clean(stat)));
        let is_put_away = now.is_none() && self.untracked.iter().any(|it| it == path);
        (is_put_away || self.has_written(was, is, now)).then_some(was_clean)
    }

    /// The things that there are to say of it, if any file came with it, and if git has no copy of what was there.
    pub fn remark(mut self, has_any: bool, has_lost: bool) -> Option<Remark> {
        // A stash has it, until it is dropped.
        let has_lost = has_lost && !self.is_stash;
        if let Remark::Head { is_lost, .. } = &mut self.remark {
            *is_lost = has_lost;
        }
        // Jujutsu moves it with each commit, too, and then no file came with that.
        let is_moved = self.is_elsewhere && (has_any || self.tracked.is_some());
        let is_said = is_moved || has_lost || (self.is_stash && has_any);
        is_said.then_some(self.remark)
    }

    /// Returns true if git has written a file, or removed it, which it knew and knows so.
    fn has_written(&self, was: Option<&Tracked>, is: Option<&Tracked>, now: Option<&Stat>) -> bool {
        match (is, now) {
            (Some(is), Some(now)) => {
                let is_restored = was.is_some_and(|was| was.is_same(is));
                match is.is_clean(now) {
                    true => self.is_elsewhere || is_restored,
                    // It is the text of another commit, of which the agent has made more.
                    false => self.is_elsewhere && was.is_some() && !is_restored,
                }
            }
            (None, None) => (self.is_elsewhere || self.is_stash) && was.is_some(),
            _ => false,
        }
    }
}

impl Head {
    /// The index of the work tree, which is this `former` one if it is as it was. Waits for the disk.
    pub fn index(&self, work_tree: &Path, former: Option<&Arc<Index>>) -> Arc<Index> {
        let former = former.filter(|it| it.is_current(&self.git));
        former.map_or_else(|| Arc::new(Index::of(work_tree, &self.git)), Arc::clone)
    }

    /// That of the work tree with this top folder; none if there is none. Waits for the disk.
    pub fn of(work_tree: &Path) -> Option<Self> {
        let git = GitFolders::of(work_tree)?;
        let place = regular_file::read(&git.own.join("HEAD"), MAX_READ).ok()?;
        let place = String::from_utf8_lossy(&place).trim().to_owned();
        let named = place.strip_prefix("ref: ");
        let branch = named.map(|it| it.strip_prefix("refs/heads/").unwrap_or(it).to_owned());
        let length = |path: PathBuf| path.symlink_metadata().map_or(0, |it| it.len());
        Some(Self {
            place: branch.unwrap_or_else(|| short(&place)),
            log: length(log_of(&git)),
            stash: length(git.common.join("logs/refs/stash")),
            is_jj: work_tree.join(".jj").is_dir(),
            git,
        })
    }

    /// What has moved it here from where it was before, and written files; none if nothing has. `since` is when it was there, in seconds since
    /// 1970; `indexes` are those before and now.
    /// Waits for the disk.
    pub fn moved_from(
        &self,
        (before, since): (&Self, u64),
        work_tree: &Path,
        indexes: [&Index; 2],
    ) -> Option<Move> {
        if self == before {
            return None;
        }
        let log = regular_file::read(&log_of(&self.git), MAX_READ).unwrap_or_default();
        let from = usize::try_from(before.log).ok();
        let log = from.and_then(|from| log.get(from..)).unwrap_or_default();
        let log = String::from_utf8_lossy(log);
        let steps: Vec<_> = log.lines().filter_map(step).collect();
        let is_stash = self.stash > before.stash;
        let moved = |remark, is_elsewhere| Move {
            work_tree: work_tree.to_owned(),
            remark,
            is_elsewhere,
            is_stash,
            untracked: match is_stash {
                true => git::untracked_in_stash(work_tree),
                false => Vec::new(),
            },
            tracked: (!self.is_jj).then(|| indexes.map(Index::tracked)),
        };
        let mut writing = steps.iter().filter(|it| it.writes_files());
        let first = match writing.next() {
            Some(first) => first,
            // Who writes no log says nothing of what it does.
            None if steps.is_empty() && self.place != before.place => {
                let remark = self.remark(before, work_tree, &before.place, &self.place, None);
                return Some(moved(remark, true));
            }
            None => return None,
        };
        let last = writing.next_back().unwrap_or(first);
        // Jujutsu says the same of whatever moves it.
        let ends = [first.old, last.new];
        if self.is_jj && git::was_committed_since(work_tree, ends, since) {
            return None;
        }
        // What was committed since is not what it was moved to.
        let is_back = steps.first().map(|it| it.old) == steps.last().map(|it| it.new);
        let is_elsewhere = first.old != last.new && !is_back;
        let (old, new) = (short(first.old), short(last.new));
        let remark = self.remark(before, work_tree, &old, &new, Some(last.what));
        Some(moved(remark, is_elsewhere))
    }

    /// Returns true if something may come out of the stash: that writes files, and moves nothing.
    pub fn has_stash(&self) -> bool {
        self.stash > 0
    }

    fn remark(
        &self,
        before: &Self,
        work_tree: &Path,
        old: &str,
        new: &str,
        what: Option<&str>,
    ) -> Remark {
        let back = match () {
            () if self.is_jj => Some("jj undo".to_owned()),
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
            is_stash: !self.is_jj && self.stash > before.stash,
            is_lost: false,
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
