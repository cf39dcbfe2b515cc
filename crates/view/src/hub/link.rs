//! One end of a connection between a front end and the hub: what is to be said waits in a queue, which a thread of its
//! own writes, and requests wait for their answers.
//!
//! Whoever may still say something holds the link. When the last one is dropped, what is in the queue is written, and
//! the connection is closed. It is cut if too much waits: the other end hangs, is suspended, or asks and does not read.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, unbounded};
use pillion_discovery::private_file::Stream;
use pillion_system::{lock, spawn};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ask::{Answered, Refused};
use crate::reply::{Failure, Reply};

/// An amount that waits for the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Load {
    messages: usize,
    bytes: usize,
}

/// With more than this, nothing joins that can be left out: agents that try again and again would fill the memory.
const CROWDED: Load = Load {
    messages: 256,
    bytes: 128 << 20,
};

/// With more than this, the connection is cut.
const MOST: Load = Load {
    messages: 4096,
    bytes: 256 << 20,
};

/// A message that waits until it is written.
pub trait Waits: Serialize + Send + 'static {
    /// The bytes of its texts, roughly.
    fn bytes(&self) -> usize;
}

/// An end that says `M`.
pub struct Link<M> {
    stream: Arc<Stream>,
    queue: Sender<Item<M>>,
    /// The bytes in the queue.
    bytes: Arc<AtomicUsize>,
    /// The number of requests of the other end's that are not answered.
    open: AtomicUsize,
    /// Of messages that replace each other the last, until it is written.
    latest: Arc<Mutex<Option<M>>>,
    requests: Mutex<Requests>,
}

enum Item<M> {
    /// With its bytes.
    Message(M, usize),
    /// The one in [`Link::latest`].
    Latest,
    /// Nothing more is said.
    Close,
}

/// Takes the answer to a request.
type Waiting = Box<dyn FnOnce(Result<Value, Refused>) + Send>;

#[derive(Default)]
struct Requests {
    last: u64,
    waiting: HashMap<u64, Waiting>,
    /// Nobody answers any more.
    is_over: bool,
}

impl<M: Waits> Link<M> {
    /// Writes to this connection from now on.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn start(stream: Stream) -> io::Result<Arc<Self>> {
        let (queue, items) = unbounded();
        let link = Self {
            stream: Arc::new(stream),
            queue,
            bytes: Arc::default(),
            open: AtomicUsize::new(0),
            latest: Arc::default(),
            requests: Mutex::default(),
        };
        let (stream, latest) = (Arc::clone(&link.stream), Arc::clone(&link.latest));
        let bytes = Arc::clone(&link.bytes);
        spawn("hub writer", move || {
            write(&stream, &items, &bytes, &latest)
        })?;
        Ok(Arc::new(link))
    }

    /// Says something. Never waits.
    pub fn send(&self, message: M) {
        if self.load().exceeds(MOST) {
            return self.cut("does not read its messages");
        }
        let bytes = message.bytes();
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let _ = self.queue.send(Item::Message(message, bytes));
    }

    /// Says something, in place of the last that was said so and is not written yet. Never waits.
    pub fn send_latest(&self, message: M) {
        if lock(&self.latest).replace(message).is_none() {
            let _ = self.queue.send(Item::Latest);
        }
    }

    /// Closes the connection, once everything said before is written. Never waits.
    pub fn close(&self) {
        let _ = self.queue.send(Item::Close);
    }

    /// Returns true if so much waits for the other end that it hangs or is suspended.
    pub fn is_crowded(&self) -> bool {
        self.load().exceeds(CROWDED)
    }

    fn load(&self) -> Load {
        Load {
            messages: self.queue.len(),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// Ends the connection at once, which both ends notice. What waits is not written.
    fn cut(&self, why: &str) {
        tracing::warn!("a connection is cut: the other end {why}");
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Makes a request of which `reply` gets the answer, and says it.
    pub fn ask<T: DeserializeOwned + 'static, E: Failure>(
        &self,
        reply: Reply<T, E>,
        message: impl FnOnce(u64) -> M,
    ) {
        if let Some(request) = self.expect(reply) {
            self.send(message(request));
        }
    }

    /// Returns the number of a request of which `reply` gets the answer; none if nobody answers.
    pub(super) fn expect<T: DeserializeOwned + 'static, E: Failure>(
        &self,
        reply: Reply<T, E>,
    ) -> Option<u64> {
        let answered = move |result: Result<Value, Refused>| {
            let value = result.and_then(|value| {
                serde_json::from_value(value).map_err(|_| "an answer of another kind".into())
            });
            reply.answer(value.map_err(E::from));
        };
        let mut requests = lock(&self.requests);
        if requests.is_over {
            // Dropping the reply is the answer, and may do anything.
            drop(requests);
            drop(answered);
            return None;
        }
        if requests.waiting.len() > MOST.messages {
            drop(requests);
            self.cut("does not answer");
            return None;
        }
        requests.last += 1;
        let request = requests.last;
        requests.waiting.insert(request, Box::new(answered));
        Some(request)
    }

    /// The other end has answered. One that answers twice, or what was not asked, says nothing.
    pub fn answered(&self, answer: Answered) {
        let waiting = lock(&self.requests).waiting.remove(&answer.request);
        if let Some(waiting) = waiting {
            waiting(answer.result);
        }
    }

    /// The other end is gone: every request counts as failed, and so do those to come.
    pub fn fail(&self) {
        let mut requests = lock(&self.requests);
        requests.is_over = true;
        let waiting = std::mem::take(&mut requests.waiting);
        drop(requests);
        drop(waiting);
    }

    /// Returns the reply for a request of the other end's.
    pub fn reply<T: Serialize + 'static, E: Failure>(self: &Arc<Self>, request: u64) -> Reply<T, E>
    where
        M: From<Answered>,
    {
        let link = Arc::clone(self);
        if link.open.fetch_add(1, Ordering::Relaxed) > MOST.messages {
            link.cut("asks and does not wait for answers");
        }
        Reply::new(move |result: Result<T, E>| {
            link.open.fetch_sub(1, Ordering::Relaxed);
            let result = result.map_err(E::into).and_then(|value| {
                serde_json::to_value(value).map_err(|_| "the answer cannot be sent".into())
            });
            link.send(Answered { request, result }.into());
        })
    }
}

impl Load {
    fn exceeds(self, most: Self) -> bool {
        self.messages > most.messages || self.bytes > most.bytes
    }
}

fn write<M: Serialize>(
    mut stream: &Stream,
    items: &Receiver<Item<M>>,
    bytes: &AtomicUsize,
    latest: &Mutex<Option<M>>,
) {
    for item in items {
        let message = match item {
            Item::Message(message, waited) => {
                bytes.fetch_sub(waited, Ordering::Relaxed);
                Some(message)
            }
            Item::Latest => lock(latest).take(),
            Item::Close => break,
        };
        let Some(message) = message else {
            continue;
        };
        let mut line = match serde_json::to_vec(&message) {
            Ok(line) => line,
            Err(error) => {
                tracing::warn!(kind = ?error.classify(), "a message cannot be written");
                continue;
            }
        };
        drop(message);
        line.push(b'\n');
        if let Err(error) = stream.write_all(&line) {
            tracing::debug!(%error, "the other end is gone");
            break;
        }
    }
    // Whoever reads from it gets to know, too.
    let _ = stream.shutdown(Shutdown::Both);
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use crossbeam_channel::{Sender, unbounded};

    use super::*;
    use crate::hub::wire::FromView;
    use crate::proposal::{DiffId, ProposalKey};
    use crate::tell::{Leaving, Tell};
    use pillion_discovery::lines::{Lines, MAX_LINE};

    const LEAVE: FromView = FromView::Tell(Tell::Leave(Leaving::Closed));

    fn link() -> (Arc<Link<FromView>>, Lines) {
        let (here, there) = UnixStream::pair().unwrap();
        (Link::start(here).unwrap(), Lines::new(there, None))
    }

    fn next(lines: &mut Lines) -> Option<FromView> {
        let line = lines.next(MAX_LINE).unwrap()?;
        Some(serde_json::from_slice(&line).unwrap())
    }

    fn told(results: &Sender<Result<String, String>>) -> Reply<String> {
        let results = results.clone();
        Reply::new(move |result| drop(results.send(result)))
    }

    #[test]
    fn the_connection_ends_when_nobody_can_say_anything_more() {
        let (link, mut lines) = link();
        link.send(LEAVE);
        let reply: Reply<()> = link.reply(7);
        drop(link);
        assert_eq!(next(&mut lines), Some(LEAVE));
        drop(reply);
        let Some(FromView::Answer(answer)) = next(&mut lines) else {
            panic!("dropping a reply is an answer");
        };
        assert!(answer.request == 7 && answer.result.is_err());
        assert_eq!(next(&mut lines), None);
    }

    #[test]
    fn it_can_be_closed_while_somebody_may_still_say_something() {
        let (link, mut lines) = link();
        link.send(LEAVE);
        link.close();
        assert_eq!(next(&mut lines), Some(LEAVE));
        assert_eq!(next(&mut lines), None);
        link.send(LEAVE);
    }

    #[test]
    fn each_request_is_answered_once() {
        let (link, _lines) = link();
        let (sender, results) = unbounded();
        let ask = || link.ask(told(&sender), |_| LEAVE);
        let answer = |request, value: Value| {
            let result = Ok(value);
            link.answered(Answered { request, result });
        };
        ask();
        answer(1, "one".into());
        answer(1, "two".into());
        answer(9, "none".into());
        assert_eq!(
            results.try_iter().collect::<Vec<_>>(),
            [Ok("one".to_owned())]
        );
        ask();
        answer(2, 2.into());
        assert!(results.try_recv().unwrap().is_err(), "of another kind");
        ask();
        link.fail();
        assert!(
            results.try_recv().unwrap().is_err(),
            "the other end is gone"
        );
        ask();
        assert!(results.try_recv().unwrap().is_err(), "and stays so");
    }

    /// What comes in until the connection ends.
    fn rest(lines: &mut Lines) -> Vec<FromView> {
        std::iter::from_fn(|| next(lines)).collect()
    }

    #[test]
    fn who_does_not_read_is_cut_off_however_small_or_large_the_messages_are() {
        let draft = |text: &str| {
            let (id, revision) = (DiffId(1), 1);
            FromView::Tell(Tell::Draft {
                key: ProposalKey { id, revision },
                text: Some(text.to_owned()),
            })
        };
        let large = draft(&"x".repeat(8 << 20));
        for (message, most) in [(LEAVE, MOST.messages), (large, MOST.bytes / (8 << 20))] {
            let (link, mut lines) = link();
            let mut sent = 0;
            while !link.is_crowded() {
                link.send(message.clone());
                sent += 1;
            }
            // What the connection itself holds is written.
            for _ in sent..3 * most {
                link.send(message.clone());
            }
            assert!(link.queue.len() <= most + 1);
            let read = rest(&mut lines).len();
            assert!(read < most, "{read} of {most}");
            // The writer has gone, and with it what waited.
            while !link.queue.is_empty() {
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn who_asks_without_end_or_answers_nothing_is_cut_off() {
        let (flooded, mut lines) = link();
        let replies: Vec<_> = (0..=MOST.messages as u64)
            .map(|request| flooded.reply::<(), String>(request))
            .collect();
        flooded.send(LEAVE);
        assert_eq!(next(&mut lines), Some(LEAVE));
        let one_more = flooded.reply::<(), String>(0);
        assert_eq!(next(&mut lines), None);
        drop((replies, one_more));
        let (link, mut lines) = link();
        let reading = std::thread::spawn(move || rest(&mut lines).len());
        let (sender, results) = unbounded();
        while results.is_empty() {
            link.ask(told(&sender), |_| LEAVE);
        }
        assert!(results.recv().unwrap().is_err());
        let read = reading.join().unwrap();
        assert!(read <= MOST.messages + 1, "{read}");
    }

    #[test]
    fn of_what_replaces_each_other_the_last_is_written() {
        let (link, mut lines) = link();
        // Fills the connection, so that the writer waits.
        let big = FromView::Tell(Tell::Roots(vec!["x".repeat(1 << 20).into()]));
        link.send(big.clone());
        for pid in 0..100 {
            link.send_latest(FromView::Tell(Tell::Editor(pid)));
        }
        drop(link);
        let mut all = Vec::new();
        while let Some(message) = next(&mut lines) {
            all.push(message);
        }
        assert!(all.len() < 10, "{}", all.len());
        assert_eq!(all.last(), Some(&FromView::Tell(Tell::Editor(99))));
    }
}
