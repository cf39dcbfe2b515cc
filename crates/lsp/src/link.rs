//! Connections between two `pillion lsp` of one user, over a socket beside the proposals: the same
//! messages as over an editor's pipes. One thread reads and one writes, and neither holds up the loop.
//! Only on systems with such sockets; elsewhere nothing listens, and no connection is made.

#[cfg(unix)]
mod unix;

use crossbeam_channel::Sender;
use lsp_server::Message;
use pillion_discovery::private_file::Folder;

use crate::proposal_path::Owner;

/// The other end of a connection, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// Who shows a proposal that our editor has opened.
    Owner(u32),
    /// Who relays for an editor that has opened a proposal of ours.
    Peer(u32),
}

/// What happened to a connection.
#[derive(Debug)]
pub enum Event {
    /// It is there. What is sent here is written; nothing is, once it is dropped.
    Opened(Sender<Message>),
    /// It came over it.
    Message(Message),
    /// It is over, or never was: why.
    Closed(String),
}

/// One of them, for the loop.
#[derive(Debug)]
pub struct Input {
    pub end: End,
    pub event: Event,
}

/// Connects to the process that shows the proposals in this folder, on a thread: it may wait.
pub fn dial(number: u32, owner: Owner, inputs: Sender<Input>) {
    #[cfg(unix)]
    unix::dial(number, owner, inputs);
    #[cfg(not(unix))]
    {
        let (end, _) = (End::Owner(number), owner);
        let event = Event::Closed("this system has no sockets for that".to_owned());
        // A thread, because the loop would wait for itself.
        std::thread::spawn(move || drop(inputs.send(Input { end, event })));
    }
}

/// Lets others of this user connect, from now to the end of the process.
///
/// # Errors
/// Why not.
pub fn listen(folder: &Folder, inputs: Sender<Input>) -> anyhow::Result<()> {
    #[cfg(unix)]
    return unix::listen(folder, inputs);
    #[cfg(not(unix))]
    {
        drop((folder, inputs));
        Ok(())
    }
}
