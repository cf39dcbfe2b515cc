//! The suite's time limits.

use std::time::Duration;

/// The time limits of the suite.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For an answer, or for what is to come at once.
    pub answer: Duration,
    /// For an answer that the contract wants at once.
    pub prompt: Duration,
    /// For something that must not come.
    pub quiet: Duration,
    /// The time for which a silent event stream is watched.
    pub idle: Duration,
    /// The silence after which agents take a stream for dead.
    pub silence: Duration,
    /// For a file to be put back.
    pub restore: Duration,
    /// For a person, or a command in a person's place.
    pub help: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(5),
            // No editor takes longer to open a view, and no person decides as quickly.
            prompt: Duration::from_secs(2),
            quiet: Duration::from_millis(500),
            idle: Duration::from_secs(1),
            // Node's fetch gives up on a body that is silent for so long.
            silence: Duration::from_secs(300),
            // Claude Code looks for a companion for so long after its start.
            restore: Duration::from_secs(30),
            help: Duration::from_secs(60),
        }
    }
}
