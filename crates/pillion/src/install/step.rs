//! One change to the machine: described first, and then done.

use std::fmt;

/// A change, which `Display` describes.
pub trait Step: fmt::Debug + fmt::Display {
    /// Does it. Returns what was done, for people.
    ///
    /// # Errors
    /// Why not.
    fn carry_out(&self) -> anyhow::Result<String>;
}
