//! Looks at the targets of proposals beside the loop: a file system that hangs holds up the calls
//! that are about it, and nobody else.

use std::collections::HashMap;
use std::sync::Arc;

use pillion_protocol::Dialect;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::editor::DiffId;
use crate::event::{Event, Events};
use crate::target::{LOOK_TIMEOUT, Target};

/// How many looks of one agent may be under way. One that hangs keeps its thread for good; the
/// threads of other agents are none of its business.
const MAX_LOOKS: usize = 16;

/// Looks at a path: on disk, unless a test says otherwise.
type Look = Arc<dyn Fn(&str) -> Result<Target, String> + Send + Sync>;

/// What is looked at for which proposal.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) id: DiffId,
    pub(crate) revision: u32,
    pub(crate) agent: Dialect,
    pub(crate) file_path: String,
}

pub(crate) struct Looks {
    look: Look,
    events: Events,
    slots: HashMap<Dialect, Arc<Semaphore>>,
}

impl Looks {
    pub(crate) fn new(
        look: impl Fn(&str) -> Result<Target, String> + Send + Sync + 'static,
        events: Events,
    ) -> Self {
        Self {
            look: Arc::new(look),
            events,
            slots: HashMap::new(),
        }
    }

    /// Starts a look, whose result comes as [`Event::Looked`]. None comes from one that hangs, or
    /// that no thread is left for: whoever waits has a deadline.
    pub(crate) fn start(&mut self, wanted: Wanted) {
        let slots = self.slots.entry(wanted.agent);
        let slots = Arc::clone(slots.or_insert_with(|| Arc::new(Semaphore::new(MAX_LOOKS))));
        let (look, events) = (Arc::clone(&self.look), self.events.clone());
        tokio::spawn(async move {
            let Ok(Ok(slot)) = timeout(LOOK_TIMEOUT, slots.acquire_owned()).await else {
                return;
            };
            // Its end is not awaited: dropping the handle leaves it running.
            drop(tokio::task::spawn_blocking(move || {
                let result = look(&wanted.file_path);
                drop(slot);
                let Wanted { id, revision, .. } = wanted;
                let _ = events.send(Event::Looked {
                    id,
                    revision,
                    result,
                });
            }));
        });
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Mutex;
    use std::sync::mpsc as std_mpsc;

    use tokio::sync::mpsc;

    use super::*;
    use crate::original::Original;

    fn wanted(id: u64, agent: Dialect, file_path: &str) -> Wanted {
        Wanted {
            id: DiffId(id),
            revision: 1,
            agent,
            file_path: file_path.into(),
        }
    }

    #[tokio::test]
    async fn an_agent_whose_file_system_hangs_holds_up_no_other_agent() {
        let (events, mut inbox) = mpsc::unbounded_channel();
        let (release, hanging) = std_mpsc::channel::<()>();
        let hanging = Mutex::new(hanging);
        let look = move |path: &str| {
            if path == "/hangs" {
                let _ = hanging.lock().unwrap().recv();
            }
            Ok(Target {
                path: PathBuf::from(path),
                original: Original::default(),
                stamp: None,
            })
        };
        let mut looks = Looks::new(look, events);
        for id in 0..100 {
            looks.start(wanted(id, Dialect::GeminiCli, "/hangs"));
        }
        looks.start(wanted(100, Dialect::QwenCode, "/fine"));
        let Some(Event::Looked { id, result, .. }) = inbox.recv().await else {
            panic!("no look ended");
        };
        assert_eq!(
            (id, result.unwrap().path),
            (DiffId(100), PathBuf::from("/fine"))
        );
        drop(release);
    }
}
