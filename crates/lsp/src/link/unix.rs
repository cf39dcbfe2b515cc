//! The socket in the folder of a process's proposals, and the threads of each connection.

use std::io::BufReader;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use crossbeam_channel::{Receiver, Sender, bounded};
use lsp_server::Message;
use pillion_discovery::private_file::{Folder, Listener};
use pillion_system::spawn;

use super::{End, Event, Input};
use crate::framing::{self, Frame};
use crate::proposal_path::{Owner, PROPOSALS};

/// The socket's name, in the folder of a process's proposals.
const SOCKET: &str = "relay";

/// Nobody has more editors open on one editor's proposals.
const MAX_PEERS: usize = 64;

/// More messages than this wait only for a process that hangs.
const MAX_UNREAD: usize = 256;

/// How long one that connects may take to identify itself.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a process that reads nothing is waited for.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long is waited after a connection could not be accepted: the system may be out of descriptors.
const ACCEPT_RETRY: Duration = Duration::from_millis(500);

pub fn dial(number: u32, owner: Owner, inputs: Sender<Input>) {
    let end = End::Owner(number);
    let failed = inputs.clone();
    let run = move || serve(end, connect(&owner), None, &inputs);
    if let Err(error) = spawn("relay", run) {
        // On the loop's own thread, which has to go on: there is room for the few that can fail.
        let event = Event::Closed(error.to_string());
        let _ = failed.try_send(Input { end, event });
    }
}

fn connect(owner: &Owner) -> anyhow::Result<UnixStream> {
    let pid = owner.pid.to_string();
    let parts = [owner.part.as_str(), PROPOSALS, &pid];
    let folder = Folder::open(&owner.base, &parts)?;
    Ok(folder.context("its folder is gone")?.connect(SOCKET)?)
}

pub fn listen(folder: &Folder, inputs: Sender<Input>) -> anyhow::Result<()> {
    let listener = folder.listen(SOCKET)?;
    spawn("relays", move || accept(&listener, &inputs))?;
    Ok(())
}

fn accept(listener: &Listener, inputs: &Sender<Input>) {
    let connected = Arc::new(());
    let mut number = 0;
    loop {
        let Ok(stream) = listener.accept() else {
            thread::sleep(ACCEPT_RETRY);
            continue;
        };
        if Arc::strong_count(&connected) > MAX_PEERS {
            tracing::warn!("too many other editors show proposals of this one");
            continue;
        }
        number += 1;
        let (end, inputs, connected) = (End::Peer(number), inputs.clone(), Arc::clone(&connected));
        let run = move || {
            serve(end, Ok(stream), Some(HELLO_TIMEOUT), &inputs);
            drop(connected);
        };
        if let Err(error) = spawn("peer", run) {
            tracing::warn!(%error, "cannot start a thread");
        }
    }
}

/// Reads until the connection is over, and reports why. The first message has to come within `hello`.
fn serve(
    end: End,
    stream: anyhow::Result<UnixStream>,
    hello: Option<Duration>,
    inputs: &Sender<Input>,
) {
    let read = stream.and_then(|stream| read(end, stream, hello, inputs));
    if let Err(why) = read {
        let event = Event::Closed(why.to_string());
        let _ = inputs.send(Input { end, event });
    }
}

fn read(
    end: End,
    stream: UnixStream,
    hello: Option<Duration>,
    inputs: &Sender<Input>,
) -> anyhow::Result<()> {
    stream.set_read_timeout(hello)?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
    let (output, messages) = bounded(MAX_UNREAD);
    let writing = stream.try_clone()?;
    spawn("relay-writer", move || write(&writing, &messages))?;
    let tell = |event| inputs.send(Input { end, event });
    tell(Event::Opened(output))?;
    let timeouts = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    while let Some(frame) = framing::read(&mut input)? {
        if let Frame::Message(message, _) = frame {
            tell(Event::Message(message))?;
            timeouts.set_read_timeout(None)?;
        }
    }
    bail!("it has ended")
}

/// Writes what is sent until the sender is dropped, and ends the connection with it.
fn write(stream: &UnixStream, messages: &Receiver<Message>) {
    if let Err(error) = framing::write_all(stream, messages) {
        tracing::info!(%error, "the other end of a relay stopped reading");
    }
    let _ = stream.shutdown(Shutdown::Both);
}
