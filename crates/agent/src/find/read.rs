//! Reading what lies in the agents' folders, as they read it: links are followed, and anybody's file
//! is read. What is not a regular file is not waited for.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pillion_discovery::regular_file;
use pillion_protocol::discovery::DiscoveryFile;
use serde::de::DeserializeOwned;

/// Far more than a discovery file needs; what is larger is not a discovery file.
const MAX_FILE: u64 = 1 << 20;

/// A file with the name of a discovery file, whose content is a `T`.
#[derive(Debug)]
pub(crate) struct Seen<T = DiscoveryFile> {
    pub(crate) path: PathBuf,
    /// The content, or the error of reading it.
    pub(crate) read: Result<Text<T>, ErrorKind>,
}

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Text<T> {
    /// None if it is no discovery file's.
    pub(crate) content: Option<T>,
    /// True if it belongs to this user.
    pub(crate) is_own: bool,
    pub(crate) modified: SystemTime,
}

impl<T: DeserializeOwned> Seen<T> {
    pub(crate) fn read(path: PathBuf) -> Self {
        let read = read(&path).map_err(|error| error.kind());
        Self { path, read }
    }

    /// Its content, if it was read and is a discovery file's.
    pub(crate) fn content(&self) -> Option<&T> {
        self.read.as_ref().ok()?.content.as_ref()
    }

    pub(crate) fn modified(&self) -> Option<SystemTime> {
        self.read.as_ref().ok().map(|text| text.modified)
    }
}

/// The names in `folder`, `only` those with this port, sorted by their bytes as Node lists them; none if it cannot be read.
pub(crate) fn names(folder: &Path, only: Option<u16>) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let only = only.map(|port| port.to_string());
    names.retain(|name| only.as_ref().is_none_or(|port| name.contains(port)));
    names.sort_unstable();
    names
}

fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Text<T>> {
    let (file, metadata) = regular_file::open(path)?;
    // Room for all of it and for the end to be seen: two system calls for each file, and not four.
    let size = usize::try_from(metadata.len().min(MAX_FILE)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(size + 64);
    let size = file.take(MAX_FILE + 1).read_to_end(&mut bytes)? as u64;
    let content = (size <= MAX_FILE).then(|| serde_json::from_slice(&bytes).ok());
    Ok(Text {
        content: content.flatten(),
        is_own: is_own(&metadata),
        modified: metadata.modified()?,
    })
}

#[cfg(unix)]
fn is_own(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.uid() == rustix::process::getuid().as_raw()
}

/// Agents do not look at owners on Windows.
#[cfg(not(unix))]
fn is_own(_: &Metadata) -> bool {
    true
}
