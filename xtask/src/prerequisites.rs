//! What the tests with real parts need on the machine besides Rust, and how it gets there.
