//! The client, against Pillion's companion and against servers that are not as nice.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod foreign;
mod pillion;
mod rude;
mod server;
