//! The Emacs package in real Emacsen, with the real `pillion lsp`: what no other editor has. The rules that all
//! editors keep are in `tests/editors`.
//!
//! `cargo xtask test` installs the Emacsen and runs these tests. Each test runs on each of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

/// A test on each Emacs: `each_emacs! { fn it_does_something(version) { … } }`; with `newer` in front, on all but the
/// oldest. If it needs more than Emacs, that comes first: `needs "what: how"`.
macro_rules! each_emacs {
    (@ $needs:literal [$($test:ident $version:ident)*] $name:ident $argument:ident $body:block) => {
        mod $name {
            #[allow(unused_imports, reason = "not every test uses what its file imports")]
            use super::*;

            fn check($argument: pillion_testkit::EmacsVersion) $body

            $(
                #[test]
                #[ignore = $needs]
                fn $test() {
                    check(pillion_testkit::EmacsVersion::$version);
                }
            )*
        }
    };
    (needs $needs:literal fn $name:ident($version:ident) $body:block) => {
        each_emacs! { @ $needs [emacs_30_1 V30_1 emacs_30_2 V30_2] $name $version $body }
    };
    (newer fn $name:ident($version:ident) $body:block) => {
        each_emacs! { needs "needs Emacs: cargo xtask test" fn $name($version) $body }
    };
    (fn $name:ident($version:ident) $body:block) => {
        each_emacs! { @ "needs Emacs: cargo xtask test" [emacs_29_3 V29_3 emacs_30_1 V30_1 emacs_30_2 V30_2] $name $version $body }
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
mod newer;
mod no_diffs;
mod notes;
mod review;
mod seen;
#[allow(dead_code, reason = "shared with the other tests of the command")]
#[path = "../shared/conformance.rs"]
mod shared_conformance;
mod sources;
mod start;
mod starters;
mod terminal;
mod world;
mod written;
