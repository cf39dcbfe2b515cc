//! `pillion doctor`: every break of the way is made for real, told, and fixed by what it says.

mod agent;
mod claude;
mod companion;
mod connection;
mod dotenv;
mod real;
pub mod world;
