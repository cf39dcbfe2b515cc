//! The requests to a companion, each with its answer beside it: what the person does by commands and views, what agents'
//! hooks tell, and what programs look up.

mod agents;
mod any;
mod diffs;
mod person;
mod proposals;

pub use pillion_discovery::state::State;
pub use pillion_protocol::ask::{Answered, Ask, Asked, Program, Refused};

pub use self::agents::*;
pub use self::any::AnyAsk;
pub use self::diffs::*;
pub use self::person::*;

pub use self::proposals::{
    Decided, Decisions, End, Look, LookedAt, MAX_FILES, Propose, Undecided, Withdraw,
};

/// Says of a request what its answer is, its name in messages, and whether it is only for the person.
macro_rules! ask {
    ($ask:ty => $answer:ty, $method:literal, for_person: $for_person:literal) => {
        impl pillion_protocol::ask::Ask for $ask {
            type Answer = $answer;
            const METHOD: &'static str = $method;
            const FOR_PERSON: bool = $for_person;
        }
    };
}
use ask;
