//! Changes that are written already, as they are shown beside proposals: the text before a turn beside what the file has now.

use std::collections::HashSet;
use std::path::PathBuf;

use pillion_protocol::Note;
use pillion_protocol::verdict;
use pillion_text::{counted, visible};

use crate::deciding::{Act, DecideError, Decided, Deciding, Words};
use crate::history::as_text;
use crate::kept::{self, Kept};
use crate::state::FileState;
use crate::store::{Store, StoreError};
use crate::take_back::{self, Present};
use crate::turn::{Author, Change, ChangeRef, ChangeState};

/// A change that can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Its name.
    pub name: ChangeRef,
    /// Its file.
    pub path: PathBuf,
    /// The text before, and what stands there now.
    pub present: Present,
    /// What stands there now; empty if nothing does.
    pub now: String,
    /// What the agent had made of it.
    pub after: FileState,
    /// The permissions before, if there was a file, and after, where no text shows them.
    pub mode: Option<(Option<u32>, u32)>,
    /// What it has to do with a symbolic link, as a sentence, if anything.
    pub link: Option<&'static str>,
    /// The place from which it has moved its file, which it shows as one change with what took the file away from there.
    pub from: Option<PathBuf>,
    /// True if nobody knows who made it.
    pub is_unclear: bool,
}

/// The changes that can be shown, of those that are meant.
#[derive(Debug, Default)]
pub struct Looked {
    /// Those that can be shown.
    pub shown: Vec<Shown>,
    /// The others, and places of those that are shown, each with why, as a sentence.
    pub left_out: Vec<String>,
    /// The number of those that are meant, if there are more than can be shown at a time.
    pub of: Option<usize>,
}

/// The reason why nothing can be shown.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// All of it is shown already.
    #[error("everything unseen in {0} is open already")]
    Open(ChangeRef),
    /// It was taken back, or is no longer there.
    #[error("{0} is {1}: nothing of it is in the file")]
    Over(ChangeRef, &'static str),
    /// Nothing of it is text.
    #[error("nothing in {0} can be shown as text")]
    NoText(ChangeRef),
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Looks at a change, or at all of a turn that nobody has seen, or at all that is left of it if all was seen, but for those that are `open`: at so many at most.
///
/// # Errors
/// When nothing can be shown.
pub fn look(
    store: &Store,
    kept: &Kept,
    name: ChangeRef,
    open: &[ChangeRef],
    max: usize,
) -> Result<Looked, LookError> {
    // Of a turn that was seen, what stands in its files is looked at again.
    let is_seen = kept.unseen() == 0;
    for change in kept
        .named(name)?
        .into_iter()
        .filter(|_| name.change.is_some())
    {
        if is_over(kept, change, true) {
            return Err(LookError::Over(name, kept.state(change).name()));
        }
    }
    let is_meant = |it: &&Change| match kept.state(it) {
        _ if name.change.is_some() => true,
        ChangeState::Unseen => true,
        ChangeState::Accepted | ChangeState::Kept | ChangeState::Edited => is_seen,
        ChangeState::TakenBack | ChangeState::Gone => false,
    };
    let named = kept.named(name)?.into_iter().filter(is_meant);
    // What was moved is one change.
    let halves = kept
        .turn
        .real_changes()
        .filter_map(|it| Some(pair(kept, it)?.number));
    let halves: HashSet<u64> = halves.filter(|_| name.change.is_none()).collect();
    let named = named.filter(|it| !halves.contains(&it.number));
    let (open, changes): (Vec<_>, Vec<_>) = { named }.partition(|it| open.contains(&kept.name(it)));
    if changes.is_empty() && !open.is_empty() {
        return Err(LookError::Open(name));
    }
    let (mut looked, of) = (Looked::default(), changes.len());
    for change in changes {
        if looked.shown.len() == max {
            looked.of = Some(of);
            break;
        }
        match show(store, kept, change) {
            Ok(shown) => {
                if shown.present.changed_since > 0 {
                    let places = counted(shown.present.changed_since, "place");
                    looked.left_out.push(format!(
                        "{} has changed since in {places}, and is shown as it is there: {}",
                        kept.named_in_full(change),
                        shown.present.changed_at
                    ));
                }
                looked.shown.push(shown);
            }
            Err(why) => {
                let name = kept.named_in_full(change);
                looked.left_out.push(format!("{name} is left out: {why}"));
            }
        }
    }
    Ok(looked)
}

/// Returns why nothing can be decided any more about a change that was shown, as a sentence: it was forgotten or taken back
/// elsewhere meanwhile, or somebody has put the text before into its file.
///
/// # Errors
/// When the store cannot be read.
pub fn why_over(
    store: &Store,
    name: ChangeRef,
    is_accepted: bool,
) -> Result<Option<String>, StoreError> {
    let kept = match Kept::read(store, name.turn) {
        Err(StoreError::NoTurn(_)) => return Ok(Some(format!("{name} was forgotten meanwhile"))),
        kept => kept?,
    };
    let change = name.change.and_then(|it| kept.turn.change(it));
    let over = change.filter(|it| is_over(&kept, it, is_accepted));
    Ok(over.map(|change| match kept.state(change) {
        ChangeState::Gone => format!("{name} is no longer in the file"),
        _ => format!("{name} was taken back meanwhile"),
    }))
}

fn is_over(kept: &Kept, change: &Change, is_accepted: bool) -> bool {
    // What was only taken out of an editor's buffer may still be in the file, and can be kept.
    let is_in_file = || kept.judged(change).is_some_and(|it| it.written.is_none());
    match kept.state(change) {
        ChangeState::Gone => true,
        ChangeState::TakenBack => !(is_accepted && is_in_file()),
        _ => false,
    }
}

/// The other half of a change that moved its file, where nobody has changed that since.
fn pair<'a>(kept: &'a Kept, change: &Change) -> Option<&'a Change> {
    let from = kept.moved_with(change)?;
    kept::is_at(&change.after, &change.path).then_some(from)
}

fn show(store: &Store, kept: &Kept, change: &Change) -> Result<Shown, String> {
    let from = pair(kept, change);
    let whole = from.map(|from| Change {
        before: from.before.clone(),
        ..change.clone()
    });
    let change = whole.as_ref().unwrap_or(change);
    let present = take_back::present(store, &kept.turn.roots, change);
    let present = present.map_err(|error| error.to_string())?;
    let texts = [&present.before, &present.now];
    let texts = texts.map(|it| as_text(it.as_deref().unwrap_or_default()));
    let [Some(_), Some(now)] = texts else {
        return Err("it is not text".to_owned());
    };
    Ok(Shown {
        name: kept.name(change),
        path: change.path.clone(),
        now: now.to_owned(),
        after: change.after.clone(),
        mode: change.before.mode_beside_text(&change.after),
        link: about_link(change),
        from: from.map(|it| it.path.clone()),
        is_unclear: change.by == Author::Unclear,
        present,
    })
}

/// What a change has to do with a symbolic link, as a sentence.
fn about_link(change: &Change) -> Option<&'static str> {
    use FileState::{Absent, File, Link};
    Some(match (&change.before, &change.after) {
        (Absent, Link { .. }) => {
            "This is a new symbolic link: the text is the path to which it leads."
        }
        (Link { .. }, Link { .. }) => {
            "This is a symbolic link, which leads elsewhere now: the text is the path."
        }
        (Link { .. }, Absent) => "This was a symbolic link: the text is the path to which it led.",
        (File { .. }, Link { .. }) => {
            "A symbolic link has taken the place of this file: its text is the path to which it leads."
        }
        (Link { .. }, File { .. }) => {
            "This file has taken the place of a symbolic link: the text before is the path to which that led."
        }
        _ => return None,
    })
}

impl Shown {
    /// The text before; none if there was no file, or if it is not text.
    pub fn text_before(&self) -> Option<String> {
        String::from_utf8(self.present.before.clone()?).ok()
    }

    /// Does what the person has decided about it: `accepted` is the text that they accepted, if they did. None if that is
    /// nothing.
    ///
    /// # Errors
    /// When there is no such change any more.
    pub fn decide(
        &self,
        deciding: &mut Deciding<'_>,
        kept: &Kept,
        accepted: Option<&str>,
        notes: &[Note],
    ) -> Result<Option<Decided>, StoreError> {
        let Some(change) = kept.named(self.name)?.into_iter().next() else {
            return Ok(None);
        };
        let is_decided = accepted.is_some() || verdict::takes_back(notes);
        let from = kept.moved_with(change).filter(|_| self.from.is_some());
        let is_other = change.after != self.after || from.is_some() != self.from.is_some();
        if is_decided && is_other {
            // Nobody has seen what the agent has made of it since.
            let error = DecideError::ChangedSinceShown;
            return Ok(Some(deciding.decided(change, Err(error))));
        }
        let words_on = |text: &str| Words {
            notes: notes.to_vec(),
            shown: Some(text.to_owned()),
            ..Words::default()
        };
        let mut result = match accepted {
            Some(content) => {
                deciding.say(words_on(content));
                self.accepted(deciding, change, content)
            }
            None if verdict::takes_back(notes) => {
                deciding.say(words_on(&self.now));
                self.take_back(deciding, change)
            }
            None => {
                deciding.tell_notes(change, notes, &self.now);
                return Ok(None);
            }
        };
        if let Some(from) = from.filter(|_| result.is_ok()) {
            // The agent has heard the words.
            deciding.say(Words::default());
            let act = match accepted {
                Some(content) if !self.is_without(content) => Act::Keep,
                _ => Act::TakeBack,
            };
            result = deciding.one(act, from).and(result);
        }
        Ok(Some(deciding.decided(change, result)))
    }

    /// The same as a sentence.
    pub fn moved(&self) -> Option<String> {
        let from = visible::one_line(&self.from.as_ref()?.to_string_lossy());
        Some(format!(
            "This file was moved from {from}: what you decide is about both."
        ))
    }

    /// Returns true if this text is that of the file without the change.
    fn is_without(&self, content: &str) -> bool {
        let before = self.present.before.as_deref();
        before.map_or(content.is_empty(), |it| it == content.as_bytes())
    }

    fn accepted(
        &self,
        deciding: &mut Deciding<'_>,
        change: &Change,
        content: &str,
    ) -> Result<&'static str, DecideError> {
        // An editor ends the last line, but no link leads to a path that ends so.
        let path = content.strip_suffix('\n');
        let content = path.filter(|_| self.present.is_link).unwrap_or(content);
        if content == self.now {
            return deciding.one(Act::Keep, change);
        }
        match self.is_without(content) {
            true => self.take_back(deciding, change),
            false => deciding.rewrite(change, &self.present, content),
        }
    }

    /// All of what is shown is taken back; what somebody has changed since stays.
    fn take_back(
        &self,
        deciding: &mut Deciding<'_>,
        change: &Change,
    ) -> Result<&'static str, DecideError> {
        let before = self.present.before.as_deref().and_then(as_text);
        match before.filter(|_| self.present.changed_since > 0) {
            Some(before) => deciding
                .rewrite(change, &self.present, before)
                .map(|_| "taken back, but for what was changed since"),
            None => deciding.one(Act::TakeBack, change),
        }
    }
}
