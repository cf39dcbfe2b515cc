//! The marker of a folder that Pillion installed: which version, which files, what they held.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use pillion_text::fingerprint::hash;
use serde::{Deserialize, Serialize};

use super::File;

/// More than a marker has. A larger one is none.
const MAX_BYTES: u64 = 1 << 20;

/// The content of the marker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// Of the program that installed it.
    pub version: String,
    /// The hash of each file by its path.
    files: BTreeMap<String, String>,
    /// Folders above that were made for it, the uppermost first.
    #[serde(default)]
    pub made: Vec<PathBuf>,
}

impl Marker {
    pub const NAME: &str = ".pillion-installed.json";

    /// For these files.
    pub fn new(files: &[File], made: Vec<PathBuf>) -> Self {
        let hashes = files.iter().map(|(name, text)| (name.clone(), hash(text)));
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            files: hashes.collect(),
            made,
        }
    }

    /// That of a folder; none if it has none that makes sense.
    pub fn read(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(Self::NAME);
        match fs::symlink_metadata(&path) {
            Ok(data) if data.is_file() && data.len() <= MAX_BYTES => {}
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(serde_json::from_slice(&fs::read(path)?).ok())
    }

    /// As it is written.
    pub fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// The hash of a file as it was installed; nothing if it was not.
    pub fn hash_of(&self, name: &str) -> Option<&String> {
        self.files.get(name)
    }

    /// The files, but for those that would lie elsewhere.
    pub fn names(&self) -> impl Iterator<Item = &Path> {
        let is_below = |path: &&Path| {
            let mut parts = path.components();
            parts.all(|part| matches!(part, Component::Normal(_)))
        };
        self.files.keys().map(Path::new).filter(is_below)
    }

    /// The folders that were made for `target` and may be removed with it: those above it, whatever
    /// the file says.
    pub fn made_above(&self, target: &Path) -> Vec<PathBuf> {
        let is_above = |folder: &&PathBuf| target.starts_with(folder) && *folder != target;
        self.made.iter().filter(is_above).cloned().collect()
    }
}
