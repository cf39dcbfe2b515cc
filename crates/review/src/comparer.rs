//! The thread that compares texts beside the review's loop.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use crossbeam_channel::Sender;
use pillion_system::Worker;

use crate::Input;
use crate::app::Event;
use crate::view::Job;

/// Compares texts on a thread of its own: a long one must keep neither keys nor agents waiting.
pub fn start(done: Sender<Input>) -> io::Result<Worker<Job>> {
    Worker::start("compare", Duration::ZERO, move |job: Job| {
        // A panic has given the terminal back and was reported: there is nothing to go on with.
        let compared = panic::catch_unwind(AssertUnwindSafe(|| job.run()));
        let compared = compared.map(|compared| Input::Event(Event::Compared(compared)));
        let _ = done.send(compared.unwrap_or(Input::Stop));
    })
}
