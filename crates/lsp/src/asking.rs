//! What is the companion's to answer: requests of the client's, and questions of the profile's own.

use crossbeam_channel::Sender;
use lsp_server::{Message, RequestId, ResponseError};
use pillion_view::ask::{Ask, Refused};
use pillion_view::{Choice, Chosen, Handle, Reply};
use serde_json::Value;

use crate::disk::Done;
use crate::message;

/// A request to the companion, with what its answer is to the client, or to the profile.
#[derive(derive_more::Debug)]
#[debug("Asking")]
pub struct Asking(Box<Send>);

/// Sends it to the companion, if there is one. In any case the client is answered.
type Send = dyn FnOnce(Option<Handle>, &Sender<Message>, &Sender<Done>);

impl Asking {
    /// Asks this; the client gets what `answer` makes of the answer.
    pub fn new<A: Ask>(
        request: RequestId,
        ask: A,
        answer: fn(Result<A::Answer, Refused>) -> Result<Value, ResponseError>,
    ) -> Self {
        Self(Box::new(move |companion, output, _| {
            let reply = answered(request, output, answer);
            if let Some(companion) = companion {
                companion.ask(ask, reply);
            }
        }))
    }

    /// Asks this for the profile, which gets what `done` makes of the answer, if there is a companion.
    pub fn own<A: Ask<Answer: From<Refused>>>(
        ask: A,
        done: impl FnOnce(A::Answer) -> Done + std::marker::Send + 'static,
    ) -> Self {
        Self(Box::new(move |companion, _, sender| {
            let sender = sender.clone();
            let reply = Reply::told(move |answer| drop(sender.send(done(answer))));
            if let Some(companion) = companion {
                companion.ask(ask, reply);
            }
        }))
    }

    /// The person chooses something for all agents.
    pub fn choice(
        request: RequestId,
        choice: Choice,
        answer: fn(Result<Chosen, Refused>) -> Result<Value, ResponseError>,
    ) -> Self {
        Self(Box::new(move |companion, output, _| {
            let reply = answered(request, output, answer);
            if let Some(companion) = companion {
                choice.ask(&companion, reply);
            }
        }))
    }

    pub fn send(self, companion: Option<Handle>, output: &Sender<Message>, done: &Sender<Done>) {
        (self.0)(companion, output, done);
    }
}

/// The reply of which the client gets what `answer` makes.
fn answered<T: 'static>(
    request: RequestId,
    output: &Sender<Message>,
    answer: fn(Result<T, Refused>) -> Result<Value, ResponseError>,
) -> Reply<T, Refused> {
    let output = output.clone();
    Reply::new(move |result| drop(output.send(message::answer(request, answer(result)))))
}
