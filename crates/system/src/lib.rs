//! Queries to the operating system, in one place for all crates: knows nothing of agents,
//! editors and companions.
//!
//! - [`attended`]: whether a person can see what processes show.
//! - [`child`]: programs that are run for no longer than a while.
//! - `descriptors`: how many descriptors a process may have.
//! - `detached`: programs that go on for longer than whoever starts them.
//! - [`duration`]: durations as people write them.
//! - [`lineage`]: a process and all above it, with users, sessions and terminals.
//! - [`memory`]: the amount that the allocator keeps.
//! - [`namespaces`]: the part of the machine that a process sees.
//! - [`peer`]: the processes at the other end of a connection.
//! - [`process`]: the parents of a process, and whether it lives.
//! - [`search_path`]: the places of programs.
//! - [`signals`]: requests to exit.
//! - [`stdio`]: the standard streams.
//! - [`thread`]: work on a thread of its own, and work that is done in its order.
//! - [`time_limit`]: work that may take for ever.

pub mod attended;
pub mod child;
pub mod clock;
#[cfg(unix)]
pub mod descriptors;
#[cfg(unix)]
pub mod detached;
pub mod duration;
pub mod lineage;
pub mod memory;
pub mod namespaces;
pub mod peer;
pub mod process;
pub mod search_path;
pub mod signals;
pub mod stdio;
pub mod thread;
pub mod time_limit;

pub use child::{Child, Ended, Group};
pub use clock::now_ms;
pub use search_path::{SearchPath, is_program};
pub use signals::{Signal, Signals};
pub use thread::{Worker, lock, spawn};
