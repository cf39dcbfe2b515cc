//! Owns who has a place at a socket of ours: those who have not said what they are for, programs with a request, and views.
//! None of them takes the places of another kind, and what agents start leaves some of each kind to the person. All share one
//! budget for what they have begun to say.

use std::collections::BTreeMap;
use std::io;
use std::net::Shutdown;
use std::sync::{Arc, Mutex};

use pillion_discovery::budget::Budget;
use pillion_discovery::lines;
use pillion_discovery::private_file::Stream;
use pillion_system::lock;

/// The most that have not said what they are for. With one more, the oldest has to go: who has a purpose says it at once.
const MAX_SILENT: usize = 64;

/// The most of whom it is being found out whether they are an agent's. There are no more at once but in a flood, and each costs
/// something.
const MAX_JUDGED: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// A request, as commands and hooks have.
    Request,
    View,
}

/// The places of one purpose.
#[derive(Debug, Clone, Copy)]
struct Limit {
    most: usize,
    /// The first of them, which may be an agent's: the others are the person's.
    of_agents: usize,
    /// The refusal once they are taken.
    refusal: &'static str,
}

impl Purpose {
    fn limit(self) -> Limit {
        match self {
            Self::Request => Limit {
                most: 192,
                of_agents: 128,
                refusal: "the hub has too many requests at once",
            },
            Self::View => Limit {
                most: 192,
                // Each costs something whenever somebody is judged.
                of_agents: 16,
                refusal: "the hub has too many front ends",
            },
        }
    }
}

#[derive(Debug)]
pub(crate) struct Places {
    state: Mutex<State>,
    budget: Budget,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            budget: lines::budget(),
        }
    }
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    /// Those that have not said what they are for, oldest first.
    silent: BTreeMap<u64, Stream>,
    taken: BTreeMap<Purpose, usize>,
    /// The number of those of whom it is being found out whether they are an agent's.
    judged: usize,
}

/// The place of one connection. Dropping it makes room.
#[derive(Debug)]
pub(crate) struct Place {
    number: u64,
    purpose: Option<Purpose>,
    places: Arc<Places>,
}

impl Places {
    /// One more connection, which has not said anything yet.
    ///
    /// # Errors
    /// When the system has no descriptor for it.
    pub(crate) fn enter(self: &Arc<Self>, stream: &Stream) -> io::Result<Place> {
        let stream = stream.try_clone()?;
        let mut state = lock(&self.state);
        state.last += 1;
        let number = state.last;
        state.silent.insert(number, stream);
        if state.silent.len() > MAX_SILENT
            && let Some((_, oldest)) = state.silent.pop_first()
        {
            // What it has said already is still read, and answered.
            let _ = oldest.shutdown(Shutdown::Read);
        }
        drop(state);
        Ok(Place {
            number,
            purpose: None,
            places: Arc::clone(self),
        })
    }
}

impl Place {
    /// The budget for what it has begun to say.
    pub(crate) fn budget(&self) -> &Budget {
        &self.places.budget
    }

    /// It has said what it is for. Whether it `is_agents` is asked only if that decides.
    ///
    /// # Errors
    /// A sentence for whoever it is, if there is no room.
    pub(crate) fn takes(
        &mut self,
        purpose: Purpose,
        is_agents: impl FnOnce() -> bool,
    ) -> Result<(), &'static str> {
        let limit = purpose.limit();
        let taken = {
            let mut state = lock(&self.places.state);
            state.silent.remove(&self.number);
            let taken = state.taken.entry(purpose).or_default();
            *taken += 1;
            *taken
        };
        self.purpose = Some(purpose);
        match taken > limit.most || taken > limit.of_agents && self.is_agents(is_agents) {
            true => Err(limit.refusal),
            false => Ok(()),
        }
    }

    /// Finds it out, unless too many others are waiting for that.
    fn is_agents(&self, is_agents: impl FnOnce() -> bool) -> bool {
        let change = |by: isize| {
            let mut state = lock(&self.places.state);
            state.judged = state.judged.saturating_add_signed(by);
            state.judged
        };
        let is_agents = change(1) > MAX_JUDGED || is_agents();
        change(-1);
        is_agents
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = lock(&self.places.state);
        state.silent.remove(&self.number);
        if let Some(taken) = self.purpose.and_then(|it| state.taken.get_mut(&it)) {
            *taken -= 1;
        }
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    fn enter(places: &Arc<Places>) -> (UnixStream, UnixStream, Place) {
        let (there, here) = UnixStream::pair().unwrap();
        let place = places.enter(&here).unwrap();
        (there, here, place)
    }

    fn taken(places: &Arc<Places>, number: usize, purpose: Purpose) -> Vec<Place> {
        let take = |_| {
            let mut place = enter(places).2;
            place.takes(purpose, || false).unwrap();
            place
        };
        (0..number).map(take).collect()
    }

    #[test]
    fn the_silent_one_that_came_first_goes_and_what_it_has_said_is_read() {
        let places = Arc::default();
        let (mut first, mut read, place) = enter(&places);
        let mut others: Vec<_> = (1..MAX_SILENT).map(|_| enter(&places)).collect();
        first.write_all(b"said").unwrap();
        others.push(enter(&places));
        let mut said = String::new();
        read.read_to_string(&mut said).unwrap();
        assert_eq!(said, "said");
        drop(place);
        let (there, here, _) = &mut others[0];
        there.write_all(b"x").unwrap();
        here.read_exact(&mut [0]).unwrap();
        // Who has said it, or has left, is not silent.
        let mut place = enter(&places).2;
        place.takes(Purpose::Request, || true).unwrap();
        drop(others);
        assert!(lock(&places.state).silent.is_empty());
    }

    #[test]
    fn no_purpose_takes_the_places_of_another_and_agents_leave_some_to_the_person() {
        for purpose in [Purpose::Request, Purpose::View] {
            let Limit {
                most, of_agents, ..
            } = purpose.limit();
            let places = Arc::default();
            let ask = |is_agents| {
                let mut place = enter(&places).2;
                place.takes(purpose, move || is_agents).map(|()| place)
            };
            let mut held = taken(&places, of_agents - 1, purpose);
            held.push(ask(true).unwrap());
            assert!(ask(true).is_err(), "{purpose:?}");
            held.extend(taken(&places, most - of_agents, purpose));
            assert_eq!(ask(false).unwrap_err(), purpose.limit().refusal);
            let other = match purpose {
                Purpose::Request => Purpose::View,
                Purpose::View => Purpose::Request,
            };
            let free = taken(&places, other.limit().most, other);
            assert_eq!(free.len(), other.limit().most);
            held.pop();
            ask(false).unwrap();
        }
    }

    #[test]
    fn a_flood_is_refused_before_it_costs_anything() {
        let places = Arc::default();
        let limit = Purpose::View.limit();
        let _held = taken(&places, limit.of_agents, Purpose::View);
        fn come(places: &Arc<Places>, more: usize) -> usize {
            let mut place = enter(places).2;
            let mut asked = 0;
            let taken = place.takes(Purpose::View, || {
                asked = 1 + match more {
                    0 => 0,
                    _ => come(places, more - 1),
                };
                true
            });
            assert!(taken.is_err());
            asked
        }
        assert_eq!(come(&places, 2 * MAX_JUDGED), MAX_JUDGED);
        assert_eq!(come(&places, 0), 1, "they are gone");
    }
}
