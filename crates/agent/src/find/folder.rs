//! The files named after a process, in a folder of all companions: Gemini CLI, and Qwen Code's first
//! releases, which are a copy of it.

use std::path::Path;

use pillion_protocol::dialect::{Base, FileName};
use pillion_system::process::{Answer, ask};

use super::content::Content;
use super::pick::{Judged, Pick, Place};
use super::read::{Seen, names};
use super::verdict::{Preference, Verdict};
use super::workspace::Fit;
use crate::release::Change;

impl Place<'_> {
    /// The pick from `FOLDER/PREFIX-PID-PORT.json` and its older forms.
    pub(super) fn pick_by_process(&self, prefix: &'static str) -> Pick {
        let release = self.situation.release;
        let tmpdir = self.situation.environment.base(Base::TmpDir);
        let folder = tmpdir.join("gemini").join("ide");
        let mut pick = self.pick_single(prefix, &tmpdir, &folder);
        let several = FileName::PidPort(prefix);
        let found = names(&folder).into_iter();
        let seen = found.filter_map(|name| {
            let pid = several.pid_in(&name)?;
            Some((Seen::read(folder.join(&name), Some(pid)), name))
        });
        let (looked_at, others): (Vec<_>, Vec<_>) = seen.partition(|(_, name)| {
            let exact = |pid: u32| name.starts_with(&format!("{prefix}-{pid}-"));
            release.has(Change::EveryProcess) || self.ide_pid.is_some_and(exact)
        });
        let looked_at: Vec<Seen> = looked_at.into_iter().map(|(seen, _)| seen).collect();
        if pick.chosen().is_some() {
            for seen in looked_at {
                pick.push(seen, Verdict::SecondChoice(Preference::FirstPlace));
            }
        } else {
            pick.files.extend(self.of_several(looked_at));
        }
        for (seen, _) in others {
            let verdict = self.of_other_process(&seen);
            pick.push(seen, verdict);
        }
        pick
    }

    /// The files under a process alone: one of them is looked at before all others.
    fn pick_single(&self, prefix: &'static str, tmpdir: &Path, folder: &Path) -> Pick {
        let mut pick = Pick::default();
        let single = FileName::Pid(prefix);
        let (here, elsewhere) = if self.situation.release.has(Change::Decoded) {
            (folder, tmpdir)
        } else {
            (tmpdir, folder)
        };
        for home in [here, elsewhere] {
            for name in names(home) {
                let Some(pid) = single.pid_in(&name) else {
                    continue;
                };
                let seen = Seen::read(home.join(&name), Some(pid));
                let wanted = self.ide_pid.map(|pid| single.of(pid, 0));
                let verdict = if home != here {
                    Verdict::NotLookedAt
                } else if wanted.as_ref() == Some(&name) {
                    self.single(&seen)
                } else {
                    self.of_other_process(&seen)
                };
                pick.push(seen, verdict);
            }
        }
        pick
    }

    fn of_other_process(&self, seen: &Seen) -> Verdict {
        Verdict::OtherProcess {
            pid: seen.pid.unwrap_or(0),
            wanted: self.ide_pid,
        }
    }

    /// The one file under the process alone. Whatever it says is taken, without a look at its
    /// workspace.
    fn single(&self, seen: &Seen) -> Verdict {
        let own_only = self.situation.release.has(Change::OwnFiles);
        match &seen.read {
            Err(kind) => Verdict::Unreadable(*kind),
            Ok(text) if own_only && !text.is_own => Verdict::OtherUser,
            Ok(text) => match &text.content {
                Some(content) if !own_only || content.is_object() => Verdict::Chosen,
                _ => Verdict::Malformed,
            },
        }
    }

    fn of_several(&self, mut seen: Vec<Seen>) -> Vec<Judged> {
        let release = self.situation.release;
        if release.has(Change::EveryProcess) {
            seen.sort_by_key(|seen| self.rank(seen));
        }
        let own_only = release.has(Change::OwnFiles);
        let is_spoiled = !own_only && seen.iter().any(|seen| seen.read.is_err());
        let mut failed = false;
        let mut files: Vec<Judged> = Vec::new();
        for seen in seen {
            let verdict = match (&seen.read, seen.content()) {
                (Err(kind), _) => Verdict::Unreadable(*kind),
                (Ok(_), _) if is_spoiled => Verdict::Spoiled,
                (Ok(text), _) if own_only && !text.is_own => Verdict::OtherUser,
                (Ok(_), Some(content)) if is_config(content, own_only) => {
                    self.by_workspace(content, failed)
                }
                (Ok(_), _) => Verdict::Malformed,
            };
            failed |= verdict == Verdict::EndsAttempt;
            files.push(Judged { seen, verdict });
        }
        if failed {
            let fits = files
                .iter_mut()
                .filter(|judged| judged.verdict == Verdict::Fallback);
            fits.for_each(|judged| judged.verdict = Verdict::NotLookedAt);
        } else {
            self.decide(&mut files);
        }
        files
    }

    fn by_workspace(&self, content: &Content, failed: bool) -> Verdict {
        match self.matcher.fit(&content.workspace()) {
            Fit::Inside => Verdict::Fallback,
            Fit::Missing | Fit::Empty => Verdict::NoWorkspace,
            Fit::Outside(_) => Verdict::OtherWorkspace,
            Fit::Fails if failed => Verdict::NotLookedAt,
            Fit::Fails => Verdict::EndsAttempt,
        }
    }

    /// Of those that fit (until now: fallbacks), takes the one of the port variable, else the first.
    fn decide(&self, files: &mut [Judged]) {
        let has_port = |judged: &Judged| {
            let port = judged.seen.content().and_then(Content::raw_port_text);
            self.port_variable.is_some() && port == self.port_variable
        };
        let fits = |judged: &Judged| judged.verdict == Verdict::Fallback;
        let is_parsed = |judged: &Judged| {
            let verdict = &judged.verdict;
            matches!(verdict, Verdict::OtherWorkspace | Verdict::NoWorkspace)
        };
        let best = |wanted: fn(&Judged) -> bool| {
            let mut judged = files.iter();
            let named = judged.position(|judged| wanted(judged) && has_port(judged));
            named.or_else(|| files.iter().position(wanted))
        };
        if let Some(chosen) = best(fits) {
            let by_port = files[..chosen].iter().any(fits);
            for index in (0..files.len()).filter(|index| *index != chosen) {
                if fits(&files[index]) {
                    let (one, other) = (&files[chosen].seen, &files[index].seen);
                    let preference = self.preference(one, other, by_port);
                    files[index].verdict = Verdict::SecondChoice(preference);
                }
            }
            files[chosen].verdict = Verdict::Chosen;
        } else if self.situation.release.has(Change::OwnFiles)
            && let Some(index) = best(is_parsed)
        {
            files[index].verdict = Verdict::ChosenToExplain;
        }
    }

    fn preference(&self, chosen: &Seen, other: &Seen, by_port: bool) -> Preference {
        if by_port {
            let variable = self.situation.release.agent.port_variable();
            return Preference::PortVariable(variable.unwrap_or_default());
        }
        let (first, second) = (self.rank(chosen), self.rank(other));
        if !self.situation.release.has(Change::EveryProcess) || first == second {
            Preference::FirstName
        } else if first.0 != second.0 {
            Preference::OwnProcess
        } else if first.1 != second.1 {
            Preference::LivingProcess
        } else {
            Preference::LargerPid
        }
    }

    /// Its own editor process first, then living ones, then larger ids.
    fn rank(&self, seen: &Seen) -> (bool, bool, std::cmp::Reverse<u64>) {
        let pid = seen.pid.unwrap_or(0);
        let small = u32::try_from(pid).ok();
        // A zombie answers, and on Windows all count as living.
        let lives = cfg!(windows) || small.is_some_and(|pid| ask(pid) != Answer::Nobody);
        let is_own = small.is_some() && small == self.ide_pid;
        (!is_own, !lives, std::cmp::Reverse(pid))
    }
}

fn is_config(content: &Content, needs_object: bool) -> bool {
    if needs_object {
        content.is_object()
    } else {
        content.is_truthy()
    }
}
