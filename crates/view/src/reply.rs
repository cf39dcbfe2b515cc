//! The way of one answer to whoever asked.

use std::fmt;

use pillion_protocol::ask::{Ask, Refused};

/// The one answer to a request, or `E`, why there is none. Dropping it unanswered counts as a failure.
pub struct Reply<T, E: Failure = String> {
    send: Option<SendAnswer<T, E>>,
}

type SendAnswer<T, E> = Box<dyn FnOnce(Result<T, E>) + Send>;

/// The reply to a request of a view, or of a program.
pub type Answering<A> = Reply<<A as Ask>::Answer, Refused>;

/// The reason why there is no answer.
pub trait Failure: From<Refused> + Into<Refused> + 'static {
    /// The one of a reply that was dropped.
    const UNANSWERED: &'static str;
}

/// Of a request to an editor, or another view: a sentence that the agent reads.
impl Failure for String {
    const UNANSWERED: &'static str = "the editor did not answer";
}

/// Of a request to a companion.
impl Failure for Refused {
    const UNANSWERED: &'static str = "the companion is stopping";
}

impl<T, E: Failure> Reply<T, E> {
    /// A reply that is given to `send`.
    pub fn new(send: impl FnOnce(Result<T, E>) + Send + 'static) -> Self {
        Self {
            send: Some(Box::new(send)),
        }
    }

    /// Answers that it was done.
    pub fn done(mut self, value: T) {
        self.send(Ok(value));
    }

    /// Answers that it could not be done, and why.
    pub fn failed(mut self, reason: impl Into<E>) {
        self.send(Err(reason.into()));
    }

    /// Answers either.
    pub fn answer(mut self, answer: Result<T, E>) {
        self.send(answer);
    }

    fn send(&mut self, answer: Result<T, E>) {
        if let Some(send) = self.send.take() {
            send(answer);
        }
    }
}

impl<T: From<Refused>> Reply<T, Refused> {
    /// A reply that is given to `send`, with a sentence for the person in place of an answer if there is none.
    pub fn told(send: impl FnOnce(T) + Send + 'static) -> Self {
        Self::new(|answer: Result<T, Refused>| send(answer.unwrap_or_else(T::from)))
    }
}

impl<T, E: Failure> Drop for Reply<T, E> {
    fn drop(&mut self) {
        self.send(Err(Refused::because(E::UNANSWERED).into()));
    }
}

impl<T, E: Failure> fmt::Debug for Reply<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}
