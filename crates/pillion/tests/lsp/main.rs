//! `pillion lsp`, as an editor and its agents meet it: a real process, driven over its pipes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

/// A test on each release of an editor: `each_release! { Kate fn it_does_something(version) { … } }`. If it needs more,
/// that comes after the editor: `needs "what: how"`.
macro_rules! each_release {
    (Helix $($test:tt)*) => {
        each_release! { @ HelixVersion [V25_01 helix_25_01 V25_07 helix_25_07] "needs Helix: cargo xtask test" $($test)* }
    };
    (Kate $($test:tt)*) => {
        each_release! { @ KateVersion [V25_04 kate_25_04 V26_08 kate_26_08] "needs Kate: cargo xtask test" $($test)* }
    };
    (Kakoune $($test:tt)*) => {
        each_release! { @ KakouneVersion [V2024_05 kakoune_2024_05 V2026_05 kakoune_2026_05]
            "needs kakoune-lsp and Kakoune: cargo xtask test" $($test)* }
    };
    (@ $kind:ident $releases:tt $usual:literal needs $needs:literal $($test:tt)*) => {
        each_release! { @ $kind $releases $needs $($test)* }
    };
    (@ $kind:ident [$($release:ident $title:ident)+] $needs:literal
        $(#[$meta:meta])* fn $name:ident($version:ident) $body:block) => {
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every test uses what its file imports")]
            use super::*;

            fn check($version: pillion_testkit::$kind) $body

            $(
                #[test]
                #[ignore = $needs]
                fn $title() {
                    check(pillion_testkit::$kind::$release);
                }
            )+
        }
    };
}

mod agent;
mod claude;
mod client;
mod comeback;
mod conformance;
mod context;
mod diffs;
mod emacs;
mod endings;
mod example;
mod framing;
mod handshake;
mod helix;
#[cfg(target_os = "linux")]
mod hung_disk;
mod kakoune;
mod kate;
#[cfg(target_os = "linux")]
mod memory;
mod no_diffs;
#[cfg(unix)]
#[path = "../shared/other_hub.rs"]
mod other_hub;
mod plain;
mod roots;
#[allow(dead_code, reason = "shared with the other tests of the command")]
#[path = "../it/sandbox.rs"]
mod sandbox;
#[path = "../shared/conformance.rs"]
mod shared_conformance;
#[path = "../shared/encodings.rs"]
mod shared_encodings;
mod silence;
