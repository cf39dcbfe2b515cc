//! Owns the texts that people accepted, by their fingerprints: a file that has one is what an agent wrote, and not what the person
//! works on.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pillion_discovery::real_path;
use pillion_text::fingerprint;
use pillion_view::Original;

use crate::line_endings::decoded;
use crate::written::{Accepted, Fingerprints};

/// The number of accepted texts that are remembered.
const MAX_TEXTS: usize = 64;

/// The texts that were accepted last, the latest first.
#[derive(Debug, Default)]
pub(crate) struct AcceptedTexts(VecDeque<AcceptedText>);

/// A text that was accepted, by its fingerprints.
#[derive(Debug, Clone)]
pub(crate) struct AcceptedText {
    /// As the agent spells it.
    file_path: String,
    /// As it was accepted, and as the agent may write it.
    fingerprints: Fingerprints,
    /// True once an agent has written it. All copies know.
    is_written: Arc<AtomicBool>,
}

impl AcceptedTexts {
    /// The person accepted a text that an agent will write.
    pub(crate) fn accepted(&mut self, accepted: &Accepted) {
        self.add(&accepted.file_path, accepted.fingerprints.clone());
    }

    /// The same of a text that an agent's hook has proposed.
    pub(crate) fn accepted_for_hook(&mut self, file_path: &str, text: &Arc<String>) {
        let fingerprints = Fingerprints::of([Arc::clone(text)]);
        // Nobody else may ever do that: the agent's hook says itself what is written.
        fingerprints.compute();
        self.add(file_path, fingerprints);
    }

    fn add(&mut self, file_path: &str, fingerprints: Fingerprints) {
        self.0.retain(|it| it.file_path != file_path);
        self.0.truncate(MAX_TEXTS - 1);
        self.0.push_front(AcceptedText {
            file_path: file_path.to_owned(),
            fingerprints,
            is_written: Arc::default(),
        });
    }

    /// Returns the texts, to compare a file with.
    pub(crate) fn all(&self) -> Vec<AcceptedText> {
        self.0.iter().cloned().collect()
    }
}

impl AcceptedText {
    /// Returns true if the file at this real path is the one, and has the text. A file that is gone has the text of one that is
    /// to be deleted. Waits for the disk.
    pub(crate) fn is_in(&self, path: &Path) -> bool {
        self.real_path() == path && self.is_text_of(path)
    }

    /// Returns true if an agent has now written to this file what was accepted. It was accepted once: if an agent writes it
    /// again, perhaps over what the person has since made of the file, nobody has seen that. Waits for the disk.
    pub(crate) fn is_written_to(&self, path: &Path) -> bool {
        self.is_text_of(path) && !self.is_written.swap(true, Ordering::Relaxed)
    }

    /// Returns the file's real path. Waits for the disk.
    pub(crate) fn real_path(&self) -> PathBuf {
        real_path(Path::new(&self.file_path))
    }

    /// Returns true if this file has the text. Waits for the disk.
    fn is_text_of(&self, path: &Path) -> bool {
        let text = match Original::read(path) {
            Ok(Original {
                text: Some(text), ..
            }) => text,
            _ if path.symlink_metadata().is_err() => Vec::new(),
            _ => return false,
        };
        let decoded = decoded(&text);
        let hash = fingerprint::hash(decoded.as_deref().map_or(&text, str::as_bytes));
        self.fingerprints.contains(&hash)
    }
}

#[cfg(test)]
mod tests {
    use pillion_protocol::Dialect;

    use super::*;

    fn accepted(path: &Path, content: &str, as_written: Option<&str>) -> Accepted {
        let content = Arc::new(content.to_owned());
        let as_written = as_written.map(|text| Arc::new(text.to_owned()));
        Accepted {
            id: pillion_view::DiffId(1),
            deletes: false,
            is_told: true,
            session: "s".into(),
            proposer: Dialect::GeminiCli.into(),
            file_path: path.to_str().unwrap().to_owned(),
            fingerprints: Fingerprints::of([&content].into_iter().chain(&as_written).cloned()),
            content,
            as_written,
            is_edited: false,
            before: None,
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
        let mut remembered = AcceptedTexts::default();
        remembered.accepted(&accepted(&file, "before", None));
        remembered.accepted(&accepted(&link, "x\r\n", Some("x\n")));
        remembered.accepted(&accepted(&folder.join("b"), "y", None));
        let is_agents = |text: &[u8]| {
            std::fs::write(&file, text).unwrap();
            let texts = remembered.all();
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
        let mut remembered = AcceptedTexts::default();
        let writes = |remembered: &AcceptedTexts, text: &str| {
            std::fs::write(&file, text).unwrap();
            let texts = remembered.all();
            texts.iter().any(|it| it.is_written_to(&file))
        };
        remembered.accepted(&accepted(&file, "x", None));
        assert!(!writes(&remembered, "mine"), "another text");
        assert!(writes(&remembered, "x"));
        assert!(!writes(&remembered, "mine"));
        assert!(!writes(&remembered, "x"), "over the person's");
        let texts = remembered.all();
        assert!(texts[0].is_in(&file), "it is no person's all the same");
        remembered.accepted(&accepted(&file, "x", None));
        assert!(writes(&remembered, "x"), "accepted again");
    }

    #[test]
    fn no_more_texts_are_remembered_than_a_review_may_have() {
        let mut remembered = AcceptedTexts::default();
        for number in 0..3 * MAX_TEXTS {
            let path = format!("/{number}");
            for _ in 0..2 {
                remembered.accepted(&accepted(Path::new(&path), "x", None));
            }
        }
        let texts = remembered.all();
        assert_eq!(texts.len(), MAX_TEXTS);
        assert_eq!(texts[0].file_path, format!("/{}", 3 * MAX_TEXTS - 1));
    }
}
