//! Being found by agents, and finding running companions: the files, directories and processes of
//! C2 and C6.
//!
//! Blocking file-system calls and short loopback connects, no async; the server itself is the
//! companion's. Nothing here trusts what lies in a shared directory.
//!
//! - [`approval`]: what a person has approved already.
//! - [`counter`]: numbers that are never given twice.
//! - [`detect`](mod@detect): in which IDE a process runs (C7.1).
//! - [`environment`]: which directories an agent computes from its variables.
//! - [`exact`]: how values go from one process to another, or into a file, without a change.
//! - [`real_path`](fn@real_path): where a path leads that may not be there yet.
//! - [`handover`]: what a companion leaves to its successor.
//! - [`socket`]: where front ends and commands reach the companions of one user.
//! - [`lines`]: what comes in there, and [`budget`] what all together may begin.
//! - [`program`]: how a program asks there.
//! - [`kept_text`]: private files for texts that would be lost.
//! - [`namespaces`]: what is seen from here of another container.
//! - [`new_lines`]: what a program adds to a file of its own.
//! - [`private_file`]: files that only this user can read, never written through a link.
//! - [`process_dir`]: private folders that go with their process.
//! - [`regular_file`]: files that are read whole, and never waited for.
//! - [`runner`]: which program runs or obeys a file without being started.
//! - [`tokens`]: the secrets of one companion, one per dialect (C3.1).
//! - [`discovery_files`]: the discovery files of one companion, from publishing to removal.
//! - [`sweep`](fn@sweep): files that dead companions left behind (C6.2).
//! - [`survey`](mod@survey): every companion on this machine, Pillion's and others'.
//! - [`state`]: what companions say of themselves to Pillion's own commands.
//! - [`version_control`]: which folders hold the history of a repository.
//! - [`workspace`]: the roots in which agents connect, by the folders and files of an editor.
//! - [`version`]: whether the parts of Pillion are of one version.

pub mod approval;
pub mod budget;
pub mod counter;
pub mod detect;
pub mod discovery_files;
pub mod environment;
pub mod exact;
pub mod handover;
pub mod kept_text;
pub mod lines;
mod liveness;
pub mod namespaces;
pub mod new_lines;
pub mod private_file;
pub mod process_dir;
pub mod program;
mod real_path;
pub mod regular_file;
mod runs_code;
pub mod socket;
pub mod state;
mod state_dir;
pub mod survey;
mod sweep;
pub mod tokens;
pub mod unended;
pub mod version;
pub mod version_control;
mod warning;
pub mod workspace;

pub use detect::{Detection, Ide, detect};
pub use discovery_files::{DiscoveryFiles, DiscoveryInfo, Seat};
pub use environment::Environment;
pub use handover::{Handover, Predecessor};
pub use liveness::listens;
pub use private_file::FileError;
pub use real_path::{
    canonicalize, depth_in, is_same, real_path, real_path_of, why_ambiguous, why_each_programs_own,
};
pub use runs_code::runner;
pub use socket::Socket;
pub use state::{CompanionState, ViewState};
pub use state_dir::obstacle;
pub use survey::survey;
pub use sweep::sweep;
pub use tokens::Tokens;
pub use warning::Warning;
