//! The commit that git's HEAD names in a work tree, and what has moved it, by the log of HEAD that git writes. A commit moves it, too, and
//! changes no file; a checkout, a reset, a stash write the files of another commit. Nothing here reads an object; git is asked which untracked
//! files a stash has put away, and when Jujutsu's commits were made. Of Jujutsu's own log the names are read.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use pillion_discovery::regular_file;
use pillion_discovery::version_control::{GitFolders, git};

use crate::git::{Index, Tracked};
use crate::remark::Remark;
use crate::scan::{Folder, Stat, is_absence};

/// Neither a log nor a file of git's that is longer is read, in bytes.
const MAX_READ: u64 = 16 << 20;

/// No record of an operation of Jujutsu's that is longer is read, in bytes.
const MAX_OPERATION: u64 = 64 << 10;

/// So many letters name a commit for people, and an operation of Jujutsu's.
const SHORT: usize = 10;
const OPERATION: usize = 12;

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
    /// The operation in Jujutsu's log after which it is so, if that is one.
    operation: Option<String>,
    /// What git has stopped in and waits to be told to go on with.
    stopped: Option<Stopped>,
    /// Its own folder: another repository in its place has another history.
    folder: Folder,
}

/// A command of git's that has stopped, as for a conflict: until it is ended, nothing else leads back.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stopped {
    abort: &'static str,
    /// The branch to which that leads, if that is another place than the one where it has stopped.
    branch: Option<String>,
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
    /// The files that went into git's stash.
    put_away: Vec<PathBuf>,
    /// True if the work tree is gone.
    is_gone: bool,
    /// True if git has stopped in something and goes on only if it is told to.
    is_stopped: bool,
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
        if self.is_gone {
            return now.is_none().then_some(was_clean);
        }
        let is_as_in_index = match (is, now) {
            (Some(is), Some(now)) => is.is_clean(now),
            (is, None) => is.is_none(),
            (None, Some(_)) => false,
        };
        let is_put_away = is_as_in_index && self.put_away.iter().any(|it| it == path);
        (is_put_away || self.has_written(was, is, now)).then_some(was_clean)
    }

    /// The things that there are to say of it, if any file came with it, and if git has no copy of what was there.
    pub fn remark(mut self, has_any: bool, has_lost: bool) -> Option<Remark> {
        // A stash has it, until it is dropped.
        let has_lost = has_lost && !self.is_stash;
        if let Remark::Head { is_lost, .. } | Remark::Gone { is_lost, .. } = &mut self.remark {
            *is_lost = has_lost;
        }
        if let Remark::Gone { back, .. } = &self.remark {
            return (has_any || back.is_none()).then_some(self.remark);
        }
        // Jujutsu moves it with each commit, too, and then no file came with that.
        let is_moved = self.is_elsewhere && (has_any || self.tracked.is_some());
        // A file that is in conflict came with this, and is in no index.
        let has_any = has_any || self.is_stopped;
        let is_said = is_moved || has_lost || (self.is_stash && has_any);
        // Git refuses to write a file that is not as in its index.
        let reset = (!has_any).then(|| self.reset()).flatten();
        if let (
            Remark::Head {
                back: Some(back), ..
            },
            Some(reset),
        ) = (&mut self.remark, reset)
        {
            *back = back.replace("git reset --keep", reset);
        }
        is_said.then_some(self.remark)
    }

    /// The reset that leads back after one which wrote no file, as `git reset HEAD~1`; none if it wrote some, or that is not known. Waits for
    /// the disk.
    fn reset(&self) -> Option<&'static str> {
        let [was, is] = self.tracked.as_ref()?;
        let is_other = |path: &&PathBuf| match (was.get(*path), is.get(*path)) {
            (Some(was), Some(is)) => !was.is_same(is),
            _ => true,
        };
        let mut others = was.keys().chain(is.keys()).filter(is_other).peekable();
        if others.peek().is_none() {
            return Some("git reset --soft");
        }
        let is_written = |path: &PathBuf| match (is.get(path), Stat::at(path)) {
            (Some(is), Ok(Some(now))) => is.is_clean(&now),
            (is, Ok(now)) => is.is_none() && now.is_none(),
            (_, Err(_)) => true,
        };
        (!others.any(is_written)).then_some("git reset")
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
            operation: operation(work_tree),
            stopped: stopped(&git.own),
            folder: Folder::of(&git.own.metadata().ok()?),
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
        if self == before || self.folder.is_other(before.folder) {
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
            put_away: match is_stash {
                true => git::in_stash(work_tree),
                false => Vec::new(),
            },
            is_gone: false,
            is_stopped: self.stopped.is_some() && self.stopped != before.stopped,
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
            // A part of what was not committed moves nothing.
            None if is_stash && !self.is_jj => {
                let remark = self.remark(before, work_tree, &self.place, &self.place, None);
                return Some(moved(remark, false));
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

    /// That the work tree which had it is gone, in a folder that is watched; none if it is there, or may have been moved to where the `others` are.
    /// Waits for the disk.
    pub fn gone<'a>(
        &self,
        root: &Path,
        work_tree: &Path,
        index: &Index,
        mut others: impl Iterator<Item = &'a Self>,
    ) -> Option<Move> {
        let found = work_tree.join(".git").symlink_metadata();
        if !found.is_err_and(|error| is_absence(error.kind())) {
            return None;
        }
        let (own, common) = (plain(&self.git.own), plain(&self.git.common));
        let is_within = own.starts_with(work_tree);
        if others.any(|it| is_within || plain(&it.git.own) == own) {
            return None;
        }
        let back = match () {
            () if is_within => None,
            () if own != common => self.way_back_to_linked(root, work_tree, (&own, &common)),
            () => way_back_to_submodule(root, work_tree, &own),
        };
        // Its files are the agent's to delete where git has them elsewhere, and nobody knows how they come back.
        if back.is_none() && !is_within {
            return None;
        }
        Some(Move {
            work_tree: work_tree.to_owned(),
            is_elsewhere: false,
            is_stash: false,
            put_away: Vec::new(),
            is_gone: back.is_some(),
            is_stopped: false,
            tracked: Some([index.tracked(), HashMap::new()]),
            remark: Remark::Gone {
                path: work_tree.to_owned(),
                back,
                is_lost: false,
            },
        })
    }

    /// The command that makes a linked work tree again.
    fn way_back_to_linked(
        &self,
        root: &Path,
        work_tree: &Path,
        (own, common): (&Path, &Path),
    ) -> Option<String> {
        if !common.is_dir() {
            return None;
        }
        let top = common.parent().filter(|_| common.ends_with(".git"));
        let top = top.unwrap_or(common);
        // What was deleted without git is known to it still.
        let force = if own.exists() { "-f " } else { "" };
        let (there, tree) = match top == root {
            true => (String::new(), work_tree.strip_prefix(root).ok()?),
            false => (format!("-C {} ", quoted(top)), work_tree),
        };
        let (tree, place) = (quoted(tree), shell_words::quote(&self.place).into_owned());
        Some(format!("git {there}worktree add {force}{tree} {place}"))
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
        let stopped = { self.stopped.as_ref() }.filter(|_| self.stopped != before.stopped);
        let rebased = stopped.and_then(|it| it.branch.as_ref());
        let back = match () {
            () if self.is_jj => before.operation.as_ref().map(|it| {
                let operation = snapshot_after(work_tree, it);
                let operation = operation.as_ref().unwrap_or(it);
                format!("jj op restore {}", &operation[..OPERATION])
            }),
            () if rebased == Some(&before.place) => None,
            () if self.place != before.place => Some(format!("git checkout {}", before.place)),
            () if old != new => Some(format!("git reset --keep {old}")),
            // What was not committed is in no commit.
            () => None,
        };
        let abort = stopped.map(|it| it.abort.to_owned());
        let back: Vec<_> = abort.into_iter().chain(back).collect();
        let back = Some(back.join(" && ")).filter(|it| !it.is_empty());
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

/// The name of the last operation in Jujutsu's log; none if there are several, as where two were made at once.
fn operation(work_tree: &Path) -> Option<String> {
    let heads = fs::read_dir(work_tree.join(".jj/repo/op_heads/heads")).ok()?;
    let names = heads
        .flatten()
        .filter_map(|it| it.file_name().into_string().ok());
    let is_name = |it: &String| it.len() > OPERATION && bytes_of(it).is_some();
    let heads: Vec<_> = names.filter(is_name).take(2).collect();
    let [only] = <[String; 1]>::try_from(heads).ok()?;
    Some(only)
}

/// The operation right after this one, if that has only noted what was in the files, as each command does before it does anything:
/// what a person has written and Jujutsu had not seen stays there.
fn snapshot_after(work_tree: &Path, operation: &str) -> Option<String> {
    let parent = bytes_of(operation)?;
    let all = fs::read_dir(work_tree.join(".jj/repo/op_store/operations")).ok()?;
    let mut files = all.flatten().map(|it| it.path());
    let snapshot = files.find(|path| {
        let record = regular_file::read(path, MAX_OPERATION).unwrap_or_default();
        let has = |part: &[u8]| record.windows(part.len()).any(|it| it == part);
        has(&parent) && has(b"snapshot working copy")
    })?;
    let name = snapshot.file_name()?.to_str()?;
    (name.len() > OPERATION && bytes_of(name).is_some()).then(|| name.to_owned())
}

/// The bytes of this hexadecimal name.
fn bytes_of(name: &str) -> Option<Vec<u8>> {
    let digit = |it: &u8| char::from(*it).to_digit(16);
    let pairs = name.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => u8::try_from(digit(high)? << 4 | digit(low)?).ok(),
            _ => None,
        })
        .collect()
}

/// What git has stopped in, by the files that it keeps for that, in this folder of its own.
fn stopped(own: &Path) -> Option<Stopped> {
    let of = |abort, branch| Some(Stopped { abort, branch });
    for folder in ["rebase-merge", "rebase-apply"].map(|it| own.join(it)) {
        if let Ok(name) = regular_file::read(&folder.join("head-name"), MAX_READ) {
            let name = String::from_utf8_lossy(&name).trim().to_owned();
            return of(
                "git rebase --abort",
                name.strip_prefix("refs/heads/").map(str::to_owned),
            );
        }
    }
    let marks = [
        ("MERGE_HEAD", "git merge --abort"),
        ("CHERRY_PICK_HEAD", "git cherry-pick --abort"),
        ("REVERT_HEAD", "git revert --abort"),
    ];
    let found = marks.into_iter().find(|(name, _)| own.join(name).is_file());
    found.and_then(|(_, abort)| of(abort, None))
}

fn log_of(git: &GitFolders) -> PathBuf {
    git.own.join("logs/HEAD")
}

/// A path without steps back, which lead nowhere once a folder of it is gone.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

fn quoted(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}

/// The command that makes a submodule's work tree again, if this is its repository in that of the work tree around it.
fn way_back_to_submodule(root: &Path, work_tree: &Path, own: &Path) -> Option<String> {
    let mut around = work_tree.ancestors().skip(1);
    let (top, git) = around.find_map(|it| Some((it, GitFolders::of(it)?)))?;
    if !own.starts_with(plain(&git.own).join("modules")) || !own.is_dir() {
        return None;
    }
    let there = match top == root {
        true => String::new(),
        false => format!("-C {} ", quoted(top)),
    };
    let tree = quoted(work_tree.strip_prefix(top).ok()?);
    Some(format!("git {there}submodule update --init {tree}"))
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
