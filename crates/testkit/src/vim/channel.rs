//! Vim's own JSON channel: it answers expressions whatever it does, as long as it waits for keys.

use std::io::{self, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, unbounded};
use serde_json::{Deserializer, Value, json};

/// A connection that one Vim opened.
#[derive(Debug)]
pub struct Channel {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    stream: UnixStream,
    answers: Receiver<(i64, Value)>,
    /// Of requests that a test makes, they are negative.
    last_id: i64,
}

impl Channel {
    /// Waits until Vim connects.
    pub fn accept(listener: &UnixListener, timeout: Duration) -> io::Result<Channel> {
        listener.set_nonblocking(true)?;
        let started = Instant::now();
        let stream = loop {
            match listener.accept() {
                Err(error)
                    if error.kind() == io::ErrorKind::WouldBlock && started.elapsed() < timeout =>
                {
                    sleep(Duration::from_millis(10));
                }
                accepted => break accepted?.0,
            }
        };
        stream.set_nonblocking(false)?;
        let reader = stream.try_clone()?;
        let (sender, answers) = unbounded();
        std::thread::spawn(move || {
            for answer in Deserializer::from_reader(reader).into_iter::<(i64, Value)>() {
                if answer.is_ok_and(|answer| sender.send(answer).is_err()) {
                    return;
                }
            }
        });
        let inner = Inner {
            stream,
            answers,
            last_id: 0,
        };
        Ok(Channel {
            inner: Mutex::new(inner),
        })
    }

    /// The value of an expression; nothing if it does not come in time.
    pub fn ask(&self, expression: &str, timeout: Duration) -> Option<Value> {
        let mut inner = self.lock();
        inner.last_id -= 1;
        let id = inner.last_id;
        inner.send(&json!(["expr", expression, id]))?;
        let started = Instant::now();
        loop {
            let left = timeout.saturating_sub(started.elapsed());
            match inner.answers.recv_timeout(left).ok()? {
                (number, value) if number == id => return Some(value),
                _ => {}
            }
        }
    }

    /// Runs an Ex command.
    pub fn run(&self, command: &str) {
        // One that is gone already needs no message.
        let _ = self.lock().send(&json!(["ex", command]));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .unwrap_or_else(|poison| poison.into_inner())
    }
}

impl Inner {
    fn send(&mut self, message: &Value) -> Option<()> {
        self.stream.write_all(message.to_string().as_bytes()).ok()
    }
}
