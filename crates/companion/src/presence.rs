//! Being found: the discovery files for agents (C2) and the state file for commands, kept for as
//! long as the companion runs.

use std::path::PathBuf;

use pillion_discovery::{Environment, Publication, StateFile};

#[derive(Debug)]
pub(crate) struct Presence {
    publication: Publication,
    state_file: Option<StateFile>,
    /// What went wrong with the roots or the state file.
    complaint: Option<String>,
}
