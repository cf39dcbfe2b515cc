//! The knowledge of the files of one watched folder: how each was when it was looked at last, and where its text can be
//! had. Looking again tells what has changed.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use pillion_discovery::{exact, regular_file, version_control};
use pillion_system::lock;
use serde::{Deserialize, Serialize};

use crate::git::{Index, tracked_folders};
use crate::head::{Head, Move};
use crate::line_log::LineLog;
use crate::parallel::in_parallel;
use crate::remark::Remark;
use crate::save::shared_at;
use crate::scan::{ByFolder, Folder, Look, MAX_FILES, Scan, Stat, changed_at, identity};
use crate::secrets::Secrets;
use crate::state::{FileState, FolderMode, Hash};
use crate::store::{MAX_TEXT, Source, Store};

/// So much is copied when a folder is looked at for the first time: 1 GiB.
const MAX_COPIED: u64 = 1 << 30;

/// Agents wait so long for the first look at a folder, whatever else is to be done: the hook's own limit is longer.
const AGENTS_WAIT: Duration = Duration::from_secs(2);

/// So many texts are copied at the same time.
const COPIES: usize = 4;

/// File systems may be so far behind with the time.
const TICK: Duration = Duration::from_millis(10);

/// Of more files with other names, it is not asked whether they were written by these.
const MAX_LINKED: usize = 2_000;

/// The permissions with which the owner of a folder can use it.
const OWNERS: u32 = 0o700;

/// The number of folders that are named as not watched.
const MAX_NAMES: usize = 4;

/// The last known state of a file, and where its text is.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Known {
    stat: Stat,
    text: Source,
    /// True if it may have been written since without a trace.
    is_racy: bool,
}

/// The store to which texts are copied.
#[derive(Clone, Copy)]
struct Copies<'a> {
    store: &'a Store,
    secrets: &'a Secrets,
    /// The reason why a text could not be kept last.
    problem: &'a Mutex<Option<String>>,
}

impl Copies<'_> {
    /// Copies the text of a file, if it is not too long. Returns it with the facts, whose size is the text's: the file may have
    /// been exchanged since, which the next look finds.
    fn copy(self, path: &Path, mut stat: Stat) -> (Stat, Source) {
        let bytes = match stat.is_link {
            true => fs::read_link(path).map(|it| it.into_os_string().into_encoded_bytes()),
            false if stat.size > MAX_TEXT || self.secrets.has(path) => return (stat, Source::None),
            false => regular_file::read(path, MAX_TEXT).inspect(|it| stat.size = it.len() as u64),
        };
        let text = match bytes {
            Ok(bytes) => self.keep(&bytes).map_or(Source::Failed, Source::Kept),
            // It is gone by now, or nobody may read it.
            Err(error) => {
                tracing::debug!(%error, "a file cannot be read");
                Source::Failed
            }
        };
        (stat, text)
    }

    /// Puts a text into the store; none if that fails, and then people are told.
    fn keep(self, text: &[u8]) -> Option<Hash> {
        match self.store.put_within(text) {
            Ok(hash) => Some(hash),
            Err(error) => {
                tracing::warn!(%error, "the text of a file is not kept");
                let mut problem = lock(self.problem);
                *problem = Some(error.in_full());
                None
            }
        }
    }
}

impl Known {
    fn new(stat: Stat, text: Source, now: SystemTime) -> Self {
        let is_racy = stat.is_racy(now);
        Self {
            stat,
            text,
            is_racy,
        }
    }

    /// Returns true if nobody has written the file since, and its text need not be tried again.
    fn is_as_it_was(&self, stat: &Stat) -> bool {
        self.stat == *stat && !self.is_racy && self.text != Source::Failed
    }

    /// The state of the file as it was.
    fn state(&self) -> FileState {
        let text = match &self.text {
            Source::Kept(hash) => Some(hash.clone()),
            Source::None | Source::Failed => None,
        };
        match self.stat.is_link {
            true => FileState::Link { text },
            false => FileState::File {
                mode: self.stat.mode,
                size: self.stat.size,
                text,
            },
        }
    }
}

/// A file that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The file.
    pub path: PathBuf,
    /// As it was.
    pub before: FileState,
    /// As it is.
    pub after: FileState,
    /// The time when it became so, since 1970, as far as the file and its folders tell.
    pub made: Option<Duration>,
    /// The number of the file, if it is the same one with another text and has other names.
    pub shared: Option<u64>,
    /// True if it came as HEAD was moved.
    pub is_by_head: bool,
    /// True if no commit of git's has what was there then.
    pub is_lost: bool,
    /// True if it may have come out of git's stash.
    pub may_be_unstashed: bool,
    /// The folders around it that were not there when everything was looked at last.
    pub new_folders: Vec<PathBuf>,
    /// The permissions of its folders, its own first, if some went with it or were exchanged.
    pub folder_modes: Vec<FolderMode>,
}

impl Difference {
    pub fn new(path: PathBuf, before: FileState, after: FileState) -> Self {
        Self {
            path,
            before,
            after,
            made: None,
            shared: None,
            is_by_head: false,
            is_lost: false,
            may_be_unstashed: false,
            new_folders: Vec::new(),
            folder_modes: Vec::new(),
        }
    }
}

/// The files of one folder.
pub struct Table {
    root: PathBuf,
    store: Store,
    files: ByFolder<Known>,
    /// The folders that hold files which git tracks.
    tracked: BTreeSet<PathBuf>,
    is_filled: bool,
    /// What the path of the folder led to when it was looked at last.
    identity: Option<(u64, u64)>,
    /// Files whose texts are not copied, as they were named when the folder was looked at for the first time: what an agent
    /// writes does not say which.
    secrets: Secrets,
    /// Folders that are not watched.
    excluded: Vec<PathBuf>,
    /// The files that were found first and whose texts are not copied because of their names.
    secret: Vec<PathBuf>,
    /// The number of files that were not copied the first time.
    uncopied: usize,
    last: LastScan,
    /// The texts that no file has had since this was asked last, and their size.
    dropped: (Vec<Hash>, u64),
    /// The reason why a text could not be kept last.
    problem: Mutex<Option<String>>,
    /// The places of HEAD in the work trees, when they were looked at last, and their indexes.
    heads: HashMap<PathBuf, (Head, Arc<Index>)>,
    /// What the last looks have found beside files.
    remarks: Vec<Remark>,
    /// The files of which something else is known than the store has.
    log: LineLog<PathBuf>,
}

/// A line of a table's log: a file as it was found, or none if it is gone.
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    #[serde(with = "exact::path")]
    path: PathBuf,
    known: Option<Cow<'a, Known>>,
}

/// What was found when the folder was looked at last, without the files.
#[derive(Debug, Default)]
struct LastScan {
    found: Scan,
    /// When it began, since 1970.
    at: Duration,
    /// Those of the folders that are not watched in which nothing can have been before it was known what else is there.
    new_built: HashSet<PathBuf>,
    /// The folders that could not be read and of which nobody knows what was in them before.
    unknown: Vec<(PathBuf, Folder)>,
    /// True if the text of a file could not be read or stored.
    has_failed: bool,
}

impl LastScan {
    /// Returns true if this file is in a folder that was not looked through.
    fn has_missed(&self, path: &Path) -> bool {
        let mut new = self.new_built.iter().chain(&self.found.unread);
        self.may_have_had(path) || new.any(|it| path.starts_with(it))
    }

    /// Returns true if it may have been in such a folder for long.
    fn may_have_had(&self, path: &Path) -> bool {
        let built = self.found.built.iter();
        let built = built.filter(|it| !self.new_built.contains(*it));
        let mut folders = built.chain(self.unknown.iter().map(|(it, _)| it));
        let deepest = |folders: &[PathBuf]| {
            let around = folders.iter().filter(|it| path.starts_with(it));
            around.map(|it| it.components().count()).max()
        };
        folders.any(|folder| path.starts_with(folder))
            || deepest(&self.found.git_folders) > deepest(&self.found.work_trees)
    }
}

impl Table {
    /// Nothing is looked at yet. The folders that are `excluded` are not watched.
    pub fn new(root: PathBuf, store: Store, excluded: Vec<PathBuf>) -> Self {
        Self {
            store,
            files: ByFolder::default(),
            tracked: BTreeSet::new(),
            is_filled: false,
            identity: None,
            secrets: Secrets::of(&root),
            root,
            excluded,
            secret: Vec::new(),
            uncopied: 0,
            last: LastScan::default(),
            dropped: Default::default(),
            problem: Mutex::default(),
            heads: HashMap::new(),
            remarks: Vec::new(),
            log: LineLog::default(),
        }
    }

    /// The reason why a text could not be kept, if that happened since this was asked last.
    pub fn take_problem(&mut self) -> Option<String> {
        let problem = self
            .problem
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        problem.take()
    }

    /// Returns true if what is at this path now can be brought back. Waits for the disk.
    pub fn keeps(&self, path: &Path) -> bool {
        match self.files.get(path) {
            Some(known) => matches!(known.text, Source::Kept(_)),
            None if self.secrets.has(path) => false,
            None => self.knows(path) && matches!(Stat::below(&self.root, path), Ok(None)),
        }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folders that were looked through last, the watched one included.
    pub fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.last.found.folders.keys()
    }

    /// The folder that lay at this path in the last look, whether or not it could be read.
    pub fn folder(&self, path: &Path) -> Option<Folder> {
        self.last.found.folders.get(path).copied()
    }

    /// Returns true if this folder, or one around it, could not be read in the last look.
    pub fn is_unread(&self, path: &Path) -> bool {
        self.last.found.unread.iter().any(|it| path.starts_with(it))
    }

    /// The things that are not watched: a sentence each.
    pub fn uncovered(&self) -> Vec<String> {
        let mut uncovered = Vec::new();
        if self.uncopied > 0 {
            uncovered.push(format!(
                "the contents of {} files, beyond the limit of {} MiB",
                self.uncopied,
                MAX_COPIED >> 20
            ));
        }
        if !self.secret.is_empty() {
            let names = self.names(&self.secret);
            uncovered.push(format!("the contents of what may be secret: {names}"));
        }
        let Scan {
            built,
            unread,
            is_cut,
            ..
        } = &self.last.found;
        if !built.is_empty() {
            let names = self.names(built);
            uncovered.push(format!("generated folders: {names}"));
        }
        if !unread.is_empty() {
            let names = self.names(unread);
            uncovered.push(format!("unreadable folders: {names}"));
        }
        if *is_cut {
            uncovered.push(format!("files beyond the limit of {MAX_FILES}"));
        }
        uncovered
    }

    /// Some of these folders, from the watched one on.
    fn names(&self, folders: &[PathBuf]) -> String {
        let inner = |path: &PathBuf| {
            path.strip_prefix(&self.root)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        let mut names: Vec<String> = folders.iter().take(MAX_NAMES).map(inner).collect();
        if folders.len() > MAX_NAMES {
            names.push(format!("{} more", folders.len() - MAX_NAMES));
        }
        names.join(", ")
    }

    /// Texts were removed from the store, and only these are there: what is needed is copied again. Waits for the disk.
    pub fn copy_missing(&mut self, texts: &HashSet<Hash>) {
        let is_missing = |it: &Known| matches!(&it.text, Source::Kept(it) if !texts.contains(it));
        for path in self.files.paths(is_missing) {
            let Some(mut known) = self.files.get(&path).cloned() else {
                continue;
            };
            let is_same = Stat::at(&path).is_ok_and(|it| it == Some(known.stat));
            known.text = match is_same {
                true => self.copies().copy(&path, known.stat).1,
                false => Source::Failed,
            };
            self.last.has_failed |= known.text == Source::Failed;
            self.files.insert(&path, known);
        }
    }

    /// Takes the texts that no file has any more.
    pub fn take_dropped(&mut self) -> Vec<Hash> {
        self.dropped.1 = 0;
        std::mem::take(&mut self.dropped.0)
    }

    /// The size of these texts.
    pub fn dropped(&self) -> u64 {
        self.dropped.1
    }

    /// A file is not as it is known any more.
    fn drops(&mut self, known: &Known) {
        if let Source::Kept(hash) = &known.text {
            self.store.is_unnoted(hash.clone());
            self.dropped.0.push(hash.clone());
            self.dropped.1 += known.stat.size;
        }
    }

    /// The names of the texts that files may come to need.
    pub fn texts(&self) -> impl Iterator<Item = &Hash> {
        self.files.values().filter_map(|it| match &it.text {
            Source::Kept(hash) => Some(hash),
            _ => None,
        })
    }

    /// Looks at all files. The first time nothing differs. Waits for the disk.
    pub fn look(&mut self) -> Vec<Difference> {
        let now = SystemTime::now();
        self.identity = identity(&self.root);
        if !self.is_filled {
            self.tracked = tracked_folders(&self.root);
            self.secrets = Secrets::of(&self.root);
        }
        let look = Look {
            root: &self.root,
            excluded: &self.excluded,
            is_tracked: &|folder| self.tracked.contains(folder),
            known: &self.files,
            is_same: &Known::is_as_it_was,
        };
        let mut found = look.scan();
        let mut changed = std::mem::take(&mut found.changed);
        let gone = std::mem::take(&mut found.gone);
        let repositories = std::mem::take(&mut found.repositories);
        for path in &found.unread {
            // It counts as looked through, so that it is known what it was.
            let facts = path.symlink_metadata().map(|it| Folder::of(&it));
            found.folders.extend(facts.map(|it| (path.clone(), it)));
        }
        let last = LastScan {
            found,
            at: now
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default(),
            ..LastScan::default()
        };
        let mut former = std::mem::replace(&mut self.last, last);
        former.unknown = self.places_of(&former.unknown);
        let folders = &former.found.folders;
        // Where folders were looked through before, one that is closed now was open or not there.
        self.last.unknown = match folders.is_empty() {
            true => { self.last.found.unread.iter() }
                .filter_map(|it| Some((it.clone(), self.folder(it)?)))
                .collect(),
            false => { former.unknown.iter() }
                .filter(|(it, _)| self.is_unread(it))
                .cloned()
                .collect(),
        };
        // Who takes over from another process knows no folders yet.
        let is_sure = !folders.is_empty() && !former.found.is_cut;
        let were: HashSet<_> = former.found.built.iter().collect();
        let is_new = |it: &&PathBuf| match were.contains(*it) {
            true => former.new_built.contains(*it),
            false => is_sure && !former.may_have_had(it),
        };
        let built = self.last.found.built.iter();
        self.last.new_built = built.filter(is_new).cloned().collect();
        let (moves, may_be_unstashed) = self.note_heads(&repositories, former.at.as_secs());
        if !self.is_filled {
            self.fill(changed, &repositories, now);
            return Vec::new();
        }
        self.note_folders(&former.found);
        let known = |path: &PathBuf| Some((path.clone(), self.files.get(path)?.stat));
        let before: HashMap<_, _> = match moves.is_empty() {
            true => HashMap::new(),
            false => { changed.iter().map(|(path, _)| path) }
                .chain(&gone)
                .filter_map(known)
                .collect(),
        };
        let mut differences: Vec<_> = gone.iter().filter_map(|path| self.gone(path)).collect();
        for gone in &mut differences {
            gone.folder_modes = modes(&gone.path, folders, &self.last.found.folders);
        }
        // One that is not known may have been there before, and was not reached.
        let is_sure = !former.found.is_cut && !self.last.found.is_cut;
        changed.retain(|(path, _)| is_sure || self.files.get(path).is_some());
        let texts = self.copy_all(&changed);
        self.last.has_failed = texts.iter().any(|(_, it)| *it == Source::Failed);
        for ((path, _), (stat, text)) in changed.into_iter().zip(texts) {
            if self.files.get(&path).is_none() && former.may_have_had(&path) {
                // Nobody knows how long it has been there, nor what it was.
                let is_changed = stat.changed >= former.at;
                let known = Known::new(stat, text, now);
                let after = known.state();
                self.learn(&path, known);
                let found = Difference::new(path, FileState::unknown(), after);
                differences.extend(is_changed.then_some(found));
            } else {
                let found = self.found(path, stat, text, now);
                differences.extend(found.map(|it| Difference {
                    folder_modes: match it.before.is_absent() {
                        true => Vec::new(),
                        false => modes(&it.path, folders, &self.last.found.folders),
                    },
                    ..self.with_new_folders(it, folders)
                }));
            }
        }
        let mut times = HashMap::new();
        for it in &mut differences {
            it.may_be_unstashed = may_be_unstashed;
            it.made = self.made_at(&it.path, &former, &mut times);
        }
        for moved in moves {
            let (mut has_any, mut has_lost) = (false, false);
            for it in &mut differences {
                let now = self.files.get(&it.path).map(|it| &it.stat);
                if let Some(has_copy) = moved.has_copy(&it.path, before.get(&it.path), now) {
                    (it.is_by_head, it.is_lost) = (true, !has_copy);
                    (has_any, has_lost) = (true, has_lost || !has_copy);
                }
            }
            self.remarks.extend(moved.remark(has_any, has_lost));
        }
        differences
    }

    /// Where these folders lie now, of which nobody knew what was in them: they may have been moved, with others in their places.
    fn places_of(&self, unknown: &[(PathBuf, Folder)]) -> Vec<(PathBuf, Folder)> {
        let hidden =
            { unknown.iter() }.filter(|(it, _)| self.folder(it).is_none() && self.is_unread(it));
        let is_one = |is: &Folder| unknown.iter().any(|(_, it)| !is.is_other(*it));
        let all = self.last.found.folders.iter();
        let all = all
            .filter(|(_, is)| is_one(is))
            .map(|(it, is)| (it.clone(), *is));
        all.chain(hidden.cloned()).collect()
    }

    /// Notes the folders that have other permissions than before, and those that cannot be read any more.
    fn note_folders(&mut self, before: &Scan) {
        for (path, is) in &self.last.found.folders {
            let is_unread = self.last.found.unread.contains(path);
            let same = before.folders.get(path).filter(|was| !is.is_other(**was));
            // A new one that nobody can read may be full.
            let is_closed = is_unread && !before.folders.is_empty();
            let opened = is.mode | OWNERS;
            let Some(was) = same.map(|it| it.mode).or(is_closed.then_some(opened)) else {
                continue;
            };
            // The watched folder itself is looked at without its facts.
            if *path != self.root && (was != is.mode || is_unread != before.unread.contains(path)) {
                self.remarks.push(Remark::Folder {
                    path: path.clone(),
                    before: was,
                    after: is.mode,
                    is_unread,
                });
            }
        }
    }

    /// Notes where HEAD is in these work trees, which were looked at before at this time. Returns how it was moved and files were written, and whether something may have come
    /// out of a stash.
    fn note_heads(&mut self, work_trees: &[PathBuf], since: u64) -> (Vec<Move>, bool) {
        let before = std::mem::take(&mut self.heads);
        let (mut moves, mut may_be_unstashed) = (Vec::new(), false);
        for tree in work_trees {
            let Some(head) = Head::of(tree) else {
                continue;
            };
            let former = before.get(tree);
            let index = head.index(tree, former.map(|(_, it)| it));
            if let Some((was, then)) = former {
                moves.extend(head.moved_from((was, since), tree, [then, &index]));
                may_be_unstashed |= was.has_stash();
            }
            self.heads.insert(tree.clone(), (head, index));
        }
        let gone = before.iter().filter(|(it, _)| !work_trees.contains(it));
        for (tree, (head, index)) in gone {
            let others = self
                .heads
                .iter()
                .filter(|(it, _)| !before.contains_key(*it));
            let others = others.map(|(_, (head, _))| head);
            moves.extend(head.gone(&self.root, tree, index, others));
        }
        (moves, may_be_unstashed)
    }

    /// Takes what the looks until now have found beside files: what it is about, and what there is to say.
    pub fn take_remarks(&mut self) -> Vec<Remark> {
        std::mem::take(&mut self.remarks)
    }

    /// Returns true if a look would find nothing where nothing has happened in the folders since the last one. Waits for the disk.
    pub fn is_settled(&self) -> bool {
        let Scan { is_cut, linked, .. } = &self.last.found;
        let is_same = |path: &PathBuf| {
            let stat = Stat::at(path).ok().flatten();
            let known = self.files.get(path).zip(stat);
            known.is_some_and(|(known, stat)| known.stat == stat)
        };
        self.is_filled
            && !is_cut
            && !self.last.has_failed
            && linked.len() <= MAX_LINKED
            && linked.iter().all(is_same)
            && self
                .heads
                .iter()
                .all(|(it, (head, _))| Head::of(it).as_ref() == Some(head))
            && identity(&self.root) == self.identity
    }

    /// Looks at one file, which need not lie in the folder. Waits for the disk.
    pub fn look_at(&mut self, path: &Path) -> Option<Difference> {
        let mut found = self.difference(path)?;
        found.made = self.made_at(path, &self.last, &mut HashMap::new());
        Some(found)
    }

    /// When what is at this path, or is there no more, came to be so since the scan before; none if nothing tells. What is moved with its folder
    /// has the time that it had, and the folder a later one. Each folder that is `known` is asked once.
    fn made_at(
        &self,
        path: &Path,
        before: &LastScan,
        known: &mut HashMap<PathBuf, Option<(Duration, bool)>>,
    ) -> Option<Duration> {
        let is_since = |made: &Duration| *made + TICK >= before.at;
        let mut of = |folder: &Path| {
            let known = known.entry(folder.to_owned());
            *known.or_insert_with(|| changed_at(folder))
        };
        let around = { path.ancestors().skip(1) }.take_while(|it| it.starts_with(&self.root));
        let Some(file) = self.files.get(path) else {
            let mut made = None;
            // What is behind a link is elsewhere.
            for folder in around.collect::<Vec<_>>().into_iter().rev() {
                let Some((changed, is_folder)) = of(folder) else {
                    break;
                };
                made = Some(changed);
                if !is_folder && folder != self.root {
                    break;
                }
            }
            return made.filter(is_since);
        };
        let folders = &self.last.found.folders;
        let is_new = |it: &&Path| {
            let was = before.found.folders.get(*it);
            was.is_none_or(|was| folders.get(*it).is_none_or(|is| is.is_other(*was)))
        };
        let folders = around.filter(is_new).filter_map(&mut of).map(|it| it.0);
        Some(folders.fold(file.stat.changed, Duration::max)).filter(is_since)
    }

    fn difference(&mut self, path: &Path) -> Option<Difference> {
        let now = SystemTime::now();
        if self.files.get(path).is_none() && version_control::holds(&self.root, path) {
            return None;
        }
        match Stat::below(&self.root, path).ok()? {
            Some(stat) => {
                let known = self.files.get(path);
                if known.is_some_and(|known| known.is_as_it_was(&stat)) {
                    return None;
                }
                let (stat, text) = self.copies().copy(path, stat);
                self.last.has_failed |= text == Source::Failed;
                let found = self.found(path.to_owned(), stat, text, now)?;
                Some(self.with_new_folders(found, &self.last.found.folders))
            }
            None => self.gone(path),
        }
    }

    /// Returns true if this file was looked at, or lies where all were. Waits for the disk.
    pub fn knows(&self, path: &Path) -> bool {
        let is_out = || {
            let mut excluded = self.excluded.iter();
            excluded.any(|folder| path.starts_with(folder)) || self.last.has_missed(path)
        };
        let is_watched = || {
            self.is_filled
                && !self.last.found.is_cut
                && path.starts_with(&self.root)
                && !version_control::holds(&self.root, path)
                && !is_out()
        };
        self.files.get(path).is_some() || is_watched()
    }

    fn fill(&mut self, files: Vec<(PathBuf, Stat)>, repositories: &[PathBuf], now: SystemTime) {
        let inner = repositories.iter().filter(|it| **it != self.root);
        self.tracked
            .extend(inner.flat_map(|it| tracked_folders(it)));
        let (mut copied, mut copies) = (0, Vec::new());
        for (path, stat) in files.into_iter().take(MAX_FILES) {
            let text = match () {
                // One that is too long is not copied, and leaves the room to others.
                () if stat.size > MAX_TEXT && !stat.is_link => Source::None,
                () if !stat.is_link && self.secrets.has(&path) => {
                    self.secret.push(path.clone());
                    Source::None
                }
                () if copied + stat.size > MAX_COPIED => {
                    self.uncopied += 1;
                    Source::None
                }
                () => {
                    copied += stat.size;
                    copies.push((path, stat));
                    continue;
                }
            };
            self.learn(&path, Known::new(stat, text, now));
        }
        let texts = self.copy_all(&copies);
        self.last.has_failed = texts.iter().any(|(_, it)| *it == Source::Failed);
        for ((path, _), (mut stat, mut text)) in copies.into_iter().zip(texts) {
            if let Ok(Some(newer)) = Stat::at(&path)
                && newer != stat
            {
                // The person has written it meanwhile; or an agent that could not wait: that is not the text before.
                let is_waited_for = now.elapsed().is_ok_and(|it| it < AGENTS_WAIT);
                (stat, text) = match is_waited_for {
                    true => self.copies().copy(&path, newer),
                    false => (stat, Source::None),
                };
            }
            self.learn(&path, Known::new(stat, text, now));
        }
        self.is_filled = true;
    }

    fn learn(&mut self, path: &Path, known: Known) -> Option<Known> {
        self.log.learns(path.to_owned());
        self.files.insert(path, known)
    }

    fn gone(&mut self, path: &Path) -> Option<Difference> {
        let known = self.files.remove(path)?;
        self.drops(&known);
        self.log.learns(path.to_owned());
        let path = path.to_owned();
        Some(Difference::new(path, known.state(), FileState::Absent))
    }

    /// A file that is not as it was, with its text.
    fn found(
        &mut self,
        path: PathBuf,
        stat: Stat,
        text: Source,
        now: SystemTime,
    ) -> Option<Difference> {
        let new = Known::new(stat, text, now);
        let known = self.learn(&path, new.clone());
        if let Some(known) = &known
            && known.text != new.text
        {
            self.drops(known);
        }
        // Of what cannot be compared, the time tells.
        let is_written = known.as_ref().is_none_or(|known| known.stat != stat);
        let is_same = { known.as_ref() }.is_some_and(|known| known.stat.inode == stat.inode);
        let shared = { is_same.then(|| shared_at(&path)) }.flatten();
        let before = known.map_or(FileState::Absent, |known| known.state());
        let after = new.state();
        let differs = match before.is_known() {
            true => before != after || (is_written && !after.is_known()),
            false => is_written,
        };
        differs.then(|| Difference {
            shared,
            ..Difference::new(path, before, after)
        })
    }

    /// With the folders that were not there before, of a file that was not.
    fn with_new_folders(&self, found: Difference, before: &HashMap<PathBuf, Folder>) -> Difference {
        let around = found.path.ancestors().skip(1);
        let around =
            around.take_while(|it| it.starts_with(&self.root) && !before.contains_key(*it));
        let is_new = self.is_filled && found.before.is_absent();
        let new_folders = around.filter(|_| is_new).map(Path::to_owned).collect();
        Difference {
            new_folders,
            ..found
        }
    }

    /// Keeps in the store what is known by now, once the changes are kept that were found with it: whoever takes over from this process, if
    /// that is killed, finds what has changed since.
    pub fn write_log(&mut self) {
        let mut log = std::mem::take(&mut self.log);
        let (me, root) = (process::id(), &self.root);
        let written = log.write(self.files.len(), |news| match news {
            Some(news) => self.store.add_to_table(me, root, &self.log_of(news)),
            None => {
                let all = self.log_of(&self.files.paths(|_| true));
                self.store.begin_table(me, root, &all)
            }
        });
        self.log = log;
        if let Err(error) = written {
            tracing::debug!(%error, "what is known of files is not kept");
        }
    }

    fn log_of(&self, paths: &[PathBuf]) -> Vec<u8> {
        let mut text = Vec::new();
        for path in paths {
            let line = Line {
                path: path.clone(),
                known: self.files.get(path).map(Cow::Borrowed),
            };
            // It is written to memory.
            if serde_json::to_writer(&mut text, &line).is_ok() {
                text.push(b'\n');
            }
        }
        text
    }

    /// Takes over what another process knew that watched the folder and was killed, unless this one has looked already: the next look
    /// tells what has changed since. Returns false if nothing is kept of that. Waits for the disk.
    pub fn take_over(&mut self, watcher: u32) -> bool {
        let text = self.store.table(watcher, &self.root);
        let Some(text) = text.filter(|_| !self.is_filled) else {
            return false;
        };
        for line in text.split(|byte| *byte == b'\n') {
            // A kill may have left a part of the last one.
            match serde_json::from_slice::<Line<'_>>(line) {
                Ok(Line {
                    path,
                    known: Some(known),
                }) => drop(self.learn(&path, known.into_owned())),
                Ok(Line { path, known: None }) => drop(self.files.remove(&path)),
                Err(_) => {}
            }
        }
        self.is_filled = true;
        self.tracked = tracked_folders(&self.root);
        self.secrets = Secrets::of(&self.root);
        // This process may be killed before it has looked.
        self.write_log();
        true
    }

    /// The changes since another process has watched are kept, and what that knew is of no use any more.
    pub fn has_taken_over(&self, watcher: u32) {
        self.store.remove_table(watcher, &self.root);
    }

    /// Nobody needs to know later what changes from now on.
    pub fn ends(&mut self) {
        if std::mem::take(&mut self.log).is_begun() {
            self.store.remove_table(process::id(), &self.root);
        }
    }

    fn copies(&self) -> Copies<'_> {
        Copies {
            store: &self.store,
            secrets: &self.secrets,
            problem: &self.problem,
        }
    }

    fn copy_all(&self, files: &[(PathBuf, Stat)]) -> Vec<(Stat, Source)> {
        let copies = self.copies();
        in_parallel(COPIES, files, |(path, stat)| copies.copy(path, *stat))
    }
}

/// The permissions of the folders of a file, its own first, up to the last that is gone, or in whose place another one is.
fn modes(
    path: &Path,
    before: &HashMap<PathBuf, Folder>,
    now: &HashMap<PathBuf, Folder>,
) -> Vec<FolderMode> {
    let around = path.ancestors().skip(1);
    let around = around.map_while(|it| Some((before.get(it)?, now.get(it))));
    let (mut modes, mut count) = (Vec::new(), 0);
    for (was, is) in around {
        modes.push(FolderMode {
            before: was.mode,
            after: is.map(|it| it.mode),
        });
        if is.is_none_or(|it| it.is_other(*was) && it.mode != was.mode) {
            count = modes.len();
        }
    }
    modes.truncate(count);
    modes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts of one file with the text of another one would be a change once the next look has both.
    #[test]
    fn a_file_that_is_exchanged_while_it_is_looked_at_has_the_size_of_its_text() {
        let (folder, store) = Store::temporary();
        let path = folder.path().join("a");
        let table = Table::new(folder.path().to_owned(), store, Vec::new());
        fs::write(&path, "of the one before").unwrap();
        let stat = Stat::at(&path).unwrap().unwrap();
        fs::write(&path, "new").unwrap();
        let (stat, text) = table.copies().copy(&path, stat);
        let torn = Known::new(stat, text, SystemTime::now());
        let (stat, text) = table
            .copies()
            .copy(&path, Stat::at(&path).unwrap().unwrap());
        let whole = Known::new(stat, text, SystemTime::now());
        assert_eq!(torn.state(), whole.state());
        assert!(!torn.is_as_it_was(&whole.stat));
    }
}
