//! Which text of a diff the users of commands were shown, and whether a decision of theirs may stand:
//! what is accepted is what its reader has seen. A line of a list shows no text.
//!
//! For each terminal it remembers the text and what the file was then. To accept anything else, a command has to
//! name the revision (`1.3`).

use std::collections::VecDeque;

use super::Admitted;
use crate::control::on_disk::OnDisk;
use crate::control::{DiffError, DiffRef, Viewer};

/// How many viewers are remembered, the latest ones. A forgotten viewer has to name the revision.
const MAX_VIEWERS: usize = 64;

/// What was shown of one diff, through all of its revisions.
#[derive(Debug, Default)]
pub(super) struct Seen {
    views: VecDeque<View>,
}

#[derive(Debug)]
struct View {
    viewer: Viewer,
    /// The latest.
    shown: Shown,
}

/// One showing.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) revision: u32,
    /// Nothing if the disk did not answer.
    pub(super) on_disk: Option<OnDisk>,
}

impl Seen {
    pub(super) fn note(&mut self, viewer: Viewer, shown: Shown) {
        if viewer == Viewer::UNKNOWN {
            return;
        }
        self.views.retain(|view| view.viewer != viewer);
        self.views.push_back(View { viewer, shown });
        if self.views.len() > MAX_VIEWERS {
            self.views.pop_front();
        }
    }

    /// Whether accepting may stand. `opened` is what the file was when the agent proposed.
    pub(super) fn judge(
        &self,
        named: DiffRef,
        current: u32,
        viewer: Viewer,
        opened: Option<&OnDisk>,
        now: Option<&OnDisk>,
    ) -> Result<Admitted, DiffError> {
        let DiffRef { id, revision } = named;
        is_current(named, current)?;
        let shown = self.shown_to(viewer);
        let seen = shown.map(|shown| shown.revision);
        if revision.is_none() && seen != Some(current) {
            return Err(DiffError::Unseen { id, current, seen });
        }
        let before = match shown {
            Some(shown) => shown.on_disk.as_ref(),
            None => opened,
        };
        let file_changed = before.zip(now).is_some_and(|(before, now)| before != now);
        if revision.is_none() && file_changed {
            return Err(DiffError::FileChanged { id, current });
        }
        Ok(Admitted { file_changed })
    }

    fn shown_to(&self, viewer: Viewer) -> Option<&Shown> {
        let view = self.views.iter().find(|view| view.viewer == viewer)?;
        Some(&view.shown)
    }
}

/// Whether the revision that is named, if one is, is the one that is shown.
pub(super) fn is_current(named: DiffRef, current: u32) -> Result<(), DiffError> {
    match named.revision {
        Some(revision) if revision != current => Err(DiffError::OtherRevision {
            id: named.id,
            named: revision,
            current,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const ME: Viewer = Viewer(1);
    const OTHER: Viewer = Viewer(2);

    fn diff(revision: Option<u32>) -> DiffRef {
        DiffRef { id: 7, revision }
    }

    fn shown(revision: u32) -> Shown {
        let on_disk = None;
        Shown { revision, on_disk }
    }

    /// Returns true if `accept 7` is admitted.
    fn stands(seen: &Seen, current: u32, viewer: Viewer) -> bool {
        seen.judge(diff(None), current, viewer, None, None).is_ok()
    }

    #[test]
    fn only_the_revision_that_was_shown_last_is_accepted_without_its_name() {
        let mut seen = Seen::default();
        assert!(!stands(&seen, 1, ME), "not even the first one");
        seen.note(ME, shown(2));
        assert!(stands(&seen, 2, ME));
        assert!(!stands(&seen, 3, ME));
        for named in 1..=3 {
            let judged = seen.judge(diff(Some(named)), 2, ME, None, None);
            assert_eq!(judged.is_ok(), named == 2, "{judged:?}");
        }
    }

    #[test]
    fn a_newer_text_is_accepted_once_it_was_shown_too() {
        let mut seen = Seen::default();
        seen.note(ME, shown(1));
        let judged = seen.judge(diff(None), 2, ME, None, None);
        let unseen = DiffError::Unseen {
            id: 7,
            current: 2,
            seen: Some(1),
        };
        assert_eq!(judged, Err(unseen));
        seen.note(ME, shown(2));
        assert!(stands(&seen, 2, ME));
    }

    #[test]
    fn what_was_discarded_nobody_has_seen() {
        let mut seen = Seen::default();
        seen.note(Viewer::UNKNOWN, shown(1));
        assert!(!stands(&seen, 1, ME));
        assert!(!stands(&seen, 1, Viewer::default()));
        assert!(!stands(&seen, 1, Viewer::UNKNOWN));
    }

    #[test]
    fn what_one_terminal_was_shown_another_has_not_seen() {
        let mut seen = Seen::default();
        seen.note(ME, shown(1));
        seen.note(OTHER, shown(2));
        assert!(!stands(&seen, 2, ME));
        assert!(stands(&seen, 2, OTHER));
        for other in 10..200 {
            seen.note(Viewer(other), shown(2));
        }
        assert!(seen.views.len() <= MAX_VIEWERS);
        assert!(!stands(&seen, 2, OTHER), "it is forgotten");
    }

    #[test]
    fn a_file_that_changed_since_the_look_is_looked_at_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let check = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Some(OnDisk::check(&path))
        };
        let (old, new) = (check("old"), check("newer"));
        let mut seen = Seen::default();
        let judge = |seen: &Seen, revision, opened: &Option<OnDisk>| {
            seen.judge(diff(revision), 1, ME, opened.as_ref(), new.as_ref())
        };
        let changed = |file_changed| Ok(Admitted { file_changed });
        let refused = || Err(DiffError::FileChanged { id: 7, current: 1 });
        assert_eq!(judge(&seen, Some(1), &old), changed(true));
        assert_eq!(judge(&seen, Some(1), &None), changed(false));
        for (on_disk, without_name, named) in [
            (old.clone(), refused(), changed(true)),
            (new.clone(), changed(false), changed(false)),
        ] {
            let revision = 1;
            seen.note(ME, Shown { revision, on_disk });
            assert_eq!(judge(&seen, None, &None), without_name);
            assert_eq!(judge(&seen, Some(1), &None), named);
        }
        assert_ne!(Some(OnDisk::check(Path::new("/"))), new);
    }
}
