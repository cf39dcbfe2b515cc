//! The review as a page in a browser.

mod assets;
pub mod wire;
