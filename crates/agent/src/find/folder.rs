//! Gemini CLI's files, which are named after a process, in a folder of all companions.

use std::cmp::Reverse;

use pillion_protocol::dialect::{Base, FileName};
use pillion_system::process::{Answer, ask};

use super::pick::{Judged, Pick, Place};
use super::read::{Seen, names};
use super::verdict::{Preference, Verdict};
use super::workspace::Fit;
use crate::release::Version;

const PREFIX: &str = "gemini-ide-server";

/// Since this release, only this user's files are read, each for itself, and one that does not fit serves to explain.
const READS_OWN: Version = Version::new(0, 57, 0);

/// A file and the process in its name.
struct Named {
    pid: u64,
    seen: Seen,
}

impl Place<'_> {
    /// The pick from `FOLDER/gemini-ide-server-PID-PORT.json`, and the one file under the process alone, which goes first.
    pub(super) fn pick_by_process(&self) -> Pick {
        let tmpdir = self.situation.environment.base(Base::TmpDir);
        let folder = tmpdir.join("gemini").join("ide");
        let mut pick = Pick::default();
        let single = self.ide_pid.map(|pid| FileName::Pid(PREFIX).of(pid, 0));
        if let Some(path) = single.map(|name| folder.join(name))
            && path.symlink_metadata().is_ok()
        {
            let seen = Seen::read(path);
            // Whatever it says is taken, without a look at its workspace.
            let verdict = self.unusable(&seen).unwrap_or(Verdict::Chosen);
            pick.push(seen, verdict);
        }
        // An older release is kept from all by one that it cannot read.
        let only = self.situation.only.filter(|_| self.reads_own());
        let found = names(&folder, only).into_iter().filter_map(|name| {
            let pid = FileName::PidPort(PREFIX).pid_in(&name)?;
            let seen = Seen::read(folder.join(&name));
            Some(Named { pid, seen })
        });
        let found = self.of_several(found.collect(), pick.is_open());
        pick.files.extend(found);
        self.not_looked_at(&mut pick);
        pick
    }

    fn reads_own(&self) -> bool {
        self.situation.release.version >= READS_OWN
    }

    /// Why it can take nothing from this file, if so.
    fn unusable(&self, seen: &Seen) -> Option<Verdict> {
        match &seen.read {
            Err(kind) => Some(Verdict::Unreadable(*kind)),
            Ok(text) if self.reads_own() && !text.is_own => Some(Verdict::OtherUser),
            Ok(text) => text.content.is_none().then_some(Verdict::Malformed),
        }
    }

    fn of_several(&self, mut found: Vec<Named>, is_open: bool) -> Vec<Judged> {
        found.sort_by_cached_key(|named| self.rank(named));
        let is_spoiled = !self.reads_own() && found.iter().any(|named| named.seen.read.is_err());
        let first = |wanted: &dyn Fn(&Named) -> bool| {
            let mut named = found.iter();
            let by_port = named.position(|it| wanted(it) && self.is_named(it));
            by_port.or_else(|| found.iter().position(wanted))
        };
        let is_usable = |named: &Named| self.unusable(&named.seen).is_none() && !is_spoiled;
        let fits = |named: &Named| is_usable(named) && self.fit(named) == Some(Fit::Inside);
        let chosen = first(&fits).filter(|_| is_open);
        let explaining = first(&is_usable);
        let explaining = explaining.filter(|_| is_open && chosen.is_none() && self.reads_own());
        let verdict = |at: usize, named: &Named| match self.unusable(&named.seen) {
            Some(verdict @ Verdict::Unreadable(_)) => verdict,
            _ if is_spoiled => Verdict::Spoiled,
            Some(verdict) => verdict,
            None if chosen == Some(at) => Verdict::Chosen,
            None if explaining == Some(at) => Verdict::ChosenToExplain,
            None => match self.fit(named) {
                Some(Fit::Inside) => {
                    let preference = chosen.map(|chosen| {
                        let is_by_port = found[..chosen].iter().any(fits);
                        self.preference(&found[chosen], named, is_by_port)
                    });
                    Verdict::SecondChoice(preference.unwrap_or(Preference::FirstPlace))
                }
                Some(Fit::Outside(_)) => Verdict::OtherWorkspace,
                Some(Fit::Empty) | None => Verdict::NoWorkspace,
            },
        };
        let verdicts = found.iter().enumerate();
        let verdicts: Vec<_> = verdicts.map(|(at, named)| verdict(at, named)).collect();
        let judged = found.into_iter().zip(verdicts);
        judged
            .map(|(Named { seen, .. }, verdict)| Judged { seen, verdict })
            .collect()
    }

    fn fit(&self, named: &Named) -> Option<Fit> {
        let content = named.seen.content()?;
        Some(self.matcher.fit(&content.workspace_path))
    }

    /// Returns true if the port variable names it.
    fn is_named(&self, named: &Named) -> bool {
        let port = named.seen.content().map(|content| content.port);
        self.port_variable.is_some() && port == self.port_variable
    }

    fn preference(&self, chosen: &Named, other: &Named, is_by_port: bool) -> Preference {
        if is_by_port {
            let variable = self.situation.release.agent.port_variable();
            return Preference::PortVariable(variable.unwrap_or_default());
        }
        let (first, second) = (self.rank(chosen), self.rank(other));
        if first == second {
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
    fn rank(&self, named: &Named) -> (bool, bool, Reverse<u64>) {
        let small = u32::try_from(named.pid).ok();
        // A zombie answers, and on Windows all count as living.
        let lives = cfg!(windows) || small.is_some_and(|pid| ask(pid) != Answer::Nobody);
        let is_own = small.is_some() && small == self.ide_pid;
        (!is_own, !lives, Reverse(named.pid))
    }
}
