//! The rules that every editor with a plugin of Pillion's keeps, each described once, and checked in each
//! real editor with the real `pillion lsp`. What an editor's keys and screens are, its driver knows.
//!
//! `cargo xtask test` installs the editors and runs these tests. What came out is the table in
//! `docs/editors.md`. A new editor is one driver, and one line in [`each_editor`] and in `driver.rs`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

/// A rule, which is a test for each editor: `each_editor! { fn it_does_something(kind) { … } }`.
macro_rules! each_editor {
    ($(#[$meta:meta])* fn $name:ident($kind:ident) $body:block) => {
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every test uses what its file imports")]
            use super::*;

            fn check($kind: crate::driver::Kind) $body

            each_editor! {
                "needs Neovim: cargo xtask test" neovim_0_7 Neovim(pillion_testkit::NvimVersion::V0_7)
                "needs Neovim: cargo xtask test" neovim_0_10 Neovim(pillion_testkit::NvimVersion::V0_10)
                "needs Vim: cargo xtask test" vim_9_0 Vim(pillion_testkit::VimVersion::V9_0)
                "needs Vim: cargo xtask test" vim_9_1 Vim(pillion_testkit::VimVersion::V9_1)
            }
        }
    };
    ($($needs:literal $test:ident $kind:ident($version:expr))*) => {
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
