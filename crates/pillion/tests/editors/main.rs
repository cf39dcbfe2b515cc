//! The rules that every editor with a plugin of Pillion's keeps, each described once, and checked in each
//! real editor with the real `pillion lsp`. What an editor's keys and screens are, its driver knows.
//!
//! `cargo xtask test` installs the editors and runs these tests. What came out is the table in
//! `docs/editors.md`. A new editor is one driver, one entry in `editors!`, and one in `driver.rs`.

//! Mistakes that other companions make, and what would notice them here:
//!
//! | mistake | rule |
//! | --- | --- |
//! | an autosave accepts | `decisions::an_autosave_accepts_nothing` |
//! | a held key accepts, or one that was meant for an older proposal | `seen` |
//! | closing gives the original, or nothing | `texts::texts_are_in_the_answer_when_the_agent_closes` |
//! | line endings, BOM, last newline or NUL change; JSON is read as an answer | `texts::texts_are_accepted_byte_for_byte` |
//! | a name is a pattern, or a command | `names::names_are_taken_as_they_are` |
//! | an agent gets the outcome of another one's diff | `accidents::two_agents_with_a_diff_on_one_file_get_an_outcome_each` |
//! | an unsaved buffer is overwritten, or its question holds up the agent | `accidents::unsaved_edits_are_left_alone_when_an_agent_writes` |
//! | the whole home is a workspace | `roots::neither_home_nor_the_machine_is_a_root` |

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

/// A rule, which is a test for each editor: `each_editor! { fn it_does_something(kind) { … } }`. One in which
/// the real Claude Code takes part starts with `claude_code`.
macro_rules! each_editor {
    (claude_code $(#[$meta:meta])* fn $name:ident($kind:ident) $body:block) => {
        each_editor! { @ claude_code $(#[$meta])* $name $kind $body }
    };
    ($(#[$meta:meta])* fn $name:ident($kind:ident) $body:block) => {
        each_editor! { @ alone $(#[$meta])* $name $kind $body }
    };
    (@ $with:ident $(#[$meta:meta])* $name:ident $kind:ident $body:block) => {
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every test uses what its file imports")]
            use super::*;

            fn check($kind: crate::driver::Kind) $body

            editors! { $with }
        }
    };
}

/// The test of a rule for each editor.
macro_rules! editors {
    ($with:ident) => {
        editors! { $with
            neovim_0_10 Neovim(pillion_testkit::NvimVersion::V0_10)
                "needs Neovim: cargo xtask test"
                "needs the real agents, Claude Code and Neovim: cargo xtask test"
            neovim_0_12 Neovim(pillion_testkit::NvimVersion::V0_12)
                "needs Neovim: cargo xtask test"
                "needs the real agents, Claude Code and Neovim: cargo xtask test"
            vim_9_1 Vim(pillion_testkit::VimVersion::V9_1)
                "needs Vim: cargo xtask test"
                "needs the real agents, Claude Code and Vim: cargo xtask test"
            vim_9_2 Vim(pillion_testkit::VimVersion::V9_2)
                "needs Vim: cargo xtask test"
                "needs the real agents, Claude Code and Vim: cargo xtask test"
            emacs_29_3 Emacs(pillion_testkit::EmacsVersion::V29_3)
                "needs Emacs: cargo xtask test"
                "needs the real agents, Claude Code and Emacs: cargo xtask test"
            emacs_30_1 Emacs(pillion_testkit::EmacsVersion::V30_1)
                "needs Emacs: cargo xtask test"
                "needs the real agents, Claude Code and Emacs: cargo xtask test"
            emacs_30_2 Emacs(pillion_testkit::EmacsVersion::V30_2)
                "needs Emacs: cargo xtask test"
                "needs the real agents, Claude Code and Emacs: cargo xtask test"
            kakoune_2024_05 Kakoune(pillion_testkit::KakouneVersion::V2024_05)
                "needs Kakoune: cargo xtask test"
                "needs the real agents, Claude Code and Kakoune: cargo xtask test"
            kakoune_2026_05 Kakoune(pillion_testkit::KakouneVersion::V2026_05)
                "needs Kakoune: cargo xtask test"
                "needs the real agents, Claude Code and Kakoune: cargo xtask test"
        }
    };
    (alone $($test:ident $kind:ident($version:expr) $needs:literal $with_claude:literal)*) => {
        editors! { @ $($test $kind($version) $needs)* }
    };
    (claude_code $($test:ident $kind:ident($version:expr) $needs:literal $with_claude:literal)*) => {
        editors! { @ $($test $kind($version) $with_claude)* }
    };
    (@ $($test:ident $kind:ident($version:expr) $needs:literal)*) => {
        $(
            #[test]
            #[ignore = $needs]
            fn $test() {
                check(crate::driver::Kind::$kind($version));
            }
        )*
    };
}

mod driver;
mod drivers;
mod person;
mod rules;
#[path = "../shared/texts.rs"]
mod shared_texts;
