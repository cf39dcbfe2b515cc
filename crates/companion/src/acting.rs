//! What people do with changes that are written, in views and by commands: the one place where it is carried out, by whoever
//! holds the turn. Waits for the disk; what is decided is decided by `pillion_changes`.

mod named;
mod outcome;
mod staging;

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};

use pillion_changes::deciding::last_act;
use pillion_changes::looking::Shown;
use pillion_changes::{
    Act, Change, ChangeRef, ChangeState, DecideError, Decided, Deciding, EntryRef, Hash, Kept,
    NoteNames, Store, StoreError, Typed, TypedError, WaitingNote, Words, kept, take_back,
};
use pillion_discovery::real_path;
use pillion_protocol::remarks::FileRemark;
use pillion_protocol::verdict::{self, Lines, Verdict};
use pillion_protocol::{Dialect, Note};
use pillion_system::clock;
use pillion_text::{counted, visible};
use pillion_view::changes::{
    ActDone, BufferEdit, BufferText, ChangesAct, Hearing, Meant, Named, NotDone, Part, judged_said,
};
use pillion_view::decision::Refusal;

use crate::remark::Remark;

/// The most sentences that a person is told of several changes in a view.
const MAX_SAID: usize = 3;

pub(crate) const UNSAID: &str = "the agent is not told your words, as nothing was decided";

/// The reason why something that is asked for is not done.
#[derive(Debug, thiserror::Error)]
enum ActError {
    #[error("{0:?} names no change")]
    NoName(String),
    #[error("{0} is one change of a turn")]
    OneChange(ChangeRef),
    #[error("turn {0} goes on")]
    GoesOn(u64),
    #[error("the proposal of {0} waits for your decision")]
    Pending(EntryRef),
    #[error("no change is meant here: name one, or go to its file or to its line in the list")]
    NothingMeant,
    #[error(transparent)]
    Typed(#[from] TypedError),
    #[error("no agent's change of {0} is waiting here")]
    NoChange(String),
    #[error(
        "nothing that an agent has written waits at this line: name the change, or use the list"
    )]
    NoneThere,
    #[error("{0} has {1} hunks, and is kept as a whole: name it to keep all of them")]
    Several(ChangeRef, usize),
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
    #[error("the buffer differs from its file: save it or have the file read again first")]
    Differs,
    #[error("the editor has read {0} only just now: look at it, then do the same again")]
    JustRead(String),
    #[error("{0}")]
    Row(&'static str),
    #[error("{}", Refusal::too_long(*.0).message)]
    TooLong(usize),
    #[error(transparent)]
    Decide(#[from] DecideError),
}

impl From<StoreError> for ActError {
    fn from(error: StoreError) -> Self {
        Self::Decide(error.into())
    }
}

impl ActError {
    fn in_full(&self) -> String {
        match self {
            ActError::Decide(error) => error.in_full(),
            _ => self.to_string(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Decide(error) => error.hint(),
            Self::OneChange(name) => Some(format!(
                "`pillion forget {}` forgets the whole turn.",
                name.turn
            )),
            Self::GoesOn(_) => Some("Try again when it has ended.".to_owned()),
            Self::Pending(_) => Some("Try again when it is decided.".to_owned()),
            _ => None,
        }
    }
}

/// The result of a person's act on changes that are written.
#[derive(Debug, Default)]
pub(crate) struct Acted {
    /// The result that the person is told.
    pub(crate) done: ActDone,
    /// What agents are to hear of it, turn by turn.
    pub(crate) told: Vec<Told>,
    /// The turns of which nothing is known any more.
    pub(crate) forgotten: Vec<u64>,
}

/// What the agent of a turn is to hear of a person's judgement.
#[derive(Debug)]
pub(crate) struct Told {
    /// The name by which people know the agent.
    agent: String,
    /// The agent, if it is one that is told things.
    pub(crate) kind: Option<Dialect>,
    /// The folders of the turn's workspace.
    pub(crate) roots: Vec<PathBuf>,
    /// True if it runs no hooks of ours.
    pub(crate) is_without_hooks: bool,
    /// The process that has watched the turn.
    pub(crate) watcher: u32,
    /// The number by which that process knows the agent's session.
    pub(crate) session: u64,
    /// The number of the turn.
    pub(crate) turn: u64,
    /// The remarks on files that the agent's model is to read.
    pub(crate) remarks: Vec<FileRemark>,
}

impl Told {
    fn of(kept: &Kept, remarks: Vec<FileRemark>) -> Option<Self> {
        (!remarks.is_empty()).then(|| Self {
            agent: kept.agent().to_owned(),
            kind: Dialect::from_name(&kept.turn.agent),
            roots: kept.turn.roots.clone(),
            is_without_hooks: kept.turn.is_without_hooks,
            watcher: kept.turn.watcher,
            session: kept.turn.session,
            turn: kept.turn.number,
            remarks,
        })
    }

    /// What is kept of it for an agent that is not here; nothing if that takes nothing.
    pub(crate) fn to_waiting(&self) -> Option<WaitingNote> {
        let kind = self.kind?;
        let is_hooked = !self.is_without_hooks;
        let remark = match is_hooked {
            true => self.whole(kind),
            false => self.in_short(kind).0,
        };
        let remark = Some(remark).filter(|it| it.is_taken(is_hooked))?;
        Some(remark.to(kind, None, &self.roots, is_hooked).note)
    }

    /// It for an agent with hooks.
    pub(crate) fn whole(&self, kind: Dialect) -> Remark {
        Remark::written(kind, &self.remarks).about_turn(self.turn)
    }

    /// It for one without, and if some of the person's words are left out.
    pub(crate) fn in_short(&self, kind: Dialect) -> (Remark, bool) {
        let (remark, is_cut) = Remark::written_in_short(kind, &self.remarks);
        (remark.about_turn(self.turn), is_cut)
    }
}

impl Acted {
    /// No agent hears of it.
    fn of(done: ActDone) -> Self {
        Self {
            done,
            ..Self::default()
        }
    }

    pub(crate) fn refused(why: &str) -> Self {
        Self::of(ActDone::refused(why))
    }

    fn failed(error: ActError) -> Self {
        let mut acted = Self::refused(&error.in_full());
        acted.done.report.failed.push(NotDone {
            what: error.to_string(),
            hint: error.hint(),
            ..NotDone::default()
        });
        acted
    }

    /// What the person is told, once `hear` has passed on to agents what they are to hear.
    pub(crate) fn tell(self, mut hear: impl FnMut(Told) -> Hearing) -> ActDone {
        let mut done = self.done;
        for told in self.told {
            let agent = told.agent.clone();
            let said = judged_said(&agent, hear(told));
            done.message = match done.message.is_empty() {
                true => said.clone(),
                false => format!("{} · {said}", done.message),
            };
            done.report.said.push(said);
        }
        done
    }
}

/// Does what a command names, where no companion runs that could: no agent is there to hear of it, so that it waits for one.
pub fn act_alone(store: &Store, named: Named) -> ActDone {
    let acted = named::perform(store, named).unwrap_or_else(Acted::failed);
    let mut names = NoteNames::of(&format!("p{}", process::id()));
    acted.tell(|told| {
        let waiting = told.to_waiting();
        let kept = waiting.map(|it| store.keep_note(&names.next_name(), &it));
        match kept {
            Some(Ok(())) => Hearing::Later,
            Some(Err(_)) | None => Hearing::Nothing,
        }
    })
}

/// Of a file that was saved and that agents changed in these turns: what the person had taken back, and what is there again.
pub(crate) fn undone_in_editor(store: &Store, turns: &[u64], path: &Path, is_saved: bool) -> Acted {
    let path = real_path(path);
    let mut undone = Acted::default();
    let Some(now) = kept::now(&path) else {
        return undone;
    };
    for turn in turns {
        // What cannot be read cannot be undone.
        let Ok(kept) = Kept::hold(store, *turn) else {
            continue;
        };
        let mut deciding = Deciding::new(store, &kept);
        for change in kept.turn.changes.iter().filter(|it| it.path == path) {
            if let Err(error) = deciding.synced(change, &now, is_saved) {
                tracing::warn!(%error, "what was undone in an editor is not kept");
            }
        }
        undone.told.extend(Told::of(&kept, deciding.take_told()));
    }
    undone
}

fn read_name(id: &str) -> Result<ChangeRef, ActError> {
    id.parse().map_err(|_| ActError::NoName(id.to_owned()))
}

/// Takes apart what was typed. A change that is named there is meant, wherever the cursor is.
fn read_typed(act: &mut ChangesAct) -> Result<(), ActError> {
    let (meant, lines) = match act {
        ChangesAct::Keep(meant) => (meant, None),
        ChangesAct::TakeBack(Part { meant, lines }) => (meant, Some(lines)),
        _ => return Ok(()),
    };
    let typed: Typed = meant.typed.take().unwrap_or_default().parse()?;
    meant.notes.extend(typed.words.map(Note::on_all));
    let Some(name) = typed.name else {
        return Ok(());
    };
    (meant.id, meant.path, meant.revision) = (Some(name.to_string()), None, None);
    // The others were the place of the cursor.
    (meant.at, meant.row) = (None, None);
    meant.buffers.retain(|it| it.is_modified && lines.is_some());
    if let Some(lines) = lines {
        *lines = None;
    }
    Ok(())
}

/// The words that no agent hears, as a sentence: no view has them any more.
fn untold<'a>(notes: impl IntoIterator<Item = &'a Note>) -> Option<String> {
    let mut texts = Vec::new();
    for note in notes {
        let text = visible::one_line(&note.text.replace('\n', " "));
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    (!texts.is_empty()).then(|| format!("no agent is told: {}", texts.join("; ")))
}

/// Does what was decided about a change that is shown.
pub(crate) fn decide(store: &Store, shown: &Shown, verdict: &Verdict) -> Acted {
    let notes = &verdict.notes;
    let refused = |error: &StoreError| {
        let said = [error.in_full()].into_iter().chain(untold(notes));
        Acted::refused(&said.collect::<Vec<_>>().join(" · "))
    };
    let kept = match Kept::hold(store, shown.name.turn) {
        Ok(kept) => kept,
        Err(error) => return refused(&error),
    };
    let mut deciding = Deciding::new(store, &kept);
    let accepted = { !verdict.is_rejection() }.then(|| verdict.text().unwrap_or(&shown.now));
    let decided = shown.decide(&mut deciding, &kept, accepted, notes);
    let told = Told::of(&kept, deciding.take_told());
    let done = match decided {
        Err(error) => return refused(&error),
        Ok(Some(decided)) => {
            let unsaid = untold(deciding.unsaid());
            let is_done = decided.result.is_ok() && unsaid.is_none();
            let said = [said(&[decided], &[])].into_iter().chain(unsaid);
            ActDone {
                done: is_done,
                message: said.collect::<Vec<_>>().join(" · "),
                ..ActDone::default()
            }
        }
        Ok(None) => ActDone {
            done: true,
            message: format!("{} stays as it is", shown.name),
            ..ActDone::default()
        },
    };
    let told = told.into_iter().collect();
    Acted {
        told,
        ..Acted::of(done)
    }
}

pub(crate) fn perform(store: &Store, roots: &[PathBuf], act: ChangesAct) -> Acted {
    let acted = match act {
        ChangesAct::Named(named) => named::perform(store, named),
        act => in_view(store, roots, act),
    };
    acted.unwrap_or_else(Acted::failed)
}

/// What was decided about the changes of one turn.
#[derive(Debug, Default)]
struct OfTurn {
    decided: Vec<Decided>,
    edits: Vec<BufferEdit>,
    /// Why the rest could not be done.
    failed: Option<ActError>,
    /// The words that the agent does not hear, as nothing was decided about what they say something of.
    unsaid: Vec<Note>,
    told: Option<Told>,
}

/// The way in which something is done with changes.
#[derive(Debug, Clone, Copy)]
struct How {
    act: Act,
    /// The time of the act, which may be about several turns.
    at: u64,
    /// True if nothing of a turn is left out.
    takes_all: bool,
}

impl How {
    fn new(act: Act) -> Self {
        Self {
            act,
            at: time_of_an_act(),
            takes_all: false,
        }
    }
}

/// The time by which an act is known: now, and never that of the act before, however soon this one follows.
fn time_of_an_act() -> u64 {
    static LAST: Mutex<u64> = Mutex::new(0);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    *last = clock::now_ms().max(last.saturating_add(1));
    *last
}

/// Does this with changes of one turn, while nobody else decides about it.
fn of_turn(
    store: &Store,
    How { act, at, takes_all }: How,
    names: &[ChangeRef],
    words: Words,
    take_back: Option<&Part>,
) -> Result<OfTurn, ActError> {
    let Some(name) = names.first().copied() else {
        return Ok(OfTurn::default());
    };
    let kept = Kept::hold(store, name.turn)?;
    let mut deciding = Deciding::new(store, &kept);
    deciding.at(at);
    if takes_all {
        deciding.take_all();
    }
    deciding.say(words);
    let mut done = OfTurn::default();
    let (decided, edits) = (&mut done.decided, &mut done.edits);
    let result = match take_back {
        None => { deciding.all(act, names, |it| decided.push(it)) }.map_err(ActError::from),
        Some(wanted) => taken_back(store, &kept, &mut deciding, names, wanted, (decided, edits)),
    };
    // What has been done is told, even if the rest could not be.
    match result {
        Err(error) if done.decided.is_empty() => return Err(error),
        result => done.failed = result.err(),
    }
    done.unsaid = deciding.unsaid().into_iter().cloned().collect();
    done.told = Told::of(&kept, deciding.take_told());
    Ok(done)
}

/// Does what a view asks for.
fn in_view(store: &Store, roots: &[PathBuf], mut act: ChangesAct) -> Result<Acted, ActError> {
    read_typed(&mut act)?;
    act.check_row().map_err(ActError::Row)?;
    let each = |names: Vec<ChangeRef>, has_lines: bool| {
        let names = names.into_iter();
        names.map(|it| with_moved(store, it, has_lines)).collect()
    };
    let mut notes = act.notes().to_vec();
    verdict::tidy(&mut notes).map_err(ActError::TooLong)?;
    let (kind, names, take_back): (_, Vec<Vec<ChangeRef>>, _) = match act {
        // The loop has these shown, and the others are done elsewhere.
        ChangesAct::Look(id) => return Err(ActError::NoName(id.unwrap_or_default())),
        ChangesAct::Named(named) => return named::perform(store, named),
        ChangesAct::Keep(meant) => {
            check_shown(&meant)?;
            let names = find(store, roots, &meant, false)?;
            check_looked_at(&meant)?;
            check_whole(store, &meant, &names)?;
            (Act::Keep, each(names, false), None)
        }
        ChangesAct::TakeBack(take_back) => {
            let has_lines = take_back.lines.is_some();
            let names = find(store, roots, &take_back.meant, has_lines)?;
            (Act::TakeBack, each(names, has_lines), Some(take_back))
        }
        ChangesAct::Undo(Some(id)) => (Act::Undo, each(vec![read_name(&id)?], false), None),
        ChangesAct::Undo(None) => return undo_last(store, roots),
        ChangesAct::Stage(part) => return staging::in_view(store, roots, &part),
    };
    let mut last = Err(ActError::NoChange("the file".to_owned()));
    // Of several changes of one file, the newest is meant that has something at these lines.
    for at_once in names {
        let words = Words::on(&at_once, notes.clone());
        let of_turn = of_turn(store, How::new(kind), &at_once, words, take_back.as_ref())?;
        let is_elsewhere =
            { of_turn.decided.iter() }.all(|it| matches!(it.result, Err(DecideError::NoHunk(_))));
        last = Ok(of_turn.acted());
        if !is_elsewhere {
            break;
        }
    }
    last
}

/// What a row of the list stands for: of a file that was moved, both places, unless lines of it are meant.
fn with_moved(store: &Store, name: ChangeRef, has_lines: bool) -> Vec<ChangeRef> {
    let kept = { !has_lines }
        .then(|| Kept::read(store, name.turn).ok())
        .flatten();
    let from = kept.and_then(|kept| {
        let from = kept.moved_with(kept.turn.change(name.change?)?)?;
        Some(kept.name(from))
    });
    [name].into_iter().chain(from).collect()
}

/// Undoes what was done last in these folders, for a view. It may be about several turns.
fn undo_last(store: &Store, roots: &[PathBuf]) -> Result<Acted, ActError> {
    let (mut all, mut told) = (OfTurn::default(), Vec::new());
    let (names, how) = (last_act(store, roots)?, How::new(Act::Undo));
    for names in names.chunk_by(|one, other| one.turn == other.turn) {
        let done = of_turn(store, how, names, Words::default(), None)?;
        all.decided.extend(done.decided);
        all.failed = all.failed.or(done.failed);
        told.extend(done.told);
    }
    Ok(Acted {
        told,
        ..all.acted()
    })
}

impl OfTurn {
    /// The outcome for a view.
    fn acted(self) -> Acted {
        let is_done = self.failed.is_none() && self.decided.iter().all(|it| it.result.is_ok());
        // The view is to keep words that the agent does not hear.
        let is_unsaid = is_done && !self.unsaid.is_empty();
        let failed = self.failed.map(|error| error.in_full());
        let mut message = Vec::from_iter(failed);
        message.push(said(&self.decided, &self.edits));
        message.extend(is_unsaid.then(|| UNSAID.to_owned()));
        let done = ActDone {
            done: is_done && !is_unsaid,
            message: message.join(" · "),
            edits: self.edits,
            ..ActDone::default()
        };
        let told = self.told.into_iter().collect();
        Acted {
            told,
            ..Acted::of(done)
        }
    }
}

/// The changes that are meant, the most likely one first, if they are as they were listed.
fn find(
    store: &Store,
    roots: &[PathBuf],
    meant: &Meant,
    has_lines: bool,
) -> Result<Vec<ChangeRef>, ActError> {
    let names = match (&meant.id, &meant.path) {
        (Some(id), _) => vec![read_name(id)?],
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
            if let Some(lines) = meant.at {
                let names = names.into_iter().map(|(_, name)| name);
                return kept_at(store, names, &lines.range()).map(|name| vec![name]);
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
        None => *revision == kept.revision(),
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

/// The first of these changes that has something at these lines of its file: it is kept as a whole, and so has nothing elsewhere.
fn kept_at(
    store: &Store,
    names: impl Iterator<Item = ChangeRef>,
    lines: &Range<usize>,
) -> Result<ChangeRef, ActError> {
    for name in names {
        let kept = Kept::read(store, name.turn)?;
        for change in kept.named(name)? {
            // What has no lines stands at none.
            let hunks = take_back::hunks(store, &kept.turn.roots, change).ok();
            match hunks.and_then(|it| it.count_at(lines)) {
                Some(1) => return Ok(name),
                Some(count) => return Err(ActError::Several(name, count)),
                None => {}
            }
        }
    }
    Err(ActError::NoneThere)
}

/// Takes changes back: in files, or out of what is not saved.
fn taken_back(
    store: &Store,
    kept: &Kept,
    deciding: &mut Deciding<'_>,
    names: &[ChangeRef],
    wanted: &Part,
    (all, edits): (&mut Vec<Decided>, &mut Vec<BufferEdit>),
) -> Result<(), ActError> {
    let buffers = wanted.meant.buffers.iter();
    let buffers: HashMap<_, _> = buffers.map(|it| (real_path(&it.path), it)).collect();
    let meant = deciding.meant(Act::TakeBack, names)?;
    let is_open = |change: &&Change| buffers.contains_key(&change.path);
    // All of them are read, but once for all buffers.
    let turns = LazyCell::new(|| {
        let turns = Kept::of_folders(store, &kept.turn.roots, drop);
        turns.unwrap_or_default()
    });
    // There may be thousands.
    if wanted.lines.is_none() && !meant.iter().any(is_open) {
        deciding.all(Act::TakeBack, names, |decided| all.push(decided))?;
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
                let lines = wanted.lines.map(Lines::range);
                let taken = deciding.take_out_of(change, lines, &buffer.content);
                taken.map(|(content, what)| {
                    edits.push(BufferEdit {
                        path: buffer.path.clone(),
                        id: kept.name(change).to_string(),
                        content,
                    });
                    what
                })
            }
            None => match wanted.lines.map(Lines::range) {
                Some(_) if *is_behind => {
                    return Err(ActError::Behind(change.path.display().to_string()));
                }
                Some(lines) => {
                    let is_listed = wanted.meant.revision.is_some() && wanted.meant.id.is_some();
                    match buffer.map_or(is_listed, shows_its_file) {
                        true => deciding.take_lines_back(change, lines),
                        false if buffer.is_some() => return Err(ActError::Differs),
                        false => return Err(ActError::Stale(change.path.display().to_string())),
                    }
                }
                None => deciding.one(Act::TakeBack, change),
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
    let is_in = |kept: &Kept| {
        let mut changes = kept.turn.changes.iter();
        changes
            .any(|it| is_it(it) || it.path == change.path && kept.first(it).text() == Some(&shown))
    };
    is_it(change) || turns.iter().any(is_in)
}

/// Checks that what is kept in an editor stands there as in the file: lines mean something only beside the text in which
/// they were seen.
fn check_shown(meant: &Meant) -> Result<(), ActError> {
    let path = meant.path.as_deref().map(real_path);
    let mut buffers = meant.buffers.iter();
    match buffers.find(|it| Some(real_path(&it.path)) == path) {
        Some(buffer) if !shows_its_file(buffer) => Err(ActError::Differs),
        // It is no text.
        None if path.is_some() && meant.at.is_some() => Err(ActError::NoneThere),
        _ => Ok(()),
    }
}

/// Checks that what is kept in a list is all that its row stands for.
fn check_whole(store: &Store, meant: &Meant, names: &[ChangeRef]) -> Result<(), ActError> {
    let at = meant.at.filter(|_| meant.id.is_some());
    match at {
        Some(lines) => match kept_at(store, names.iter().copied(), &lines.range()) {
            // What has no lines has one row.
            Ok(_) | Err(ActError::NoneThere) => Ok(()),
            Err(error) => Err(error),
        },
        None => Ok(()),
    }
}

/// Checks that what is kept in an editor has stood there for long enough to be looked at.
fn check_looked_at(meant: &Meant) -> Result<(), ActError> {
    let path = meant.path.as_deref().map(real_path);
    let mut read = meant.just_read.iter();
    match read.find(|it| Some(real_path(it)) == path) {
        Some(path) => Err(ActError::JustRead(path.display().to_string())),
        None => Ok(()),
    }
}

/// Returns true if this buffer shows the text of its file. Some editors end the last line of every text, and what is not UTF-8 is
/// mostly Latin-1.
fn shows_its_file(buffer: &BufferText) -> bool {
    let Some(file) = kept::now(&real_path(&buffer.path)) else {
        return false;
    };
    let is_it = |shown: &str| {
        shown.as_bytes() == file || file.iter().map(|it| char::from(*it)).eq(shown.chars())
    };
    let shown = &*buffer.content;
    let is_ended = |end| shown.strip_suffix(end).is_some_and(is_it);
    is_it(shown) || (!file.ends_with(b"\n") && (is_ended("\n") || is_ended("\r\n")))
}

/// How a change is with which something could not be done.
fn remains(error: &DecideError) -> &'static str {
    match error {
        DecideError::Stage(_) => "is not staged",
        _ if error.is_unfinished() => "is not done yet",
        _ => "is as it was",
    }
}

/// The outcome of so many changes, which this names.
fn of_several(changes: &str, count: usize, what: &str) -> String {
    match what.strip_prefix("is ") {
        None => format!("{changes}: {what}"),
        Some(_) if count == 1 => format!("{changes} {what}"),
        Some(what) => format!("{changes} are {}", what.replace(" it", " them")),
    }
}

/// Returns the outcome of changes, as a sentence or a few.
fn said(decided: &[Decided], edits: &[BufferEdit]) -> String {
    let (done, failed): (Vec<_>, Vec<_>) = decided.iter().partition(|it| it.result.is_ok());
    let failed = failed.iter().filter_map(|it| {
        let error = it.result.as_ref().err()?;
        let said = format!("{} {}: {error}", it.name, remains(error));
        let hint = error.hint();
        Some(hint.map_or_else(|| said.clone(), |hint| format!("{said} · {hint}")))
    });
    let mut said: Vec<String> = failed.collect();
    match &*done {
        [] => {}
        few if few.len() <= MAX_SAID => said.extend(few.iter().filter_map(|it| {
            let what = it.result.as_ref().ok()?;
            Some(format!("{} {}: {what}", it.name, it.path))
        })),
        many => {
            let mut counts = BTreeMap::<_, usize>::new();
            for what in many.iter().filter_map(|it| it.result.as_ref().ok()) {
                *counts.entry(*what).or_default() += 1;
            }
            let counts = counts.into_iter();
            said.extend(
                counts.map(|(what, count)| of_several(&counted(count, "change"), count, what)),
            );
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
mod tests {
    use super::*;

    #[test]
    fn each_result_of_many_changes_is_counted() {
        let left = "is as the agent left it";
        let kept = "is not kept any more";
        let all = ["taken back", "taken back", "left out", left, left, kept];
        let decided: Vec<_> = { all.into_iter() }
            .zip(1..)
            .map(|(what, change)| Decided {
                name: format!("7.{change}").parse().unwrap(),
                path: change.to_string(),
                result: Ok(what),
            })
            .collect();
        assert_eq!(
            said(&decided, &[]),
            "2 changes are as the agent left them · 1 change is not kept any more · 1 change: left out · 2 changes: taken back"
        );
    }
}
