//! Queries to the operating system, in one place for all crates: knows nothing of agents,
//! editors and companions.
//!
//! - [`child`]: programs that are run for no longer than a while.
//! - `descriptors`: what a program inherits.
//! - [`input`]: how much fits into a pipe.
//! - [`memory`]: how much the allocator keeps.
//! - [`namespaces`]: which part of the machine a process sees.
//! - [`output`]: whether output is read.
//! - [`peer`]: who is at the other end of a connection.
//! - [`process`]: whose child a process is, and whether it lives.
//! - [`search_path`]: where a program is.
//! - [`signals`]: requests to exit.
//! - [`thread`]: work on a thread of its own.
//! - [`time_limit`]: work that may take for ever.
//! - [`worker`]: work that is done in its order, by a thread.

pub mod child;
pub mod clock;
#[cfg(unix)]
pub mod descriptors;
pub mod input;
pub mod memory;
pub mod namespaces;
pub mod output;
pub mod peer;
pub mod process;
pub mod search_path;
pub mod signals;
pub mod thread;
pub mod time_limit;
pub mod worker;

pub use child::{Child, Ended, Group};
pub use clock::now_ms;
pub use search_path::{SearchPath, is_program};
pub use signals::{Signal, Signals};
pub use thread::spawn;
pub use worker::Worker;
