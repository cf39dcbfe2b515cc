//! Neovim's protocol, msgpack-rpc, over its socket: requests and their answers.

use std::fmt;
use std::io::{self, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use rmpv::Value as Packed;
use serde_json::Value;

use super::value::{pack, unpack};

/// The kind of a message, by its first part.
const REQUEST: u64 = 0;
const ANSWER: u64 = 1;
const NOTIFICATION: u64 = 2;

/// A connection to one Neovim.
#[derive(Debug)]
pub struct Rpc {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    stream: UnixStream,
    answers: Receiver<Answer>,
    next_id: u64,
}

/// To the request of this number.
#[derive(Debug)]
struct Answer {
    id: u64,
    result: Result<Value, String>,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum Failed {
    /// Neovim says that the request failed, in these words.
    Said(String),
    /// None came in this time.
    Late(Duration),
    /// Neovim is gone.
    Gone,
}

impl Rpc {
    /// Connects to the socket as soon as it is there.
    pub fn connect(socket: &Path, timeout: Duration) -> io::Result<Rpc> {
        let started = Instant::now();
        let stream = loop {
            match UnixStream::connect(socket) {
                Err(_) if started.elapsed() < timeout => sleep(Duration::from_millis(5)),
                result => break result?,
            }
        };
        let reader = stream.try_clone()?;
        let (sender, answers) = unbounded();
        std::thread::spawn(move || read(reader, &sender));
        let inner = Inner {
            stream,
            answers,
            next_id: 1,
        };
        Ok(Rpc {
            inner: Mutex::new(inner),
        })
    }

    /// Asks, and waits for the answer. One that comes later is dropped.
    pub fn request(
        &self,
        method: &str,
        arguments: &Value,
        timeout: Duration,
    ) -> Result<Value, Failed> {
        let mut inner = self
            .inner
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        let id = inner.next_id;
        inner.next_id += 1;
        let head = [REQUEST.into(), id.into()];
        inner.send(&head, method, arguments)?;
        let started = Instant::now();
        loop {
            let left = timeout.saturating_sub(started.elapsed());
            match inner.answers.recv_timeout(left) {
                Ok(answer) if answer.id == id => return answer.result.map_err(Failed::Said),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Err(Failed::Late(timeout)),
                Err(RecvTimeoutError::Disconnected) => return Err(Failed::Gone),
            }
        }
    }

    /// Asks without an answer: for what ends Neovim.
    pub fn notify(&self, method: &str, arguments: &Value) {
        let mut inner = self
            .inner
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        // One that is gone already needs no message.
        let _ = inner.send(&[NOTIFICATION.into()], method, arguments);
    }
}

impl Drop for Rpc {
    /// Its reader holds the stream, too.
    fn drop(&mut self) {
        let inner = self
            .inner
            .get_mut()
            .unwrap_or_else(|poison| poison.into_inner());
        // One that is gone already needs no end.
        let _ = inner.stream.shutdown(Shutdown::Both);
    }
}

impl Inner {
    fn send(&mut self, head: &[Packed], method: &str, arguments: &Value) -> Result<(), Failed> {
        let mut message = head.to_vec();
        message.extend([method.into(), pack(arguments)]);
        let mut bytes = Vec::new();
        rmpv::encode::write_value(&mut bytes, &Packed::Array(message))
            .expect("memory takes all bytes");
        self.stream.write_all(&bytes).map_err(|_| Failed::Gone)
    }
}

/// Passes answers on until the connection ends. Neovim's own requests and notifications are not for us.
fn read(stream: UnixStream, answers: &Sender<Answer>) {
    let mut stream = BufReader::new(stream);
    while let Ok(message) = rmpv::decode::read_value(&mut stream) {
        let Packed::Array(parts) = message else {
            return;
        };
        let [kind, id, error, result] = parts.as_slice() else {
            continue;
        };
        let (Some(ANSWER), Some(id)) = (kind.as_u64(), id.as_u64()) else {
            continue;
        };
        let result = match unpack(error) {
            Value::Null => Ok(unpack(result)),
            // A kind and a text.
            error => Err(error[1].as_str().map_or(error.to_string(), str::to_owned)),
        };
        if answers.send(Answer { id, result }).is_err() {
            return;
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Said(error) => write!(f, "Neovim says: {error}"),
            Failed::Late(time) => write!(f, "Neovim gave no answer in {time:?}"),
            Failed::Gone => f.write_str("Neovim is gone and gave no answer"),
        }
    }
}
