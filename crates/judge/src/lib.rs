//! What a person does to a proposed or written change, without any screen: hunks taken out, texts edited, notes, what was seen,
//! and the decision that comes of it. The terminal review draws it; so can any other view.

pub mod act;
pub mod bases;
mod enclosing;
pub mod highlight;
pub mod history;
pub mod journal;
mod judged;
pub mod keys;
pub mod listed;
pub mod marks;
mod moved;
pub mod naming;
pub mod proposal;
pub mod rows;
pub mod search;
pub mod source;
pub mod syntax;
pub mod white;

pub use enclosing::enclosing;
pub use judged::{
    Compared, DECIDING, Disk, Done, HunkNote, Intervals, Job, Judged, SeenHunks, SeenParts, Step,
    Target, add_words,
};
pub use moved::{Elsewhere, Moved};
