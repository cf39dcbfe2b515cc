//! What waits to be pushed to one session: the newest context, of which only the last matters, and
//! outcomes, each of which is delivered exactly once, also when the event stream was away.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pillion_protocol::{IdeContext, Outcome};
use tokio::sync::watch;

/// Something to push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Push {
    Context(Arc<IdeContext>),
    Outcome { file_path: String, outcome: Outcome },
}

/// A session's outbox, shared by the loop that fills it and the event streams that empty it.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queue: Mutex<Queue>,
    /// Signals that there is something to take, or that another stream is the newest.
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Queue {
    context: Option<Arc<IdeContext>>,
    outcomes: VecDeque<(String, Outcome)>,
    /// The stream that took an outcome and has not asked for more since: it is not written yet.
    writing: Option<u64>,
    /// Open streams, oldest first. Only the newest takes.
    streams: Vec<u64>,
    last_stream: u64,
    is_closed: bool,
}

/// An open event stream's end of the outbox. Dropping it closes the stream.
#[derive(Debug)]
pub(crate) struct Stream {
    outbox: Arc<Outbox>,
    number: u64,
    changed: watch::Receiver<()>,
}

impl Outbox {
    pub(crate) fn push_context(&self, context: Arc<IdeContext>) {
        self.lock().context = Some(context);
        self.changed.send_replace(());
    }

    pub(crate) fn push_outcome(&self, file_path: String, outcome: Outcome) {
        self.lock().outcomes.push_back((file_path, outcome));
        self.changed.send_replace(());
    }

    /// Takes back the outcomes for a path that were not delivered yet, and returns the last one.
    /// Delivered later, they would settle a newer diff of the same path.
    pub(crate) fn withdraw(&self, file_path: &str) -> Option<Outcome> {
        let mut queue = self.lock();
        let mut last = None;
        for (path, outcome) in std::mem::take(&mut queue.outcomes) {
            if path == file_path {
                last = Some(outcome);
            } else {
                queue.outcomes.push_back((path, outcome));
            }
        }
        last
    }

    /// Whether every outcome was written to a stream.
    pub(crate) fn is_delivered(&self) -> bool {
        let queue = self.lock();
        queue.outcomes.is_empty() && queue.writing.is_none()
    }

    /// Ends every stream: the session is over.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.send_replace(());
    }

    /// Opens a stream, which takes over from the ones that are open.
    pub(crate) fn stream(self: &Arc<Self>) -> Stream {
        let mut queue = self.lock();
        queue.last_stream += 1;
        let number = queue.last_stream;
        queue.streams.push(number);
        Stream {
            outbox: Arc::clone(self),
            number,
            changed: self.changed.subscribe(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // A queue is consistent after every single operation on it.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream {
    /// The next thing to push, as soon as there is one; nothing when the session is over.
    pub(crate) async fn next(&mut self) -> Option<Push> {
        loop {
            self.changed.borrow_and_update();
            if let Some(push) = self.take() {
                return Some(push);
            }
            if self.outbox.lock().is_closed {
                return None;
            }
            // The sender lives in the outbox that this stream holds.
            let _ = self.changed.changed().await;
        }
    }

    fn take(&self) -> Option<Push> {
        let mut queue = self.outbox.lock();
        queue.writing.take_if(|stream| *stream == self.number);
        if queue.streams.last() != Some(&self.number) {
            return None;
        }
        if let Some(context) = queue.context.take() {
            return Some(Push::Context(context));
        }
        let (file_path, outcome) = queue.outcomes.pop_front()?;
        queue.writing = Some(self.number);
        Some(Push::Outcome { file_path, outcome })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let mut queue = self.outbox.lock();
        queue.streams.retain(|open| *open != self.number);
        queue.writing.take_if(|stream| *stream == self.number);
        drop(queue);
        self.outbox.changed.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(path: &str) -> Option<Push> {
        Some(Push::Outcome {
            file_path: path.into(),
            outcome: Outcome::Rejected,
        })
    }

    #[tokio::test]
    async fn only_the_newest_context_is_pushed() {
        let outbox = Arc::new(Outbox::default());
        let newest = Arc::new(IdeContext {
            workspace_state: Some(Default::default()),
        });
        outbox.push_context(Arc::default());
        outbox.push_context(Arc::clone(&newest));
        let mut stream = outbox.stream();
        assert_eq!(stream.next().await, Some(Push::Context(newest)));
        assert_eq!(stream.take(), None);
    }

    #[tokio::test]
    async fn outcomes_wait_for_a_stream_and_are_delivered_once() {
        let outbox = Arc::new(Outbox::default());
        outbox.push_outcome("/a".into(), Outcome::Rejected);
        outbox.push_outcome("/b".into(), Outcome::Rejected);
        let mut first = outbox.stream();
        assert_eq!(first.next().await, rejected("/a"));
        assert!(!outbox.is_delivered());
        drop(first);
        let mut second = outbox.stream();
        assert_eq!(second.next().await, rejected("/b"));
        assert!(!outbox.is_delivered(), "it may still be written");
        assert_eq!(second.take(), None);
        assert!(outbox.is_delivered());
        assert_eq!(outbox.stream().take(), None);
    }

    #[tokio::test]
    async fn the_newest_stream_takes_and_the_older_one_takes_over_when_it_closes() {
        let outbox = Arc::new(Outbox::default());
        let mut older = outbox.stream();
        let newer = outbox.stream();
        outbox.push_outcome("/a".into(), Outcome::Rejected);
        assert_eq!(older.take(), None);
        let waiting = tokio::spawn(async move { older.next().await });
        tokio::task::yield_now().await;
        drop(newer);
        assert_eq!(waiting.await.unwrap(), rejected("/a"));
    }

    #[test]
    fn a_withdrawn_outcome_is_not_delivered() {
        let outbox = Arc::new(Outbox::default());
        let content = "x".to_owned();
        outbox.push_outcome("/a".into(), Outcome::Rejected);
        outbox.push_outcome("/b".into(), Outcome::Rejected);
        outbox.push_outcome("/a".into(), Outcome::Accepted { content });
        assert!(matches!(
            outbox.withdraw("/a"),
            Some(Outcome::Accepted { .. })
        ));
        assert_eq!(outbox.withdraw("/a"), None);
        assert_eq!(outbox.stream().take(), rejected("/b"));
    }

    #[tokio::test]
    async fn streams_end_with_their_session_after_what_waited() {
        let outbox = Arc::new(Outbox::default());
        let mut stream = outbox.stream();
        outbox.push_outcome("/a".into(), Outcome::Rejected);
        outbox.close();
        assert_eq!(stream.next().await, rejected("/a"));
        assert_eq!(stream.next().await, None);
    }
}
