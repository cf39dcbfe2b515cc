//! The number of a view within its companion.

/// One of the views of a companion. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ViewId(pub(crate) u32);

impl ViewId {
    /// The one that a companion starts with.
    pub(crate) const FIRST: Self = Self(0);
}
