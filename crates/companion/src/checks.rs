//! Checks files for the loop, beside it: the results come back as events. A file system that
//! hangs delays only the calls that need it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use pillion_changes::{Store, has_git_written};
use pillion_protocol::{Dialect, File, Proposer};
use pillion_view::{Compares, ProposalKey};
use tokio::time::timeout;

use crate::acceptance::Acceptance;
use crate::accepted_texts::AcceptedTexts;
use crate::agents;
use crate::disk::{CHECK_TIMEOUT, DiskThreads};
use crate::event::{Deciding, Event, Events};
use crate::proposal::Proposal;
use crate::target::Target;
use crate::tasks;
use crate::written::{Accepted, Found};

/// The most checks of one agent that may be in progress.
const MAX_CHECKS: usize = 16;

/// The most files of the context that may be checked at once. Those that hang count among them, and the
/// others are to be seen all the same.
const MAX_CONTEXT_CHECKS: usize = 64;

/// Checks a path: on disk, except in tests.
type Check = Arc<dyn Fn(&str) -> Result<Target, String> + Send + Sync>;

pub(crate) struct FileChecks {
    check: Check,
    compares: Compares,
    events: Events,
    targets: HashMap<Proposer, DiskThreads>,
    decisions: DiskThreads,
    context: DiskThreads,
    written: DiskThreads,
}

impl FileChecks {
    pub(crate) fn new(
        check: impl Fn(&str) -> Result<Target, String> + Send + Sync + 'static,
        compares: Compares,
        events: Events,
    ) -> Self {
        Self {
            check: Arc::new(check),
            compares,
            events,
            targets: HashMap::new(),
            decisions: DiskThreads::new(MAX_CHECKS),
            context: DiskThreads::new(MAX_CONTEXT_CHECKS),
            written: DiskThreads::new(MAX_CHECKS),
        }
    }

    fn threads_of(&mut self, proposer: Proposer) -> DiskThreads {
        let threads = self.targets.entry(proposer);
        let threads = threads.or_insert_with(|| DiskThreads::new(MAX_CHECKS));
        threads.clone()
    }

    /// Checks the target of a proposal, for an [`Event::TargetChecked`]. None comes of one that hangs, or
    /// that no thread is left for: callers have a deadline.
    pub(crate) fn check_target(&mut self, key: ProposalKey, proposal: &Proposal) {
        let threads = self.threads_of(proposal.proposer);
        let (check, compares, events) =
            (Arc::clone(&self.check), self.compares, self.events.clone());
        let proposal = proposal.clone();
        let check = move || {
            let Proposal {
                proposer,
                proposed,
                stand_in,
                tool,
                ..
            } = &proposal;
            let target = match proposal.written() {
                Some(shown) => Ok(Target::written(shown)),
                None => check(&proposal.file_path),
            };
            let target = target.and_then(|target| match (stand_in, proposer.itself()) {
                (Some(stand_in), _) => target.replaced(stand_in),
                (None, Some(agent)) => Ok(agents::of(agent).adapt(target, proposed, *tool)),
                (None, None) => Ok(target.noted(&proposal)),
            });
            let result = target.map(|target| match compares {
                Compares::Hunks => target.compared(proposed),
                Compares::Text | Compares::Nothing => target,
            });
            // From its thread: the agent waits, and the loop is awake one task earlier.
            let _ = events.send(Event::TargetChecked { key, result });
        };
        tasks::spawn(async move {
            threads.start(check).await;
        });
    }

    /// Reads what a hook of this agent asks about, for the event that `then` makes of it: of nothing, if the disk does not answer in
    /// time.
    pub(crate) fn read<T: Send + 'static>(
        &mut self,
        agent: Dialect,
        read: impl FnOnce() -> T + Send + 'static,
        then: impl FnOnce(Option<T>) -> Event + Send + 'static,
    ) {
        let threads = self.threads_of(agent.into());
        let events = self.events.clone();
        tasks::spawn(async move {
            let read = timeout(CHECK_TIMEOUT, threads.run(read)).await;
            let _ = events.send(then(read.ok().flatten()));
        });
    }

    /// Looks at a file that an agent was to write, for an [`Event::Looked`].
    pub(crate) fn look(&self, number: u64, accepted: Accepted) {
        let (threads, events) = (self.written.clone(), self.events.clone());
        tasks::spawn(async move {
            let look = timeout(CHECK_TIMEOUT, threads.run(move || accepted.look()));
            let found = look.await.ok().flatten().unwrap_or(Found::Unknown);
            let _ = events.send(Event::Looked { number, found });
        });
    }

    /// Looks at the file of an acceptance and weighs it, for an [`Event::Weighed`]. If the disk does not answer in time,
    /// that is what is doubted.
    pub(crate) fn weigh(&self, number: u64, deciding: Deciding, acceptance: Acceptance) {
        let (threads, events) = (self.decisions.clone(), self.events.clone());
        tasks::spawn(async move {
            let kept = acceptance.clone();
            let weighing = threads.run(move || acceptance.weigh());
            let found = timeout(CHECK_TIMEOUT, weighing).await.ok().flatten();
            let finding = found.unwrap_or_else(|| kept.weigh_blind());
            let _ = events.send(Event::Weighed(number, deciding, finding));
        });
    }

    /// Looks whether an agent wrote what was saved, or Pillion to take something back, or git, for an [`Event::SavedByPerson`] if
    /// not. None comes of a disk that hangs.
    pub(crate) fn check_saved(&self, file: File, accepted: AcceptedTexts, store: Option<Store>) {
        let (threads, events) = (self.context.clone(), self.events.clone());
        tasks::spawn(async move {
            let path = file.path.clone();
            let is_anothers = move || {
                let path = Path::new(&path);
                accepted.of(path).iter().any(|it| it.is_in(path))
                    || store.is_some_and(|it| it.has_written(path))
                    || has_git_written(path)
            };
            if threads.run(is_anothers).await == Some(false) {
                let _ = events.send(Event::SavedByPerson(file));
            }
        });
    }

    /// Checks whether a path is a file, for an [`Event::FileChecked`]. None comes of one that hangs.
    pub(crate) fn check_file(&self, path: String) {
        let (threads, events) = (self.context.clone(), self.events.clone());
        tasks::spawn(async move {
            let file = path.clone();
            let is_file = threads.run(move || Path::new(&file).is_file()).await;
            let _ = events.send(Event::FileChecked { path, is_file });
        });
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Mutex;

    use tokio::sync::mpsc;

    use super::*;
    use pillion_view::{DiffId, Original};

    fn check_target(checks: &mut FileChecks, id: u64, agent: Dialect, file_path: &str) {
        let key = ProposalKey {
            id: DiffId(id),
            revision: 1,
        };
        let proposal = Proposal::new(Arc::default(), agent.into(), file_path, "");
        checks.check_target(key, &proposal);
    }

    #[tokio::test]
    async fn an_agent_whose_file_system_hangs_holds_up_no_other_agent() {
        let (events, mut inbox) = mpsc::unbounded_channel();
        let (release, hanging) = crossbeam_channel::unbounded::<()>();
        let hanging = Mutex::new(hanging);
        let check = move |path: &str| {
            if path == "/hangs" {
                let _ = hanging.lock().unwrap().recv();
            }
            Ok(Target::new(path.into(), Original::default()))
        };
        let mut checks = FileChecks::new(check, Compares::Text, events);
        for id in 0..100 {
            check_target(&mut checks, id, Dialect::GeminiCli, "/hangs");
        }
        check_target(&mut checks, 100, Dialect::QwenCode, "/fine");
        let Some(Event::TargetChecked { key, result }) = inbox.recv().await else {
            panic!("no check ended");
        };
        assert_eq!(
            (key.id, result.unwrap().path),
            (DiffId(100), PathBuf::from("/fine"))
        );
        drop(release);
    }
}
