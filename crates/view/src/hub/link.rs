//! One end of a connection between a front end and the hub: what is to be said waits in a queue, which a thread of its
//! own writes, and requests wait for their answers.
//!
//! Whoever may still say something holds the link. When the last one is dropped, what is in the queue is written, and
//! the connection is closed.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::Shutdown;
use std::sync::{Arc, Mutex};

use crossbeam_channel::{Receiver, Sender, unbounded};
use pillion_discovery::private_file::Stream;
use pillion_system::{lock, spawn};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ask::{Answered, Refused};
use crate::reply::{Failure, Reply};

/// An end that says `M`.
pub struct Link<M> {
    queue: Sender<Item<M>>,
    /// Of messages that replace each other the last, until it is written.
    latest: Arc<Mutex<Option<M>>>,
    requests: Mutex<Requests>,
}

enum Item<M> {
    Message(M),
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

impl<M: Serialize + Send + 'static> Link<M> {
    /// Writes to this connection from now on.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn start(stream: Stream) -> io::Result<Arc<Self>> {
        let (queue, items) = unbounded();
        let latest = Arc::default();
        let link = Self {
            queue,
            latest: Arc::clone(&latest),
            requests: Mutex::default(),
        };
        spawn("hub writer", move || write(stream, &items, &latest))?;
        Ok(Arc::new(link))
    }

    /// Says something. Never waits.
    pub fn send(&self, message: M) {
        let _ = self.queue.send(Item::Message(message));
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

    /// Returns the number of messages that wait for the other end to read.
    pub fn unread(&self) -> usize {
        self.queue.len()
    }

    /// Makes a request of which `reply` gets the answer, and says it.
    pub fn ask<T: DeserializeOwned + 'static, E: Failure>(
        &self,
        reply: Reply<T, E>,
        message: impl FnOnce(u64) -> M,
    ) {
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
            return drop(answered);
        }
        requests.last += 1;
        let request = requests.last;
        requests.waiting.insert(request, Box::new(answered));
        drop(requests);
        self.send(message(request));
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
        Reply::new(move |result: Result<T, E>| {
            let result = result.map_err(E::into).and_then(|value| {
                serde_json::to_value(value).map_err(|_| "the answer cannot be sent".into())
            });
            link.send(Answered { request, result }.into());
        })
    }
}

fn write<M: Serialize>(mut stream: Stream, items: &Receiver<Item<M>>, latest: &Mutex<Option<M>>) {
    for item in items {
        let message = match item {
            Item::Message(message) => Some(message),
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::net::UnixStream;

    use crossbeam_channel::{Sender, unbounded};

    use super::*;
    use crate::hub::wire::FromView;
    use pillion_discovery::lines::{Lines, MAX_LINE};

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
        link.send(FromView::Leave);
        let reply: Reply<()> = link.reply(7);
        drop(link);
        assert_eq!(next(&mut lines), Some(FromView::Leave));
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
        link.send(FromView::Leave);
        link.close();
        assert_eq!(next(&mut lines), Some(FromView::Leave));
        assert_eq!(next(&mut lines), None);
        link.send(FromView::Leave);
    }

    #[test]
    fn each_request_is_answered_once() {
        let (link, _lines) = link();
        let (sender, results) = unbounded();
        let ask = || link.ask(told(&sender), |_| FromView::Leave);
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

    #[test]
    fn of_what_replaces_each_other_the_last_is_written() {
        let (link, mut lines) = link();
        // Fills the connection, so that the writer waits.
        let big = FromView::Roots(vec!["x".repeat(1 << 20).into()]);
        link.send(big.clone());
        for pid in 0..100 {
            link.send_latest(FromView::Editor(pid));
        }
        drop(link);
        let mut all = Vec::new();
        while let Some(message) = next(&mut lines) {
            all.push(message);
        }
        assert!(all.len() < 10, "{}", all.len());
        assert_eq!(all.last(), Some(&FromView::Editor(99)));
    }
}
