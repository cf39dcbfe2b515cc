//! The way to the hub, which is started if there is none.

use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use pillion_discovery::{Environment, socket};

use crate::hub::launch::{Launched, launch};

/// The time limit until a hub listens.
const WITHIN: Duration = Duration::from_secs(10);

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);

/// The rule for starting a hub if there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Launch {
    /// By this program.
    IfNeeded,
    /// Somebody else starts one.
    Never,
    /// There is one already, or none: nothing is waited for.
    NotEvenAwaited,
}

/// Connects to the hub. None if there cannot be one, if it takes too long, or if it `is_over`.
pub(crate) fn dial(
    environment: &Environment,
    how: Launch,
    is_over: impl Fn() -> bool,
) -> Option<UnixStream> {
    let deadline = Instant::now() + WITHIN;
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(stream) = socket::connect_to_hub(environment) {
            return Some(stream);
        }
        if how == Launch::NotEvenAwaited || is_over() || Instant::now() >= deadline {
            return None;
        }
        if how == Launch::IfNeeded {
            match launch(environment) {
                Launched::Listens => continue,
                // It starts to listen, or is about to end.
                Launched::IsThere => {}
                Launched::Failed => return None,
            }
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
