//! Owns the proposers that are no agents' sessions: hooks, for their agents, `pillion diff`, and the companion itself, which
//! shows what is written already. Each stays until what it proposed has come to an end; then it gets each outcome once.

use std::collections::HashMap;
use std::sync::Arc;

use pillion_protocol::{ProposedFile, Proposer};
use tokio::sync::mpsc;

use crate::numbers::Numbers;
use crate::outbox::Delivery;
use crate::sessions::SessionId;
use crate::stand_in::StandIn;

/// A file that is proposed, and the stand-in for its text.
pub(crate) type Proposed = (ProposedFile, Option<StandIn>);

#[derive(Debug)]
pub(crate) enum News {
    Decided(Box<Delivery>),
    /// Nobody decides any more about what is left.
    Unseen,
}

#[derive(Debug)]
pub(crate) struct Proposers {
    waiting: HashMap<SessionId, Waiting>,
    numbers: Numbers,
}

#[derive(Debug)]
struct Waiting {
    proposer: Proposer,
    /// Tells it from all other proposers, also from those that were here before.
    number: u64,
    /// The session of which hooks tell, if its turn is the one in which this is proposed.
    turn_of: Option<SessionId>,
    news: mpsc::UnboundedSender<News>,
}

impl Proposers {
    /// None yet. New ones get these numbers.
    pub(crate) fn new(numbers: Numbers) -> Self {
        Self {
            waiting: HashMap::new(),
            numbers,
        }
    }

    /// One comes. Returns the name by which its proposals are known here: no agent's session has it.
    pub(crate) fn come(
        &mut self,
        proposer: Proposer,
        turn_of: Option<SessionId>,
        news: mpsc::UnboundedSender<News>,
    ) -> SessionId {
        let number = self.numbers.give();
        let id: SessionId = format!("proposer {number}").into();
        let new = Waiting {
            proposer,
            number,
            turn_of,
            news,
        };
        self.waiting.insert(Arc::clone(&id), new);
        id
    }

    /// Returns whose proposals this one makes, and its number, if it is here.
    pub(crate) fn find(&self, id: &SessionId) -> Option<(Proposer, u64)> {
        let found = self.waiting.get(id)?;
        Some((found.proposer, found.number))
    }

    /// The session in whose turn this one proposes, and its agent, if hooks tell of that.
    pub(crate) fn turn_of(&self, id: &SessionId) -> Option<(&SessionId, Proposer)> {
        let waiting = self.waiting.get(id)?;
        Some((waiting.turn_of.as_ref()?, waiting.proposer))
    }

    /// Tells it the news; false if it is not here.
    pub(crate) fn tell(&self, id: &SessionId, news: News) -> bool {
        match self.waiting.get(id) {
            Some(waiting) => {
                // One that does not wait any more says so itself.
                let _ = waiting.news.send(news);
                true
            }
            None => false,
        }
    }

    /// It goes; true if it was here.
    pub(crate) fn go(&mut self, id: &SessionId) -> bool {
        self.waiting.remove(id).is_some()
    }

    /// Nobody decides about anything any more. Returns what ends once each has gone.
    pub(crate) fn end(&mut self) -> impl Future<Output = ()> + use<> {
        let waiting: Vec<_> = self.waiting.drain().map(|(_, it)| it.news).collect();
        async move {
            for news in waiting {
                let _ = news.send(News::Unseen);
                news.closed().await;
            }
        }
    }
}
