//! Standard input and output, or a socket: one thread reads, one writes, and neither holds up the loop.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Context;
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use lsp_server::Message;
use pillion_discovery::private_file::{Folder, Listener, Stream};
use pillion_system::stdio::PipeGuard;
use pillion_system::{peer, process, signals, spawn};

use crate::Error;
use crate::framing::{self, Frame, Malformed};

/// The time limit for an editor that kills this program, is gone or reads no more to have its last words read.
pub const LAST_WORDS: Duration = Duration::from_secs(2);

/// The time limit for the last messages to reach the editor.
const SHUTDOWN_GRACE: Duration = Duration::from_millis(300);

/// Something has taken all that the system has for noticing it.
const UNGUARDED: &str = "nothing that you decide in this editor counts, because nobody would notice if another program did it: the system \
    has no inotify instance or file descriptor left (fs.inotify.max_user_instances). Decide in `pillion`, or end what has taken them and start \
    the editor anew";

/// The pause after the system has refused a connection, as when too many files are open.
const REFUSED: Duration = Duration::from_millis(50);

/// The input from the editor. `None` if it sends nothing more, or a signal asks for the end.
pub type Input = Result<Option<Frame>, Error>;

/// The editor's end of the connection.
#[derive(Debug)]
pub struct Transport {
    pub input: Receiver<Input>,
    /// Never blocks: an editor that reads nothing does not hold up its agents.
    pub output: Sender<Message>,
    /// Ends when everything is written, or nothing more can be.
    pub written: Receiver<()>,
    /// Why nothing counts that comes in, if nothing does: for the person.
    pub unheard: Option<&'static str>,
}

/// Connects standard input and output, or whoever has started this process and connects to this socket.
pub fn connect(socket: Option<&Path>) -> anyhow::Result<Transport> {
    let door = socket.map(Door::open).transpose()?;
    // A bound, so that an editor that sends faster than it is read fills its own pipe.
    let (input_sender, input) = bounded(16);
    let (output, messages) = unbounded();
    let (alive, written) = bounded(0);
    let signal_sender = input_sender.clone();
    let parent = process::ancestors(std::process::id()).first().copied();
    let (reading, is_read) = bounded::<()>(0);
    let caught = signals::on_signal(move || {
        // What the editor has said before is read first: an editor that quits asks for the end and kills at once.
        if signals::sender().is_some_and(|sender| Some(sender) == parent) {
            let _ = is_read.recv_timeout(LAST_WORDS);
        }
        let _ = signal_sender.send(Ok(None));
    });
    if let Err(error) = caught {
        tracing::warn!(%error, "signals are caught only while agents are served");
    }
    let no_thread = "cannot start a thread";
    // Vim gives its end of the socket to all that it starts: what one of these has read there is missing for Vim.
    let is_summed = socket.is_some();
    let write = move |output: &mut dyn Write| {
        if let Err(error) = framing::write_all(output, &messages, is_summed) {
            tracing::info!(%error, "the editor stopped reading");
        }
        drop(alive);
    };
    let mut unheard = None;
    match door {
        None => {
            let guard = PipeGuard::start().unwrap_or_else(|error| {
                tracing::warn!(%error, "who opens the editor's pipes is not noticed");
                unheard = Some(UNGUARDED);
                PipeGuard::default()
            });
            pillion_system::stdio::widen_input();
            spawn("writer", move || write(&mut io::stdout().lock())).context(no_thread)?;
            let read_all = move || {
                read(&input_sender, &mut io::stdin().lock(), guard);
                drop(reading);
            };
            spawn("reader", read_all).context(no_thread)?;
        }
        Some(door) => {
            let read_all = move || {
                let heard = Heard(door.wait());
                let writer = heard
                    .0
                    .try_clone()
                    .and_then(|mut stream| spawn("writer", move || write(&mut stream)));
                match writer {
                    Ok(_) => read(
                        &input_sender,
                        &mut BufReader::new(heard),
                        PipeGuard::default(),
                    ),
                    Err(error) => _ = input_sender.send(Err(Malformed::Io(error).into())),
                }
                drop(reading);
            };
            spawn("reader", read_all).context(no_thread)?;
        }
    }
    Ok(Transport {
        input,
        output,
        written,
        unheard,
    })
}

impl Transport {
    /// Waits until everything that was sent is written, but not long.
    pub fn close(self) {
        drop(self.output);
        let _ = self.written.recv_timeout(SHUTDOWN_GRACE);
    }
}

/// The socket at which the editor is awaited.
struct Door {
    listener: Listener,
    folder: Folder,
    name: String,
}

impl Door {
    /// Listens, and says so.
    fn open(path: &Path) -> anyhow::Result<Self> {
        let part = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
        let place = || {
            let folder = path.parent()?;
            Some((folder.parent()?, part(folder)?, part(path)?))
        };
        let (above, folder, name) = place().context("the socket's path is not in a folder")?;
        let folder =
            Folder::open(above, &[&folder])?.context("the socket's folder is not there")?;
        let listener = folder.listen(&name)?;
        #[cfg(unix)]
        peer::expect_peer(listener.as_unix())?;
        writeln!(io::stdout(), "listening")?;
        Ok(Self {
            listener,
            folder,
            name,
        })
    }

    /// Waits for a process that is above this one: what an editor has started may have the editor's files open, and nothing else starts us.
    fn wait(self) -> Stream {
        let above = process::ancestors(std::process::id());
        let is_editor = |stream: &Stream| {
            !peer::is_shown() || peer::process(stream).is_some_and(|it| above.contains(&it))
        };
        loop {
            match self.listener.accept() {
                Ok(stream) if self.listener.admits(&stream) && is_editor(&stream) => {
                    // Nobody else is waited for.
                    let _ = self.folder.remove(&self.name);
                    return stream;
                }
                Ok(_) => {}
                Err(_) => sleep(REFUSED),
            }
        }
    }
}

/// What the process says that has connected, and none of the others that may have its end open: Vim gives it to all that it starts.
struct Heard(Stream);

impl Read for Heard {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match peer::read(&self.0, buffer) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    tracing::warn!(
                        "another program than the editor has said something, which does not count"
                    );
                }
                read => return read,
            }
        }
    }
}

fn read(input: &Sender<Input>, from: &mut impl BufRead, mut guard: PipeGuard) {
    loop {
        let read = match framing::read(from) {
            // Who writes there has opened it before.
            _ if guard.is_opened() => Err(Error::Opened),
            read => read.map_err(Error::from),
        };
        let is_last = !matches!(read, Ok(Some(_)));
        if input.send(read).is_err() || is_last {
            return;
        }
    }
}
