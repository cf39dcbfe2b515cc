//! The list of what agents have written, for views, and what people do with it there. Everything here waits for the disk,
//! on threads beside the loop; what is decided is decided by `pillion_changes`, as for commands.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pillion_changes::deciding::last_taken_back;
use pillion_changes::history;
use pillion_changes::looking::Shown;
use pillion_changes::{
    Act, Change, ChangeRef, ChangeState, DecideError, Decided, Deciding, Hash, Kept, Store,
    TakenBack, Typed, TypedError, Words, kept, take_back,
};
use pillion_discovery::{Environment, real_path};
use pillion_protocol::remarks::FileRemark;
use pillion_protocol::{Note, verdict};
use pillion_system::lock;
use pillion_text::fingerprint;
use pillion_view::ask::{Changes, End, Judged};
use pillion_view::changes::{
    ActDone, BufferEdit, BufferText, ChangesAct, ChangesList, ListedChange, ListedHunk, ListedTurn,
    Meant, TakeBack,
};
use pillion_view::decision::Refusal;
use pillion_view::{Answering, Reply};
use tokio::time::timeout;

use crate::disk::DiskThreads;
use crate::event::{Acted, Event, Events};
use crate::recording;
use crate::tasks;

/// The most lists that are made at a time.
const MAX_LISTS: usize = 4;

/// No more changes are listed.
const MAX_CHANGES: usize = 2_000;

/// The time limit for a list.
const LIST_TIMEOUT: Duration = Duration::from_secs(20);

/// The most sentences that a person is told of several changes.
const MAX_SAID: usize = 3;

const OFF: &str = "what agents change is not recorded here";
const SILENT: &str = "the disk does not answer";
const UNSAID: &str = "the agent is not told your words, as nothing was decided";
const BUSY: &str = "many changes are being kept or taken back: try again when that is done";

/// The changes that are written.
pub(crate) struct Judging {
    /// None if nothing is recorded.
    store: Option<Store>,
    lists: DiskThreads,
    /// One after the other: two could mean the same file.
    acts: DiskThreads,
    /// Used on the thread of the acts.
    taken_back: Arc<Mutex<TakenBack>>,
    /// Shared by the acts whose outcome is not told yet.
    acting: Arc<()>,
    events: Events,
}

/// What the loop knows of the changes that can be shown.
pub(crate) struct Shelf {
    /// None if nothing is recorded.
    pub(crate) store: Option<Store>,
    /// Those that are shown already, by name.
    pub(crate) open: Vec<String>,
    /// The workspace folders.
    pub(crate) roots: Arc<[PathBuf]>,
}

impl Judging {
    pub(crate) fn new(environment: Option<&Environment>, events: Events) -> Self {
        let environment = environment.filter(|it| recording::is_on(it));
        Self {
            store: environment.and_then(|it| Store::of(it).ok()),
            lists: DiskThreads::new(MAX_LISTS),
            acts: DiskThreads::new(1),
            taken_back: Arc::default(),
            acting: Arc::default(),
            events,
        }
    }

    /// Returns true if something is being done whose outcome is not told yet.
    #[cfg(unix)]
    pub(crate) fn is_busy(&self) -> bool {
        Arc::strong_count(&self.acting) > 1
    }

    /// None if nothing is recorded.
    pub(crate) fn store(&self) -> Option<Store> {
        self.store.clone()
    }

    /// Answers with what there is below these folders.
    pub(crate) fn list(&self, roots: Arc<[PathBuf]>, reply: Answering<Changes>) {
        let Some(store) = self.store.clone() else {
            return reply.done(ChangesList::failed(OFF));
        };
        let threads = self.lists.clone();
        tasks::spawn(async move {
            let listing = threads.run(move || list(&store, &roots));
            let list = timeout(LIST_TIMEOUT, listing).await.ok().flatten();
            reply.done(list.unwrap_or_else(|| ChangesList::failed(SILENT)));
        });
    }

    /// A person has saved a file in their editor. What they have undone there is told the agent: an event for each turn.
    pub(crate) fn saved(&self, path: PathBuf) {
        let Some(store) = self.store.clone() else {
            return;
        };
        let (threads, events) = (self.acts.clone(), self.events.clone());
        let taken_back = Arc::clone(&self.taken_back);
        let acting_on = Arc::clone(&self.acting);
        tasks::spawn(async move {
            let acting =
                threads.start(move || undone_in_editor(&store, &mut lock(&taken_back), &path));
            let Some(acting) = acting.await else {
                return;
            };
            for acted in acting.await.unwrap_or_default() {
                let _ = events.send(Event::Acted(
                    Box::new(acted),
                    until_told(&acting_on, Reply::new(drop)),
                ));
            }
        });
    }

    /// Does this. Its outcome is an event.
    pub(crate) fn act(&self, act: ChangesAct, roots: Arc<[PathBuf]>, reply: Answering<ChangesAct>) {
        let Some(store) = self.store.clone() else {
            return reply.done(ActDone::refused(OFF));
        };
        self.start(reply, move || perform(&store, &roots, act));
    }

    /// Does what the person has decided about a change that was shown as a diff. Its outcome is an event.
    pub(crate) fn decide(&self, shown: Arc<Shown>, end: End, reply: Answering<ChangesAct>) {
        let Some(store) = self.store.clone() else {
            return reply.done(ActDone::refused(OFF));
        };
        self.start(reply, move || decide(&store, &shown, &end));
    }

    fn start(
        &self,
        reply: Answering<ChangesAct>,
        work: impl FnOnce() -> Result<Acted, ActError> + Send + 'static,
    ) {
        let reply = until_told(&self.acting, reply);
        let (threads, events) = (self.acts.clone(), self.events.clone());
        tasks::spawn(async move {
            let acting = threads.start(move || match work() {
                Ok(acted) => acted,
                Err(error) => Acted::refused(error.in_full()),
            });
            let refused = |why: &str| Acted::refused(why.to_owned());
            let acted = match acting.await {
                Some(acting) => acting.await.unwrap_or_else(|_| refused(SILENT)),
                None => refused(BUSY),
            };
            let _ = events.send(Event::Acted(Box::new(acted), reply));
        });
    }
}

/// The same reply, which holds this until it is given.
fn until_told(acting: &Arc<()>, reply: Answering<ChangesAct>) -> Answering<ChangesAct> {
    let acting = Arc::clone(acting);
    Reply::new(move |told| {
        reply.answer(told);
        drop(acting);
    })
}

fn list(store: &Store, roots: &[PathBuf]) -> ChangesList {
    let kept = match Kept::of_folders(store, roots, drop) {
        Ok(kept) => kept,
        Err(error) => return ChangesList::failed(error.in_full()),
    };
    let mut list = ChangesList::default();
    let mut room = MAX_CHANGES;
    for kept in kept.iter().rev() {
        let count = kept.turn.real_changes().count();
        let listed: Vec<_> = kept
            .turn
            .real_changes()
            .take(room)
            .map(|change| listed(store, kept, change))
            .collect();
        room -= listed.len();
        list.left_out += count - listed.len();
        if listed.is_empty() {
            continue;
        }
        let turn = &kept.turn;
        list.turns.push(ListedTurn {
            id: turn.number.to_string(),
            agent: turn.agent.clone(),
            heading: kept.heading(),
            prompt: turn.prompt.clone(),
            began: turn.began,
            ended: turn.ended,
            title: kept.title(),
            revision: turn_revision(kept),
            changes: listed,
        });
    }
    list
}

fn listed(store: &Store, kept: &Kept, change: &Change) -> ListedChange {
    let now = kept::now(&change.path);
    let state = kept.state(change);
    let lines = history::count(store, &change.before, &change.after);
    let revision = kept::revision(change, now.as_deref());
    let shows_hunks = lines.is_some() && state != ChangeState::TakenBack;
    let found = now.filter(|_| shows_hunks);
    let found = found.and_then(|now| take_back::hunks_in(store, change, now).ok());
    let hunks = found.iter().flat_map(|it| it.hunks());
    ListedChange {
        id: kept.name(change).to_string(),
        revision,
        path: change.path.clone(),
        shown: kept.place(change),
        state: state.name().to_owned(),
        is_unseen: state == ChangeState::Unseen,
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
        hunks: hunks
            .map(|hunk| ListedHunk {
                lines: hunk.after.clone(),
                removed: hunk.before.len(),
            })
            .collect(),
    }
}

/// Of a turn: what was seen of it is what was written until then.
fn turn_revision(kept: &Kept) -> String {
    let changes = kept.turn.real_changes();
    let all: String = changes.map(|it| kept::revision(it, None)).collect();
    fingerprint::hash(all.as_bytes())[..16].to_owned()
}

/// The reason why something that a view asks for is not done.
#[derive(Debug, thiserror::Error)]
enum ActError {
    #[error("{0:?} names no change")]
    NoName(String),
    #[error("no change is meant here: name one, or go to its file or to its line in the list")]
    NothingMeant,
    #[error(transparent)]
    Typed(#[from] TypedError),
    #[error("no agent's change of {0} is waiting here")]
    NoChange(String),
    #[error("{0} has changed since it was listed: look at it again")]
    Stale(String),
    #[error(
        "{0} has changed since a command showed it to you: `pillion show {0}` prints what is there now"
    )]
    Changed(ChangeRef),
    #[error(
        "the editor shows {0} as it was before the agent changed it: have the editor read the file again first"
    )]
    Behind(String),
    #[error("{}", Refusal::too_long(*.0).message)]
    TooLong(usize),
    #[error(transparent)]
    Decide(#[from] DecideError),
}

impl From<pillion_changes::StoreError> for ActError {
    fn from(error: pillion_changes::StoreError) -> Self {
        Self::Decide(error.into())
    }
}

impl ActError {
    /// It, and what to do.
    fn in_full(&self) -> String {
        match self {
            ActError::Decide(error) => error.in_full(),
            _ => self.to_string(),
        }
    }
}

impl Acted {
    fn refused(why: String) -> Self {
        Self {
            done: ActDone::refused(why),
            agent: String::new(),
            is_without_hooks: false,
            judged: Judged::default(),
        }
    }

    /// The outcome of a decision about changes of this turn.
    fn new(kept: &Kept, told: Vec<FileRemark>, done: ActDone) -> Self {
        Self {
            done,
            agent: kept.agent().to_owned(),
            is_without_hooks: kept.turn.is_without_hooks,
            judged: Judged {
                watcher: kept.turn.watcher,
                session: kept.turn.session,
                told,
            },
        }
    }
}

/// Of a file that was saved: what the person had taken back, and what is there again.
fn undone_in_editor(store: &Store, taken_back: &mut TakenBack, path: &Path) -> Vec<Acted> {
    let path = real_path(path);
    let turns = taken_back.of(store, &path).unwrap_or_default();
    let Some(now) = kept::now(&path).filter(|_| !turns.is_empty()) else {
        return Vec::new();
    };
    let mut undone = Vec::new();
    for kept in turns {
        let mut deciding = Deciding::new(store, &kept);
        for change in kept.turn.changes.iter().filter(|it| it.path == path) {
            if let Err(error) = deciding.saved(change, &now) {
                tracing::warn!(%error, "what was undone in an editor is not kept");
            }
        }
        let told = deciding.take_told();
        if !told.is_empty() {
            undone.push(Acted::new(&kept, told, ActDone::default()));
        }
    }
    undone
}

fn named(id: &str) -> Result<ChangeRef, ActError> {
    id.parse().map_err(|_| ActError::NoName(id.to_owned()))
}

/// Takes apart what was typed. A change that is named there is meant, wherever the cursor is.
fn read_typed(act: &mut ChangesAct) -> Result<(), ActError> {
    let (ChangesAct::Keep(meant) | ChangesAct::TakeBack(TakeBack { meant, .. })) = &mut *act else {
        return Ok(());
    };
    let typed: Typed = meant.typed.take().unwrap_or_default().parse()?;
    meant.notes.extend(typed.words.map(Note::on_all));
    let Some(name) = typed.name else {
        return Ok(());
    };
    (meant.id, meant.path, meant.revision) = (Some(name.to_string()), None, None);
    if let ChangesAct::TakeBack(take_back) = act {
        take_back.lines = None;
        // The others were the place of the cursor.
        take_back.buffers.retain(|it| it.is_modified);
    }
    Ok(())
}

/// Does what was decided about a change that was shown.
fn decide(store: &Store, shown: &Shown, end: &End) -> Result<Acted, ActError> {
    let kept = Kept::read(store, shown.name.turn)?;
    let mut deciding = Deciding::new(store, &kept);
    let decided = shown.decide(&mut deciding, &kept, end.accepted(), end.notes())?;
    let told = deciding.take_told();
    let done = match decided {
        Some(decided) => ActDone {
            done: decided.result.is_ok(),
            message: said(&[decided], &[]),
            ..ActDone::default()
        },
        None => ActDone {
            done: true,
            ..ActDone::default()
        },
    };
    Ok(Acted::new(&kept, told, done))
}

/// Does it.
fn perform(store: &Store, roots: &[PathBuf], mut act: ChangesAct) -> Result<Acted, ActError> {
    read_typed(&mut act)?;
    let each = |names: Vec<ChangeRef>| names.into_iter().map(|it| vec![it]).collect();
    let mut notes = act.notes().to_vec();
    verdict::tidy(&mut notes).map_err(ActError::TooLong)?;
    let (kind, names, take_back): (_, Vec<Vec<ChangeRef>>, _) = match act {
        // The loop has these shown.
        ChangesAct::Look(id) => return Err(ActError::NoName(id.unwrap_or_default())),
        ChangesAct::Keep(meant) => (Act::Keep, each(find(store, roots, &meant, false)?), None),
        ChangesAct::TakeBack(take_back) => {
            let has_lines = take_back.lines.is_some();
            let names = find(store, roots, &take_back.meant, has_lines)?;
            (Act::TakeBack, each(names), Some(take_back))
        }
        ChangesAct::Undo(Some(id)) => (Act::Undo, vec![vec![named(&id)?]], None),
        ChangesAct::Undo(None) => (Act::Undo, vec![last_taken_back(store, roots)?], None),
    };
    let mut last = Err(ActError::NoChange("the file".to_owned()));
    // Of several changes of one file, the newest is meant that has something at these lines.
    for at_once in names {
        let Some(name) = at_once.first().copied() else {
            continue;
        };
        let kept = Kept::read(store, name.turn)?;
        let mut deciding = Deciding::new(store, &kept);
        deciding.say(Words::on(&at_once, notes.clone()));
        let (mut decided, mut edits) = (Vec::new(), Vec::new());
        let result = match &take_back {
            None => {
                let all = deciding.all(kind, &at_once, |it| decided.push(it));
                all.map_err(ActError::from)
            }
            Some(wanted) => {
                let all = (&mut decided, &mut edits);
                taken_back(store, &kept, &mut deciding, name, wanted, all)
            }
        };
        // What has been done is told, even if the rest could not be.
        let failed = match result {
            Ok(()) => None,
            Err(error) if decided.is_empty() => return Err(error),
            Err(error) => Some(error.in_full()),
        };
        let is_unsaid = !deciding.unsaid().is_empty();
        let told = deciding.take_told();
        let is_elsewhere = decided
            .iter()
            .all(|it| matches!(it.result, Err(DecideError::NoHunk(_))));
        let is_done = failed.is_none() && decided.iter().all(|it| it.result.is_ok());
        // The view is to keep words that the agent does not hear.
        let is_unsaid = is_done && is_unsaid;
        let mut message = Vec::from_iter(failed);
        message.push(said(&decided, &edits));
        message.extend(is_unsaid.then(|| UNSAID.to_owned()));
        let done = ActDone {
            done: is_done && !is_unsaid,
            message: message.join(" · "),
            edits,
        };
        last = Ok(Acted::new(&kept, told, done));
        if !is_elsewhere {
            break;
        }
    }
    last
}

/// The changes that are meant, the most likely one first, if they are as they were listed.
fn find(
    store: &Store,
    roots: &[PathBuf],
    meant: &Meant,
    has_lines: bool,
) -> Result<Vec<ChangeRef>, ActError> {
    let names = match (&meant.id, &meant.path) {
        (Some(id), _) => vec![named(id)?],
        (None, Some(path)) => {
            let real = real_path(path);
            let mut names = Vec::new();
            for kept in Kept::of_folders(store, roots, drop)?.iter().rev() {
                let changes = kept.turn.real_changes().filter(|it| it.path == real);
                names.extend(changes.filter_map(|change| {
                    let state = kept.state(change);
                    let is_open = state == ChangeState::Unseen
                        || (has_lines && state != ChangeState::TakenBack);
                    is_open.then(|| (state != ChangeState::Unseen, kept.name(change)))
                }));
            }
            // Stable: the newest first, of those that nobody has seen and then of the others.
            names.sort_by_key(|(is_seen, _)| *is_seen);
            if names.is_empty() {
                return Err(ActError::NoChange(path.display().to_string()));
            }
            let count = if has_lines { names.len() } else { 1 };
            names.into_iter().take(count).map(|(_, it)| it).collect()
        }
        (None, None) => return Err(ActError::NothingMeant),
    };
    let [name] = &*names else {
        return Ok(names);
    };
    let kept = Kept::read(store, name.turn)?;
    let Some(revision) = &meant.revision else {
        // Of one that is named, what a command showed them last is what they mean.
        let changed = kept.changed_since_shown(store, &names);
        let changed = changed.first().filter(|_| meant.id.is_some());
        return match changed {
            Some(change) => Err(ActError::Changed(kept.name(change))),
            None => Ok(names),
        };
    };
    let is_as_listed = match name.change {
        None => *revision == turn_revision(&kept),
        Some(_) => kept.named(*name)?.iter().all(|change| {
            let now = kept::now(&change.path);
            *revision == kept::revision(change, now.as_deref())
        }),
    };
    if !is_as_listed {
        return Err(ActError::Stale(name.to_string()));
    }
    Ok(names)
}

/// Takes changes back: in files, or out of what is not saved.
fn taken_back(
    store: &Store,
    kept: &Kept,
    deciding: &mut Deciding<'_>,
    name: ChangeRef,
    wanted: &TakeBack,
    (all, edits): (&mut Vec<Decided>, &mut Vec<BufferEdit>),
) -> Result<(), ActError> {
    let buffers = wanted.buffers.iter();
    let buffers: HashMap<_, _> = buffers.map(|it| (real_path(&it.path), it)).collect();
    let meant = deciding.meant(Act::TakeBack, &[name])?;
    let is_open = |change: &&Change| buffers.contains_key(&change.path);
    // All of them are read, but once for all buffers.
    let turns = LazyCell::new(|| {
        let turns = Kept::of_folders(store, &kept.turn.roots, drop);
        turns.unwrap_or_default()
    });
    // There may be thousands.
    if wanted.lines.is_none() && !meant.iter().any(is_open) {
        deciding.all(Act::TakeBack, &[name], |decided| all.push(decided))?;
        return Ok(());
    }
    for change in meant {
        let buffer = buffers.get(&change.path).copied();
        // A file that was created or deleted comes and goes as a whole.
        let is_edit = !change.before.is_absent() && !change.after.is_absent();
        let is_on_disk = LazyCell::new(|| {
            let now = kept::now(&change.path);
            buffer.is_some_and(|it| now.as_deref() == Some(it.content.as_bytes()))
        });
        let is_behind = LazyCell::new(|| {
            !*is_on_disk && buffer.is_some_and(|it| was_before(&turns, change, it))
        });
        let is_unsaved =
            |it: &&BufferText| it.is_modified && !*is_behind && (is_edit || !*is_on_disk);
        let result = match buffer.filter(is_unsaved) {
            Some(buffer) => {
                let taken = deciding.take_out_of(change, wanted.lines.clone(), &buffer.content);
                taken.map(|(content, what)| {
                    edits.push(BufferEdit {
                        path: buffer.path.clone(),
                        id: kept.name(change).to_string(),
                        content,
                    });
                    what
                })
            }
            None => match wanted.lines.clone() {
                Some(_) if *is_behind => {
                    return Err(ActError::Behind(change.path.display().to_string()));
                }
                Some(lines) => in_file(deciding, change, lines, buffer, &wanted.meant)?,
                None => deciding.take_back(change),
            },
        };
        all.push(deciding.decided(change, result));
    }
    Ok(())
}

/// Returns true if this buffer has a text from before agents changed the file: an editor that does not read files again by
/// itself shows that, and some cannot tell it from a text that is not saved. Nothing can be taken out of it, but of the file.
fn was_before(
    turns: &LazyCell<Vec<Kept>, impl FnOnce() -> Vec<Kept>>,
    change: &Change,
    buffer: &BufferText,
) -> bool {
    let shown = Hash::of(buffer.content.as_bytes());
    let is_it = |it: &Change| it.path == change.path && it.before.text() == Some(&shown);
    is_it(change) || turns.iter().flat_map(|it| &it.turn.changes).any(is_it)
}

/// Lines of a file mean something only beside the text in which they were seen.
fn in_file(
    deciding: &mut Deciding<'_>,
    change: &Change,
    lines: Range<usize>,
    buffer: Option<&BufferText>,
    meant: &Meant,
) -> Result<Result<&'static str, DecideError>, ActError> {
    let now = kept::now(&change.path);
    let is_seen = match buffer {
        Some(buffer) => now.is_some_and(|now| shows(buffer, &now)),
        None => meant.revision.is_some() && meant.id.is_some(),
    };
    match is_seen {
        true => Ok(deciding.take_lines_back(change, lines)),
        false => Err(ActError::Stale(change.path.display().to_string())),
    }
}

/// Returns true if this buffer shows the text of the file. Some editors end the last line of every text with a line feed.
fn shows(buffer: &BufferText, file: &[u8]) -> bool {
    let shown = buffer.content.as_bytes();
    shown == file || (!file.ends_with(b"\n") && shown.strip_suffix(b"\n") == Some(file))
}

/// Returns the outcome of changes, as a sentence or a few.
fn said(decided: &[Decided], edits: &[BufferEdit]) -> String {
    let (done, failed): (Vec<_>, Vec<_>) = decided.iter().partition(|it| it.result.is_ok());
    let failed = failed.iter().filter_map(|it| {
        let error = it.result.as_ref().err()?;
        Some(match error.hint() {
            Some(hint) => format!("{} is as it was: {error} · {hint}", it.name),
            None => format!("{} is as it was: {error}", it.name),
        })
    });
    let mut said: Vec<String> = failed.collect();
    match &*done {
        [] => {}
        few if few.len() <= MAX_SAID => said.extend(few.iter().filter_map(|it| {
            let what = it.result.as_ref().ok()?;
            Some(format!("{} {}: {what}", it.name, it.path))
        })),
        many => {
            let what = many[0].result.as_ref().ok().copied().unwrap_or_default();
            said.push(format!("{} changes: {what}", many.len()));
        }
    }
    if said.len() > MAX_SAID + 1 {
        let more = said.len() - MAX_SAID;
        said.truncate(MAX_SAID);
        said.push(format!("and {more} more"));
    }
    if said.is_empty() {
        said.push("nothing was waiting".to_owned());
    }
    if !edits.is_empty() {
        said.push("in the editor, which has unsaved changes: save it".to_owned());
    }
    said.join(" · ")
}

#[cfg(test)]
mod tests;
