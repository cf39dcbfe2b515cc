//! The texts that git has of the files of a work tree: such a text need not be copied. Reads git's files and runs no program:
//! commands that a repository configures are not carried out. What it reads is a regular file below a limit; a repository in
//! which a pipe or a device stands for one has no texts.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix_hash::{Kind, ObjectId};
use gix_index::entry::{Mode, Stage};
use gix_object::FindExt as _;
use gix_odb::HeaderExt as _;
use pillion_discovery::version_control::{self, GitFolders};
use pillion_discovery::{Environment, regular_file};

use crate::scan::Stat;
use crate::store::MAX_TEXT;

/// Attributes with which git has another text than the disk, of the same length perhaps.
const FILTERS: [&str; 2] = ["filter", "working-tree-encoding"];

/// Files of settings and attributes are not longer than this, in bytes, and no more of them include each other.
const MAX_SETTINGS: u64 = 1 << 20;
const MAX_INCLUDED: usize = 64;

/// An index is not longer than this, in bytes: it has some hundred for each file.
const MAX_INDEX: u64 = 256 << 20;

/// More folders of objects do not belong to one repository.
const MAX_ALTERNATES: usize = 64;

/// The places where git looks for a person's settings for all repositories.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    home: Option<PathBuf>,
    /// Files of settings, whether they are there or not.
    config: Vec<PathBuf>,
    /// Attributes files, whether they are there or not.
    attributes: Vec<PathBuf>,
}

impl Settings {
    /// Those of this person, and of the system.
    pub fn of(environment: &Environment) -> Self {
        let path = |name: &str| environment.filled(name).map(PathBuf::from);
        let home = path("HOME");
        let folder = path("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        let folder = folder.map(|it| it.join("git"));
        let global = match path("GIT_CONFIG_GLOBAL") {
            Some(global) => vec![global],
            None => {
                let own = home.as_ref().map(|home| home.join(".gitconfig"));
                let other = folder.as_ref().map(|it| it.join("config"));
                own.into_iter().chain(other).collect()
            }
        };
        let system = path("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into());
        let attributes = folder.map(|it| it.join("attributes"));
        Self {
            home,
            config: global.into_iter().chain([system]).collect(),
            attributes: attributes
                .into_iter()
                .chain(["/etc/gitattributes".into()])
                .collect(),
        }
    }

    /// All attributes files that these settings, and those in the files of a repository, may name: one under a condition that
    /// does not hold counts, too. None if not all settings can be read.
    fn attributes_files(&self, repository: &[PathBuf]) -> Option<Vec<PathBuf>> {
        let mut found = self.attributes.clone();
        let mut files: Vec<_> = self.config.iter().chain(repository).cloned().collect();
        let mut seen = HashSet::new();
        while let Some(file) = files.pop() {
            if !seen.insert(file.clone()) {
                continue;
            }
            if seen.len() > MAX_INCLUDED {
                return None;
            }
            for line in settings_text(&file)?.lines() {
                // A section may stand before the value in the same line.
                let line = line.rsplit(']').next().unwrap_or(line);
                let Some((name, value)) = line.split_once('=') else {
                    continue;
                };
                let value = self.path(value.trim().trim_matches('"'), &file);
                match name.trim().to_lowercase().as_str() {
                    "attributesfile" => found.push(value),
                    "path" => files.push(value),
                    _ => {}
                }
            }
        }
        Some(found)
    }

    /// A path in a file of settings.
    fn path(&self, value: &str, file: &Path) -> PathBuf {
        match (value.strip_prefix("~/"), &self.home) {
            (Some(inner), Some(home)) => home.join(inner),
            _ => file.parent().unwrap_or(file).join(value),
        }
    }
}

/// A repository, as its index was when it was opened.
pub struct Repository {
    objects: gix_odb::HandleArc,
    /// The folders in which these are: that of the repository, and those from which it borrows.
    object_folders: Vec<PathBuf>,
    files: HashMap<PathBuf, Tracked>,
    /// The folders that hold tracked files.
    folders: BTreeSet<PathBuf>,
    /// True if git may have other bytes than the disk.
    is_filtered: bool,
}

#[derive(Debug, Clone, Copy)]
struct Tracked {
    id: ObjectId,
    modified: Duration,
    changed: Duration,
    size: u32,
    inode: u32,
}

impl Repository {
    /// The repository that has the files of this folder; none if there is none, or none that can be read.
    pub fn open(folder: &Path, settings: &Settings) -> Option<Self> {
        let tops = folder.ancestors();
        let mut found = tops.filter_map(|top| Some((top, GitFolders::of(top)?)));
        let (work_tree, GitFolders { own: git, common }) =
            found.find(|(_, it)| version_control::is_git_folder(&it.own))?;
        let config = settings_text(&common.join("config"))?;
        if config.to_lowercase().contains("objectformat") || !has_regular_index(&git) {
            return None;
        }
        let index = gix_index::File::at(
            git.join("index"),
            Kind::Sha1,
            true,
            gix_index::decode::Options::default(),
        )
        .ok()?;
        let object_folders = object_folders(common.join("objects"))?;
        let objects = gix_odb::at(common.join("objects"), Kind::Sha1).ok()?;
        let objects = objects.into_arc().ok()?;
        let timestamp = index.timestamp();
        let written = Duration::new(
            u64::try_from(timestamp.unix_seconds()).unwrap_or_default(),
            timestamp.nanoseconds(),
        );
        let mut files = HashMap::new();
        let mut folders = BTreeSet::new();
        for entry in index.entries() {
            let path = work_tree.join(path(entry.path(&index))?);
            let mut folder = path.parent();
            while let Some(it) = folder.filter(|it| it.starts_with(work_tree)) {
                if !folders.insert(it.to_owned()) {
                    break;
                }
                folder = it.parent();
            }
            let is_file = entry.mode == Mode::FILE || entry.mode == Mode::FILE_EXECUTABLE;
            let modified = time(entry.stat.mtime);
            // What was written in the same moment as the index may differ without a trace.
            if !is_file || entry.stage() != Stage::Unconflicted || modified >= written {
                continue;
            }
            let tracked = Tracked {
                id: entry.id,
                modified,
                changed: time(entry.stat.ctime),
                size: entry.stat.size,
                inode: entry.stat.ino,
            };
            files.insert(path, tracked);
        }
        let own = [common.join("config"), git.join("config.worktree")];
        let known = settings.attributes_files(&own);
        let is_filtered = has_filters(work_tree, &common, known, files.keys());
        Some(Self {
            objects,
            object_folders,
            files,
            folders,
            is_filtered,
        })
    }

    /// The folders that hold tracked files.
    pub fn folders(&self) -> &BTreeSet<PathBuf> {
        &self.folders
    }

    /// No file is looked up any more.
    pub fn forget_files(&mut self) {
        self.files = HashMap::new();
    }

    /// The object with the bytes of a file of which the disk says this; none if git does not have them for certain.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the index has the lower 32 bits"
    )]
    pub fn object(&self, path: &Path, stat: &Stat) -> Option<ObjectId> {
        let tracked = self.files.get(path)?;
        // No text so long is kept.
        let is_same = !stat.is_link
            && stat.size <= MAX_TEXT
            && tracked.modified == stat.modified
            && tracked.changed == stat.changed
            && tracked.size == stat.size as u32
            && tracked.inode == stat.inode as u32;
        if !is_same {
            return None;
        }
        let is_on_disk = match self.is_filtered {
            true => {
                let bytes = regular_file::read(path, MAX_TEXT).ok()?;
                let id =
                    gix_object::compute_hash(Kind::Sha1, gix_object::Kind::Blob, &bytes).ok()?;
                id == tracked.id
            }
            false => self.objects.header(tracked.id).ok()?.size() == stat.size,
        };
        is_on_disk.then_some(tracked.id)
    }

    /// The bytes of an object.
    pub fn text(&self, id: &ObjectId) -> Option<Vec<u8>> {
        let name = id.to_string();
        let (folder, name) = name.split_at(2);
        // Since the repository was opened, something else may have taken the place of these.
        let is_regular = |objects: &PathBuf| {
            is_regular_or_absent(&objects.join(folder).join(name))
                && is_regular_or_absent(&objects.join("info/alternates"))
        };
        if !self.object_folders.iter().all(is_regular) {
            return None;
        }
        let mut buffer = Vec::new();
        let blob = self.objects.find_blob(id, &mut buffer).ok()?;
        Some(blob.data.to_owned())
    }
}

fn time(time: gix_index::entry::stat::Time) -> Duration {
    Duration::new(time.secs.into(), time.nsecs)
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere not every path is one")]
fn path(bytes: &[u8]) -> Option<&Path> {
    use std::os::unix::ffi::OsStrExt;
    Some(Path::new(OsStr::from_bytes(bytes)))
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> Option<&Path> {
    std::str::from_utf8(bytes)
        .ok()
        .map(|it| Path::new(OsStr::new(it)))
}

/// The text of a file of settings; empty if it is nothing or no regular file, such as `/dev/null`, and none if it is too
/// long.
fn settings_text(path: &Path) -> Option<String> {
    match regular_file::read(path, MAX_SETTINGS) {
        Ok(text) => Some(String::from_utf8_lossy(&text).into_owned()),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => None,
        Err(_) => Some(String::new()),
    }
}

/// Returns true if an attributes file names a filter, or may.
fn has_filters<'a>(
    work_tree: &Path,
    common: &Path,
    known: Option<Vec<PathBuf>>,
    tracked: impl Iterator<Item = &'a PathBuf>,
) -> bool {
    let Some(known) = known else {
        return true;
    };
    let names_filter = |path: &Path| {
        let text = settings_text(path);
        text.is_none_or(|text| FILTERS.iter().any(|it| text.contains(it)))
    };
    // In a work tree git follows no link to one.
    let is_file = |path: &Path| path.symlink_metadata().is_ok_and(|it| it.is_file());
    let names_inner = |path: &Path| is_file(path) && names_filter(path);
    let name = OsStr::new(".gitattributes");
    let mut tracked = tracked.filter(|path| path.file_name() == Some(name));
    names_filter(&common.join("info/attributes"))
        || known.iter().any(|path| names_filter(path))
        || names_inner(&work_tree.join(name))
        || tracked.any(|path| names_inner(path))
}

/// Returns true if the index of a work tree, and what it may share with others, are regular files that are not too long.
fn has_regular_index(git: &Path) -> bool {
    let is_regular = |path: &Path| {
        path.metadata()
            .is_ok_and(|it| it.is_file() && it.len() <= MAX_INDEX)
    };
    let is_shared = |name: &OsStr| name.as_encoded_bytes().starts_with(b"sharedindex.");
    let Ok(entries) = fs::read_dir(git) else {
        return false;
    };
    let mut shared = entries.flatten().filter(|it| is_shared(&it.file_name()));
    is_regular(&git.join("index")) && shared.all(|it| is_regular(&it.path()))
}

/// This folder of objects, and those from which it borrows, by way of others too; none if something in one of them is no
/// regular file.
fn object_folders(objects: PathBuf) -> Option<Vec<PathBuf>> {
    let (mut waiting, mut found) = (vec![objects.clone()], Vec::new());
    while let Some(folder) = waiting.pop() {
        if found.contains(&folder) {
            continue;
        }
        if found.len() >= MAX_ALTERNATES || !has_regular_objects(&folder) {
            return None;
        }
        let alternates = folder.join("info/alternates");
        match regular_file::read(&alternates, MAX_SETTINGS) {
            Ok(text) => {
                let others = gix_odb::alternate::parse(&text).ok()?;
                waiting.extend(others.iter().map(|it| objects.join(it)));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => return None,
        }
        found.push(folder);
    }
    Some(found)
}

/// Returns true if the packs and the objects in this folder are regular files. One that is not there has none.
fn has_regular_objects(objects: &Path) -> bool {
    let is_of_objects = |name: &OsStr| name == "pack" || name.len() == 2;
    let is_regular = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_symlink() => is_regular_or_absent(&entry.path()),
        kind => kind.is_ok_and(|it| it.is_file()),
    };
    let folders = fs::read_dir(objects).into_iter().flatten().flatten();
    let mut folders = folders.filter(|it| is_of_objects(&it.file_name()));
    folders.all(|folder| {
        let entries = fs::read_dir(folder.path()).into_iter().flatten();
        entries.flatten().all(is_regular)
    })
}

/// Returns true if nothing but a regular file is at this path.
fn is_regular_or_absent(path: &Path) -> bool {
    path.metadata().map_or(true, |it| it.is_file())
}
