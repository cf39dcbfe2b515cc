//! The folders of proposals as files, so that an editor can open them: private folders of ours, outside
//! of every workspace. Each proposal has one of its own, which goes with it. All of it waits for a
//! disk.
//!
//! Each revision has another path, so that no text of an older revision is mistaken for an answer.

use std::fs;
use std::path::{Path, PathBuf};

use pillion_discovery::private_file::Folder;
use pillion_discovery::process_dir::ProcessDir;
use pillion_discovery::{Environment, FileError, canonicalize};
use pillion_view::{Diff, Proposed};

use crate::proposal_path::{self, PROPOSALS};

/// Shorter than file systems ask for: editors put something before and behind the names of their
/// own files.
const MAX_NAME: usize = 200;

/// An extension that an editor knows is no longer than this.
const MAX_EXTENSION: usize = 32;

/// Nobody writes a longer proposal.
const MAX_FILE: u64 = 512 << 20;

/// A proposal as a file. Dropping it removes the file, its folder, and what an editor put beside it.
#[derive(Debug)]
pub struct ProposalFile {
    folder: Folder,
    name: String,
    path: PathBuf,
}

/// The folders of this process, and away with what dead processes left behind.
pub fn open(environment: &Environment) -> ProcessDir {
    ProcessDir::new(environment, PROPOSALS)
}

/// Returns true if another process has a proposal, which an editor may have been started for.
pub fn has_others(dir: &ProcessDir) -> bool {
    dir.others().any(|folder| {
        let labels = folder.names().unwrap_or_default();
        labels
            .iter()
            .any(|label| proposal_path::key(label).is_some())
    })
}

impl ProposalFile {
    pub fn put(dir: &ProcessDir, diff: &Diff) -> Result<Self, FileError> {
        dir.put(|place| {
            let folder = place.create(&proposal_path::label(diff.key()))?;
            let name = proposal_name(&diff.path);
            let path = real(folder.path()).join(&name);
            let file = Self { folder, name, path };
            file.folder.write(&file.name, diff.proposed.as_bytes())?;
            Ok(file)
        })
    }

    /// The path of the file, as editors name it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its content now; nothing if it was removed.
    pub fn read(&self) -> Result<Option<Vec<u8>>, FileError> {
        self.folder.read(&self.name, MAX_FILE)
    }
}

impl Drop for ProposalFile {
    fn drop(&mut self) {
        // An editor may have put a lock or a swap file beside it.
        let _ = fs::remove_dir_all(self.folder.path());
    }
}

/// A folder by the name that editors give it: without links.
fn real(folder: &Path) -> PathBuf {
    canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// `NAME.proposed.EXT`: an editor chooses a language by how a name ends, or by how it begins.
fn proposal_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.len() <= MAX_EXTENSION => {
            (stem, format!(".{extension}"))
        }
        _ => (name.as_ref(), String::new()),
    };
    let extension = if extension == "." { "" } else { &extension };
    let end = format!(".proposed{extension}");
    let stem = &stem[..stem.floor_char_boundary(MAX_NAME - end.len())];
    format!("{stem}{end}")
}

#[cfg(test)]
mod tests {
    use pillion_protocol::Dialect;
    use pillion_view::{DiffId, Original};

    use super::*;

    fn diff(id: u64, path: &str) -> Diff {
        Diff {
            id: DiffId(id),
            revision: 1,
            proposer: Dialect::GeminiCli.into(),
            number: 1,
            path: path.into(),
            original: Original::default(),
            proposed: "text".to_owned().into(),
            notes: Vec::new(),
            hunks: Vec::new(),
            set: None,
            deletes: false,
            original_is_other: false,
            written: None,
            is_unclear: false,
            is_of_subagent: false,
            runner: None,
            mode: None,
        }
    }

    fn holds(dir: &ProcessDir, path: &Path) -> bool {
        dir.parents().iter().any(|folder| path.starts_with(folder))
    }

    fn environment(folder: &Path) -> Environment {
        Environment::from_pairs([("XDG_RUNTIME_DIR", folder), ("TMPDIR", folder)])
    }

    #[test]
    fn a_name_keeps_its_extension() {
        let long = "x".repeat(300);
        for (name, expected) in [
            ("a.rs", "a.proposed.rs".to_owned()),
            ("a.test.ts", "a.test.proposed.ts".to_owned()),
            ("Makefile", "Makefile.proposed".to_owned()),
            (".bashrc", ".bashrc.proposed".to_owned()),
            (".eslintrc.json", ".eslintrc.proposed.json".to_owned()),
            ("[id].tsx", "[id].proposed.tsx".to_owned()),
            ("100%.md", "100%.proposed.md".to_owned()),
            ("a\nb.c", "a\nb.proposed.c".to_owned()),
            ("end.", "end.proposed".to_owned()),
            (
                &format!("{long}.rs"),
                format!("{}.proposed.rs", "x".repeat(188)),
            ),
            (
                &format!("a.{long}"),
                format!("a.{}.proposed", "x".repeat(189)),
            ),
            (
                &format!("{}.é", "é".repeat(120)),
                format!("{}.proposed.é", "é".repeat(94)),
            ),
        ] {
            let path = Path::new("/folder").join(name);
            assert_eq!(proposal_name(&path), expected);
        }
    }

    #[test]
    fn a_proposal_lies_in_a_private_folder_and_goes_with_everything_beside_it() {
        let home = tempfile::tempdir().unwrap();
        let dir = open(&environment(home.path()));
        let file = ProposalFile::put(&dir, &diff(1, "/w/a.rs")).unwrap();
        assert!(file.path().ends_with("1-1/a.proposed.rs"));
        assert_eq!(file.read().unwrap().unwrap(), b"text");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(file.path()), 0o600);
            let folders = file.path().ancestors().skip(1);
            let ours = folders.take_while(|folder| *folder != home.path());
            assert!(
                ours.inspect(|folder| assert_eq!(mode(folder), 0o700))
                    .count()
                    >= 4
            );
        }
        let (path, folder) = (file.path().to_owned(), file.folder.path().to_owned());
        assert!(holds(&dir, &path) && !holds(&dir, Path::new("/w/a.rs")));
        fs::write(folder.join(".a.rs.swp"), "").unwrap();
        drop(file);
        assert!(!folder.exists());
        assert!(holds(&dir, &path), "also when it is gone");
        let other = ProposalFile::put(&dir, &diff(2, "/w/b.rs")).unwrap();
        let own = folder.parent().unwrap();
        assert!(own.exists());
        drop(dir);
        assert!(!own.exists());
        drop(other);
    }

    #[cfg(unix)]
    #[test]
    fn a_proposal_is_known_by_its_real_path_too() {
        let home = tempfile::tempdir().unwrap();
        let link = home.path().join("link");
        let real = home.path().canonicalize().unwrap().join("real");
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let dir = open(&environment(&link));
        let file = ProposalFile::put(&dir, &diff(1, "/a.rs")).unwrap();
        assert!(file.path().starts_with(&real), "as Emacs names it");
        assert!(holds(&dir, file.path()));
        let named = link.join("pillion/proposals/1/1-1/a.proposed.rs");
        assert!(holds(&dir, &named));
    }
}
