//! `pillion doctor`: every break of the way is made for real, reported, and fixed by its advice.

mod agent;
mod claude;
mod codex;
mod companion;
mod connection;
mod containers;
mod hooks;
mod places;
mod real;
pub mod world;
