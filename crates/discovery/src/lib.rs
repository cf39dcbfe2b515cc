//! Being found by agents: where they look, under whose process ids (C2), and how secrets are
//! written there.

pub mod environment;
pub mod private_file;
pub mod process;

pub use environment::Environment;
pub use private_file::FileError;
