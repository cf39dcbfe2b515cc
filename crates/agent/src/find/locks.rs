//! Qwen Code's lock files, and the older files that it still reads.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use pillion_protocol::dialect::{Base, FileName};
use pillion_system::process::{Answer, ask};
use serde_json::Value;

use super::content::{Content, Workspace};
use super::pick::{Judged, Pick, Place};
use super::read::{Seen, names};
use super::verdict::{Preference, Stale, Verdict};
use super::workspace::Fit;
use crate::release::Change;

const PREFIX: &str = "qwen-code-ide-server";

/// The place where a file was met: an unfit one means different things.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Met {
    LockOfVariable,
    UnderPid,
    UnderPort,
}

impl Place<'_> {
    /// The pick from the lock file of the port variable, the older files and all lock files.
    pub(super) fn pick_by_lock(&self) -> Pick {
        let mut pick = Pick::default();
        let locks = self.lock_folder();
        let tmpdir = self.situation.environment.base(Base::TmpDir);
        let variable = self.port_variable.as_deref().filter(|text| is_number(text));
        let named = variable.map(|port| locks.join(format!("{port}.lock")));
        if let Some(path) = &named {
            self.meet(&mut pick, path.clone(), None, Met::LockOfVariable);
        }
        let under_pid = self.ide_pid.map(|pid| FileName::Pid(PREFIX).of(pid, 0));
        let under_port = variable.map(|port| format!("{PREFIX}-{port}.json"));
        let is_json = |pick: &Pick, path: &Path| {
            let found = pick.files.iter().find(|judged| judged.seen.path == path);
            found.is_some_and(|judged| judged.seen.content().is_some())
        };
        let mut goes_on = true;
        for (name, met) in [(under_pid, Met::UnderPid), (under_port, Met::UnderPort)] {
            let Some(path) = name.map(|name| tmpdir.join(name)) else {
                continue;
            };
            if goes_on && path.exists() {
                let pid = self.ide_pid.map(u64::from).filter(|_| met == Met::UnderPid);
                self.meet(&mut pick, path.clone(), pid, met);
                // The second is looked at only if the first is no JSON.
                goes_on = !is_json(&pick, &path);
            }
        }
        self.all_locks(&mut pick, &locks);
        self.not_looked_at(&mut pick, &tmpdir);
        self.mark_fallbacks(&mut pick);
        pick
    }

    fn lock_folder(&self) -> PathBuf {
        self.situation.environment.qwen_home().join("ide")
    }

    /// A file that is opened by its name.
    fn meet(&self, pick: &mut Pick, path: PathBuf, pid: Option<u64>, met: Met) {
        if !path.exists() && met == Met::LockOfVariable {
            return;
        }
        let seen = Seen::read(path, pid);
        let is_open = pick.is_open();
        let verdict = match (&seen.read, seen.content()) {
            (Err(kind), _) => Verdict::Unreadable(*kind),
            (Ok(_), None) => Verdict::Malformed,
            (Ok(_), Some(_)) if !is_open => Verdict::SecondChoice(Preference::FirstPlace),
            (Ok(_), Some(content)) => self.judge_named(content, met),
        };
        let is_unfit = matches!(verdict, Verdict::OtherWorkspace | Verdict::NoWorkspace);
        if is_unfit && is_open {
            let port = seen.content().and_then(|content| content.field("port"));
            let text = port.and_then(Value::as_str);
            let is_same = text.is_some() && text == self.port_variable.as_deref();
            let stands_for_it = match met {
                Met::LockOfVariable => port.is_none(),
                Met::UnderPid => false,
                Met::UnderPort => true,
            };
            pick.is_variable_rejected |= is_same || stands_for_it;
        }
        pick.push(seen, verdict);
    }

    fn judge_named(&self, content: &Content, met: Met) -> Verdict {
        // An error at the lock file is caught, at an older file it is not.
        let failure = if met == Met::LockOfVariable {
            Verdict::Malformed
        } else {
            Verdict::EndsAttempt
        };
        if content.is_null() {
            return failure;
        }
        match self.matcher.fit(&content.workspace()) {
            Fit::Missing | Fit::Inside => Verdict::Chosen,
            Fit::Empty => Verdict::NoWorkspace,
            Fit::Outside(_) => Verdict::OtherWorkspace,
            Fit::Fails => failure,
        }
    }

    /// Every lock file: the newest with a fitting workspace.
    fn all_locks(&self, pick: &mut Pick, folder: &Path) {
        let scans = self.situation.release.has(Change::LockScan);
        let mut found = names(folder);
        found.retain(|name| FileName::PortLock.fits(name));
        if scans && pick.is_open() {
            // The scan meets the variable's own file again.
            pick.files
                .retain(|judged| judged.seen.path.parent() != Some(folder));
        }
        let is_known = |path: &PathBuf| pick.files.iter().any(|judged| judged.seen.path == *path);
        let mut seen: Vec<Seen> = found
            .iter()
            .map(|name| folder.join(name))
            .filter(|path| !is_known(path))
            .map(|path| Seen::read(path, None))
            .collect();
        seen.sort_by_key(|seen| Reverse(seen.modified()));
        for seen in seen {
            let is_open = pick.is_open();
            let verdict = match (&seen.read, seen.content()) {
                _ if !scans => Verdict::NotLookedAt,
                (Err(kind), _) => Verdict::Unreadable(*kind),
                (Ok(_), None) => Verdict::Malformed,
                (Ok(_), Some(content)) => self.judge_scanned(content, is_open, pick),
            };
            pick.push(seen, verdict);
        }
    }

    fn judge_scanned(&self, content: &Content, is_open: bool, pick: &Pick) -> Verdict {
        if let Some(stale) = self.staleness(content) {
            return Verdict::Stale(stale);
        }
        let failure = if is_open {
            Verdict::EndsAttempt
        } else {
            Verdict::Malformed
        };
        if content.is_null() {
            return failure;
        }
        match self.matcher.fit(&content.workspace()) {
            Fit::Inside if is_open => Verdict::Chosen,
            Fit::Inside => {
                let is_lock = |judged: &Judged| is_lock(&judged.seen.path);
                Verdict::SecondChoice(if pick.chosen().is_some_and(is_lock) {
                    Preference::Newer
                } else {
                    Preference::FirstPlace
                })
            }
            Fit::Missing | Fit::Empty => Verdict::NoWorkspace,
            Fit::Outside(_) => Verdict::OtherWorkspace,
            Fit::Fails => failure,
        }
    }

    fn staleness(&self, content: &Content) -> Option<Stale> {
        if let Some(parent) = content.parent() {
            // Another user's process counts as gone.
            return (ask(parent) != Answer::Here).then_some(Stale::ProcessGone);
        }
        let exists = match content.workspace() {
            Workspace::Missing => true,
            Workspace::Text(text) => {
                text.is_empty() || self.situation.current_dir.join(text).exists()
            }
            Workspace::NoText => content.workspace_if_any().is_none(),
        };
        (!exists).then_some(Stale::NoFolder)
    }

    /// The other files of this agent: those of other processes and of other releases.
    fn not_looked_at(&self, pick: &mut Pick, tmpdir: &Path) {
        let specified = tmpdir.join("qwen").join("ide");
        let borrowed = tmpdir.join("gemini").join("ide");
        for folder in [tmpdir, &specified, &borrowed] {
            for name in names(folder) {
                let path = folder.join(&name);
                let named = [FileName::PidPort(PREFIX), FileName::Pid(PREFIX)];
                let pid = named.iter().find_map(|pattern| pattern.pid_in(&name));
                let is_known = pick.files.iter().any(|judged| judged.seen.path == path);
                if pid.is_some() && !is_known {
                    let seen = Seen::read(path, pid);
                    let verdict = self.of_unasked(&seen, folder == tmpdir);
                    pick.push(seen, verdict);
                }
            }
        }
    }

    /// In the temporary folder a name holds a process id, or the file's own port.
    fn of_unasked(&self, seen: &Seen, is_looked_into: bool) -> Verdict {
        let port = seen.content().and_then(Content::port).map(u64::from);
        match seen.pid {
            Some(pid) if is_looked_into && port != Some(pid) => Verdict::OtherProcess {
                pid,
                wanted: self.ide_pid,
            },
            _ => Verdict::NotLookedAt,
        }
    }

    /// Marks the lock files that are dialled after the chosen one, if it does not answer.
    fn mark_fallbacks(&self, pick: &mut Pick) {
        let chosen = pick.chosen_content();
        let chosen = chosen.filter(|content| content.port_text().is_some());
        let Some(chosen) = chosen.filter(|_| self.situation.release.has(Change::LockScan)) else {
            return;
        };
        let folder = self.lock_folder();
        let is_lock = |seen: &Seen| seen.path.parent() == Some(&folder) && is_lock(&seen.path);
        let files = pick.files.iter().map(|judged| &judged.seen);
        let mut locks: Vec<(usize, &Seen)> = files.enumerate().collect();
        locks.retain(|(_, seen)| is_lock(seen));
        locks.sort_by_key(|(_, seen)| (Reverse(seen.modified()), &seen.path));
        let (mut fitting, mut others) = (Vec::new(), Vec::new());
        for (at, seen) in locks {
            let Some(content) = seen.content() else {
                continue;
            };
            if self.staleness(content).is_some() {
                continue;
            }
            let is_same = content.field("port") == chosen.field("port");
            let fit = match self.matcher.fit(&content.workspace()) {
                _ if content.is_null() => Fit::Fails,
                _ if content.port_text().is_none() || is_same => continue,
                fit => fit,
            };
            match fit {
                Fit::Inside => fitting.push(at),
                Fit::Missing => others.push(at),
                Fit::Fails => {
                    pick.failing_fallback = Some(at);
                    return;
                }
                Fit::Empty | Fit::Outside(_) => {}
            }
        }
        fitting.append(&mut others);
        for at in &fitting {
            pick.files[*at].verdict = Verdict::Fallback;
        }
        pick.fallbacks = fitting;
    }
}

fn is_lock(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "lock")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
