//! Checks that an agent wrote what was accepted, so that the log says what came of it. Some releases write something else, and some nothing: what
//! stands on the disk a moment later is compared with what the person accepted, and if it is not that,
//! the person hears of it and the accepted text is kept. Without I/O: time and what was seen come in.

use std::path::Path;
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use pillion_changes::WriteOutcome;
use pillion_protocol::Proposer;
use pillion_protocol::held::HeldCall;
use pillion_text::fingerprint;
use pillion_view::{DiffId, Loss, Original, Stamp};

use crate::line_endings::decoded;
use crate::lost::Lost;
use crate::sessions::SessionId;

/// The times at which the file is looked at, counted from the acceptance: agents write at once, unless they are busy.
/// The content that the file has after the last time is what was written, as far as anyone can tell.
const LOOKS: [Duration; 6] = [
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(6),
    Duration::from_secs(10),
];

/// If a file has something else than was accepted by then, the agent wrote it.
const IS_WRITTEN: Duration = Duration::from_secs(3);

/// The pause before another look for an agent that cannot write yet, because other changes of the same turn are not
/// decided. For one that is said not to have written, it doubles with each look.
const PAUSE: Duration = Duration::from_secs(10);

/// An agent that is said not to have written may do it so much later.
const MAX_LATE: Duration = Duration::from_secs(60 * 60);

/// The most acceptances that are followed at once. Of more, the oldest are not followed any more.
const MAX_FOLLOWED: usize = 256;

/// An accepted text that the agent is to write. The text belongs into no log.
#[derive(Clone, derive_more::Debug)]
#[debug("Accepted({file_path:?})")]
pub(crate) struct Accepted {
    pub(crate) id: DiffId,
    pub(crate) session: SessionId,
    pub(crate) proposer: Proposer,
    /// As the agent spells it.
    pub(crate) file_path: String,
    /// As the person accepted it.
    pub(crate) content: Arc<String>,
    /// Of that, and of the text as the agent first wrote it, if it was shown in another form: it may write either, which a note
    /// says.
    pub(crate) fingerprints: Fingerprints,
    /// True if it differs from what the agent proposed.
    pub(crate) is_edited: bool,
    /// The file's stamp when the change was decided, or when the agent proposed it.
    pub(crate) before: Option<Stamp>,
    /// A text of the same file that the agent writes before this one.
    pub(crate) over: Option<Box<Over>>,
    /// Those of the text of the same file that was accepted before it, if that may be written still.
    pub(crate) former: Option<Fingerprints>,
    /// The fingerprint of the text beside which the person was shown it, if that is known.
    pub(crate) shown_beside: Option<String>,
    /// What came of it, once the agent's hook has told: the file may be another one a moment later.
    pub(crate) told: Arc<OnceLock<Found>>,
    pub(crate) deletes: bool,
    /// True if the person is told if it is not written. What an agent whose hook asks writes, and when, is its own matter: that
    /// goes into the log only.
    pub(crate) is_told: bool,
    /// True if the person has answered in the agent's own window: it writes this at once, or never.
    pub(crate) is_answer: bool,
}

impl Accepted {
    /// Returns true if an agent has something to write: not what stands in the file already. What becomes of the proposal of a
    /// command is the matter of whoever runs it.
    pub(crate) fn is_to_be_written(&self) -> bool {
        let is_there = |beside: &String| *beside == fingerprint::of(Some(self.content.as_bytes()));
        self.proposer.agent().is_some()
            && !(self.is_edited && self.shown_beside.as_ref().is_some_and(is_there))
    }
}

/// A text that an agent writes before another one of the same file.
#[derive(Clone)]
pub(crate) struct Over {
    /// Its fingerprint.
    pub(crate) text: String,
    /// Those of the text with both.
    pub(crate) both: Fingerprints,
}

#[derive(Debug)]
pub(crate) enum CameOf {
    /// It is known, and nobody needs to be told.
    Known(DiffId, WriteOutcome),
    /// The person is told, unless the file has it by then.
    Lost(Lost),
}

/// The fingerprints of the forms in which a text may be written. They are computed when they are first asked for: to do it for
/// a large text takes too long for the loop.
#[derive(Clone, derive_more::Debug)]
#[debug("Fingerprints")]
pub(crate) struct Fingerprints(Arc<Inner>);

struct Inner {
    all: LazyLock<Vec<String>, Compute>,
    /// The call, if they are of the source of a notebook's cell, and what the notebook has beside that.
    cell: Option<(HeldCall, String)>,
}

type Compute = Box<dyn FnOnce() -> Vec<String> + Send>;

/// The finding about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// It has the accepted text.
    Accepted,
    /// Nothing was written since the change was proposed.
    Unchanged,
    /// Something else.
    Other,
    /// The agent has told that it does not write it.
    Refused,
    /// The disk does not answer, or the file is in a place that this system does not see.
    Unknown,
}

/// The acceptances whose writing is awaited.
#[derive(Debug, Default)]
pub(crate) struct Written {
    followed: Vec<Followed>,
    last_number: u64,
}

#[derive(Debug)]
struct Followed {
    number: u64,
    accepted: Accepted,
    since: Instant,
    /// The finding of the last look.
    found: Found,
    /// None while it is being looked at.
    due: Option<Instant>,
    /// True if it is said that nothing was written: only that it was, after all, is news then.
    is_said: bool,
}

impl Written {
    /// The agent gets this acceptance. Of an earlier one of the same file the person must hear, if something else was written, or
    /// nothing for so long that nothing will be: old releases write only one of several changes of a turn, and say so to their
    /// model alone. Others write one after the other: from now on, only that it was written is news.
    pub(crate) fn follow(&mut self, mut accepted: Accepted, now: Instant) -> Option<CameOf> {
        let is_former = |it: &Followed| {
            let of_file = it.accepted.file_path == accepted.file_path;
            !it.is_said && of_file && it.accepted.session == accepted.session
        };
        let mut came_of = None;
        if let Some(at) = self.followed.iter().position(is_former) {
            let it = &mut self.followed[at];
            came_of = it.is_over(&accepted, now).then(|| it.came_of()).flatten();
            match it.known() {
                Found::Unchanged | Found::Unknown => {
                    (it.is_said, it.due) = (true, Some(now + LOOKS[0]));
                    accepted.former = Some(it.accepted.fingerprints.clone());
                }
                _ => drop(self.followed.remove(at)),
            }
        }
        for it in &mut self.followed {
            it.is_continued_by(&accepted, now);
        }
        if self.followed.len() >= MAX_FOLLOWED {
            self.followed.remove(0);
        }
        self.last_number += 1;
        self.followed.push(Followed {
            number: self.last_number,
            accepted,
            since: now,
            found: Found::Unknown,
            due: Some(now + LOOKS[0]),
            is_said: false,
        });
        came_of
    }

    /// A call of an agent has ended, and its hook tells in a moment what came of it: also of what was said not to be written.
    pub(crate) fn call_ended(&mut self, now: Instant) {
        for it in &mut self.followed {
            it.due = it.due.map(|due| due.min(now + LOOKS[0]));
        }
    }

    /// An acceptance did not reach the agent: what becomes of this file is not its matter.
    pub(crate) fn withdraw(&mut self, session: &SessionId, file_path: &str) {
        let is_its = |it: &Accepted| it.session == *session && it.file_path == file_path;
        self.followed.retain(|it| !is_its(&it.accepted));
    }

    /// An agent's hook says itself that this file is not written. Returns the diff that was accepted last: an earlier change of
    /// the file is written all the same.
    pub(crate) fn withdraw_last(&mut self, file: &Path) -> Option<DiffId> {
        let is_its = |it: &Followed| Path::new(&it.accepted.file_path) == file;
        let at = self.followed.iter().rposition(is_its)?;
        Some(self.followed.remove(at).accepted.id)
    }

    /// Returns true if no writing is awaited of which the person is told.
    #[cfg(unix)]
    pub(crate) fn is_empty(&self) -> bool {
        self.followed
            .iter()
            .all(|it| !it.accepted.is_told || it.is_said)
    }

    /// Returns the time at which [`Written::elapse`] wants to be called.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.followed.iter().filter_map(|it| it.due).min()
    }

    /// The files that are to be looked at now, by number; each is answered by [`Written::looked`].
    pub(crate) fn elapse(&mut self, now: Instant) -> Vec<(u64, Accepted)> {
        let is_due = |it: &&mut Followed| it.due.is_some_and(|due| due <= now);
        let due = self.followed.iter_mut().filter(is_due);
        due.map(|it| {
            it.due = None;
            (it.number, it.accepted.clone())
        })
        .collect()
    }

    /// A file was looked at. `is_busy` tells whether the session has other changes that nobody has decided on. Returns what
    /// came of it, if this is the end.
    pub(crate) fn looked(
        &mut self,
        number: u64,
        found: Found,
        is_busy: impl FnOnce(&Accepted) -> bool,
        now: Instant,
    ) -> Option<CameOf> {
        let at = self.followed.iter().position(|it| it.number == number)?;
        let it = &mut self.followed[at];
        it.found = found;
        let is_late = it.is_said && (found == Found::Other || now >= it.since + MAX_LATE);
        if is_late || matches!(found, Found::Accepted | Found::Refused) {
            return self.followed.remove(at).came_of();
        }
        if it.is_said {
            it.due = Some(now + (now - it.since).max(PAUSE));
            return None;
        }
        let is_written = found == Found::Other && now >= it.since + IS_WRITTEN;
        let mut next = LOOKS.iter().map(|after| it.since + *after);
        if let Some(next) = next.find(|at| *at > now)
            && !is_written
        {
            it.due = Some(next);
            return None;
        }
        if !is_written && is_busy(&it.accepted) {
            it.due = Some(now + PAUSE);
            return None;
        }
        let came_of = it.came_of();
        match found {
            Found::Unchanged => {
                it.is_said = true;
                it.due = Some(now + PAUSE);
                // An hour is long for a text of which the fingerprint is enough.
                it.accepted.content = Arc::default();
            }
            _ => drop(self.followed.remove(at)),
        }
        came_of
    }
}

impl Followed {
    /// What it was accepted for stands in the next text as well.
    fn is_continued_by(&mut self, next: &Accepted, now: Instant) {
        if let Some(over) = next.over.as_ref().filter(|_| self.is_made_before(next)) {
            self.accepted.fingerprints = self.accepted.fingerprints.or(&over.both);
            self.since = now;
            self.due = self.due.map(|_| now + LOOKS[0]);
        }
    }

    /// Returns true if the agent makes that one over this.
    fn is_made_before(&self, next: &Accepted) -> bool {
        let over = next.over.as_ref().map(|it| &it.text);
        next.file_path == self.accepted.file_path
            && over.is_some_and(|it| self.accepted.fingerprints.has(it))
    }

    /// Returns true if what was found is the end, now that the next change of the file is accepted.
    fn is_over(&self, next: &Accepted, now: Instant) -> bool {
        match self.known() {
            Found::Unknown => false,
            Found::Accepted | Found::Other | Found::Refused => true,
            // The next one starts from the same file as this did.
            Found::Unchanged => {
                now >= self.since + IS_WRITTEN
                    && next.before == self.accepted.before
                    && !self.is_made_before(next)
            }
        }
    }

    fn known(&self) -> Found {
        self.accepted.told.get().copied().unwrap_or(self.found)
    }

    /// Returns what came of it, if the file is left like this, and that is news.
    fn came_of(&self) -> Option<CameOf> {
        let accepted = &self.accepted;
        let id = accepted.id;
        let how = match self.known() {
            Found::Unknown => return None,
            Found::Accepted => return Some(CameOf::Known(id, WriteOutcome::Written)),
            _ if self.is_said => return None,
            Found::Unchanged | Found::Refused => Loss::Unwritten,
            Found::Other => Loss::Different,
        };
        if !accepted.is_told {
            return Some(CameOf::Known(id, outcome_of(how, accepted.proposer)));
        }
        Some(CameOf::Lost(Lost {
            of: Some(id),
            proposer: accepted.proposer,
            file_path: accepted.file_path.clone(),
            content: accepted.content.to_string(),
            is_kept: accepted.is_edited || how == Loss::Different,
            how,
            view: None,
        }))
    }
}

/// What came of a text that was accepted, and lost like this by its agent.
pub(crate) fn outcome_of(how: Loss, proposer: Proposer) -> WriteOutcome {
    match how {
        Loss::Different => WriteOutcome::WrittenDifferently,
        how => WriteOutcome::NotWritten {
            why: how.why(proposer),
        },
    }
}

impl Fingerprints {
    /// Keeps the texts until they are computed.
    pub(crate) fn of(texts: impl IntoIterator<Item = Arc<String>>) -> Self {
        let texts: Vec<_> = texts.into_iter().collect();
        let hash = |text: &Arc<String>| fingerprint::hash(text.as_bytes());
        Self::computed(None, move || texts.iter().map(hash).collect())
    }

    fn computed(
        cell: Option<(HeldCall, String)>,
        compute: impl FnOnce() -> Vec<String> + Send + 'static,
    ) -> Self {
        let all = LazyLock::new(Box::new(compute) as Compute);
        Self(Arc::new(Inner { all, cell }))
    }

    /// The same of a notebook's cell.
    pub(crate) fn of_cell(self, cell: Option<(HeldCall, String)>) -> Self {
        match cell {
            None => self,
            cell => Self::computed(cell, move || self.compute().to_vec()),
        }
    }

    fn or(&self, others: &Self) -> Self {
        let (these, others) = (self.clone(), others.clone());
        let compute = move || [these.compute(), others.compute()].concat();
        Self::computed(self.0.cell.clone(), compute)
    }

    /// Returns true if this is the fingerprint of one of them in full.
    pub(crate) fn has(&self, full: &str) -> bool {
        fingerprint::hash_in(full).is_some_and(|hash| self.contains(hash))
    }

    /// Computes them, so that the texts are let go.
    pub(crate) fn compute(&self) -> &[String] {
        &self.0.all
    }

    /// Returns true if a file of these bytes has one of the texts, in the one or the other encoding and form.
    pub(crate) fn are_of(&self, bytes: &[u8]) -> bool {
        if let Some((call, beside)) = &self.0.cell {
            let split = call.split(bytes, true);
            return split.is_some_and(|(rest, source)| {
                rest == *beside && self.contains(&fingerprint::hash(source.as_bytes()))
            });
        }
        let decoded = decoded(bytes);
        let text = decoded.as_deref().map_or(bytes, str::as_bytes);
        self.contains(&fingerprint::hash(text))
    }

    pub(crate) fn contains(&self, hash: &str) -> bool {
        self.compute().iter().any(|it| it == hash)
    }
}

impl Accepted {
    /// Returns true if it is of the source of a notebook's cell.
    pub(crate) fn is_of_cell(&self) -> bool {
        self.fingerprints.0.cell.is_some()
    }

    /// Looks at the file. Waits for the disk.
    pub(crate) fn look(&self) -> Found {
        self.fingerprints.compute();
        if let Some(told) = self.told.get() {
            return *told;
        }
        let path = Path::new(&self.file_path);
        let Ok(original) = Original::read(path) else {
            return Found::Unknown;
        };
        let is_here = path.parent().is_some_and(Path::is_dir);
        match (&original.text, &original.stamp) {
            (None, None) if self.deletes && is_here => Found::Accepted,
            (Some(_), stamp) if self.deletes && *stamp == self.before => Found::Unchanged,
            (Some(_), _) if self.deletes => Found::Other,
            (Some(text), _) if self.fingerprints.are_of(text) => Found::Accepted,
            (None, _) if !is_here => Found::Unknown,
            (_, stamp) if *stamp == self.before => Found::Unchanged,
            (Some(text), _) if self.comes_after(text) || self.is_as_shown(text) => Found::Unchanged,
            _ => Found::Other,
        }
    }

    /// Returns true if this is what the change was shown beside: the file was touched, or saved as it was.
    fn is_as_shown(&self, text: &[u8]) -> bool {
        let shown = self.shown_beside.as_ref();
        shown.is_some_and(|it| *it == fingerprint::of(Some(text)))
    }

    /// Returns true if a file has a text that the agent writes before this one.
    fn comes_after(&self, text: &[u8]) -> bool {
        let former = self.former.as_ref();
        let over = self.over.as_ref().map(|it| &it.text);
        over.is_some_and(|it| *it == fingerprint::of(Some(text)))
            || former.is_some_and(|it| it.are_of(text))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pillion_protocol::Dialect;

    use super::*;

    fn accepted(path: &Path, content: &str) -> Accepted {
        Accepted {
            id: DiffId(1),
            session: "s".into(),
            proposer: Dialect::ClaudeCode.into(),
            file_path: path.to_str().unwrap().to_owned(),
            content: Arc::new(content.to_owned()),
            fingerprints: Fingerprints::of([Arc::new(content.to_owned())]),
            is_edited: false,
            before: Stamp::of(path),
            over: None,
            former: None,
            shown_beside: None,
            told: Arc::default(),
            deletes: false,
            is_told: true,
            is_answer: false,
        }
    }

    #[test]
    fn what_stands_there_and_what_a_command_proposes_is_not_awaited() {
        let beside = Some(fingerprint::of(Some(b"as it is")));
        for (proposer, is_edited, content, expected) in [
            (Dialect::ClaudeCode.into(), true, "as it is", false),
            (Dialect::ClaudeCode.into(), true, "another", true),
            (Dialect::ClaudeCode.into(), false, "as it is", true),
            (Proposer::For(Dialect::ClaudeCode), true, "as it is", false),
            (Proposer::For(Dialect::ClaudeCode), true, "another", true),
            (Proposer::Pillion, false, "another", false),
        ] {
            let accepted = Accepted {
                proposer,
                is_edited,
                shown_beside: beside.clone(),
                ..accepted(Path::new("/w/a"), content)
            };
            assert_eq!(
                accepted.is_to_be_written(),
                expected,
                "{proposer} {content}"
            );
        }
    }

    /// How it is lost.
    fn lost(came_of: Option<CameOf>) -> Option<Lost> {
        match came_of? {
            CameOf::Lost(lost) => Some(lost),
            CameOf::Known(..) => None,
        }
    }

    /// Follows one acceptance: at each look the next of these is found. Returns how it is lost, and when.
    fn followed(found: &[Found], is_busy: bool) -> Option<(Loss, bool, Duration)> {
        let (mut written, start) = (Written::default(), Instant::now());
        written.follow(accepted(Path::new("/w/a"), "x"), start);
        for found in found {
            let now = written.due()?;
            for (number, _) in written.elapse(now) {
                assert_eq!(written.due(), None, "nobody waits for a look");
                let lost = lost(written.looked(number, *found, |_| is_busy, now));
                if let Some(lost) = lost {
                    assert!(written.is_empty());
                    return Some((lost.how, lost.is_kept, now - start));
                }
            }
        }
        None
    }

    #[test]
    fn what_is_not_there_at_the_last_look_is_said() {
        use Found::*;
        let last = *LOOKS.last().unwrap();
        for (found, expected) in [
            ([Unchanged, Accepted, Other, Other, Other, Other], None),
            ([Other, Other, Other, Accepted, Other, Other], None),
            ([Other; 6], Some((Loss::Different, true, IS_WRITTEN))),
            (
                [Unchanged, Unchanged, Unchanged, Unchanged, Unchanged, Other],
                Some((Loss::Different, true, last)),
            ),
            ([Unchanged; 6], Some((Loss::Unwritten, false, last))),
            ([Accepted, Other, Other, Other, Other, Other], None),
            ([Unknown; 6], None),
        ] {
            assert_eq!(followed(&found, false), expected, "{found:?}");
        }
    }

    #[test]
    fn a_file_that_was_only_touched_has_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let accepted = Accepted {
            shown_beside: Some(fingerprint::of(Some(b"before"))),
            ..accepted(&file, "one")
        };
        for (text, found) in [
            ("before", Found::Unchanged),
            ("other", Found::Other),
            ("one", Found::Accepted),
        ] {
            fs::write(&file, text).unwrap();
            assert_eq!(accepted.look(), found, "{text}");
        }
    }

    /// An agent whose hook asks about all calls of an answer first writes a text and then another one over it: either is what was
    /// accepted, and until the last is decided nothing is said of the first.
    #[test]
    fn a_text_that_is_contained_in_the_next_one_is_written_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        for (over, text, expected) in [
            (Some("one"), "one and two", WriteOutcome::Written),
            (Some("one"), "one", WriteOutcome::Written),
            (Some("one"), "other", WriteOutcome::WrittenDifferently),
            (None, "one and two", WriteOutcome::WrittenDifferently),
        ] {
            fs::write(&file, "before").unwrap();
            let (mut written, mut now) = (Written::default(), Instant::now());
            let first = Accepted {
                is_told: false,
                ..accepted(&file, "one")
            };
            written.follow(first.clone(), now);
            // The second is looked at for long.
            for _ in 0..9 {
                now = written.due().unwrap();
                for (number, accepted) in written.elapse(now) {
                    let came_of = written.looked(number, accepted.look(), |_| true, now);
                    assert!(came_of.is_none(), "{came_of:?}");
                }
            }
            let second = Accepted {
                id: DiffId(2),
                session: "t".into(),
                over: over.map(|over| {
                    Box::new(Over {
                        text: fingerprint::of(Some(over.as_bytes())),
                        both: Fingerprints::of([Arc::new("one and two".to_owned())]),
                    })
                }),
                is_told: false,
                ..accepted(&file, "one and two")
            };
            written.follow(second, now);
            fs::write(&file, text).unwrap();
            let mut outcomes = Vec::new();
            while let Some(due) = written.due() {
                for (number, accepted) in written.elapse(due) {
                    outcomes.extend(written.looked(number, accepted.look(), |_| false, due));
                }
            }
            let of_first = outcomes.into_iter().find_map(|it| match it {
                CameOf::Known(id, outcome) if id == first.id => Some(outcome),
                _ => None,
            });
            assert_eq!(of_first, Some(expected), "{over:?} {text}");
        }
    }

    /// An agent that asks about all changes of an answer first makes none meanwhile, however long the person looks at the next.
    #[test]
    fn nothing_is_said_of_a_text_over_which_the_next_one_is_made() {
        for (over, is_said) in [(Some("one"), false), (Some("other"), true), (None, true)] {
            let (mut written, start) = (Written::default(), Instant::now());
            written.follow(accepted(Path::new("/w/a"), "one"), start);
            for (number, _) in written.elapse(start + LOOKS[0]) {
                written.looked(number, Found::Unchanged, |_| true, start + LOOKS[0]);
            }
            let second = Accepted {
                over: over.map(|over| {
                    Box::new(Over {
                        text: fingerprint::of(Some(over.as_bytes())),
                        both: Fingerprints::of([]),
                    })
                }),
                ..accepted(Path::new("/w/a"), "two")
            };
            let came_of = written.follow(second, start + IS_WRITTEN);
            assert_eq!(came_of.is_some(), is_said, "{over:?}: {came_of:?}");
        }
    }

    /// Its own window may have asked once more, or its disk was slow.
    #[test]
    fn what_is_written_after_all_is_put_right() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        for (is_told, late, text, expected) in [
            (true, false, "x", true),
            (false, false, "x", true),
            (true, true, "x", true),
            (true, true, "y", false),
        ] {
            fs::write(&file, "before").unwrap();
            let (mut written, mut now) = (Written::default(), Instant::now());
            let accepted = Accepted {
                is_told,
                ..accepted(&file, "x")
            };
            written.follow(accepted, now);
            let look = |written: &mut Written, now| {
                let due = written.elapse(now).into_iter();
                let mut came_of = due.map(|(number, accepted)| {
                    written.looked(number, accepted.look(), |_| false, now)
                });
                came_of.next().flatten()
            };
            let said = loop {
                now = written.due().unwrap();
                if let Some(came_of) = look(&mut written, now) {
                    break came_of;
                }
            };
            assert_eq!(is_told, matches!(said, CameOf::Lost(_)));
            let next = written.due().unwrap();
            assert!(next > now && written.is_empty());
            assert!(look(&mut written, next).is_none(), "said once");
            fs::write(&file, text).unwrap();
            // Its call has ended, or the next look is due.
            now = match late {
                true => written.due().unwrap(),
                false => {
                    written.call_ended(next);
                    next + LOOKS[0]
                }
            };
            let put_right = look(&mut written, now);
            let is_written = matches!(put_right, Some(CameOf::Known(_, WriteOutcome::Written)));
            assert_eq!((is_written, written.due()), (expected, None), "{text}");
        }
    }

    #[test]
    fn one_that_never_writes_is_looked_at_less_and_less() {
        let (mut written, start) = (Written::default(), Instant::now());
        written.follow(accepted(Path::new("/w/a"), "x"), start);
        let mut looks = 0;
        while let Some(now) = written.due() {
            for (number, _) in written.elapse(now) {
                written.looked(number, Found::Unchanged, |_| false, now);
            }
            looks += 1;
        }
        assert!(looks < LOOKS.len() + 12, "{looks}");
    }

    #[test]
    fn an_agent_that_waits_for_other_decisions_has_time_to_write() {
        assert_eq!(followed(&[Found::Unchanged; 20], true), None);
        let other = Some((Loss::Different, true, IS_WRITTEN));
        assert_eq!(followed(&[Found::Other; 20], true), other);
    }

    /// Two edits of one answer, of which the agent asks about each on its own and then makes both.
    #[test]
    fn what_is_written_before_the_next_of_its_file_is_known_to_be() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        for (after, texts, expected) in [
            (LOOKS[0], &["one", "two"][..], [true, true]),
            (IS_WRITTEN, &["one", "two"], [true, true]),
            (LOOKS[0], &["one"], [true, false]),
            (LOOKS[0], &["two"], [false, true]),
        ] {
            fs::write(&file, "before").unwrap();
            let (mut written, start) = (Written::default(), Instant::now());
            let mut came_of = Vec::new();
            for (id, text) in [(1, "one"), (2, "two")] {
                let accepted = Accepted {
                    id: DiffId(id),
                    is_told: false,
                    ..accepted(&file, text)
                };
                came_of.extend(written.follow(accepted, start + after * (id as u32 - 1)));
                for (number, it) in written.elapse(start + after) {
                    written.looked(number, it.look(), |_| true, start + after);
                }
            }
            let mut now = start + after;
            for text in texts {
                fs::write(&file, text).unwrap();
                written.call_ended(now);
                now += LOOKS[0];
                for (number, it) in written.elapse(now) {
                    came_of.extend(written.looked(number, it.look(), |_| true, now));
                }
            }
            let is_written = |id| {
                let is = |it: &CameOf| matches!(it, CameOf::Known(it, WriteOutcome::Written) if *it == DiffId(id));
                came_of.iter().any(is)
            };
            let differently =
                |it: &CameOf| matches!(it, CameOf::Known(_, WriteOutcome::WrittenDifferently));
            assert_eq!(
                [1, 2].map(is_written),
                expected,
                "{after:?} {texts:?}: {came_of:?}"
            );
            assert!(!came_of.iter().any(differently), "{came_of:?}");
        }
    }

    #[test]
    fn the_next_acceptance_of_the_file_ends_the_one_before() {
        for (found, expected) in [
            (Found::Other, Some(Loss::Different)),
            (Found::Unchanged, Some(Loss::Unwritten)),
            (Found::Unknown, None),
        ] {
            let (mut written, now) = (Written::default(), Instant::now());
            let first = || accepted(Path::new("/w/a"), "x");
            assert!(written.follow(first(), now).is_none());
            let now = written.due().unwrap();
            for (number, _) in written.elapse(now) {
                assert!(written.looked(number, found, |_| false, now).is_none());
            }
            let former = written.follow(first(), now);
            assert_eq!(
                lost(former).map(|lost| lost.how),
                expected.filter(|_| found == Found::Other)
            );
            written.withdraw(&"s".into(), "/w/a");
            assert_eq!(written.due(), None);
        }
    }

    /// Three edits in one turn: each is accepted, and an old release writes the last.
    #[test]
    fn what_is_still_unwritten_at_the_next_acceptance_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "before").unwrap();
        let other = folder.path().join("b");
        fs::write(&other, "in between").unwrap();
        for (found, after, next, expected) in [
            (Found::Unchanged, IS_WRITTEN, &file, Some(Loss::Unwritten)),
            (Found::Unchanged, LOOKS[0], &file, None),
            (Found::Unchanged, IS_WRITTEN, &other, None),
            (Found::Unknown, IS_WRITTEN, &file, None),
            (Found::Other, LOOKS[0], &file, Some(Loss::Different)),
        ] {
            let (mut written, start) = (Written::default(), Instant::now());
            written.follow(accepted(&file, "x"), start);
            let now = written.due().unwrap();
            for (number, _) in written.elapse(now) {
                assert!(written.looked(number, found, |_| true, now).is_none());
            }
            let next = Accepted {
                before: Stamp::of(next),
                ..accepted(&file, "y")
            };
            let former = written.follow(next, start + after);
            assert_eq!(
                lost(former).map(|lost| lost.how),
                expected,
                "{found:?} {after:?}"
            );
        }
    }

    /// Its hook tells when its call has ended: what is found there later is another call's, or the person's.
    #[test]
    fn what_an_agents_hook_has_told_stands_whatever_is_found_later() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        for (told, expected) in [
            (None, WriteOutcome::WrittenDifferently),
            (Some(Found::Accepted), WriteOutcome::Written),
            (
                Some(Found::Refused),
                outcome_of(Loss::Unwritten, Dialect::ClaudeCode.into()),
            ),
        ] {
            for is_looked_at in [true, false] {
                fs::write(&file, "before").unwrap();
                let accepted = Accepted {
                    is_told: false,
                    ..accepted(&file, "x")
                };
                let (mut written, mut now) = (Written::default(), Instant::now());
                written.follow(accepted.clone(), now);
                fs::write(&file, "by another call").unwrap();
                told.inspect(|it| accepted.told.set(*it).unwrap());
                let mut came_of = None;
                while let Some(due) = written.due().filter(|_| is_looked_at) {
                    now = due;
                    for (number, accepted) in written.elapse(now) {
                        came_of = written.looked(number, accepted.look(), |_| false, now);
                    }
                }
                let next = || written.follow(self::accepted(&file, "y"), now);
                match came_of.or_else(next) {
                    Some(CameOf::Known(_, outcome)) => assert_eq!(outcome, expected),
                    other => assert!(!is_looked_at && told.is_none(), "{told:?}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn a_file_is_compared_as_the_agent_may_write_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let utf_16 =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        for (content, as_written, text, expected) in [
            ("x\n", None, b"x\n".to_vec(), Found::Accepted),
            ("x\n", None, b"x".to_vec(), Found::Other),
            ("x\r\n", None, b"x\r".to_vec(), Found::Other),
            ("x\r\n", Some("x\n"), b"x\n".to_vec(), Found::Accepted),
            ("x\r\n", Some("x\n"), b"x".to_vec(), Found::Other),
            ("\u{feff}é\n", None, utf_16("\u{feff}é\n"), Found::Accepted),
            ("x\n", None, b"before".to_vec(), Found::Unchanged),
        ] {
            let _ = fs::remove_file(&file);
            fs::write(&file, "before").unwrap();
            let forms = [Some(content), as_written].into_iter().flatten();
            let accepted = Accepted {
                fingerprints: Fingerprints::of(forms.map(|it| Arc::new(it.to_owned()))),
                ..accepted(&file, content)
            };
            if expected != Found::Unchanged {
                fs::remove_file(&file).unwrap();
                fs::write(&file, &text).unwrap();
            }
            assert_eq!(accepted.look(), expected, "{content:?} {text:?}");
        }
        let after_another = Accepted {
            over: Some(Box::new(Over {
                text: fingerprint::of(Some(b"before it")),
                both: Fingerprints::of([]),
            })),
            ..accepted(&file, "x")
        };
        for (text, expected) in [("before it", Found::Unchanged), ("other", Found::Other)] {
            fs::remove_file(&file).unwrap();
            fs::write(&file, text).unwrap();
            assert_eq!(after_another.look(), expected);
        }
        let new = folder.path().join("new");
        assert_eq!(accepted(&new, "x").look(), Found::Unchanged);
        let elsewhere = folder.path().join("of/another/machine");
        assert_eq!(accepted(&elsewhere, "x").look(), Found::Unknown);
    }
}
