//! Owns what people have said to agents that these have not read yet, in the store: a file for each note, until its agent has it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pillion_discovery::exact;
use pillion_protocol::AgentProcess;
use pillion_protocol::verdict::Lines;
use serde::{Deserialize, Serialize};

use super::{MAX_RECORD, Store, StoreError};

const NOTES: &str = "notes";

/// The end of the name of a note's file.
const END: &str = ".json";

/// The time for which a note waits for its agent.
const MAX_AGE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// A note that waits for its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingNote {
    /// The short name of the agent.
    pub agent: String,
    /// The agent's process, if it was known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<AgentProcess>,
    /// The folders of the workspace.
    #[serde(with = "exact::paths")]
    pub roots: Vec<PathBuf>,
    /// The time when the person wrote it: milliseconds since 1970.
    pub at: u64,
    /// The file that it is about, as the agent spells it.
    pub file_path: String,
    /// Its lines, where they are in the file as well.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lines: Option<Lines>,
    /// The text that the agent's model is to read.
    pub text: String,
    /// True if the change was accepted that it is about, or was written already.
    pub is_accepted: bool,
    /// True if the file exists, or was to exist soon.
    pub is_there: bool,
    /// True if a hook of the agent is to take it.
    pub is_for_hook: bool,
}

impl WaitingNote {
    /// Returns true if its workspace has one of these folders, or is within one.
    pub fn is_of(&self, folders: &[impl AsRef<Path>]) -> bool {
        let overlaps =
            |root: &PathBuf, folder: &Path| root.starts_with(folder) || folder.starts_with(root);
        let mut roots = self.roots.iter();
        roots.any(|root| folders.iter().any(|folder| overlaps(root, folder.as_ref())))
    }
}

impl Store {
    /// Keeps a note by this name, which no other has.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_note(&self, name: &str, note: &WaitingNote) -> Result<(), StoreError> {
        let json = serde_json::to_vec(note).unwrap_or_default();
        let folder = self.create(&[NOTES])?;
        Ok(folder.write(&format!("{name}{END}"), &json)?)
    }

    /// The agent has the note of this name.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn drop_note(&self, name: &str) -> Result<(), StoreError> {
        match self.open(&[NOTES])? {
            Some(folder) => Ok(folder.remove(&format!("{name}{END}"))?),
            None => Ok(()),
        }
    }

    /// The notes that wait, with their names, oldest first. What cannot be understood is none.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn waiting_notes(&self) -> Result<Vec<(String, WaitingNote)>, StoreError> {
        let Some(folder) = self.open(&[NOTES])? else {
            return Ok(Vec::new());
        };
        let mut notes = Vec::new();
        for file in folder.names()? {
            let Some(name) = file.strip_suffix(END) else {
                continue;
            };
            let json = folder.read(&file, MAX_RECORD)?.unwrap_or_default();
            if let Ok(note) = serde_json::from_slice::<WaitingNote>(&json) {
                notes.push((name.to_owned(), note));
            }
        }
        notes.sort_by(|(name, a), (other, b)| (a.at, name).cmp(&(b.at, other)));
        Ok(notes)
    }

    /// Removes notes that have waited for too long.
    pub(super) fn tidy_notes(&self, now: SystemTime) -> Result<(), StoreError> {
        for (name, note) in self.waiting_notes()? {
            let at = SystemTime::UNIX_EPOCH + Duration::from_millis(note.at);
            if now.duration_since(at).is_ok_and(|age| age > MAX_AGE) {
                self.drop_note(&name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(agent: &str, at: u64) -> WaitingNote {
        WaitingNote {
            agent: agent.to_owned(),
            process: None,
            roots: vec!["/w/a".into()],
            at,
            file_path: "/w/a/x".to_owned(),
            lines: Some(Lines { first: 1, last: 2 }),
            text: "no".to_owned(),
            is_accepted: true,
            is_there: true,
            is_for_hook: true,
        }
    }

    #[test]
    fn a_note_is_kept_until_its_agent_has_it() {
        let (_base, store) = Store::temporary();
        assert_eq!(store.waiting_notes().unwrap(), []);
        store.drop_note("a").unwrap();
        let (first, second) = (note("claude", 1), note("codex", 2));
        store.keep_note("b", &second).unwrap();
        store.keep_note("a", &first).unwrap();
        let folder = store.create(&[NOTES]).unwrap();
        folder.write("damaged.json", b"{").unwrap();
        let both = [("a".to_owned(), first), ("b".to_owned(), second)];
        assert_eq!(store.waiting_notes().unwrap(), both);
        store.drop_note("a").unwrap();
        assert_eq!(store.waiting_notes().unwrap(), both[1..]);
        store.tidy_notes(SystemTime::UNIX_EPOCH + MAX_AGE).unwrap();
        assert_eq!(store.waiting_notes().unwrap(), both[1..]);
        store.tidy_notes(SystemTime::now()).unwrap();
        assert_eq!(store.waiting_notes().unwrap(), []);
    }

    #[test]
    fn it_is_of_folders_that_overlap() {
        let note = note("claude", 1);
        for (folder, expected) in [
            ("/w", true),
            ("/w/a", true),
            ("/w/a/b", true),
            ("/w/b", false),
        ] {
            assert_eq!(note.is_of(&[folder]), expected, "{folder}");
        }
    }
}
