//! Agents that run no hooks of ours. Nobody tells what they do, so what changes while one is connected, and is no other
//! agent's call and no person's save, is put down to it as unclear. A turn begins with the first change that is found, and
//! ends when the agent begins another one, or when nothing has changed for a while.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_system::clock;

use super::session::{Attended, Session};
use super::{Extent, Recorder};
use crate::folder_watch::{FolderWatch, Watched};
use crate::store::StoreError;
use crate::table::{Difference, Table};
use crate::turn::Turn;

/// Is called when something may have changed.
pub(super) type Stirred = Arc<dyn Fn() + Send + Sync>;

/// Tells from which texts on a person has seen what is in a file now, before it was written, by their fingerprints; none if they have not.
pub(super) type SeenFrom = Arc<dyn Fn(&Path) -> Vec<String> + Send + Sync>;

/// So long after a glance has found a change, an editor may still say that its person has saved it.
const LATE: Duration = Duration::from_secs(5);

/// Of more changes at once, none is a person's save that is heard of late.
const MAX_SAVES: usize = 64;

/// The findings of a glance at the folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Glance {
    /// The time that it took.
    pub took: Duration,
    /// True if the system tells when something in the folders changes.
    pub is_watched: bool,
    /// The sessions of agents without hooks in whose turns something has changed since the last glance.
    pub sessions: Vec<u64>,
    /// True if one of the files that had changed was not among those of the glance before.
    pub is_news: bool,
}

impl Recorder {
    /// `stirred` is called when something in the folders may have changed, while agents are there: once, until the next look.
    pub fn on_stir(&mut self, stirred: impl Fn() + Send + Sync + 'static) {
        self.stirred = Some(Arc::new(stirred));
        self.watch = None;
    }

    /// `seen_from` tells from which texts on a person has seen what is in a file now, whoever has looked at it: it is asked of what changes
    /// without a call, or until the agent goes.
    pub fn on_accepted(
        &mut self,
        seen_from: impl Fn(&Path) -> Vec<String> + Send + Sync + 'static,
    ) {
        self.seen_from = Arc::new(seen_from);
    }

    /// An agent is there that runs no hooks of ours: what changes from now on may be its work.
    pub fn attend(&mut self, session: u64, agent: &str) -> Result<Glance, StoreError> {
        let is_here = self.sessions.contains_key(&session);
        let glance = self.glance_at(Extent::All)?;
        if is_here {
            return Ok(glance);
        }
        let heard = self.heard();
        self.sessions.insert(
            session,
            Session {
                attended: Some(Attended {
                    agent: agent.to_owned(),
                    fresh: Vec::new(),
                    turns: Vec::new(),
                    begun: 0,
                }),
                heard,
                ..Session::default()
            },
        );
        self.watch_folders();
        Ok(Glance {
            is_watched: self.watched.is_all,
            ..glance
        })
    }

    /// An agent without hooks begins a turn, and does not wait for this.
    pub fn attended_begins(&mut self, session: u64) -> Result<Glance, StoreError> {
        let glance = self.glance_at(Extent::All)?;
        if self.is_attended(session) {
            self.close(session);
            self.attended_is_heard(session);
        }
        let session = self.sessions.get_mut(&session);
        if let Some(attended) = session.and_then(|it| it.attended.as_mut()) {
            attended.begun += 1;
        }
        self.save()?;
        Ok(glance)
    }

    /// The hooks of an agent tell for the first time that a turn begins, so that it had none before: what has changed until
    /// now is not its work. The judgements of a person stay.
    pub fn attended_had_no_turn(&mut self, session: u64) -> Result<(), StoreError> {
        if !self.is_attended(session) {
            return Ok(());
        }
        self.look(Extent::All);
        self.close(session);
        let forgotten = self.forget_attended(session);
        self.sessions.remove(&session);
        self.watch_while_used();
        self.save().and(forgotten)
    }

    /// Forgets the turns of an agent that has told the beginning of no other turn than this one.
    pub(super) fn forget_attended(&mut self, session: u64) -> Result<(), StoreError> {
        let former = self.sessions.get_mut(&session);
        let attended = former.and_then(|it| it.attended.as_mut());
        // The same turn may have been told in another way before.
        let Some(attended) = attended.filter(|it| it.begun <= 1) else {
            return Ok(());
        };
        let mut turns = std::mem::take(&mut attended.turns);
        // What cannot be read may be a person's.
        let may_be_judged =
            |it: &u64| { self.store.judged(*it) }.map_or(true, |it| it.all().next().is_some());
        turns.retain(|it| !may_be_judged(it));
        let is_its =
            |it: &Turn| it.session == session && (it.number == 0 || turns.contains(&it.number));
        self.unwritten
            .retain(|(it, _)| !it.turn.as_ref().is_some_and(is_its));
        for number in turns {
            if self.store.numbers()?.contains(&number) {
                self.store.forget(number)?;
            }
        }
        Ok(())
    }

    /// An agent without hooks has done something: of several, what changes now is its work sooner than the others'.
    pub fn attended_is_heard(&mut self, session: u64) {
        let heard = self.heard();
        let session = self.sessions.get_mut(&session);
        if let Some(session) = session.filter(|it| it.attended.is_some()) {
            session.heard = heard;
        }
    }

    /// Nothing has changed for a while: the turn of an agent without hooks is over.
    pub fn attended_is_quiet(&mut self, session: u64) -> Result<Glance, StoreError> {
        let glance = self.glance_at(Extent::All)?;
        // If something has changed just now, it goes on.
        if self.is_attended(session) && !glance.sessions.contains(&session) {
            self.close(session);
            self.save()?;
        }
        Ok(glance)
    }

    /// Looks at everything for agents without hooks, in the middle of a turn.
    pub fn glance(&mut self) -> Result<Glance, StoreError> {
        self.glance_at(Extent::Told)
    }

    /// The files that have changed, in the middle of a turn: an editor may still say that its person has saved one.
    pub(super) fn unsaved_differences(&mut self, extent: Extent) -> Vec<Difference> {
        let found = self.differences(extent);
        if found.len() <= MAX_SAVES {
            for difference in &found {
                self.may_be_saved(difference, LATE);
            }
        }
        found
    }

    fn glance_at(&mut self, extent: Extent) -> Result<Glance, StoreError> {
        let (began, now) = (Instant::now(), clock::now_ms());
        let found = self.unsaved_differences(extent);
        let files: HashSet<PathBuf> = found.iter().map(|it| it.path.clone()).collect();
        let has_found = !found.is_empty();
        let has_found = self.found_all(found, now) || has_found;
        let numbers: Vec<u64> = self.sessions.keys().copied().collect();
        let has_fresh = |it: &u64| self.accept_found(*it, &[]);
        let sessions: Vec<u64> = numbers.into_iter().filter(has_fresh).collect();
        let is_news = !files.is_subset(&self.glanced);
        self.glanced = files;
        if has_found || !sessions.is_empty() {
            // What fails is told as a problem, and the glance goes on.
            let _ = self.save();
        }
        Ok(Glance {
            took: began.elapsed(),
            is_watched: self.watched.is_all,
            sessions,
            is_news,
        })
    }

    /// Looks at everything for sessions that are over.
    pub(super) fn look_at_end(&mut self, sessions: &[u64]) {
        let changed = self.look(Extent::All);
        for session in sessions {
            self.accept_found(*session, &changed);
        }
    }

    /// Of these files, and of what was found for an agent without hooks since this was asked last, a person may have accepted what
    /// stands there. Returns true if there was something of the latter.
    pub(super) fn accept_found(&mut self, number: u64, files: &[PathBuf]) -> bool {
        let session = self.sessions.get_mut(&number);
        let attended = session.and_then(|it| it.attended.as_mut());
        let fresh = attended.map_or_else(Vec::new, |it| std::mem::take(&mut it.fresh));
        let seen_from = Arc::clone(&self.seen_from);
        for path in fresh.iter().chain(files) {
            self.accept(number, path, &*seen_from);
        }
        !fresh.is_empty()
    }

    /// Returns true if this is the session of an agent without hooks.
    pub(super) fn is_attended(&self, session: u64) -> bool {
        let session = self.sessions.get(&session);
        session.is_some_and(|it| it.attended.is_some())
    }

    /// Returns true if something has changed that an agent without hooks may be at work on.
    pub(super) fn attended_at_work(&self) -> bool {
        let mut sessions = self.sessions.values();
        sessions.any(|it| it.attended.is_some() && it.turn.is_some())
    }

    /// Begins a turn of an agent without hooks, unless one goes on.
    pub(super) fn begins_attended(&mut self, number: u64) {
        let Some(session) = self.sessions.get(&number) else {
            return;
        };
        let agent = session.attended.as_ref().map(|it| it.agent.clone());
        let Some(agent) = agent.filter(|_| session.turn.is_none()) else {
            return;
        };
        let turn = self.new_turn(&agent, "", number, true);
        if let Some(session) = self.sessions.get_mut(&number) {
            session.turn = Some(turn);
            // Else it is tried again with its changes.
            let _ = session.write(&self.store);
        }
    }

    /// Watches nothing once no agent is left.
    pub(super) fn watch_while_used(&mut self) {
        if self.sessions.is_empty() {
            self.watch = None;
            self.watched = Watched::default();
        }
    }

    /// Has the system tell what happens in the folders as they were looked through last, if agents are there.
    pub(super) fn watch_folders(&mut self) {
        self.watched = Watched::default();
        if self.sessions.is_empty() {
            return;
        }
        let stirred = self.stirred.clone().unwrap_or_else(|| Arc::new(|| {}));
        if self.watch.is_none() {
            let tell = Arc::clone(&stirred);
            self.watch = FolderWatch::start(move || tell())
                .inspect_err(|error| tracing::debug!(%error, "folders are not watched"))
                .ok();
        }
        let Some(watch) = &mut self.watch else {
            return;
        };
        let folders: Vec<PathBuf> = { self.tables.iter() }
            .flat_map(|table| table.folders().cloned())
            .collect();
        self.watched = watch.set(self.tables.iter().map(Table::root), &folders);
        if self.watched.has_new {
            stirred();
        }
    }
}

/// Returns true if an editor writes files of this name for itself, or if it is a log: what comes and goes there is no agent's
/// change that anybody wants to look at.
pub(super) fn is_an_editors_own(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let endings = ["~", ".swp", ".swo", ".swx", ".log"];
    // Vim tries with it whether it can write in a folder.
    name == "4913" || endings.iter().any(|ending| name.ends_with(ending))
}

/// Returns true if an editor has a file of this name beside each that it edits: a swap file of Vim's, a lock or an automatic
/// save of Emacs's. It is no agent's change, also if a call was running when it came.
pub(super) fn is_swap_or_lock(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // From `.swp` on, the letters count down, but a Flash file is no swap file. `.swx` is Vim's, too: it tries with it what
    // names the folder allows.
    let swap = name.strip_prefix('.').and_then(|it| it.rsplit_once(".s"));
    let is_swap = swap.is_some_and(|(name, ending)| {
        let is_ending = matches!(ending.as_bytes(), [b'w', b'a'..=b'p' | b'x']);
        is_ending && ending != "wf" && !name.is_empty()
    });
    let is_auto_saved = name.len() > 2 && name.starts_with('#') && name.ends_with('#');
    is_swap || is_auto_saved || name.starts_with(".#")
}
