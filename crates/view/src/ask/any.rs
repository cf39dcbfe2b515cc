//! A request of whatever type, with the way of its answer: from a view to its companion, in another process or in its own.

use std::any::Any;
use std::time::Instant;

use pillion_protocol::ask::{Ask, Refused};
use serde_json::Value;

use crate::reply::{Answering, Reply};

/// A request that is on its way.
#[derive(derive_more::Debug)]
#[debug("AnyAsk({method:?})")]
pub struct AnyAsk {
    /// [`Ask::METHOD`].
    pub method: &'static str,
    /// The moment at which it was asked: on its way it may be held up.
    pub at: Instant,
    /// [`Ask::FOR_PERSON`].
    pub is_for_person: bool,
    inner: Box<dyn Typed>,
}

/// Its type is known once more where it is carried out.
trait Typed: Any + Send {
    fn into_message(self: Box<Self>) -> Option<(Value, Reply<Value, Refused>)>;
    fn refuse(self: Box<Self>, refused: Refused);
}

/// A request that nobody has taken yet.
type Untaken<A> = Option<(A, Answering<A>)>;

impl<A: Ask> Typed for Untaken<A> {
    fn into_message(self: Box<Self>) -> Option<(Value, Reply<Value, Refused>)> {
        let (ask, reply) = (*self)?;
        let Ok(params) = serde_json::to_value(ask) else {
            reply.failed("the request cannot be sent");
            return None;
        };
        let answered = Reply::new(move |answer: Result<Value, Refused>| {
            reply.answer(answer.and_then(|value| {
                serde_json::from_value(value).map_err(|_| "an answer of another kind".into())
            }));
        });
        Some((params, answered))
    }

    fn refuse(self: Box<Self>, refused: Refused) {
        if let Some((_, reply)) = *self {
            reply.failed(refused);
        }
    }
}

impl AnyAsk {
    /// One that is asked now.
    pub fn new<A: Ask>(ask: A, reply: Answering<A>) -> Self {
        Self {
            method: A::METHOD,
            at: Instant::now(),
            is_for_person: A::FOR_PERSON,
            inner: Box::new(Some((ask, reply))),
        }
    }

    /// The request and its reply, if they are of this type.
    ///
    /// # Errors
    /// It is handed back if it is another one.
    pub fn take<A: Ask>(mut self) -> Result<(A, Answering<A>), Self> {
        let inner: &mut dyn Any = &mut *self.inner;
        let untaken = inner.downcast_mut::<Untaken<A>>();
        untaken.and_then(Option::take).ok_or(self)
    }

    /// The parameters as JSON, and the reply for such an answer; none if JSON cannot hold them, which is answered then.
    pub fn into_message(self) -> Option<(Value, Reply<Value, Refused>)> {
        self.inner.into_message()
    }

    /// Answers that it is not carried out, and why.
    pub fn refuse(self, refused: Refused) {
        self.inner.refuse(refused);
    }
}
