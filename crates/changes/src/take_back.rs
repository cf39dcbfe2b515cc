//! Takes changes back: puts the text before into what stands on the disk now, and nothing else. Any text that is overwritten
//! goes into the store first, so that this can be undone.

mod beneath;
mod place;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use pillion_system::clock;
use pillion_text::{Text, counted, merge};

use self::beneath::Beneath;
use self::place::{Now, Opened, Wanted, file, folder_of, look, replace};
use crate::current_hunks::CurrentHunks;
use crate::leftovers;
use crate::save::SaveError;
use crate::scan::{Folder, Stat, identity};
use crate::state::{FileState, FolderMode, Hash, Stage, Writing};
use crate::store::{MAX_KEPT, MAX_TEXT, Store, StoreError};
use crate::there;
use crate::turn::{Change, Judged};

/// Advice for what stands in the way and cannot be kept.
const ASIDE: &str = "Move it aside, and give the command again.";

/// The reason why something was not taken back. Nothing was changed then.
#[derive(Debug, thiserror::Error)]
pub enum TakeBackError {
    /// The same lines have been changed since.
    #[error("{} has changed since, in {conflicts} of the same places", path.display())]
    Conflict {
        /// The file.
        path: PathBuf,
        /// The number of places.
        conflicts: usize,
    },
    /// It is something else by now.
    #[error("{} is no longer as the change left it", .0.display())]
    Changed(PathBuf),
    /// The text before was not kept.
    #[error("the text of {} before the change was not kept", .0.display())]
    Unknown(PathBuf),
    /// What an agent has made may hold a secret: nobody could bring it back.
    #[error("{} may hold a secret, of which no text is kept: what is taken back could not be brought back", .0.display())]
    Secret(PathBuf),
    /// The text after was not kept, so that nobody can tell it from what somebody else has written.
    #[error("{} is not as the change left it, of which no text was kept", .0.display())]
    Incomparable(PathBuf),
    /// A folder with files stands in its place.
    #[error("a folder that is not empty stands in the place of {}", .0.display())]
    Folder(PathBuf),
    /// A pipe or a device stands in its place.
    #[error("what stands in the place of {} is neither a file nor a link", .0.display())]
    Special(PathBuf),
    /// It has no lines that could be taken back.
    #[error("{} is not text", .0.display())]
    NotText(PathBuf),
    /// It is a link, which leads to a path in one line.
    #[error("{} is a symbolic link: it can lead to one path, and not to several lines or none", .0.display())]
    NoTarget(PathBuf),
    /// Nothing can be merged with what is not saved.
    #[error("{} has unsaved changes, and the agent created or deleted it", .0.display())]
    Unsaved(PathBuf),
    /// A folder of its path leads elsewhere by now.
    #[error("a folder in the path of {} has become a symbolic link", .0.display())]
    Elsewhere(PathBuf),
    /// Its bytes mean something to a version control program only, together with those of other files.
    #[error("{} belongs to a repository, and only its own program writes there", .0.display())]
    VersionControl(PathBuf),
    /// It cannot be written.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The action that was tried: a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl TakeBackError {
    /// Advice on what a person can do about it, if there is something.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Store(error) => return error.hint().map(|hint| format!("{hint}.")),
            Self::Unsaved(_) => "Save it or discard the changes.",
            Self::VersionControl(_) => {
                "If its folder should be no repository, move HEAD, objects and refs in it aside, and give the command again."
            }
            Self::Secret(_) => "Delete it yourself if it should go.",
            Self::Incomparable(_) | Self::Folder(_) | Self::Special(_) => ASIDE,
            Self::Save(SaveError::OtherName(_)) => {
                "Remove that name, or put a copy of the file in its place, and give the command again."
            }
            Self::Save(SaveError::Incomplete { .. }) => {
                "Give the command again when the disk lets you: its texts are kept."
            }
            Self::Save(SaveError::Io { source, .. } | SaveError::Unusable { source, .. })
            | Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "Free some space on that file system, and give the command again."
                }
                io::ErrorKind::FileTooLarge | io::ErrorKind::NotADirectory => ASIDE,
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                    "Make the file and its folder writable, and give the command again."
                }
                _ => return None,
            },
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

/// The result of writing a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Its state before.
    pub overwritten: FileState,
    /// Its state now.
    pub written: FileState,
    /// The permissions of the folders around it, first those of its own, if they may be others since.
    pub folder_modes: Vec<FolderMode>,
    /// The folders, with nothing else in them, that stood in its place, with their permissions.
    pub made_way: Vec<(PathBuf, u32)>,
    /// The other name of the file by which it was written before.
    pub linked: Option<PathBuf>,
}

impl Done {
    /// Returns true if it was so before.
    pub fn is_nothing(&self) -> bool {
        self.overwritten == self.written
    }
}

/// Takes a change back. `roots` are the folders that were watched; those of the file have the `former` permissions without what was
/// written beside it, or, without these, the present ones.
///
/// # Errors
/// When the file has been changed in the same places, or cannot be written. Then it is as it was.
pub fn take_back(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
    former: Option<&[u32]>,
) -> Result<Done, TakeBackError> {
    let (states, modes) = ((&change.before, &change.after), &change.folder_modes);
    put_back(store, roots, change, states, (modes, former))
}

/// What was in a file, and what was put in its place by another name of it.
pub(crate) struct Overwriting {
    pub(crate) overwritten: FileState,
    pub(crate) written: FileState,
    pub(crate) by_name: PathBuf,
}

/// As [`take_back`], where the file was written for the person by another of its names, and nobody has changed it since: what they have
/// written in it themselves is in both texts.
pub(crate) fn beside(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
    other: &Overwriting,
    former: &[u32],
) -> Result<Done, TakeBackError> {
    let Overwriting {
        overwritten,
        written,
        by_name,
    } = other;
    let was = Now {
        state: overwritten.clone(),
        bytes: store.text_of(overwritten)?.unwrap_or_default(),
        torn: None,
    };
    let (before, _) = wanted(store, &change.path, &change.before, &change.after, &was)?;
    let left = Change {
        before,
        after: written.clone(),
        ..change.clone()
    };
    let done = take_back(store, roots, &left, Some(former))?;
    Ok(Done {
        overwritten: overwritten.clone(),
        linked: Some(by_name.clone()),
        ..done
    })
}

/// The permissions of the folders of a file in the watched one, its own first; none where that is not there.
fn folders_now(roots: &[PathBuf], path: &Path) -> Vec<u32> {
    Folders::default().of(roots, path)
}

/// The permissions of folders before anything in them was written.
#[derive(Debug, Default)]
pub(crate) struct Folders(HashMap<PathBuf, Option<u32>>);

impl Folders {
    /// The permissions of the folders of this file, its own first, up to the first that was not there. One that is not known
    /// here is asked.
    pub(crate) fn of(&self, roots: &[PathBuf], path: &Path) -> Vec<u32> {
        let mode = |it: &Path| { self.0.get(it).copied() }.unwrap_or_else(|| mode_now(it));
        around(roots, path).map_while(mode).collect()
    }

    /// Notes those of this file that are not known here, as they are now.
    pub(crate) fn note(&mut self, roots: &[PathBuf], path: &Path) {
        for folder in around(roots, path) {
            if !self.0.contains_key(folder) {
                self.0.insert(folder.to_owned(), mode_now(folder));
            }
        }
    }
}

/// The folders of a file in the watched one, its own first.
fn around<'a>(roots: &[PathBuf], path: &'a Path) -> impl Iterator<Item = &'a Path> {
    let root = roots.iter().find(|root| path.starts_with(root));
    let around = path.ancestors().skip(1);
    around.take_while(move |it| root.is_some_and(|root| *it != root.as_path()))
}

fn mode_now(folder: &Path) -> Option<u32> {
    // What stands in its place has permissions of its own.
    let found = folder.symlink_metadata().ok().filter(fs::Metadata::is_dir);
    found.map(|it| Folder::of(&it).mode)
}

/// Undoes what [`take_back`] did.
///
/// # Errors
/// As there.
pub fn undo(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
    (judged, former): (&Judged, Option<&[u32]>),
) -> Result<Done, TakeBackError> {
    let states = judged.overwritten.as_ref().zip(judged.written.as_ref());
    let (overwritten, written) =
        states.ok_or_else(|| TakeBackError::Unknown(change.path.clone()))?;
    let done = put_back(
        store,
        roots,
        change,
        (overwritten, written),
        (&judged.folder_modes, former),
    )?;
    if done.written.is_absent() {
        let mut place = Beneath::open(roots, &change.path)?;
        place.fill(&judged.made_way, &judged.folder_modes)?;
    }
    Ok(done)
}

/// Undoes what [`beside`] did: the file is one with the other name again, which has one of the states that are `known`. None if somebody
/// has written the file, or that one, since, or the system does not let us.
pub(crate) fn link_again(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
    (judged, former): (&Judged, &[u32]),
    known: &[&FileState],
) -> Result<Option<Done>, TakeBackError> {
    let Some(other) = &judged.linked else {
        return Ok(None);
    };
    let (mut place, other) = (
        Beneath::open(roots, &change.path)?,
        Beneath::open(roots, other)?,
    );
    let now = look(store, &place, MAX_KEPT)?;
    let there = look(store, &other, MAX_KEPT)?;
    let Some(at) = other.at().filter(|_| there.state.mode().is_some()) else {
        return Ok(None);
    };
    let is_one = now.state.mode().is_some() && { place.at() }
        .is_some_and(|it| identity(&it).is_some() && identity(&it) == identity(&at));
    let is_known = known.contains(&&there.state) && judged.written.as_ref() == Some(&now.state);
    if !is_one && !is_known {
        return Ok(None);
    }
    let wanted = Wanted {
        link_to: Some(&at),
        ..Wanted::of(&there.state, &there.bytes, &judged.folder_modes)
    };
    match write(
        store,
        &mut place,
        change,
        &change.after,
        now,
        &wanted,
        former,
    ) {
        Err(TakeBackError::Io { .. }) => Ok(None),
        done => done.map(Some),
    }
}

/// Removes the folders of a path that are empty, and of which `goes` tells that they go.
pub(crate) fn remove_folders(roots: &[PathBuf], path: &Path, goes: impl Fn(&Path) -> bool) {
    let folders = path.ancestors().skip(1);
    for folder in folders.take_while(|it| goes(it)) {
        let place = Beneath::open(roots, folder).ok();
        let at = place.as_ref().and_then(Beneath::at);
        // One that is not empty stays, and so do those around it.
        if at.is_none_or(|at| fs::remove_dir(at).is_err()) {
            return;
        }
    }
}

/// Returns true if this very file, in no other folder that a link leads to, has this text; or this link, if it is one.
pub(crate) fn has_text(roots: &[PathBuf], path: &Path, (is_link, text): (bool, &Hash)) -> bool {
    let Ok(file) = Beneath::open(roots, path) else {
        return false;
    };
    let found = file.at().and_then(|at| match is_link {
        true => fs::read_link(at)
            .map(|it| it.into_os_string().into_encoded_bytes())
            .ok(),
        false => there::now(&at),
    });
    found.is_some_and(|it| Hash::of(&it) == *text)
}

/// A change beside what stands there now: what a person looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Present {
    /// The text that would be there if it was taken back; none if nothing would.
    pub before: Option<Vec<u8>>,
    /// The text that is there; none if nothing is.
    pub now: Option<Vec<u8>>,
    /// In so many places somebody has changed the same lines since: they are in both texts as they are now.
    pub changed_since: usize,
    /// Those places, as far as they are known, in words.
    pub changed_at: String,
    /// True if these texts are what a symbolic link leads to: the one that is there, or would be.
    pub is_link: bool,
}

impl Present {
    /// Says which places are in both texts because somebody has changed them since, as a sentence; none if there are none.
    pub fn since(&self) -> Option<String> {
        let places = match self.changed_at.is_empty() {
            true => counted(self.changed_since, "place"),
            false => self.changed_at.clone(),
        };
        (self.changed_since > 0).then(|| {
            format!(
                "Not shown here, and left as it is, because it was changed again since: {places}."
            )
        })
    }
}

/// Looks at a change as it stands in the file now.
///
/// # Errors
/// When all of it was changed since, or a text was not kept.
pub fn present(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
) -> Result<Present, TakeBackError> {
    let now = look(store, &Beneath::open(roots, &change.path)?, MAX_TEXT)?;
    let (before, changed_since, changed_at) =
        match wanted(store, &change.path, &change.before, &change.after, &now) {
            Ok((state, bytes)) => {
                let before = (!state.is_absent()).then_some(bytes);
                (before, 0, String::new())
            }
            Err(TakeBackError::Conflict { path, conflicts }) => {
                let found = hunks_in(store, change, now.bytes.clone())?;
                let others = found.without(0..usize::MAX).map(|it| it.text);
                let none_left = || TakeBackError::Conflict { path, conflicts };
                let before = others.ok_or_else(none_left)?;
                (Some(before), conflicts, found.changed_places())
            }
            Err(error) => return Err(error),
        };
    Ok(Present {
        is_link: match &now.state {
            FileState::Absent => is_link(&change.before),
            state => is_link(state),
        },
        before,
        now: (!now.state.is_absent()).then_some(now.bytes),
        changed_since,
        changed_at,
    })
}

/// The hunks of a change as they stand in the file now.
///
/// # Errors
/// When a text was not kept, or is none.
pub fn hunks(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
) -> Result<CurrentHunks, TakeBackError> {
    let now = look(store, &Beneath::open(roots, &change.path)?, MAX_TEXT)?;
    if is_link(&now.state) && !is_link(&change.after) {
        return Err(TakeBackError::Changed(change.path.clone()));
    }
    hunks_in(store, change, now.bytes)
}

/// The hunks of a change as they stand in this text of the file.
///
/// # Errors
/// When a text was not kept, or is none.
pub fn hunks_in(
    store: &Store,
    change: &Change,
    now: Vec<u8>,
) -> Result<CurrentHunks, TakeBackError> {
    let (before, after) = { store.texts_of(&change.before, &change.after) }
        .map_err(|_| TakeBackError::Unknown(change.path.clone()))?;
    let texts = [before.bytes(), after.bytes(), &now];
    let are_links = is_link(&change.before) || is_link(&change.after);
    if are_links || texts.iter().any(|it| it.contains(&0)) {
        return Err(TakeBackError::NotText(change.path.clone()));
    }
    Ok(CurrentHunks::find(before, after, Text::new(now)))
}

/// This text of a file without the change: what becomes of a buffer that is not saved.
///
/// # Errors
/// When the same places were changed in it, or a text was not kept or is none.
pub fn out_of(store: &Store, change: &Change, text: Vec<u8>) -> Result<Vec<u8>, TakeBackError> {
    let is_file = |state: &FileState| matches!(state, FileState::File { .. });
    if !is_file(&change.before) || !is_file(&change.after) {
        return Err(TakeBackError::Unsaved(change.path.clone()));
    }
    if !change.after.is_known() {
        return Err(TakeBackError::Incomparable(change.path.clone()));
    }
    let now = Now {
        state: FileState::File {
            mode: 0,
            size: text.len() as u64,
            text: None,
        },
        bytes: text,
        torn: None,
    };
    let (_, bytes) = wanted(store, &change.path, &change.before, &change.after, &now)?;
    Ok(bytes)
}

/// Writes what a person made of a change: `text`, over what they have seen.
///
/// # Errors
/// When something else is there by now, or it cannot be written. Then it is as it was.
pub fn rewrite(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
    seen: &Present,
    text: &[u8],
) -> Result<Done, TakeBackError> {
    let mut place = Beneath::open(roots, &change.path)?;
    let now = look(store, &place, MAX_TEXT)?;
    leftovers::sweep_once(folder_of(&change.path));
    let is_as_seen = match &seen.now {
        Some(seen) => *seen == now.bytes && !now.state.is_absent(),
        None => now.state.is_absent(),
    };
    let state = match (&now.state, &change.before) {
        _ if !is_as_seen => return Err(TakeBackError::Changed(change.path.clone())),
        (FileState::File { mode, .. }, _) | (FileState::Absent, FileState::File { mode, .. }) => {
            file(store, *mode, text)?
        }
        (FileState::Link { .. }, _) | (FileState::Absent, FileState::Link { .. }) => {
            if text.is_empty() || text.iter().any(|it| matches!(it, 0 | b'\n')) {
                return Err(TakeBackError::NoTarget(change.path.clone()));
            }
            let text = Some(store.put(text)?);
            FileState::Link { text }
        }
        _ => return Err(TakeBackError::Changed(change.path.clone())),
    };
    let former = folders_now(roots, &change.path);
    let wanted = Wanted {
        shared: change.shared,
        ..Wanted::of(&state, text, &change.folder_modes)
    };
    write(
        store,
        &mut place,
        change,
        &change.after,
        now,
        &wanted,
        &former,
    )
}

fn is_link(state: &FileState) -> bool {
    matches!(state, FileState::Link { .. })
}

fn put_back(
    store: &Store,
    roots: &[PathBuf],
    change: &Change,
    (before, after): (&FileState, &FileState),
    (folder_modes, former): (&[FolderMode], Option<&[u32]>),
) -> Result<Done, TakeBackError> {
    let path = change.path.as_path();
    if !before.is_known() {
        return Err(TakeBackError::Unknown(path.to_owned()));
    }
    if there::is_secret(roots, path, before, after) {
        return Err(TakeBackError::Secret(path.to_owned()));
    }
    let present = folders_now(roots, path);
    let former = former.unwrap_or(&present);
    let mut place = Beneath::open(roots, path)?;
    let made_way = match after.is_absent() {
        true => { place.clear() }.ok_or_else(|| TakeBackError::Folder(path.to_owned()))?,
        false => Vec::new(),
    };
    let opened = Opened::of(&place, after);
    let mut now = look(store, &place, MAX_KEPT)?;
    opened.had_mode(&mut now.state);
    leftovers::sweep_once(folder_of(path));
    let (state, bytes) = wanted(store, path, before, after, &now)?;
    let wanted = Wanted {
        shared: change.shared,
        ..Wanted::of(&state, &bytes, folder_modes)
    };
    let done = write(store, &mut place, change, after, now, &wanted, former)?;
    opened.becomes(&place, &state);
    Ok(Done { made_way, ..done })
}

/// Puts something else in the place of what is there now. It may be there already: who wrote it was killed before that was
/// kept anywhere else.
fn write(
    store: &Store,
    place: &mut Beneath<'_>,
    change: &Change,
    after: &FileState,
    now: Now,
    wanted: &Wanted<'_>,
    former: &[u32],
) -> Result<Done, TakeBackError> {
    let (path, state) = (change.path.as_path(), wanted.state);
    let mut overwritten = now.whole().state.clone();
    let as_they_were = |before: &u32| FolderMode {
        before: *before,
        after: Some(*before),
    };
    // With a file that goes, its folders may.
    let mut modes: Vec<_> = { former.iter().filter(|_| state.is_absent()) }
        .map(as_they_were)
        .collect();
    if *state == now.state {
        // Another turn may have led to the same.
        let noted = store
            .writing(path)
            .filter(|it| it.written == *state && it.after.as_ref() == Some(after))
            .filter(|it| it.of.as_ref() == Some(&change.after))
            .filter(|it| it.turn.is_none_or(|turn| Some(turn) == store.turn))
            .filter(|it| it.stands_at(place.at().as_deref()));
        if let Some(noted) = noted {
            overwritten = noted.overwritten.unwrap_or(overwritten);
            modes = noted.folder_modes;
        }
    } else {
        let at = clock::now_ms();
        let writing = |stage| Writing {
            written: state.clone(),
            at,
            act: store.act.unwrap_or(at),
            turn: store.turn,
            overwritten: Some(overwritten.clone()),
            folder_modes: modes.clone(),
            after: Some(after.clone()),
            of: Some(change.after.clone()),
            stage,
        };
        store.note(path, &writing(Stage::Begun))?;
        let mut is_in_place = false;
        let note_in_place = |_: &Path| {
            is_in_place = true;
            // Without the note, a kill in the next moment leaves a text that only a person can complete.
            let _ = store.note(path, &writing(Stage::InPlace));
        };
        if let Err(error) = replace(place, &now, wanted, note_in_place) {
            if !is_in_place {
                // It was not written, so that nothing is found of it.
                let _ = store.note(path, &writing(Stage::Failed));
            }
            return Err(error);
        }
        // Without this note, the same text from an agent would count as this one.
        if let Some(stat) = stat(place) {
            let at = clock::now_ms();
            let _ = store.note(path, &writing(Stage::Done { stat, at }));
        }
        let set = folders_now(place.roots, path);
        if set.iter().zip(former).any(|(now, before)| now != before) {
            let each = former.iter().enumerate();
            let each = each.map(|(at, before)| FolderMode {
                before: *before,
                after: set.get(at).copied().or(Some(*before)),
            });
            modes = each.collect();
        }
    }
    Ok(Done {
        overwritten,
        written: state.clone(),
        folder_modes: modes,
        made_way: Vec::new(),
        linked: None,
    })
}

/// The facts about a file; none within if it is not there.
fn stat(place: &Beneath<'_>) -> Option<Option<Stat>> {
    place.at().map_or(Some(None), |at| Stat::at(&at).ok())
}

/// The state that is to be there, and its text.
fn wanted(
    store: &Store,
    path: &Path,
    before: &FileState,
    after: &FileState,
    now: &Now,
) -> Result<(FileState, Vec<u8>), TakeBackError> {
    let now = now.whole();
    if !before.is_known() {
        return Err(TakeBackError::Unknown(path.to_owned()));
    }
    let text = |state: &FileState| match state.text() {
        Some(hash) => store.get(hash),
        None => Ok(Vec::new()),
    };
    // A link that stood for the file is gone: nothing is overwritten there.
    let is_without_link = now.state.is_absent()
        && matches!(
            (before, after),
            (FileState::File { .. }, FileState::Link { .. })
        );
    if now.state == *before || now.state == *after || is_without_link {
        return Ok((before.clone(), text(before)?));
    }
    if !after.is_known() {
        let is_like_it = match (&now.state, after) {
            (FileState::File { size, .. }, FileState::File { size: left, .. }) => size == left,
            (FileState::Absent, _) | (FileState::Link { .. }, FileState::Link { .. }) => true,
            _ => false,
        };
        return match is_like_it {
            true => Ok((before.clone(), text(before)?)),
            false => Err(TakeBackError::Incomparable(path.to_owned())),
        };
    }
    let (
        FileState::File { mode: old, .. },
        FileState::File { mode: new, .. },
        FileState::File { mode, .. },
    ) = (before, after, &now.state)
    else {
        return Err(TakeBackError::Changed(path.to_owned()));
    };
    let texts = [text(after)?, text(before)?, now.bytes.clone()];
    // Lines of what is no text mean nothing.
    if texts.iter().any(|it| it.contains(&0)) {
        return Err(TakeBackError::Changed(path.to_owned()));
    }
    let [after, before, ours] = texts.map(Text::new);
    let merged = merge::texts(&after, &before, &ours);
    if merged.conflicts > 0 {
        return Err(TakeBackError::Conflict {
            path: path.to_owned(),
            conflicts: merged.conflicts,
        });
    }
    let mode = if mode == new { *old } else { *mode };
    Ok((file(store, mode, &merged.text)?, merged.text))
}
