//! The handle through which a front end speaks to its companion.

use std::sync::Arc;

use crate::ask::{AnyAsk, Ask};
use crate::reply::Answering;
use crate::tell::Tell;

/// A front end's way to its companion. Cheap to clone; never blocks. When the companion is gone, nothing happens, and
/// requests are refused.
#[derive(Clone, derive_more::Debug)]
#[debug("Handle")]
pub struct Handle {
    say: Arc<dyn Fn(Said) + Send + Sync>,
}

/// What a front end says.
#[derive(Debug)]
pub enum Said {
    /// Something that has no answer.
    Tell(Tell),
    /// A request.
    Ask(AnyAsk),
}

impl Handle {
    /// One that hands what is said to `say`, which returns at once.
    pub fn new(say: impl Fn(Said) + Send + Sync + 'static) -> Self {
        let say = Arc::new(say);
        Self { say }
    }

    /// One over which nothing is said in the person's name: what is asked so is refused for this reason.
    #[must_use]
    pub fn not_for_person(self, why: &'static str) -> Self {
        Self::new(move |said| match said {
            Said::Tell(tell) if tell.is_for_person() => {}
            Said::Ask(ask) if ask.is_for_person => ask.refuse(why.into()),
            said => (self.say)(said),
        })
    }

    /// Tells something.
    pub fn tell(&self, tell: Tell) {
        (self.say)(Said::Tell(tell));
    }

    /// Asks for something; `reply` gets the answer. A decision that is taken before the front end leaves is carried out.
    pub fn ask<A: Ask>(&self, ask: A, reply: Answering<A>) {
        (self.say)(Said::Ask(AnyAsk::new(ask, reply)));
    }
}
