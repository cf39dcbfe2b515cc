//! The Emacs package in real Emacsen, with the real `pillion lsp`: what no other editor has. The rules that all
//! editors keep are in `tests/editors`.
//!
//! `cargo xtask test` installs both Emacsen and runs these tests. Each test runs on each of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

/// A test on each Emacs: `each_emacs! { fn it_does_something(version) { … } }`. If it needs more, that comes first:
/// `needs "what: how"`.
macro_rules! each_emacs {
    (needs $needs:literal $(#[$meta:meta])* fn $name:ident($version:ident) $body:block) => {
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every test uses what its file imports")]
            use super::*;

            fn check($version: pillion_testkit::EmacsVersion) $body

            #[test]
            #[ignore = $needs]
            fn emacs_30_1() {
                check(pillion_testkit::EmacsVersion::V30_1);
            }

            #[test]
            #[ignore = $needs]
            fn emacs_30_2() {
                check(pillion_testkit::EmacsVersion::V30_2);
            }
        }
    };
    ($($test:tt)*) => {
        each_emacs! { needs "needs Emacs: cargo xtask test" $($test)* }
    };
}

mod additions;
mod agents;
mod beside;
mod busy;
mod conformance;
mod daemon;
mod diagnostics;
mod gate;
mod install;
mod merge;
mod review;
#[allow(dead_code, reason = "shared with the other tests of the command")]
#[path = "../shared/conformance.rs"]
mod shared_conformance;
mod sources;
mod start;
mod starters;
mod terminal;
mod world;
mod written;
