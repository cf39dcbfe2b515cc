//! Owns the texts that people accepted, by their fingerprints: a file that has one is what an agent wrote, and not what the person
//! works on.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use pillion_discovery::real_path;
use pillion_system::lock;
use pillion_text::fingerprint;
use pillion_view::Original;

use crate::written::{Accepted, Fingerprints, Found};

/// The number of accepted texts that are remembered.
const MAX_TEXTS: usize = 64;

/// The texts that were accepted last, the latest first. All copies are the same.
#[derive(Debug, Default, Clone)]
pub(crate) struct AcceptedTexts(Arc<Mutex<VecDeque<AcceptedText>>>);

#[derive(Debug, Clone)]
pub(crate) struct AcceptedText {
    /// As the agent spells it.
    file_path: String,
    /// The file's real path, once somebody has asked.
    real_path: OnceLock<PathBuf>,
    /// The text, and those of this file that were accepted before it, the latest first.
    steps: Vec<Step>,
}

/// What a person has seen of a file before it was written.
#[derive(Debug, Clone)]
struct Step {
    /// The fingerprint of the text beside which they were shown it, if that is known.
    shown_beside: Option<String>,
    /// As it was accepted, and as the agent may write it.
    fingerprints: Fingerprints,
    /// The fingerprint of the step before it, if that was not written when it was accepted: the agent writes one after the other.
    over: Option<String>,
    /// What came of it, once an agent's hook has told. All copies know.
    told: Arc<OnceLock<Found>>,
}

impl AcceptedTexts {
    /// The person accepted a text that an agent will write.
    pub(crate) fn accepted(&self, accepted: &Accepted) {
        let (mut texts, file_path) = (lock(&self.0), &accepted.file_path);
        let former = texts.iter().position(|it| it.file_path == *file_path);
        let former = former.and_then(|at| texts.remove(at));
        let mut steps = former.map_or_else(Vec::new, |it| it.steps);
        steps.truncate(MAX_TEXTS - 1);
        let step = Step {
            shown_beside: accepted.shown_beside.clone(),
            fingerprints: accepted.fingerprints.clone(),
            over: accepted.over.as_ref().map(|it| it.text.clone()),
            told: Arc::clone(&accepted.told),
        };
        steps.insert(0, step);
        texts.truncate(MAX_TEXTS - 1);
        texts.push_front(AcceptedText {
            file_path: file_path.clone(),
            real_path: OnceLock::new(),
            steps,
        });
    }

    /// Returns a copy that knows nothing of what is accepted later.
    pub(crate) fn until_now(&self) -> Self {
        Self(Arc::new(Mutex::new(lock(&self.0).clone())))
    }

    /// Returns what was accepted for the file at this real path, by any name, the latest first. Waits for the disk.
    pub(crate) fn of(&self, path: &Path) -> Vec<AcceptedText> {
        let may_be = |it: &&AcceptedText| it.real_path.get().is_none_or(|it| it == path);
        // Nothing waits for the disk while others wait for this.
        let mut texts: Vec<_> = lock(&self.0).iter().filter(may_be).cloned().collect();
        texts.retain(|it| it.real_path() == path);
        texts
    }

    /// As [`AcceptedText::written_to`], of what was accepted for this file. Waits for the disk.
    pub(crate) fn written_to(&self, path: &Path) -> Vec<String> {
        let of_file = self.of(path);
        of_file.iter().flat_map(|it| it.written_to(path)).collect()
    }
}

impl AcceptedText {
    /// Returns true if its file has the text. A file that is gone has the text of one that is to be deleted. Waits for the disk.
    pub(crate) fn is_in(&self, path: &Path) -> bool {
        self.step_in(path) == Some(0)
    }

    /// If an agent has now written to this file what was accepted: the fingerprints of the texts from which on the person has
    /// seen all that leads to it. It was accepted once: if an agent writes it again, perhaps over what the person has since
    /// made of the file, nobody has seen that. Waits for the disk.
    pub(crate) fn written_to(&self, path: &Path) -> Vec<String> {
        let written = self.step_in(path);
        let written = written.filter(|at| self.steps[*at].told.set(Found::Accepted).is_ok());
        written.map_or_else(Vec::new, |at| self.seen_from(at))
    }

    fn seen_from(&self, at: usize) -> Vec<String> {
        let mut seen_from: Vec<String> = Vec::new();
        for step in &self.steps[at..] {
            let is_next = seen_from.last().is_none_or(|it| step.has(it));
            seen_from.extend(step.shown_beside.clone().filter(|_| is_next));
        }
        seen_from
    }

    /// The agent's call for this file has run. If something else than what was accepted is there, such as what a formatter has made
    /// of it: as [`written_to`](Self::written_to), and the hashes of what was accepted. Waits for the disk.
    pub(crate) fn gone_on_from(&self, path: &Path) -> Option<(Vec<String>, Vec<String>)> {
        let at = self.first_open().filter(|_| self.step_in(path).is_none())?;
        let step = &self.steps[at];
        let _ = step.told.set(Found::Other);
        Some((self.seen_from(at), step.fingerprints.compute().to_vec()))
    }

    /// The agent's call for this file has failed: the first of which nothing is known. Waits for the disk.
    pub(crate) fn call_failed(&self, path: &Path) {
        let written = self.step_in(path);
        if let Some(at) = self.first_open() {
            // What was known before stands.
            let _ = self.steps[at].told.set(match written == Some(at) {
                true => Found::Accepted,
                false => Found::Refused,
            });
        }
    }

    /// Returns the file's real path. Waits for the disk.
    fn real_path(&self) -> &Path {
        let found = || real_path(Path::new(&self.file_path));
        self.real_path.get_or_init(found)
    }

    /// Returns the step whose text this file has, of those that the agent may write now: the latest, and earlier ones of which
    /// nothing is known. Waits for the disk.
    fn step_in(&self, path: &Path) -> Option<usize> {
        let text = match Original::read(path) {
            Ok(Original {
                text: Some(text), ..
            }) => text,
            _ if path.symlink_metadata().is_err() => Vec::new(),
            _ => return None,
        };
        let mut steps = self.steps.iter().enumerate();
        let is_open = |at: usize, it: &Step| at == 0 || it.told.get().is_none();
        let found = steps.find(|(at, it)| is_open(*at, it) && it.fingerprints.are_of(&text));
        found.map(|(at, _)| at)
    }

    /// The place of the first step of which nothing is known.
    fn first_open(&self) -> Option<usize> {
        let mut open = (0..=self.last_open()).rev();
        open.find(|at| self.steps[*at].told.get().is_none())
    }

    /// The place of the earliest step that the agent makes before the latest, of those over which that was accepted.
    fn last_open(&self) -> usize {
        let pairs = self.steps.windows(2);
        let is_over = |pair: &&[Step]| { pair[0].over.as_ref() }.is_some_and(|it| pair[1].has(it));
        pairs.take_while(is_over).count()
    }
}

impl Step {
    fn has(&self, fingerprint: &str) -> bool {
        let hash = fingerprint::hash_in(fingerprint);
        hash.is_some_and(|it| self.fingerprints.contains(it))
    }
}

#[cfg(test)]
mod tests {
    use pillion_protocol::Dialect;

    use super::*;
    use crate::written::Over;

    fn accepted(path: &Path, content: &str, as_written: Option<&str>) -> Accepted {
        let content = Arc::new(content.to_owned());
        let as_written = as_written.map(|text| Arc::new(text.to_owned()));
        Accepted {
            id: pillion_view::DiffId(1),
            deletes: false,
            is_told: true,
            is_answer: false,
            session: "s".into(),
            proposer: Dialect::GeminiCli.into(),
            file_path: path.to_str().unwrap().to_owned(),
            fingerprints: Fingerprints::of([&content].into_iter().chain(&as_written).cloned()),
            content,
            is_edited: false,
            before: None,
            over: None,
            former: None,
            shown_beside: Some("absent".to_owned()),
            told: Arc::default(),
        }
    }

    /// It needs a link, which Windows lets only administrators make.
    #[cfg(unix)]
    #[test]
    fn an_accepted_text_is_no_persons_in_whatever_form_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let folder = real_path(folder.path());
        let (file, link) = (folder.join("a"), folder.join("link"));
        std::os::unix::fs::symlink("a", &link).unwrap();
        let remembered = AcceptedTexts::default();
        remembered.accepted(&accepted(&file, "before", None));
        remembered.accepted(&accepted(&link, "x\r\n", Some("x\n")));
        remembered.accepted(&accepted(&folder.join("b"), "y", None));
        let is_agents = |text: &[u8]| {
            std::fs::write(&file, text).unwrap();
            let texts = remembered.of(&file);
            texts.iter().any(|text| text.is_in(&file))
        };
        let utf_16: Vec<u8> = "\u{feff}x\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        for (text, expected) in [
            (&b"x\r\n"[..], true),
            (b"x\n", true),
            (b"before", true),
            (b"y", false),
            (b"x\nmine\n", false),
            (&utf_16, false),
        ] {
            assert_eq!(is_agents(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_was_accepted_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = real_path(folder.path()).join("a");
        let remembered = AcceptedTexts::default();
        let writes = |remembered: &AcceptedTexts, text: &str| {
            std::fs::write(&file, text).unwrap();
            let texts = remembered.of(&file);
            texts.iter().any(|it| !it.written_to(&file).is_empty())
        };
        remembered.accepted(&accepted(&file, "x", None));
        assert!(!writes(&remembered, "mine"), "another text");
        assert!(writes(&remembered, "x"));
        assert!(!writes(&remembered, "mine"));
        assert!(!writes(&remembered, "x"), "over the person's");
        let texts = remembered.of(&file);
        assert!(texts[0].is_in(&file), "it is no person's all the same");
        remembered.accepted(&accepted(&file, "x", None));
        assert!(writes(&remembered, "x"), "accepted again");
    }

    /// All hooks of an answer ask before its first change is made. What comes of each is its own.
    #[test]
    fn a_text_over_which_another_was_accepted_is_written_before_that() {
        let folder = tempfile::tempdir().unwrap();
        let file = real_path(folder.path()).join("a");
        let over = Some(Box::new(Over {
            text: fingerprint::of(Some(b"one")),
            both: Fingerprints::of([]),
        }));
        for (over, fails, expected) in [
            (&over, false, Found::Accepted),
            (&over, true, Found::Refused),
            (&None, false, Found::Accepted),
        ] {
            let [first, second] = ["one", "one and two"].map(|it| accepted(&file, it, None));
            let second = Accepted {
                over: over.clone(),
                ..second
            };
            let remembered = AcceptedTexts::default();
            remembered.accepted(&first);
            remembered.accepted(&second);
            let texts = remembered.of(&file);
            std::fs::write(&file, "one").unwrap();
            assert!(!texts[0].written_to(&file).is_empty());
            assert_eq!(second.told.get(), None);
            if fails {
                texts[0].call_failed(&file);
            } else {
                std::fs::write(&file, "one and two").unwrap();
                texts[0].written_to(&file);
            }
            let told = [first, second].map(|it| it.told.get().copied());
            let expected = [Some(Found::Accepted), Some(expected)];
            assert_eq!(told, expected, "{} {fails}", over.is_some());
        }
    }

    /// Several may be written before a look finds them, and one of them may be over what nobody was shown.
    #[test]
    fn what_a_person_has_seen_begins_where_what_they_were_shown_one_after_the_other_begins() {
        let folder = tempfile::tempdir().unwrap();
        let file = real_path(folder.path()).join("a");
        let of = |text: &str| fingerprint::of(Some(text.as_bytes()));
        let three = [("one", "two"), ("two", "three"), ("three", "four")];
        for (shown, expected) in [
            (&three[..], &["three", "two", "one"][..]),
            (&[("one", "two"), ("others", "four")], &["others"]),
            (
                &[("one", "two"), ("by a shell", "three"), ("three", "four")],
                &["three", "by a shell"],
            ),
        ] {
            let remembered = AcceptedTexts::default();
            for (beside, text) in shown {
                remembered.accepted(&Accepted {
                    shown_beside: Some(of(beside)),
                    ..accepted(&file, text, None)
                });
            }
            std::fs::write(&file, "four").unwrap();
            let seen_from = remembered.of(&file)[0].written_to(&file);
            let expected: Vec<_> = expected.iter().map(|it| of(it)).collect();
            assert_eq!(seen_from, expected, "{shown:?}");
        }
    }

    #[test]
    fn a_call_that_failed_wrote_nothing_unless_its_text_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = real_path(folder.path()).join("a");
        for (there, expected) in [("other", Found::Refused), ("x", Found::Accepted)] {
            let accepted = accepted(&file, "x", None);
            let remembered = AcceptedTexts::default();
            remembered.accepted(&accepted);
            std::fs::write(&file, there).unwrap();
            remembered.of(&file)[0].call_failed(&file);
            assert_eq!(accepted.look(), expected, "{there}");
        }
    }

    #[test]
    fn no_more_texts_are_remembered_than_a_review_may_have() {
        let remembered = AcceptedTexts::default();
        for number in 0..3 * MAX_TEXTS {
            let path = format!("/{number}");
            for _ in 0..2 {
                remembered.accepted(&accepted(Path::new(&path), "x", None));
            }
        }
        let texts = lock(&remembered.0);
        assert_eq!(texts.len(), MAX_TEXTS);
        assert_eq!(texts[0].file_path, format!("/{}", 3 * MAX_TEXTS - 1));
    }
}
