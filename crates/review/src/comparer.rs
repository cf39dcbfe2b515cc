//! The thread that compares texts beside the review's loop.

use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Sender};
use std::thread;

use crate::Input;
use crate::view::Job;

/// Compares texts on a thread of its own: a long one must keep neither keys nor agents waiting.
pub fn start(done: Sender<Input>) -> io::Result<Sender<Job>> {
    let (sender, jobs) = mpsc::channel::<Job>();
    thread::Builder::new()
        .name("compare".to_owned())
        .spawn(move || {
            for job in jobs {
                // A panic has given the terminal back and was reported: there is nothing to go on with.
                let compared = panic::catch_unwind(AssertUnwindSafe(|| job.run()));
                let is_over = compared.is_err();
                let input = compared.map_or(Input::Stop, Input::Compared);
                if done.send(input).is_err() || is_over {
                    return;
                }
            }
        })?;
    Ok(sender)
}
