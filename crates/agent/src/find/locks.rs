//! Qwen Code's lock files, and the older files that it still reads.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use pillion_protocol::dialect::{Base, FileName};
use pillion_protocol::discovery::DiscoveryFile;
use pillion_system::process::{Answer, ask};

use super::pick::{Pick, Place};
use super::read::{Seen, names};
use super::verdict::{Preference, Stale, Verdict};
use super::workspace::Fit;

const PREFIX: &str = "qwen-code-ide-server";

impl Place<'_> {
    /// The pick from the lock file of the port variable, the older files and all lock files.
    pub(super) fn pick_by_lock(&self) -> Pick {
        let mut pick = Pick::default();
        let locks = self.lock_folder();
        let tmpdir = self.situation.environment.base(Base::TmpDir);
        let port = self.port_variable;
        if let Some(path) = port.map(|port| locks.join(format!("{port}.lock"))) {
            self.meet(&mut pick, path);
        }
        let under_pid = self.ide_pid.map(|pid| FileName::Pid(PREFIX).of(pid, 0));
        let under_pid = under_pid.map(|name| tmpdir.join(name));
        let is_read = under_pid.is_some_and(|path| self.meet(&mut pick, path));
        // The second is looked at only if there is no content in the first.
        if let Some(port) = port.filter(|_| !is_read) {
            let path = tmpdir.join(format!("{PREFIX}-{port}.json"));
            if self.meet(&mut pick, path.clone()) {
                let mut files = pick.files.iter();
                let met = files.find(|judged| judged.seen.path == path);
                pick.is_variable_rejected = met.is_some_and(|judged| {
                    matches!(
                        judged.verdict,
                        Verdict::OtherWorkspace | Verdict::NoWorkspace
                    )
                });
            }
        }
        self.all_locks(&mut pick, &locks);
        self.not_looked_at(&mut pick);
        self.mark_fallbacks(&mut pick);
        pick
    }

    fn lock_folder(&self) -> PathBuf {
        self.situation.environment.qwen_home().join("ide")
    }

    /// Adds a file that is opened by its name, if it is there. Returns true if it has content.
    fn meet(&self, pick: &mut Pick, path: PathBuf) -> bool {
        if !path.exists() {
            return false;
        }
        let seen = Seen::read(path);
        let has_content = seen.content().is_some();
        let verdict = self.judge(&seen, pick, |_| None);
        pick.push(seen, verdict);
        has_content
    }

    /// Every lock file: the newest with a fitting workspace.
    fn all_locks(&self, pick: &mut Pick, folder: &Path) {
        if pick.is_open() {
            // The scan meets the variable's own file again.
            pick.files
                .retain(|judged| judged.seen.path.parent() != Some(folder));
        }
        let mut found = names(folder, self.situation.only);
        found.retain(|name| FileName::PortLock.fits(name));
        let paths = found.iter().map(|name| folder.join(name));
        let mut seen: Vec<Seen> = paths
            .filter(|path| !pick.knows(path))
            .map(Seen::read)
            .collect();
        seen.sort_by_key(|seen| Reverse(seen.modified()));
        for seen in seen {
            let verdict = self.judge(&seen, pick, |content| self.staleness(content));
            pick.push(seen, verdict);
        }
    }

    /// The verdict on a file that is met now.
    fn judge(
        &self,
        seen: &Seen,
        pick: &Pick,
        staleness: impl Fn(&DiscoveryFile) -> Option<Stale>,
    ) -> Verdict {
        let content = match (&seen.read, seen.content()) {
            (Err(kind), _) => return Verdict::Unreadable(*kind),
            (Ok(_), None) => return Verdict::Malformed,
            (Ok(_), Some(content)) => content,
        };
        if let Some(stale) = staleness(content) {
            return Verdict::Stale(stale);
        }
        match self.matcher.fit(&content.workspace_path) {
            Fit::Empty => Verdict::NoWorkspace,
            Fit::Outside(_) => Verdict::OtherWorkspace,
            Fit::Inside => match pick.chosen() {
                None => Verdict::Chosen,
                Some(chosen) if is_lock(&chosen.seen.path) => {
                    Verdict::SecondChoice(Preference::Newer)
                }
                Some(_) => Verdict::SecondChoice(Preference::FirstPlace),
            },
        }
    }

    fn staleness(&self, content: &DiscoveryFile) -> Option<Stale> {
        if let Some(parent) = content.ppid {
            // Another user's process counts as gone.
            return (ask(parent) != Answer::Here).then_some(Stale::ProcessGone);
        }
        let text = &content.workspace_path;
        let exists = text.is_empty() || self.situation.current_dir.join(text).exists();
        (!exists).then_some(Stale::NoFolder)
    }

    /// Marks the lock files that are dialled after the chosen one, if it does not answer.
    fn mark_fallbacks(&self, pick: &mut Pick) {
        let Some(chosen) = pick.chosen_content().map(|content| content.port) else {
            return;
        };
        let folder = self.lock_folder();
        let files = pick.files.iter().map(|judged| &judged.seen).enumerate();
        let mut locks: Vec<(usize, &Seen)> = files
            .filter(|(_, seen)| seen.path.parent() == Some(&folder))
            .filter(|(_, seen)| {
                seen.content().is_some_and(|content| {
                    let fits = || self.matcher.fit(&content.workspace_path) == Fit::Inside;
                    content.port != chosen && self.staleness(content).is_none() && fits()
                })
            })
            .collect();
        locks.sort_by_key(|(_, seen)| (Reverse(seen.modified()), &seen.path));
        let fallbacks: Vec<usize> = locks.into_iter().map(|(at, _)| at).collect();
        for at in &fallbacks {
            pick.files[*at].verdict = Verdict::Fallback;
        }
        pick.fallbacks = fallbacks;
    }
}

fn is_lock(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "lock")
}
