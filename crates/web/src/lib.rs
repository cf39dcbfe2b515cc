//! The review as a page in a browser: a view like the others, which serves HTTP on loopback to the person's own browser.
//!
//! [`channel`] gives the two ends: a [`Front`] for the companion, and a [`Web`] that runs. The state of all tabs is one value
//! (`page`, `acts`, `written`); around it are the door (`door`, `server`, `routes`), what finds the page that runs already (`single`) and what
//! opens a browser (`browser`).

mod acts;
mod assets;
mod browser;
mod colours;
mod door;
mod page;
mod routes;
mod rows;
mod server;
mod single;
pub mod wire;
mod written;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, SendError, Sender};
use pillion_discovery::Environment;
use pillion_judge::listed::SentWords;
use pillion_judge::{Compared, source};
use pillion_text::stderr;
use pillion_view::changes::{ActDone, ChangesList};
use pillion_view::{Editor, EditorEvent, Handle};
use tokio::sync::mpsc::UnboundedSender;

use browser::Browsers;
pub use browser::tunnel;
pub use single::{Asked, ask};

/// The time from a signal until the page has ended.
const ENDING: Duration = Duration::from_secs(1);

/// Everything that reaches the page's loop from other threads.
enum Input {
    Companion(Box<EditorEvent>),
    /// A tab asks.
    Call(String, Box<routes::Call>, server::Respond),
    /// A tab is open, and is told events from now on; with its name before it was loaded again.
    Tab(String, Option<String>, UnboundedSender<server::Told>),
    TabGone(String, UnboundedSender<server::Told>),
    Compared(Box<Compared>),
    Source(source::Answer),
    /// The gate has ruled.
    Ruled(Box<acts::Decided>),
    /// The list of what was written is there.
    Listed(Box<ChangesList>, server::Respond),
    /// What came of an act on what was written, and the words that went with it.
    Acted(SentWords, ActDone, server::Respond),
    /// The place where a text is kept, or that it is lost.
    Kept(String),
    Interrupt,
    Stop,
}

/// The page as the companion and signals reach it. Never blocks.
#[derive(Clone)]
pub struct Front {
    inputs: Sender<Input>,
}

impl Front {
    /// Whoever started the page has ended.
    pub fn leave(&self) {
        let _ = self.inputs.send(Input::Stop);
    }
}

impl Editor for Front {
    fn event(&mut self, event: EditorEvent) {
        let sent = self.inputs.send(Input::Companion(Box::new(event)));
        if let Err(SendError(Input::Companion(event))) = sent
            && let EditorEvent::Lost(lost) = *event
        {
            stderr::print(lost);
        }
    }

    /// As `q` in the review, it may ask first.
    fn interrupted(&mut self) -> bool {
        let _ = self.inputs.send(Input::Interrupt);
        false
    }

    fn ending(&mut self) -> Duration {
        let _ = self.inputs.send(Input::Stop);
        ENDING
    }
}

/// How a page runs.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The workspace folders, absolute, links followed.
    pub roots: Vec<PathBuf>,
    /// True if it is opened in a browser.
    pub opens: bool,
    /// True if it ends some time after its last tab.
    pub ends_unseen: bool,
}

/// A page that is yet to run.
pub struct Web {
    inputs: Receiver<Input>,
    sender: Sender<Input>,
}

/// The two ends of a page.
pub fn channel() -> (Front, Web) {
    let (sender, inputs) = crossbeam_channel::unbounded();
    let front = Front {
        inputs: sender.clone(),
    };
    (front, Web { inputs, sender })
}

impl Web {
    /// Serves the page until the person leaves or the companion stops. `ready` gets its address, once it is served.
    ///
    /// # Errors
    /// When the system has no port, no thread or no random numbers.
    pub fn run(
        self,
        companion: Handle,
        settings: Settings,
        ready: impl FnOnce(&str),
    ) -> io::Result<()> {
        let environment = Environment::current();
        let roots = settings.roots.clone();
        let place = single::Place::of(&environment, &roots)?;
        let listener = server::bind(place.former_port())?;
        let port = listener.local_addr()?.port();
        place.note_port(port);
        let door = Arc::new(door::Door::new(port)?);
        let (to_door, to_page) = (Arc::clone(&door), self.sender.clone());
        server::start(listener, to_door, companion.clone(), to_page)?;
        let browsers = Arc::new(Browsers::new(environment));
        let others = Arc::clone(&browsers);
        let _place = place.listen(Arc::clone(&door), companion.clone(), others)?;
        ready(&door.address()?);
        let opens = settings.opens;
        let mut page = page::Page::new(settings, companion, self.sender)?;
        if opens {
            browsers.open(&door.address()?);
        }
        page.run(&self.inputs);
        browsers.end();
        Ok(())
    }
}
