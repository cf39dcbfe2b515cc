//! What only Kakoune has, in real Kakounes with the real `pillion kakoune`: a client split in tmux, macros, its
//! installation. The rules of all editors are in `tests/editors`.
//!
//! `cargo xtask test` installs both Kakounes and runs these tests. Each test runs on each of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

/// A test on each Kakoune: `each_kakoune! { fn it_does_something(version) { … } }`.
macro_rules! each_kakoune {
    (needs $needs:literal $(#[$meta:meta])* fn $name:ident($version:ident) $body:block) => {
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every test uses what its file imports")]
            use super::*;

            fn check($version: pillion_testkit::KakouneVersion) $body

            #[test]
            #[ignore = $needs]
            fn kakoune_2024_05() {
                check(pillion_testkit::KakouneVersion::V2024_05);
            }

            #[test]
            #[ignore = $needs]
            fn kakoune_2026_05() {
                check(pillion_testkit::KakouneVersion::V2026_05);
            }
        }
    };
    ($($test:tt)*) => {
        each_kakoune! { needs "needs Kakoune: cargo xtask test" $($test)* }
    };
}

mod agents;
mod await_write;
mod busy;
mod clients;
mod commands;
mod conformance;
mod decisions;
mod first_moment;
mod hung_disk;
mod install;
mod notes;
mod open_with;
mod seen;
#[allow(dead_code, reason = "shared with the other tests of the command")]
#[path = "../shared/conformance.rs"]
mod shared_conformance;
mod split;
mod world;
