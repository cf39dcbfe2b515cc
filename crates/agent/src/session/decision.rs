//! What can become of a proposal.

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Accepted (C5.6). The text may be another than the proposed one: the reviewer can edit it.
    Accepted {
        /// The complete final text.
        text: String,
        /// Which text of the file the reviewer compared it with last, as a fingerprint, where the
        /// companion says so.
        base: Option<String>,
    },
    /// Rejected, which closing the view without accepting is, too (C5.7).
    Rejected,
    /// This side closed the view; this was the text in it (C5.5).
    Closed(String),
}

impl Decision {
    /// Accepted, by a companion that does not say what it was compared with.
    pub fn accepted(text: impl Into<String>) -> Self {
        Self::Accepted {
            text: text.into(),
            base: None,
        }
    }
}
