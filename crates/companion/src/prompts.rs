//! Looks for the prompts of an agent that never says that it has sent one, in the record that it keeps of its session: what was shown to
//! it in place of the selection has gone with one of them. Nobody looks while nothing is shown to it.

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Sender, after, bounded, never, select};
use pillion_changes::FolderWatch;
use pillion_discovery::new_lines::NewLines;
use pillion_protocol::record::Recorded;
use pillion_system::peer;

use crate::agents::AgentProtocol;
use crate::wire::Wire;

/// The pause between looks where the system does not tell that something happens in a folder.
const PAUSE: Duration = Duration::from_millis(500);

/// A look-out, as long as this is there.
#[derive(Debug)]
pub(crate) struct Prompts {
    _end: Sender<Infallible>,
}

impl Prompts {
    /// Looks what the process of an agent at the other end sends, of which the records are below `folder`. `tell` gets what they tell, and at first
    /// nothing: only what is sent after it has returned is looked at, and none of that is missed.
    ///
    /// # Errors
    /// When there is no thread.
    pub(crate) fn watch(
        agent: &'static dyn AgentProtocol,
        folder: PathBuf,
        wire: Arc<Wire>,
        tell: impl Fn(Vec<Recorded>) + Send + 'static,
    ) -> io::Result<Self> {
        let (end, ended) = bounded::<Infallible>(0);
        pillion_system::spawn("prompts", move || {
            tell(Vec::new());
            let connected = wire.connection().map(|it| peer::holders(it, None));
            let mut processes = wire
                .process()
                .into_iter()
                .chain(connected.into_iter().flatten());
            let record = |process: u32| Some((process, agent.record(&folder, process)?));
            let Some((process, mut path)) = processes.find_map(record) else {
                return;
            };
            let mut lines = NewLines::after_now(&path);
            let (stir, stirred) = bounded(1);
            let mut watch = FolderWatch::start(move || _ = stir.try_send(())).ok();
            loop {
                let around = path.parent();
                let is_told = watch.as_mut().zip(around).is_some_and(|(watch, around)| {
                    let watched = watch.set([around], &[around.to_owned()]);
                    watch.tell_again() && watched.is_whole()
                });
                let new = lines.read(&path);
                let sent: Vec<_> = new.iter().filter_map(|it| agent.recorded(it)).collect();
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
                let open = agent.record(&folder, process);
                if let Some(open) = open.filter(|it| *it != path) {
                    (path, lines) = (open, NewLines::of_all());
                }
            }
        })?;
        Ok(Self { _end: end })
    }
}
