//! How long tests wait.

use std::time::Duration;

/// The limit of every wait for something that must happen. Tests wait for states: this is only
/// where they give up, so it is long enough for a machine that does a lot of other things.
pub const SOON: Duration = Duration::from_secs(240);
