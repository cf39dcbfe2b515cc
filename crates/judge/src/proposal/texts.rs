//! The texts that are compared.

use std::sync::Arc;

use pillion_text::readable::is_binary;
use pillion_text::{Text, endings};

/// The two texts of a comparison.
#[derive(Debug, Clone)]
pub struct Texts {
    /// The file as it was read; `None` when it is not there yet.
    pub original: Option<Arc<Text>>,
    /// The file as it is compared: empty when it is not there, or cannot be shown.
    pub before: Arc<Text>,
    /// The proposed text as it is compared: empty when it cannot be shown.
    pub after: Arc<Text>,
    pub proposed: Arc<Text>,
    /// The line endings of the two are not compared.
    pub ignores_endings: bool,
    /// True if the file is binary, and is not shown.
    pub hides_before: bool,
    /// True if the proposed text is binary, and is not shown.
    pub hides_after: bool,
}

impl Texts {
    /// The texts to compare. This reads every byte.
    pub fn new(original: Option<Arc<Text>>, proposed: Arc<Text>) -> Self {
        let hides_before = original.as_deref().is_some_and(is_binary);
        let hides_after = is_binary(&proposed);
        let shown = original.as_ref().filter(|_| !hides_before);
        // A proposal is text: it came as such, or from an editor's file that was checked.
        let lf = shown
            .zip(std::str::from_utf8(proposed.bytes()).ok())
            .and_then(|(text, proposed)| endings::for_lf(text, proposed));
        let ignores_endings = lf.is_some();
        let before = match lf {
            Some(lf) => Arc::new(lf),
            None => shown.cloned().unwrap_or_default(),
        };
        let after = match hides_after {
            true => Arc::default(),
            false => Arc::clone(&proposed),
        };
        Self {
            original,
            before,
            after,
            proposed,
            ignores_endings,
            hides_before,
            hides_after,
        }
    }

    /// Returns true if both texts can be shown.
    pub fn are_readable(&self) -> bool {
        !self.hides_before && !self.hides_after
    }
}
