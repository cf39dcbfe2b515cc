//! A person in Emacs without the package, but with eglot or lsp-mode, set up as `docs/editors.md` says: what agents
//! hear, and what becomes of what they propose.

/// A test with each client in each Emacs: `each_client! { fn it_does_something(client, version) { … } }`. If it needs more, that comes first:
/// `needs "what: how"`.
macro_rules! each_client {
    (needs $needs:literal $(#[$meta:meta])* fn $name:ident($client:ident, $version:ident) $body:block) => {
        $(#[$meta])*
        mod $name {
            use super::*;

            fn check($client: Client, $version: pillion_testkit::EmacsVersion) $body

            #[test]
            #[ignore = $needs]
            fn eglot_in_emacs_30_1() {
                check(Client::Eglot, pillion_testkit::EmacsVersion::V30_1);
            }

            #[test]
            #[ignore = $needs]
            fn eglot_in_emacs_30_2() {
                check(Client::Eglot, pillion_testkit::EmacsVersion::V30_2);
            }

            #[test]
            #[ignore = $needs]
            fn lsp_mode_in_emacs_30_1() {
                check(Client::LspMode, pillion_testkit::EmacsVersion::V30_1);
            }

            #[test]
            #[ignore = $needs]
            fn lsp_mode_in_emacs_30_2() {
                check(Client::LspMode, pillion_testkit::EmacsVersion::V30_2);
            }
        }
    };
    ($($test:tt)*) => {
        each_client! { needs "needs Emacs: cargo xtask test" $($test)* }
    };
}

mod context;
mod interruptions;
mod review;
mod scene;
