//! A person in Emacs without the package, but with eglot or lsp-mode, set up as `docs/editors.md` says: what agents
//! hear, and what becomes of what they propose.

mod context;
mod interruptions;
mod review;
mod scene;
