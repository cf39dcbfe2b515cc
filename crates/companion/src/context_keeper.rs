//! Answers at sockets the question what an editor shows, for a companion that is alone in its process. A hub does so for
//! all of its own.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crossbeam_channel::{Sender, TryRecvError};
use pillion_discovery::Environment;
use pillion_system::spawn;

use crate::agents::context_sockets::{Companions, INTERVAL, Place, Sockets, Told};
use crate::commands::Commands;

/// Serves a companion that is alone in its process, until it is dropped.
pub(crate) struct Keeper {
    sockets: Arc<Sockets>,
    /// Nothing is sent: that it is gone wakes the thread.
    over: Option<Sender<()>>,
}

impl Keeper {
    pub(crate) fn start(environment: &Environment, commands: Commands) -> io::Result<Self> {
        let (over, is_over) = crossbeam_channel::bounded(0);
        let keeper = Self {
            sockets: Arc::default(),
            over: Some(over),
        };
        let (sockets, own) = (Arc::clone(&keeper.sockets), Place::of(environment));
        let commands = Arc::new(commands);
        spawn("context sockets", move || {
            let has_ended = || is_over.try_recv() == Err(TryRecvError::Disconnected);
            let places = || [vec![own.clone()], commands.context_places()].concat();
            while sockets.serve(&places(), &commands, has_ended) {
                let _ = is_over.recv_timeout(INTERVAL);
            }
        })?;
        Ok(keeper)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.over = None;
        Arc::clone(&self.sockets).end();
    }
}

impl Companions for Commands {
    fn ask(&self, folder: &Path) -> Vec<Told> {
        vec![self.ask_context(folder)]
    }
}
