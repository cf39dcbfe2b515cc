//! The texts that git has of the files of a work tree: such a text need not be copied. Reads git's files and runs no program:
//! commands that a repository configures are not carried out.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gix_hash::{Kind, ObjectId};
use gix_index::entry::{Mode, Stage};
use gix_object::FindExt as _;
use gix_odb::HeaderExt as _;
use pillion_discovery::Environment;

use crate::scan::Stat;

/// Attributes with which git has another text than the disk, of the same length perhaps.
const FILTERS: [&str; 2] = ["filter", "working-tree-encoding"];

/// The depth to which files of settings may include others.
const MAX_DEPTH: usize = 8;

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
    /// does not hold counts, too.
    fn attributes_files(&self, repository: &[PathBuf]) -> Vec<PathBuf> {
        let mut found = self.attributes.clone();
        let mut files: Vec<_> = { self.config.iter().chain(repository) }
            .map(|file| (file.clone(), 0))
            .collect();
        while let Some((file, depth)) = files.pop() {
            let text = fs::read(&file).unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                // A section may stand before the value in the same line.
                let line = line.rsplit(']').next().unwrap_or(line);
                let Some((name, value)) = line.split_once('=') else {
                    continue;
                };
                let value = self.path(value.trim().trim_matches('"'), &file);
                match name.trim().to_lowercase().as_str() {
                    "attributesfile" => found.push(value),
                    "path" if depth < MAX_DEPTH => files.push((value, depth + 1)),
                    _ => {}
                }
            }
        }
        found
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
        let (found, _trust) = gix_discover::upwards(folder).ok()?;
        let (git, work_tree) = found.into_repository_and_work_tree_directories();
        let work_tree = work_tree?;
        let common = fs::read_to_string(git.join("commondir"));
        let common = common.map_or_else(|_| git.clone(), |common| git.join(common.trim_end()));
        let config = fs::read_to_string(common.join("config")).unwrap_or_default();
        if config.to_lowercase().contains("objectformat") {
            return None;
        }
        let index = gix_index::File::at(
            git.join("index"),
            Kind::Sha1,
            true,
            gix_index::decode::Options::default(),
        )
        .ok()?;
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
            while let Some(it) = folder.filter(|it| it.starts_with(&work_tree)) {
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
        let is_filtered = has_filters(&work_tree, &common, known, files.keys());
        Some(Self {
            objects,
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
        let is_same = !stat.is_link
            && tracked.modified == stat.modified
            && tracked.changed == stat.changed
            && tracked.size == stat.size as u32
            && tracked.inode == stat.inode as u32;
        if !is_same {
            return None;
        }
        let is_on_disk = match self.is_filtered {
            true => {
                let bytes = fs::read(path).ok()?;
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

/// Returns true if an attributes file names a filter.
fn has_filters<'a>(
    work_tree: &Path,
    common: &Path,
    known: Vec<PathBuf>,
    tracked: impl Iterator<Item = &'a PathBuf>,
) -> bool {
    let tracked = tracked.filter(|path| path.file_name() == Some(OsStr::new(".gitattributes")));
    let own = [
        work_tree.join(".gitattributes"),
        common.join("info/attributes"),
    ];
    let names_filter = |path: &PathBuf| {
        let text = fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        FILTERS.iter().any(|it| text.contains(it))
    };
    own.iter().chain(&known).any(names_filter) || tracked.into_iter().any(names_filter)
}
