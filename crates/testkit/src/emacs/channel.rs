//! A socket over which Emacs answers expressions, whatever it does, as long as it waits for keys.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, unbounded};
use serde_json::Value;

/// A value, or what went wrong.
pub type Answer = Result<Value, String>;

/// A connection that one Emacs opened.
#[derive(Debug)]
pub struct Channel {
    inner: Mutex<Inner>,
    is_open: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Inner {
    stream: UnixStream,
    answers: Receiver<(u64, Answer)>,
    last_id: u64,
}

impl Channel {
    /// Waits until Emacs connects.
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
        let reader = BufReader::new(stream.try_clone()?);
        let is_open = Arc::new(AtomicBool::new(true));
        let (sender, answers) = unbounded();
        let open = Arc::clone(&is_open);
        std::thread::spawn(move || {
            for line in reader.lines().map_while(Result::ok) {
                if parse(&line).is_some_and(|answer| sender.send(answer).is_err()) {
                    break;
                }
            }
            open.store(false, Ordering::Relaxed);
        });
        let inner = Inner {
            stream,
            answers,
            last_id: 0,
        };
        Ok(Channel {
            inner: Mutex::new(inner),
            is_open,
        })
    }

    /// The value of an expression; nothing if it does not come in time.
    pub fn ask(&self, expression: &str, timeout: Duration) -> Option<Answer> {
        let mut inner = self.lock();
        let id = inner.send(expression)?;
        let started = Instant::now();
        loop {
            let left = timeout.saturating_sub(started.elapsed());
            match inner.answers.recv_timeout(left).ok()? {
                (number, answer) if number == id => return Some(answer),
                _ => {}
            }
        }
    }

    /// Has an expression evaluated, whatever comes of it.
    pub fn send(&self, expression: &str) {
        // One that is gone already needs no message.
        let _ = self.lock().send(expression);
    }

    /// Returns true if Emacs is there.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .unwrap_or_else(|poison| poison.into_inner())
    }
}

impl Inner {
    fn send(&mut self, expression: &str) -> Option<u64> {
        assert!(!expression.contains('\n'), "a line: {expression}");
        self.last_id += 1;
        let line = format!("{} {expression}\n", self.last_id);
        self.stream.write_all(line.as_bytes()).ok()?;
        Some(self.last_id)
    }
}

fn parse(line: &str) -> Option<(u64, Answer)> {
    let parts: Vec<Value> = serde_json::from_str(line).ok()?;
    let id = parts.first()?.as_u64()?;
    let error = parts.get(2).and_then(Value::as_str);
    let answer = match error {
        Some(error) => Err(error.to_owned()),
        None => Ok(parts.get(1)?.clone()),
    };
    Some((id, answer))
}
