//! Keeps in the store what people say to agents, until the agents have it: it outlives the companion. All companions of a
//! process share a thread for that.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use pillion_changes::{NoteNames, Store, StoreError, WaitingNote};
use pillion_protocol::Note;
use pillion_system::{Worker, lock};
use pillion_view::ProposalKey;

use crate::event::{Event, Events};
use crate::ids::ViewId;

/// The time limit at the companion's end for what is being kept.
const GRACE: Duration = Duration::from_secs(1);

type OfView = (Option<ViewId>, Vec<Note>);

type Job = Box<dyn FnOnce() -> Result<(), StoreError> + Send>;

/// The thread, as long as there is a companion.
static SHARED: Mutex<Weak<Worker<Job>>> = Mutex::new(Weak::new());

/// The way to the notes in the store.
pub(crate) struct KeptNotes {
    /// None if nothing is kept.
    place: Option<(Store, Arc<Worker<Job>>)>,
    events: Events,
    names: NoteNames,
    /// What is kept by name and file, by the views in which it was written; none stands for those that have left.
    on: HashMap<(String, PathBuf), Vec<OfView>>,
}

impl KeptNotes {
    /// Names are this companion's by its port, which no other has at the same time.
    pub(crate) fn start(store: Option<Store>, port: u16, events: Events) -> Self {
        Self {
            place: store.and_then(|store| Some((store, worker()?))),
            events,
            names: NoteNames::of(&port.to_string()),
            on: HashMap::new(),
        }
    }

    /// Has those found that wait: an event.
    pub(crate) fn find(&self) {
        let events = self.events.clone();
        self.order(move |store| {
            let _ = events.send(Event::NotesFound(store.waiting_notes()?));
            Ok(())
        });
    }

    /// Keeps a note. Returns its name.
    pub(crate) fn keep(&mut self, note: WaitingNote) -> String {
        let name = self.names.next_name();
        self.keep_as(&name, note);
        name
    }

    pub(crate) fn keep_as(&self, name: &str, note: WaitingNote) {
        let name = name.to_owned();
        self.order(move |store| store.keep_note(&name, &note));
    }

    /// Agents have the notes of these names.
    pub(crate) fn drop_all(&self, names: Vec<String>) {
        self.order(move |store| names.iter().try_for_each(|name| store.drop_note(name)));
    }

    /// Keeps what the person has noted on this in a view, a change of this file or all that an agent proposes for it, beside what
    /// stands in other views. Returns all of it.
    pub(crate) fn keep_on(
        &mut self,
        view: ViewId,
        of: &str,
        path: &Path,
        notes: Vec<Note>,
    ) -> Vec<Note> {
        let key = (of.to_owned(), path.to_owned());
        let mut all = self.on.remove(&key).unwrap_or_default();
        let own = all.iter().position(|(of_view, _)| *of_view == Some(view));
        let former = own.map_or_else(Vec::new, |at| all.remove(at).1);
        let has =
            |notes: &[Note], it: &Note| notes.iter().any(|it_too| it_too.words().0 == it.words().0);
        for (of_view, others) in &mut all {
            // What was written in a view that has left stands in this one by now, perhaps on other lines, or below another one. And what the person has
            // told or taken out here is the same wherever else it stands.
            let lines = |it: &Note| {
                it.words()
                    .0
                    .lines()
                    .map(str::to_owned)
                    .collect::<HashSet<_>>()
            };
            let is_in = |it: &Note| notes.iter().any(|now| lines(now).is_superset(&lines(it)));
            let is_taken_over = |it: &Note| of_view.is_none() && is_in(it);
            let is_over = |it: &Note| has(&former, it) && !has(&notes, it);
            others.retain(|it| !is_taken_over(it) && !is_over(it));
        }
        all.push((Some(view), notes));
        all.retain(|(_, notes)| !notes.is_empty());
        let kept = joined(&all);
        if !all.is_empty() {
            self.on.insert(key, all);
        }
        self.write_on(of, path, kept.clone());
        kept
    }

    /// The person has decided about this, and has `said` this with it: nothing is kept on it any more. Returns what stands in other
    /// views than that in which they decided.
    pub(crate) fn forget_on(
        &mut self,
        view: Option<ViewId>,
        of: &str,
        path: &Path,
        said: &[Note],
    ) -> Vec<Note> {
        let all = self.on.remove(&(of.to_owned(), path.to_owned()));
        self.write_on(of, path, Vec::new());
        let mut all = all.unwrap_or_default();
        all.retain(|(of_view, _)| of_view.is_none() || *of_view != view);
        let mut unsaid = joined(&all);
        unsaid.retain(|it| {
            let says = |said: &Note| [&*it.text, it.words().0].contains(&&*said.text);
            !said.iter().any(says)
        });
        unsaid
    }

    /// A view has left. What was written there is kept.
    pub(crate) fn left(&mut self, view: ViewId) {
        for (of_view, _) in self.on.values_mut().flatten() {
            if *of_view == Some(view) {
                *of_view = None;
            }
        }
    }

    fn write_on(&self, of: &str, path: &Path, notes: Vec<Note>) {
        let (of, path) = (of.to_owned(), path.to_owned());
        self.order(move |store| store.keep_notes_on(&of, &path, notes));
    }

    /// Has the notes found that a person wrote on this before: an event, if there are some.
    pub(crate) fn find_on(&self, key: ProposalKey, of: &str, path: &Path) {
        let (of, path) = (of.to_owned(), path.to_owned());
        let events = self.events.clone();
        self.order(move |store| {
            let notes = store.notes_on(&of, &path)?;
            if !notes.is_empty() {
                let _ = events.send(Event::NotesOffered(key, notes));
            }
            Ok(())
        });
    }

    fn order(&self, job: impl FnOnce(&Store) -> Result<(), StoreError> + Send + 'static) {
        if let Some((store, worker)) = self.place.clone() {
            worker.order(Box::new(move || job(&store)));
        }
    }
}

/// The notes of all views, each once.
fn joined(all: &[OfView]) -> Vec<Note> {
    let mut joined = Vec::new();
    for note in all.iter().flat_map(|(_, notes)| notes) {
        if !joined.contains(note) {
            joined.push(note.clone());
        }
    }
    joined
}

fn worker() -> Option<Arc<Worker<Job>>> {
    let mut shared = lock(&SHARED);
    if let Some(worker) = shared.upgrade() {
        return Some(worker);
    }
    let perform = |job: Job| {
        if let Err(error) = job() {
            tracing::warn!(%error, "a note that waits for its agent is not kept");
        }
    };
    let worker = Arc::new(Worker::start("notes", GRACE, perform).ok()?);
    *shared = Arc::downgrade(&worker);
    Some(worker)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ViewId = ViewId(1);
    const B: ViewId = ViewId(2);

    fn kept_notes() -> KeptNotes {
        let (events, _) = tokio::sync::mpsc::unbounded_channel();
        KeptNotes::start(None, 1, events)
    }

    fn notes(words: &[&str]) -> Vec<Note> {
        words.iter().map(|it| Note::on_all(*it)).collect()
    }

    /// In order: what a view has now, or that it leaves, and what is kept then.
    #[test]
    fn what_stands_in_several_views_is_kept_once_and_until_it_is_taken_out() {
        type Step = (
            ViewId,
            Option<&'static [&'static str]>,
            &'static [&'static str],
        );
        let cases: [&[Step]; 6] = [
            &[
                (A, Some(&["a"]), &["a"]),
                (B, Some(&["b"]), &["a", "b"]),
                (A, Some(&[]), &["b"]),
            ],
            // It came up in the other one.
            &[
                (A, Some(&["a"]), &["a"]),
                (B, Some(&["a"]), &["a"]),
                (A, Some(&[]), &[]),
            ],
            &[
                (A, Some(&["a"]), &["a"]),
                (B, Some(&["a"]), &["a"]),
                (B, Some(&["a2"]), &["a2"]),
            ],
            // The view that it was written in has left.
            &[
                (A, Some(&["a"]), &["a"]),
                (A, None, &[]),
                (B, Some(&["a", "b"]), &["a", "b"]),
                (B, Some(&[]), &[]),
            ],
            &[
                (A, Some(&["a"]), &["a"]),
                (A, None, &[]),
                (B, Some(&["b"]), &["a", "b"]),
                (B, Some(&[]), &["a"]),
            ],
            // Both views have left, and both notes are on one line of the next.
            &[
                (A, Some(&["a"]), &["a"]),
                (B, Some(&["b"]), &["a", "b"]),
                (A, None, &[]),
                (B, None, &[]),
                (ViewId(3), Some(&["a\nb"]), &["a\nb"]),
            ],
        ];
        for steps in cases {
            let mut kept = kept_notes();
            for (view, now, expected) in steps {
                match now {
                    Some(now) => {
                        let all = kept.keep_on(*view, "agent", Path::new("/w/a"), notes(now));
                        assert_eq!(all, notes(expected), "{steps:?}");
                    }
                    None => kept.left(*view),
                }
            }
        }
    }

    /// Where another text stands by now, they say so: they are the same words.
    #[test]
    fn a_note_that_came_back_is_the_same_wherever_it_stands() {
        let mut kept = kept_notes();
        let path = Path::new("/w/a");
        let typed = Note {
            on: Some("x".to_owned()),
            ..Note::on_all("a")
        };
        let moved = Note {
            text: Note::about("x", 0) + "a",
            ..typed.clone()
        };
        kept.keep_on(A, "agent", path, vec![typed.clone()]);
        kept.left(A);
        let all = kept.keep_on(B, "agent", path, vec![moved.clone()]);
        assert_eq!(all, [moved]);
        assert_eq!(kept.forget_on(None, "agent", path, &notes(&["a"])), []);
    }

    #[test]
    fn what_stands_elsewhere_than_where_it_was_decided_was_not_said() {
        let path = Path::new("/w/a");
        for (view, has_left, said, expected) in [
            (Some(B), false, &["b"][..], &["a"][..]),
            (Some(B), true, &["b"], &["a"]),
            (Some(B), false, &["b", "a"], &[]),
            (None, false, &["c"], &["a", "b"]),
            (None, true, &["a"], &["b"]),
        ] {
            let mut kept = kept_notes();
            kept.keep_on(A, "agent", path, notes(&["a"]));
            kept.keep_on(B, "agent", path, notes(&["b"]));
            if has_left {
                kept.left(A);
            }
            let unsaid = kept.forget_on(view, "agent", path, &notes(said));
            assert_eq!(unsaid, notes(expected), "{view:?} {has_left} {said:?}");
            assert!(kept.on.is_empty(), "with the decision it is over");
        }
    }
}
