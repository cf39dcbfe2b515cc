//! A person in Emacs without the package, but with eglot or lsp-mode, set up as `docs/editors.md` says: what agents
//! hear, and what becomes of what they propose.

/// A test with each client: `each_client! { fn it_does_something(client) { … } }`. If it needs more, that comes first:
/// `needs "what: how"`.
macro_rules! each_client {
    (needs $needs:literal $(#[$meta:meta])* fn $name:ident($client:ident) $body:block) => {
        $(#[$meta])*
        mod $name {
            use super::*;

            fn check($client: Client) $body

            #[test]
            #[ignore = $needs]
            fn eglot() {
                check(Client::Eglot);
            }

            #[test]
            #[ignore = $needs]
            fn lsp_mode() {
                check(Client::LspMode);
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
