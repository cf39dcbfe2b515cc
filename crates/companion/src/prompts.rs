//! Looks for the prompts of an agent that never says that it has sent one, in the record that it keeps of its session: what was shown to
//! it in place of the selection has gone with one of them. Nobody looks while nothing is shown to it.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use crossbeam_channel::{Sender, after, bounded, never, select};
use pillion_changes::FolderWatch;
use pillion_discovery::Environment;
use pillion_discovery::new_lines::NewLines;

use crate::agents::AgentProtocol;

/// The pause between looks where the system does not tell that something happens in a folder.
const PAUSE: Duration = Duration::from_millis(500);

/// A look-out, as long as this is there.
#[derive(Debug)]
pub(crate) struct Prompts {
    _end: Sender<Infallible>,
}

impl Prompts {
    /// Looks what this process of an agent sends. `tell` gets the selections of its prompts, and at first
    /// none: nothing that it sends after that is missed.
    ///
    /// # Errors
    /// When there is no thread.
    pub(crate) fn watch(
        agent: &'static dyn AgentProtocol,
        environment: Environment,
        process: u32,
        tell: impl Fn(Vec<String>) + Send + 'static,
    ) -> io::Result<Self> {
        let (end, ended) = bounded::<Infallible>(0);
        pillion_system::spawn("prompts", move || {
            let record = agent.record(&environment, process);
            let lines = record.as_deref().map(NewLines::after_now);
            tell(Vec::new());
            let Some((mut path, mut lines)) = record.zip(lines) else {
                return;
            };
            let (stir, stirred) = bounded(1);
            let mut watch = FolderWatch::start(move || _ = stir.try_send(())).ok();
            loop {
                let folder = path.parent();
                let is_told = watch.as_mut().zip(folder).is_some_and(|(watch, folder)| {
                    let watched = watch.set([folder], &[folder.to_owned()]);
                    watch.tell_again() && watched.is_whole()
                });
                let new = lines.read(&path);
                let sent: Vec<_> = new.iter().filter_map(|it| agent.selected(it)).collect();
                if !sent.is_empty() {
                    tell(sent);
                }
                let pause = if is_told { never() } else { after(PAUSE) };
                select! {
                    recv(ended) -> _ => return,
                    recv(stirred) -> _ => {}
                    recv(pause) -> _ => {}
                }
                // The person may have begun another session.
                let open = agent.record(&environment, process);
                if let Some(open) = open.filter(|it| *it != path) {
                    (path, lines) = (open, NewLines::of_all());
                }
            }
        })?;
        Ok(Self { _end: end })
    }
}
