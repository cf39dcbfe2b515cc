//! Being found by agents: where they look, and under whose process ids (C2).

pub mod environment;
pub mod process;

pub use environment::Environment;
