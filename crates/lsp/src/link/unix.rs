//! The socket in the folder of a process's proposals, and the threads of each connection.

use std::io::{BufReader, BufWriter};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use lsp_server::Message;
use pillion_discovery::private_file::Folder;
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

fn connect(owner: &Owner) -> Result<UnixStream, String> {
    let pid = owner.pid.to_string();
    let parts = [owner.part.as_str(), PROPOSALS, &pid];
    let folder = Folder::open(&owner.base, &parts).map_err(|error| error.to_string())?;
    let folder = folder.ok_or_else(|| "its folder is gone".to_owned())?;
    folder.connect(SOCKET).map_err(|error| error.to_string())
}

pub fn listen(folder: &Folder, inputs: Sender<Input>) -> Result<(), String> {
    let listener = folder.listen(SOCKET).map_err(|error| error.to_string())?;
    let thread = spawn("relays", move || accept(&listener, &inputs));
    thread.map_err(|error| error.to_string())
}

fn accept(listener: &UnixListener, inputs: &Sender<Input>) {
    let connected = Arc::new(());
    let mut number = 0;
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
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
    stream: Result<UnixStream, String>,
    hello: Option<Duration>,
    inputs: &Sender<Input>,
) {
    let read = stream.and_then(|stream| read(end, stream, hello, inputs));
    if let Err(why) = read {
        let event = Event::Closed(why);
        let _ = inputs.send(Input { end, event });
    }
}

fn read(
    end: End,
    stream: UnixStream,
    hello: Option<Duration>,
    inputs: &Sender<Input>,
) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    stream.set_read_timeout(hello).map_err(failed)?;
    stream
        .set_write_timeout(Some(WRITE_TIMEOUT))
        .map_err(failed)?;
    let (output, messages) = bounded(MAX_UNREAD);
    let writing = stream.try_clone().map_err(failed)?;
    spawn("relay-writer", move || write(writing, &messages)).map_err(failed)?;
    let tell = |event| inputs.send(Input { end, event }).is_ok();
    if !tell(Event::Opened(output)) {
        return Ok(());
    }
    let timeouts = stream.try_clone().map_err(failed)?;
    let mut input = BufReader::new(stream);
    loop {
        match framing::read(&mut input) {
            Ok(Some(Frame::Message(message, _))) => {
                if !tell(Event::Message(message)) {
                    return Ok(());
                }
                timeouts.set_read_timeout(None).map_err(failed)?;
            }
            Ok(Some(Frame::Other)) => {}
            Ok(None) => return Err("it has ended".to_owned()),
            Err(error) => return Err(error.to_string()),
        }
    }
}

/// Writes what is sent until the sender is dropped, and ends the connection with it.
fn write(stream: UnixStream, messages: &Receiver<Message>) {
    let mut output = BufWriter::new(&stream);
    for message in messages {
        if let Err(error) = framing::write(&mut output, &message) {
            tracing::info!(%error, "the other end of a relay stopped reading");
            break;
        }
    }
    drop(output);
    let _ = stream.shutdown(Shutdown::Both);
}
