//! The rules of Claude Code's protocol, tried on a small companion that can break every one of them.

mod companion;
mod connection;
mod context;
mod frames;
mod lock_files;
mod rules;
mod tools;
