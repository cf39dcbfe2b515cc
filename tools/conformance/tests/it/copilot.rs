//! The rules of Copilot CLI's protocol, tried on a small companion that can break every one of them.

mod companion;
mod connection;
mod context;
mod lock_files;
mod rules;
mod tools;
