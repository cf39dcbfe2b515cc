//! Every companion that has left a discovery file, ours or another's, for commands that examine all of
//! them. (Which one an agent takes is `pillion-agent`'s to say.)

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pillion_protocol::dialect::{Base, Place};
use pillion_protocol::discovery::split_roots;
use pillion_protocol::{Dialect, DiscoveryFile, IdeInfo, Token};

use serde::Serialize;

use crate::discovery_files::{MAX_FILE, parse};
use crate::environment::Environment;
use crate::liveness;
use crate::namespaces::Visibility;
use crate::private_file::{FileError, Folder};
use crate::real_path::{depth_in, is_same};
use crate::state::{self, CompanionState, Running};
use pillion_system::{process, time_limit};

/// The time limit for the folders, all together: one on a disk that does not answer is left out.
const LOOK_TIMEOUT: Duration = Duration::from_secs(3);

/// A companion, as its files tell of it.
#[derive(Debug, Clone)]
pub struct Companion {
    /// Its loopback port.
    pub port: u16,
    /// The editor's identity, if a file has both of its names.
    pub ide: Option<IdeInfo>,
    /// Its workspace roots.
    pub roots: Vec<PathBuf>,
    /// The processes under whose ids agents find it (C2.3), ascending.
    pub pids: Vec<u32>,
    /// Its discovery files, by path.
    pub files: Vec<FoundFile>,
    /// The state that it reports; none of a companion that is not Pillion's.
    pub state: Option<CompanionState>,
    /// True if it is Pillion's, is there, and does not say anything, as one that was suspended.
    pub is_silent: bool,
    /// Its liveness.
    pub liveness: Liveness,
}

/// A discovery file that can be read and is one.
#[derive(Debug, Clone)]
pub struct FoundFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The agent that it is for.
    pub dialect: Dialect,
    /// Its content.
    pub content: DiscoveryFile,
}

/// The liveness of a companion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Liveness {
    /// Its process lives and something listens on its port, as far as is known: one that does
    /// not answer a dial may still be there.
    Alive,
    /// The process that it belongs to is gone.
    ProcessGone,
    /// Nothing listens on its port.
    NobodyListens,
    /// It belongs to another container, or another machine, whose ports are not reached from here: it may live.
    OutOfReach,
}

/// The findings, and the places that could not be looked at.
#[derive(Debug, Default)]
pub struct Survey {
    /// The companions, by port.
    pub companions: Vec<Companion>,
    /// Folders and files with the name of a discovery file that were not read.
    pub unread: Vec<FileError>,
    /// Files with the name of a discovery file whose content is none.
    pub malformed: Vec<PathBuf>,
    /// Folders whose disk did not answer.
    pub silent: Vec<PathBuf>,
}

impl Companion {
    /// The one that left these files, of which there is at least one, before its port is dialled.
    fn of(files: Vec<FoundFile>) -> Self {
        let mut pids: Vec<u32> = files.iter().filter_map(FoundFile::pid).collect();
        pids.sort_unstable();
        pids.dedup();
        // Pillion's own process, or every one that it could belong to.
        let processes = files[0].publisher().map_or_else(
            || {
                let parents = files.iter().filter_map(|file| file.content.ppid);
                pids.iter().copied().chain(parents).collect()
            },
            |pid| vec![pid],
        );
        let sees_processes = files[0].visibility().processes;
        let lives = |pid: &u32| process::is_alive(*pid);
        let is_gone = sees_processes && !processes.is_empty() && !processes.iter().any(lives);
        let mut ides = files
            .iter()
            .filter_map(|file| file.content.ide_info.as_ref());
        let ide = ides.find(|ide| ide.is_named()).cloned();
        let first = &files[0].content;
        Self {
            port: first.port,
            ide,
            roots: split_roots(&first.workspace_path),
            pids,
            state: None,
            is_silent: false,
            liveness: if is_gone {
                Liveness::ProcessGone
            } else {
                Liveness::Alive
            },
            files,
        }
    }

    /// One of Pillion's that says this of itself. Its discovery files are not known.
    pub fn by_state(state: CompanionState) -> Self {
        Self {
            port: state.port,
            ide: Some(state.ide.clone()).filter(IdeInfo::is_named),
            roots: state.roots.clone(),
            pids: Vec::new(),
            files: Vec::new(),
            liveness: Liveness::Alive,
            is_silent: false,
            state: Some(state),
        }
    }

    /// The same with its files for this agent as they are now, with their tokens.
    #[must_use]
    pub fn read(mut self, agent: Dialect) -> Self {
        let mut files = self.files.clone();
        let read = move || {
            let mut open = None;
            files.retain_mut(|file| !file.is_for(agent) || file.read(&mut open));
            files
        };
        self.files = time_limit::run(LOOK_TIMEOUT, read).unwrap_or_default();
        self
    }

    /// Returns true if it is there.
    pub fn is_alive(&self) -> bool {
        self.liveness == Liveness::Alive
    }

    /// The view from here of the place where it runs, as far as its files name that place.
    pub fn visibility(&self) -> Visibility {
        let first = self.files.first();
        first.map_or_else(
            || Visibility::of(None, Path::new("")),
            FoundFile::visibility,
        )
    }

    /// Returns true if its files say where that is.
    pub fn says_where(&self) -> bool {
        let publishers = self
            .files
            .iter()
            .filter_map(|file| file.content.pillion.as_ref());
        publishers
            .into_iter()
            .any(|publisher| publisher.namespaces.is_some())
    }

    /// Returns true if it is Pillion's own.
    pub fn is_pillion(&self) -> bool {
        self.state.is_some() || self.files.iter().any(|file| file.content.pillion.is_some())
    }

    /// The editor's name for people.
    pub fn display_name(&self) -> &str {
        self.ide
            .as_ref()
            .map_or("an unnamed companion", |ide| ide.display_name.as_str())
    }

    /// Its workspace roots for people.
    pub fn shown_roots(&self) -> Vec<String> {
        let roots = self.roots.iter();
        roots.map(|root| root.display().to_string()).collect()
    }

    /// The token that agents of this dialect present to it (C3.2), once its files were [read](Self::read).
    pub fn token(&self, dialect: Dialect) -> Option<&Token> {
        let mut files = self.files.iter().filter(|file| file.is_for(dialect));
        files.find_map(|file| file.content.auth_token.as_ref())
    }

    /// Returns true if agents of this dialect, started in this environment, look where a file of
    /// its is.
    pub fn is_seen(&self, dialect: Dialect, environment: &Environment) -> bool {
        let places = dialect.discovery().places().iter();
        let places = places.filter(|place| dialect.reads(place));
        let places: Vec<_> = places.map(|place| environment.directory(place)).collect();
        let files = self.files.iter().filter(|file| file.is_for(dialect));
        let folders: BTreeSet<_> = files.filter_map(|file| file.path.parent()).collect();
        let is_spelled_so = places.iter().any(|place| folders.contains(&**place));
        is_spelled_so
            || folders
                .iter()
                .any(|folder| places.iter().any(|place| is_same(place, folder)))
    }

    /// The number of components of its deepest root that contains this folder or file, if one does.
    pub fn depth(&self, path: &Path) -> Option<usize> {
        depth_in(&self.roots, path)
    }
}

/// Looks at every place of every dialect. Links and other users' files are not read, nor are those of Pillion's that its
/// companions name when they are asked: these are as they say, and [`Companion::read`] tells their tokens.
pub fn survey(environment: &Environment) -> Survey {
    survey_in(environment, |_| true, true)
}

/// The same in these places only. Unless it `believes` Pillion's companions, each file is read, whatever they say of theirs.
pub fn survey_in(
    environment: &Environment,
    is_meant: impl Fn(&Place) -> bool,
    believes: bool,
) -> Survey {
    let mut survey = Survey::default();
    let there = environment.clone();
    let running = time_limit::run(state::LOOK_WITHIN, move || state::look(&there));
    let Running {
        companions: states,
        silent,
    } = running.unwrap_or_else(|| {
        survey.silent.extend(environment.state_dirs());
        Running::default()
    });
    let files = look(environment, is_meant, believes, &states, &mut survey);
    let mut companions: BTreeMap<Key, Companion> = merged(files)
        .into_iter()
        .map(|(key, files)| (key, Companion::of(files)))
        .collect();
    for ((port, owner), companion) in &mut companions {
        let is_its = |it: &&CompanionState| it.port == *port && *owner == Owner::Pillion(it.pid);
        companion.state = states.iter().find(is_its).cloned();
    }
    let unanswered = companions
        .values()
        .filter(|it| it.is_alive() && it.state.is_none());
    let refusing = liveness::refusing(unanswered.map(|it| it.port));
    for ((port, owner), companion) in &mut companions {
        if companion.is_alive() && companion.state.is_none() && refusing.contains(port) {
            companion.liveness = Liveness::NobodyListens;
        }
        // Who listens on that port here is somebody else.
        if companion.liveness != Liveness::ProcessGone && !companion.visibility().ports {
            companion.liveness = Liveness::OutOfReach;
        }
        let is_silent = matches!(owner, Owner::Pillion(pid) if silent.contains(pid));
        companion.is_silent = is_silent && companion.is_alive();
    }
    let known = companions.values().filter_map(|it| it.state.as_ref());
    let known: HashSet<_> = known.map(|state| (state.pid, state.port)).collect();
    let without_files = states
        .into_iter()
        .filter(|state| !known.contains(&(state.pid, state.port)))
        .map(Companion::by_state);
    survey.companions = companions.into_values().chain(without_files).collect();
    survey.companions.sort_by_key(|companion| companion.port);
    survey
}

/// The key that files of one companion have in common.
type Key = (u16, Owner);

type Files = BTreeMap<Key, Vec<FoundFile>>;

/// Others' companions may spell their workspace differently in each of their files: on one port, one process or one
/// workspace is one companion.
fn merged(files: Files) -> Files {
    let mut merged = Files::new();
    for ((port, owner), files) in files {
        let known = merged.iter().find(|(key, others)| {
            let are_others = !key.1.is_pillion() && !owner.is_pillion();
            key.0 == port && are_others && are_of_one(others, &files)
        });
        match known.map(|(key, _)| key.clone()) {
            Some(known) => merged.entry(known).or_default().extend(files),
            None => drop(merged.insert((port, owner), files)),
        }
    }
    for files in merged.values_mut() {
        files.sort_by(|one, other| one.path.cmp(&other.path));
    }
    merged
}

/// Returns true if these files name a process or a workspace of those.
fn are_of_one(these: &[FoundFile], those: &[FoundFile]) -> bool {
    let processes = |files: &[FoundFile]| -> HashSet<u32> {
        let named = files
            .iter()
            .flat_map(|file| [file.pid(), file.content.ppid]);
        named.flatten().collect()
    };
    let roots = |files: &[FoundFile]| -> HashSet<PathBuf> {
        let roots = files
            .iter()
            .flat_map(|file| split_roots(&file.content.workspace_path));
        // Without what only spells it differently, such as a slash at the end.
        roots.map(|root| root.components().collect()).collect()
    };
    !processes(these).is_disjoint(&processes(those)) || roots(these) == roots(those)
}

/// What Pillion's companions tell of their files, by path.
type Told = HashMap<PathBuf, DiscoveryFile>;

fn told(states: &[CompanionState]) -> Told {
    let files = states.iter().flat_map(|state| {
        let content = state.as_file();
        let files = state.files.iter().cloned();
        files.filter_map(move |path| Some((path, content.clone()?)))
    });
    files.collect()
}

/// The files in the places of this terminal, and those of Pillion's in another temporary directory. Others' files there
/// are no matter of this terminal's.
fn look(
    environment: &Environment,
    is_meant: impl Fn(&Place) -> bool,
    believes: bool,
    states: &[CompanionState],
    survey: &mut Survey,
) -> Files {
    let mut told = told(states);
    let believed = Arc::new(if believes { told.clone() } else { Told::new() });
    let all = { Dialect::ALL.into_iter() }.flat_map(|dialect| {
        let places = dialect.places().iter();
        places.map(move |place| (dialect, place))
    });
    // Several places may be one folder, in which each file is read once.
    let mut folders: Vec<(PathBuf, Vec<(Dialect, &Place)>)> = Vec::new();
    for (dialect, place) in all.filter(|(_, place)| is_meant(place)) {
        let base = environment.base(place.base);
        let is_its = |it: &&mut (PathBuf, Vec<(Dialect, &Place)>)| {
            it.0 == base && it.1.iter().all(|(_, other)| other.folder == place.folder)
        };
        match folders.iter_mut().find(is_its) {
            Some((_, places)) => places.push((dialect, place)),
            None => folders.push((base, vec![(dialect, place)])),
        }
    }
    let reading = folders.iter().cloned().map(|(base, places)| {
        let told = Arc::clone(&believed);
        move || read(&base, &places, &told)
    });
    let mut found = Files::default();
    let mut seen = HashSet::new();
    let mut add = |file: FoundFile| {
        let key = (file.content.port, Owner::of(&file.content));
        found.entry(key).or_default().push(file);
    };
    let all_read = time_limit::run_all(LOOK_TIMEOUT, reading);
    for ((_, places), read) in folders.iter().zip(all_read) {
        let Some(read) = read else {
            let folder = environment.directory(places[0].1);
            if !survey.silent.contains(&folder) {
                survey.silent.push(folder);
            }
            continue;
        };
        for (dialect, path, content) in read.unwrap_or_else(|error| {
            // Several places are below one folder.
            let mut known = survey.unread.iter();
            if !known.any(|known| known.path() == error.path()) {
                survey.unread.push(error);
            }
            Vec::new()
        }) {
            if !seen.insert(path.clone()) {
                continue;
            }
            match content {
                Ok(Content::File(content)) => add(FoundFile {
                    path,
                    dialect,
                    content,
                }),
                Ok(Content::Malformed) => survey.malformed.push(path),
                Ok(Content::Gone) => {}
                Err(error) => survey.unread.push(error),
            }
        }
    }
    told.retain(|path, _| !seen.contains(path));
    elsewhere(environment, told).into_iter().for_each(add);
    found
}

/// The place of a dialect's in which a file of this path would lie, and the directory that it is below.
fn place_of(dialect: Dialect, path: &Path) -> Option<(&'static Place, &Path)> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let is_its = |place: &&Place| {
        let below: PathBuf = place.folder.iter().collect();
        place.name.fits(name) && folder.ends_with(below)
    };
    let places = dialect.places().iter().filter(is_its);
    let place = places.max_by_key(|place| place.folder.len())?;
    Some((place, folder.ancestors().nth(place.folder.len())?))
}

/// Those of these files that are there in another temporary directory than this terminal's.
fn elsewhere(environment: &Environment, files: Told) -> Vec<FoundFile> {
    let here = environment.base(Base::TmpDir);
    let is_elsewhere = move |path: &Path, dialect| {
        place_of(dialect, path)
            .is_some_and(|(place, base)| place.base == Base::TmpDir && !is_same(base, &here))
    };
    let found = files.into_iter().filter_map(move |(path, content)| {
        let mut dialects = Dialect::ALL.into_iter();
        let dialect = dialects.find(|dialect| is_elsewhere(&path, *dialect))?;
        path.symlink_metadata().ok()?;
        Some(FoundFile {
            path,
            dialect,
            content,
        })
    });
    time_limit::run(LOOK_TIMEOUT, || found.collect()).unwrap_or_default()
}

/// What is under the name of a discovery file.
enum Content {
    File(DiscoveryFile),
    Malformed,
    Gone,
}

impl Content {
    fn read(folder: &Folder, dialect: Dialect, name: &str) -> Result<Self, FileError> {
        let Some(bytes) = folder.read(name, MAX_FILE)? else {
            return Ok(Self::Gone);
        };
        Ok(parse(dialect, name, &bytes).map_or(Self::Malformed, Self::File))
    }
}

/// A path, the first agent that looks there, and what is there.
type Read = (Dialect, PathBuf, Result<Content, FileError>);

/// Reads the files of these places, which are in one folder, but for those of which somebody has told. Waits for the disk.
fn read(base: &Path, places: &[(Dialect, &Place)], told: &Told) -> Result<Vec<Read>, FileError> {
    let Some(folder) = Folder::open(base, places[0].1.folder)? else {
        return Ok(Vec::new());
    };
    let mut names = folder.names().unwrap_or_default();
    names.sort();
    let mut read = Vec::new();
    for (dialect, place) in places {
        for name in names.extract_if(.., |name| place.name.fits(name)) {
            let path = folder.path().join(&name);
            let content = match told.get(&path) {
                Some(content) => Ok(Content::File(content.clone())),
                None => Content::read(&folder, *dialect, &name),
            };
            read.push((*dialect, path, content));
        }
    }
    Ok(read)
}

/// Tells two companions apart that had one port after another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Pillion(u32),
    Workspace(String),
}

impl Owner {
    fn is_pillion(&self) -> bool {
        matches!(self, Self::Pillion(_))
    }

    fn of(file: &DiscoveryFile) -> Self {
        match &file.pillion {
            Some(publisher) => Self::Pillion(publisher.pid),
            None => Self::Workspace(file.workspace_path.clone()),
        }
    }
}

impl FoundFile {
    /// Takes what is in the file now; false if it is none of the companion on its port any more. The folder that is `open` is
    /// opened again only if it is another one. Waits for the disk.
    fn read(&mut self, open: &mut Option<Folder>) -> bool {
        let mut read = || {
            let (place, base) = place_of(self.dialect, &self.path)?;
            let parent = self.path.parent();
            if open.as_ref().map(Folder::path) != parent {
                *open = Folder::open(base, place.folder).ok()?;
            }
            let name = self.path.file_name()?.to_str()?;
            match Content::read(open.as_ref()?, self.dialect, name).ok()? {
                Content::File(content) => Some(content),
                Content::Malformed | Content::Gone => None,
            }
        };
        let own = read().filter(|content| content.port == self.content.port);
        own.map(|content| self.content = content).is_some()
    }

    /// The temporary directory that it lies in, if it lies in one.
    pub fn tmpdir(&self) -> Option<&Path> {
        let (place, base) = place_of(self.dialect, &self.path)?;
        (place.base == Base::TmpDir).then_some(base)
    }

    /// Returns true if agents of this dialect read such a file.
    pub fn is_for(&self, dialect: Dialect) -> bool {
        self.dialect == dialect.discovery()
    }

    /// The process id in the file's name.
    pub fn pid(&self) -> Option<u32> {
        let name = self.path.file_name()?.to_str()?;
        let names = self.dialect.places().iter().map(|place| place.name);
        let mut pids = names.filter_map(|pattern| pattern.pid_in(name)?.try_into().ok());
        pids.find(|pid| *pid != u32::from(self.content.port))
    }

    /// The view from here of the place where it was written.
    fn visibility(&self) -> Visibility {
        let publisher = self.content.pillion.as_ref();
        let written = publisher.and_then(|publisher| publisher.namespaces.as_ref());
        Visibility::of(written, &self.path)
    }

    /// The process of Pillion's that wrote the file, if it is one of Pillion's.
    pub fn publisher(&self) -> Option<u32> {
        self.content.pillion.as_ref().map(|publisher| publisher.pid)
    }
}
