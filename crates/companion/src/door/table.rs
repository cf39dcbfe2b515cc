//! The table of requests: each by its name, with its type and who carries it out.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use pillion_view::ask::{AnyAsk, Ask, Refused};
use pillion_view::{Answering, Reply};
use serde_json::Value;
use tokio::task::AbortHandle;

use super::{Caller, Host};
use crate::commands::Commands;
use crate::event::By;
use crate::main_loop::MainLoop;

/// All that can be asked.
#[derive(Default)]
pub(super) struct Table(HashMap<&'static str, Entry>);

/// Who carries a request out.
pub(super) enum Entry {
    /// The process, whatever companions it has.
    Host(Box<ServeByHost>),
    /// One companion; true if only the person may ask.
    Companion(bool, Box<ServeByCompanion>),
}

type ServeByHost = dyn Fn(&dyn Host, Request) + Send + Sync;

/// Returns what can be aborted, once nobody waits for the answer any more.
type ServeByCompanion =
    dyn Fn(&Commands, &Arc<Caller>, Request) -> Option<AbortHandle> + Send + Sync;

/// A request whose type the table knows.
pub(super) enum Request {
    /// It came over a connection, and was asked at this moment.
    Message(Value, Instant, Reply<Value, Refused>),
    /// It comes from this process.
    Typed(AnyAsk),
}

impl Request {
    /// The request itself, and where its answer goes; none if it is not understood, which is answered then.
    fn open<A: Ask>(self) -> Option<(A, Answering<A>)> {
        let (params, reply) = match self {
            Self::Message(params, _, reply) => (params, reply),
            Self::Typed(ask) => return ask.take().ok(),
        };
        match serde_json::from_value(params) {
            Ok(ask) => Some((ask, answering::<A>(reply))),
            Err(error) => {
                reply.failed(format!("{} is not understood: {error}", A::METHOD));
                None
            }
        }
    }

    pub(super) fn refuse(self, refused: Refused) {
        match self {
            Self::Message(_, _, reply) => reply.failed(refused),
            Self::Typed(ask) => ask.refuse(refused),
        }
    }

    fn at(&self) -> Instant {
        match self {
            Self::Message(_, at, _) => *at,
            Self::Typed(ask) => ask.at,
        }
    }
}

fn answering<A: Ask>(reply: Reply<Value, Refused>) -> Answering<A> {
    Reply::new(move |answer: Result<A::Answer, Refused>| {
        reply.answer(answer.and_then(|value| {
            serde_json::to_value(value).map_err(|_| "the answer cannot be sent".into())
        }));
    })
}

impl Table {
    /// The loop answers at once.
    pub(super) fn on<A: Ask>(self, handler: fn(&mut MainLoop, A) -> A::Answer) -> Self {
        self.companion::<A>(move |companion, _, _, ask, reply| {
            companion.send(A::METHOD, move |it, _| reply.done(handler(it, ask)));
            None
        })
    }

    /// The loop answers when it can.
    pub(super) fn later<A: Ask>(self, handler: fn(&mut MainLoop, A, By, Answering<A>)) -> Self {
        self.companion::<A>(move |companion, caller, at, ask, reply| {
            let view = caller.view;
            companion.send(A::METHOD, move |it, _| {
                handler(it, ask, By { view, at }, reply);
            });
            None
        })
    }

    /// It is done beside the loop, which that may ask. It is dropped when the connection ends.
    pub(super) fn beside<A: Ask, F>(self, handler: fn(Commands, A, Arc<Caller>) -> F) -> Self
    where
        F: Future<Output = Result<A::Answer, Refused>> + Send + 'static,
    {
        self.companion::<A>(move |companion, caller, _, ask, reply| {
            let answer = handler(companion.clone(), ask, Arc::clone(caller));
            let task: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
                reply.answer(answer.await);
            });
            Some(companion.runtime().spawn(task).abort_handle())
        })
    }

    /// It is about all companions here.
    pub(super) fn host<A: Ask>(
        mut self,
        handler: fn(&dyn Host, A) -> Result<A::Answer, Refused>,
    ) -> Self {
        const {
            assert!(!A::FOR_PERSON, "only companions know who the person is");
        }
        let serve = move |host: &dyn Host, request: Request| {
            if let Some((ask, reply)) = request.open::<A>() {
                reply.answer(handler(host, ask));
            }
        };
        self.0.insert(A::METHOD, Entry::Host(Box::new(serve)));
        self
    }

    fn companion<A: Ask>(
        mut self,
        serve: impl Fn(&Commands, &Arc<Caller>, Instant, A, Answering<A>) -> Option<AbortHandle>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let serve = move |companion: &Commands, caller: &Arc<Caller>, request: Request| {
            let at = request.at();
            let (ask, reply) = request.open::<A>()?;
            serve(companion, caller, at, ask, reply)
        };
        let entry = Entry::Companion(A::FOR_PERSON, Box::new(serve));
        self.0.insert(A::METHOD, entry);
        self
    }

    pub(super) fn find(&self, method: &str) -> Option<&Entry> {
        self.0.get(method)
    }
}
