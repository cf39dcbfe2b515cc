//! Being found by agents, and finding running companions: the files, directories and processes of
//! C2 and C6.
//!
//! Blocking file-system calls and short loopback connects, no async; the server itself is the
//! companion's. Nothing here trusts what lies in a shared directory.
//!
//! - `agent_socket`: where agents come in that dial no port.
//! - [`detect`](mod@detect): in which IDE a process runs (C7.1).
//! - [`environment`]: which directories an agent computes from its variables.
//! - [`real_path`](fn@real_path): where a path leads that may not be there yet.
//! - [`handover`]: what a companion leaves to its successor.
//! - `hub_socket`: where the front ends of one user find the process that hosts their companions.
//! - [`kept_text`]: private files for texts that would be lost.
//! - [`namespaces`]: what is seen from here of another container.
//! - [`private_file`]: files that only this user can read, never written through a link.
//! - [`process_dir`]: private folders that go with their process.
//! - [`regular_file`]: files that are read whole, and never waited for.
//! - [`tokens`]: the secrets of one companion, one per dialect (C3.1).
//! - [`publication`]: the discovery files of one companion, from publishing to removal.
//! - [`sweep`](fn@sweep): files that dead companions left behind (C6.2).
//! - [`survey`](mod@survey): every companion on this machine, Pillion's and others'.
//! - [`state`]: how Pillion's own commands find a running companion.
//! - [`version`]: whether the parts of Pillion are of one version.

#[cfg(unix)]
pub mod agent_socket;
pub mod detect;
pub mod environment;
pub mod handover;
#[cfg(unix)]
pub mod hub_socket;
pub mod kept_text;
mod liveness;
pub mod namespaces;
pub mod private_file;
pub mod process_dir;
pub mod publication;
mod real_path;
pub mod regular_file;
pub mod state;
pub mod survey;
mod sweep;
pub mod tokens;
pub mod version;
mod warning;

pub use detect::{Detection, Ide, detect};
pub use environment::Environment;
pub use handover::{Handover, Predecessor};
pub use liveness::listens;
pub use private_file::FileError;
pub use publication::{Announcement, Publication, Seat};
pub use real_path::{canonicalize, depth_in, is_same, real_path};
pub use state::{CompanionState, StateError, StateFile};
pub use survey::survey;
pub use sweep::sweep;
pub use tokens::Tokens;
pub use warning::Warning;
