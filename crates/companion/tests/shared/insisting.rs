// A person who reads what the gate asks, and means it all the same.

use std::thread;

use pillion_view::ask::Refused;
use pillion_view::{Decide, Handle, LOOK, Reply, Ruling};

/// Decides, and once more where the gate asks; what it rules in the end is `told`.
pub fn insist(handle: &Handle, decide: Decide, told: impl FnOnce(Ruling) + Send + 'static) {
    let (again, repeated) = (handle.clone(), decide.clone());
    let reply = Reply::new(move |ruling: Result<Ruling, Refused>| match ruling {
        Ok(Ruling::Refused(refusal)) if refusal.repeat => {
            thread::spawn(move || {
                thread::sleep(LOOK);
                insist(&again, repeated, told);
            });
        }
        Ok(ruling) => told(ruling),
        // The companion has stopped.
        Err(_) => {}
    });
    handle.ask(decide, reply);
}
