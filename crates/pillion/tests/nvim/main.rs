//! The Neovim plugin in real Neovims, with the real `pillion lsp`: what agents hear of what a person
//! does there, and what a person sees of what agents propose.
//!
//! `cargo xtask test` installs both Neovims and runs these tests. Each test runs on each of them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

/// A test on each Neovim: `each_neovim! { fn it_does_something(version) { … } }`.
macro_rules! each_neovim {
    ($(#[$meta:meta])* fn $name:ident($version:ident) $body:block) => {
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every test uses what its file imports")]
            use super::*;

            fn check($version: pillion_testkit::NvimVersion) $body

            #[test]
            #[ignore = "needs Neovim: cargo xtask test"]
            fn neovim_0_7() {
                check(pillion_testkit::NvimVersion::V0_7);
            }

            #[test]
            #[ignore = "needs Neovim: cargo xtask test"]
            fn neovim_0_10() {
                check(pillion_testkit::NvimVersion::V0_10);
            }
        }
    };
}

mod agents;
mod context;
mod diff;
mod diff_accidents;
mod diff_decisions;
mod diff_focus;
mod diff_hunks;
mod diff_names;
mod diff_texts;
mod health;
mod help;
mod ide_client;
mod install;
mod lifecycle;
mod plain;
mod reload;
mod roots;
mod selection;
mod send;
#[path = "../shared/texts.rs"]
mod shared_texts;
mod standin;
mod start;
mod terminal;
mod world;
