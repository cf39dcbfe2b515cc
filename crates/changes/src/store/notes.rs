//! Owns what people have said to agents that these have not read yet, in the store: a file for each note, until its agent has it; and
//! the notes on proposals that nobody has decided about, a file for each agent's proposal of a file, and those on rows of the list.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pillion_discovery::exact;
use pillion_protocol::verdict::Lines;
use pillion_protocol::{AgentProcess, Note};
use pillion_system::clock;
use pillion_text::fingerprint;
use serde::{Deserialize, Serialize};

use super::{Store, StoreError};

pub(super) const NOTES: &str = "notes";
pub(super) const ON_PROPOSALS: &str = "notes-on-proposals";

/// The end of the name of a note's file.
const END: &str = ".json";

/// The time for which a note waits for its agent.
const MAX_AGE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// A note that waits for its agent.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// True if the agent was to write that change, and it is not known what came of it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_awaited: bool,
    /// True if the file exists, or was to exist soon.
    pub is_there: bool,
    /// True if a hook of the agent is to take it.
    pub is_for_hook: bool,
    /// The turn that it is about, if that was written without asking: its text has lines of what the agent made then.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turn: Option<u64>,
}

/// The names of notes that one process keeps: nobody else gives them.
#[derive(Debug)]
pub struct NoteNames {
    prefix: String,
    count: u64,
}

impl NoteNames {
    /// Those of this giver, which no other is at the same time.
    pub fn of(giver: &str) -> Self {
        Self {
            prefix: format!("{}-{giver}", clock::now_ms()),
            count: 0,
        }
    }

    /// Returns the next one.
    pub fn next_name(&mut self) -> String {
        self.count += 1;
        format!("{}-{}", self.prefix, self.count)
    }
}

impl WaitingNote {
    /// Returns true if it is about one of these turns.
    pub fn is_about(&self, turns: &[u64]) -> bool {
        self.turn.is_some_and(|it| turns.contains(&it))
    }

    /// Returns true if its workspace has one of these folders, or is within one.
    pub fn is_of(&self, folders: &[impl AsRef<Path>]) -> bool {
        let overlaps =
            |root: &PathBuf, folder: &Path| root.starts_with(folder) || folder.starts_with(root);
        let mut roots = self.roots.iter();
        roots.any(|root| folders.iter().any(|folder| overlaps(root, folder.as_ref())))
    }
}

/// The notes on a proposal that nobody has decided about.
#[derive(Debug, Serialize, Deserialize)]
struct OnProposal {
    at: u64,
    /// The row of the list of what was written, if they are on one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    row: Option<String>,
    notes: Vec<Note>,
}

impl Store {
    /// Keeps the notes on this, a change of this file, all that an agent proposes for it, or a row without a file, in place of those from before; none
    /// forgets them.
    pub fn keep_notes_on(&self, of: &str, path: &Path, notes: Vec<Note>) -> Result<(), StoreError> {
        let name = name_on(of, path);
        if notes.is_empty() {
            return self.remove_file(&[ON_PROPOSALS], &name);
        }
        let at = clock::now_ms();
        let row = path.as_os_str().is_empty().then(|| of.to_owned());
        self.write(&[ON_PROPOSALS], &name, &OnProposal { at, row, notes })
    }

    /// The notes on rows of the list of what was written, with the names of these. What cannot be understood is none.
    pub fn notes_on_rows(&self) -> Result<Vec<(String, Vec<Note>)>, StoreError> {
        let names = self.names(&[ON_PROPOSALS])?.into_iter();
        let kept = names.filter_map(|it| self.read::<OnProposal>(&[ON_PROPOSALS], &it).ok()?);
        Ok(kept.filter_map(|it| Some((it.row?, it.notes))).collect())
    }

    /// The notes on this. What cannot be understood is none.
    pub fn notes_on(&self, of: &str, path: &Path) -> Result<Vec<Note>, StoreError> {
        let kept = self.read::<OnProposal>(&[ON_PROPOSALS], &name_on(of, path))?;
        Ok(kept.map_or_else(Vec::new, |it| it.notes))
    }

    /// Keeps a note by this name, which no other has.
    pub fn keep_note(&self, name: &str, note: &WaitingNote) -> Result<(), StoreError> {
        self.write(&[NOTES], &format!("{name}{END}"), note)
    }

    /// The agent has the note of this name.
    pub fn drop_note(&self, name: &str) -> Result<(), StoreError> {
        self.remove_file(&[NOTES], &format!("{name}{END}"))
    }

    /// The notes that wait, with their names, oldest first. What cannot be understood is none.
    pub fn waiting_notes(&self) -> Result<Vec<(String, WaitingNote)>, StoreError> {
        let mut notes: Vec<(String, WaitingNote)> = Vec::new();
        for file in self.names(&[NOTES])? {
            if let Some(name) = file.strip_suffix(END)
                && let Some(note) = self.read(&[NOTES], &file)?
            {
                notes.push((name.to_owned(), note));
            }
        }
        notes.sort_by(|(name, a), (other, b)| (a.at, name).cmp(&(b.at, other)));
        Ok(notes)
    }

    /// Removes the notes about these turns. Returns how many there were.
    pub fn forget_notes(&self, turns: &[u64]) -> Result<usize, StoreError> {
        let mut about = self.waiting_notes()?;
        about.retain(|(_, note)| note.is_about(turns));
        about
            .iter()
            .try_for_each(|(name, _)| self.drop_note(name))?;
        Ok(about.len())
    }

    /// Removes notes that have waited for too long.
    pub(super) fn tidy_notes(&self, now: SystemTime) -> Result<(), StoreError> {
        let is_old = |at: u64| {
            let at = SystemTime::UNIX_EPOCH + Duration::from_millis(at);
            now.duration_since(at).is_ok_and(|age| age > MAX_AGE)
        };
        for (name, note) in self.waiting_notes()? {
            if is_old(note.at) {
                self.drop_note(&name)?;
            }
        }
        for name in self.names(&[ON_PROPOSALS])? {
            let kept = self.read::<OnProposal>(&[ON_PROPOSALS], &name)?;
            if kept.is_some_and(|it| is_old(it.at)) {
                self.remove_file(&[ON_PROPOSALS], &name)?;
            }
        }
        Ok(())
    }
}

/// The name of the file with the notes on what this agent proposes for a file.
fn name_on(of: &str, path: &Path) -> String {
    let of = [of.as_bytes(), b"\0", path.as_os_str().as_encoded_bytes()].concat();
    format!("{}{END}", &fingerprint::hash(&of)[..32])
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
            is_awaited: false,
            turn: Some(at),
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
        assert_eq!(store.forget_notes(&[3]).unwrap(), 0);
        assert_eq!(store.forget_notes(&[1, 3]).unwrap(), 1);
        assert_eq!(store.waiting_notes().unwrap(), both[1..]);
        store.tidy_notes(SystemTime::UNIX_EPOCH + MAX_AGE).unwrap();
        assert_eq!(store.waiting_notes().unwrap(), both[1..]);
        store.tidy_notes(SystemTime::now()).unwrap();
        assert_eq!(store.waiting_notes().unwrap(), []);
    }

    #[test]
    fn notes_on_a_proposal_wait_for_the_next_one_of_that_file_and_agent() {
        let (_base, store) = Store::temporary();
        let (path, other) = (Path::new("/w/a"), Path::new("/w/b"));
        let on = |agent, path| store.notes_on(agent, path).unwrap();
        let notes = vec![Note::on_all("why?")];
        store.keep_notes_on("claude", path, Vec::new()).unwrap();
        assert_eq!(on("claude", path), []);
        store.keep_notes_on("claude", path, notes.clone()).unwrap();
        assert_eq!(on("claude", path), notes);
        assert_eq!((on("codex", path), on("claude", other)), (vec![], vec![]));
        store.tidy_notes(SystemTime::now()).unwrap();
        assert_eq!(on("claude", path), notes);
        store.tidy_notes(SystemTime::now() + MAX_AGE * 2).unwrap();
        assert_eq!(on("claude", path), []);
        store.keep_notes_on("claude", path, notes.clone()).unwrap();
        let row = Path::new("");
        store.keep_notes_on("7.1", row, notes.clone()).unwrap();
        assert_eq!(store.notes_on_rows().unwrap(), [("7.1".to_owned(), notes)]);
        store.keep_notes_on("7.1", row, Vec::new()).unwrap();
        assert_eq!(store.notes_on_rows().unwrap(), []);
        store.keep_notes_on("claude", path, Vec::new()).unwrap();
        assert_eq!(on("claude", path), []);
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
