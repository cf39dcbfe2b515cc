//! Judges a call: if there is something to decide, whom to ask, and what they decided.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pillion_discovery::survey::Companion;
use pillion_discovery::{Environment, real_path_of};
use pillion_hooks::{
    After, Answer, Call, Change, Changes, Decided, Event, Files, HookProtocol, NOT_EXACT, Ruling,
    Scope,
};
use pillion_protocol::{Dialect, ProposedFile, Proposer, remarks};
use pillion_text::fingerprint;
use pillion_view::ask::{End, Lost, MAX_FILES, Propose};
use pillion_view::{Connected, Loss, LostOutcome, LostText};

use super::approvals::Ahead;
use super::find::{self, Companions, Missing};
use super::input::Disk;
use super::record::Watch;
use super::{IS_SHOWN, agent, approvals, only_tells, work};
use crate::args::Target;
use crate::commands::ask::{self, Asked};
use crate::commands::diff::text;
use crate::failure::is_without_companion;

/// Why nobody is asked although an editor or a page is there.
const HIDDEN: &str = "no editor, review or page that is open here shows changes";

/// Why a change is denied whose companion has ended.
const COMPANION_ENDED: &str = "the editor or review that showed it ended, and nobody had decided";

/// Why a change is denied whose agent the person has stopped meanwhile.
const STOPPED: &str = "the user stopped the agent before anybody had decided";

/// The same, when a signal has ended the hook.
const ENDED: &str = "Pillion's hook was ended before anybody had decided";

/// The limits for judging this call.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// When nobody needs to decide any more; none if that is never.
    pub deadline: Option<Instant>,
    /// True if a change about which nobody can be asked is denied.
    pub is_strict: bool,
}

/// The outcome of a call.
#[derive(Debug)]
pub enum Verdict {
    Answered(Answer),
    /// The hook's own options are wrong, as this says: the call must not pass.
    Misled(String),
}

/// See [`Verdict::Misled`].
struct Misled(String);

/// Judges a call before it is made. If it is to be made, the companion is told before.
pub fn judge(
    agent: Dialect,
    protocol: &'static dyn HookProtocol,
    call: &Call,
    target: &Target,
    limits: Limits,
    mut watch: Watch,
) -> Verdict {
    let environment = Environment::current();
    let mut companions = Companions::new(&environment);
    let mut ahead = Ahead::of(agent, protocol, call);
    let changes = match protocol.changes(call, &mut ahead) {
        // What was accepted before may have come to nothing.
        Changes::Invalid(_) if !ahead.is_nothing() => protocol.changes(call, &mut Disk),
        changes => changes,
    };
    let unchanged = match &changes {
        Changes::Files(files) if changes.is_nothing() => files.clone(),
        _ => Vec::new(),
    };
    let overtaken = match &changes {
        Changes::Files(files) => files.iter().map(|it| it.path.clone()).find(|path| {
            let bytes = Disk.read(Path::new(path));
            bytes.is_ok_and(|bytes| ahead.is_overtaken(path, bytes.as_deref()))
        }),
        _ => None,
    };
    let mut unsaid = Vec::new();
    let ruling = match (&call.event, changes) {
        (_, Changes::None) => Ok(Ruling::Pass),
        (Event::BeforeTool, _) if overtaken.is_some() => {
            // What was accepted is written first, and the agent asks anew.
            approvals::forget_answer(agent, protocol, call);
            let why = changed_again(&overtaken.unwrap_or_default());
            Ok(Ruling::Denied(undecided(&why, &[])))
        }
        _ if !unchanged.is_empty() => Ok(Ruling::Pass),
        (_, Changes::Files(changes)) if approvals::take(agent, call, &changes) => {
            Ok(Ruling::Approved)
        }
        (Event::BeforeTool, changes) => Judge {
            agent,
            protocol,
            call,
            limits,
            companions: &mut companions,
            ahead: &ahead,
            unsaid: &mut unsaid,
        }
        .shown(changes, target, &mut watch),
        _ => Ok(Ruling::Pass),
    };
    match ruling {
        Ok(ruling) => {
            let mut answer = protocol.answer(call, &ruling);
            approvals::remember(agent, protocol, call, &mut answer);
            if let Ruling::Accepted(accepted) = &ruling
                && answer.lets_pass()
            {
                ahead.add(agent, protocol, call, accepted, &answer.inexpressible);
            }
            // If the agent asks the person, who may reject it, nobody hears of its end.
            if answer.lets_pass() && call.event == Event::BeforeTool {
                only_tells(answer.clone());
                if !unchanged.is_empty() {
                    let hook = agent::hook(agent, protocol, &unchanged);
                    work::ask_known(protocol, call, target, &mut companions, hook);
                }
                let told = work::tell(agent, protocol, call, target, &mut companions);
                unsaid.extend(told.err());
            }
            Verdict::Answered(work::said(protocol, answer, &unsaid))
        }
        Err(Misled(why)) => Verdict::Misled(why),
    }
}

struct Judge<'a, 'b> {
    agent: Dialect,
    protocol: &'static dyn HookProtocol,
    call: &'a Call,
    limits: Limits,
    companions: &'a mut Companions<'b>,
    ahead: &'a Ahead,
    /// What the person is to be told beside the ruling: a sentence each.
    unsaid: &'a mut Vec<String>,
}

impl Judge<'_, '_> {
    /// Shows the changes to a person, if there is one.
    fn shown(
        &mut self,
        changes: Changes,
        target: &Target,
        watch: &mut Watch,
    ) -> Result<Ruling, Misled> {
        let process = agent::process(self.protocol);
        let real = |path: &PathBuf| process.map(|it| real_path_of(it, path));
        let unread = self.ahead.unread.iter();
        let unread = unread.flat_map(|path| real(path).into_iter().chain([path.clone()]));
        let targets = find::targets(&changes, &Vec::from_iter(unread), self.call, target);
        loop {
            let companion = match self.companions.find(&targets, self.limits.deadline) {
                Ok(companion) => companion,
                Err(Missing::Misled(why)) => return Err(Misled(why)),
                Err(Missing::Silent(why) | Missing::Unreachable(why)) => {
                    return Ok(Ruling::Denied(undecided(&why, &[])));
                }
                Err(Missing::Nobody(why)) => return Ok(self.nobody(&why.to_string())),
            };
            let hook = agent::hook(self.agent, self.protocol, &[]);
            let known = self.companions.ask(&companion, hook).flatten();
            if known.is_some_and(|it| it.calls_companion || self.protocol.shows_itself(self.call)) {
                // It is shown once, by the agent's own proposal.
                return Ok(Ruling::Pass);
            }
            let changes = match &changes {
                Changes::None => return Ok(Ruling::Pass),
                Changes::Unclear(why) => {
                    return Ok(Ruling::Unclear(remarks::one_line(why).into_owned()));
                }
                Changes::Invalid(why) => {
                    self.tell_unshown(&companion, why);
                    return Ok(Ruling::Denied(remarks::one_line(why).into_owned()));
                }
                Changes::Files(changes) => changes,
            };
            if changes.len() > MAX_FILES {
                let why = format!(
                    "it changes more than {MAX_FILES} files, which is too many to be shown"
                );
                return Ok(Ruling::Unclear(why));
            }
            if hides_diffs(&companion) {
                return Ok(self.nobody(HIDDEN));
            }
            // One that is gone by now may come back.
            if let Some(connection) = self.companions.connect(&companion) {
                return self.ask(&targets, &companion, connection, changes.clone(), watch);
            }
        }
    }

    /// The ruling about a change that nobody can be asked about, for this reason.
    fn nobody(&mut self, why: &str) -> Ruling {
        if self.limits.is_strict {
            return Ruling::Denied(remarks::nobody_asked(why));
        }
        self.unsaid
            .push(format!("Pillion does not show this change: {why}."));
        Ruling::Pass
    }

    /// Tells the person of a call that is refused for this reason although its agent would have made it.
    fn tell_unshown(&mut self, companion: &Companion, why: &str) {
        let scope = self.protocol.scope(self.call);
        let is_loose = self.protocol.finds_loosely() && why.ends_with(NOT_EXACT);
        if let (Scope::File(path), true) = (scope, is_loose) {
            let lost = LostOutcome {
                proposer: Proposer::For(self.agent),
                how: Loss::Unshown,
                path: PathBuf::from(path),
                text: LostText::AsProposed,
            };
            self.companions.ask(companion, Lost(lost));
        }
    }

    fn ask(
        &mut self,
        targets: &[Target],
        companion: &Companion,
        connection: Connected,
        changes: Vec<Change>,
        watch: &mut Watch,
    ) -> Result<Ruling, Misled> {
        let moves = changes.iter().any(|it| it.after == After::Deleted);
        let proposed: Vec<_> = { changes.iter() }
            .map(|change| ProposedFile {
                is_of_subagent: self.call.subagent.is_some(),
                // What is moved is written from its text at the other place.
                tool: (change.cell.is_none() && !(moves && change.before.is_none()))
                    .then(|| self.call.tool.clone()),
                ..proposed(change, self.ahead)
            })
            .collect();
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let left = self.limits.deadline.map(left);
        IS_SHOWN.store(true, Ordering::Relaxed);
        let propose = Propose {
            files: proposed.clone(),
            agent: Some(self.agent),
            session: Some(self.call.session.clone()),
            process: agent::process(self.protocol),
        };
        let asked = ask::ask(
            connection,
            companion.display_name(),
            propose,
            left.map(|it| it.max(Duration::from_millis(1))),
            watch.call_is_stopped(),
        );
        let Asked {
            ends,
            stop,
            error,
            connection,
        } = match asked {
            Ok(asked) => asked,
            Err(error) => return Ok(Ruling::Denied(undecided(&error.to_string(), &[]))),
        };
        if let Some(connection) = connection {
            self.companions.keep(companion, connection);
        }
        if ends.iter().all(End::is_decided) {
            return Ok(self.decided(companion, changes, &ends, &proposed));
        }
        let why = match (stop, error) {
            (Some(ask::Stop::TimeUp), _) => remarks::NOT_IN_TIME.to_owned(),
            // The agent does not make the call any more, whatever it is answered.
            (Some(ask::Stop::GivenUp), _) => STOPPED.to_owned(),
            // So did whoever has sent it, unless that was a terminal which is closed: an agent that gets no answer then goes on.
            (Some(ask::Stop::Signal(_)), _) => ENDED.to_owned(),
            (None, Some(error)) if is_without_companion(&error) => COMPANION_ENDED.to_owned(),
            // The last tab of a page has gone, and none has come.
            (None, Some(_))
                if { self.companions.find(targets, self.limits.deadline) }
                    .is_ok_and(|it| hides_diffs(&it)) =>
            {
                return Ok(self.nobody(HIDDEN));
            }
            (None, Some(error)) => error.to_string(),
            (None, None) => "it was not shown".to_owned(),
        };
        // What is accepted already is not written either.
        let kept = self.unwritten(companion, &ends, &proposed, |_| Some(Loss::WithItsSet));
        Ok(Ruling::Denied(undecided(&why, &kept)))
    }

    /// The ruling once a person has decided about all files.
    fn decided(
        &mut self,
        companion: &Companion,
        changes: Vec<Change>,
        ends: &[End],
        proposed: &[ProposedFile],
    ) -> Ruling {
        let decided = { changes.iter().zip(ends) }.map(|(it, end)| decided(it, end, self.ahead));
        let decided = match decided.collect::<Result<Vec<_>, _>>() {
            Ok(decided) => decided,
            Err(Changed(path)) => {
                let how = |of: &str| match of == path {
                    true => Some(Loss::FileChanged),
                    false => Some(Loss::WithItsSet),
                };
                let kept = self.unwritten(companion, ends, proposed, how);
                let said = changes.iter().zip(ends).filter_map(|(change, end)| {
                    let shown = end.accepted().or(change.after.text()).unwrap_or_default();
                    let is_accepted = end.accepted().is_some();
                    let told = || remarks::decided(is_accepted, &change.path, end.notes(), shown);
                    (!end.notes().is_empty()).then(told)
                });
                let why = [undecided(&changed_again(path), &kept)];
                let told: Vec<_> = why.into_iter().chain(said).collect();
                return Ruling::Denied(told.join("\n"));
            }
        };
        self.tell_accepted(companion, &changes, &decided);
        let mut ruling = Ruling::of(changes, decided);
        let answer = self.protocol.answer(self.call, &ruling);
        if !answer.lets_pass() || !answer.inexpressible.is_empty() {
            add_whole_texts(&mut ruling);
        }
        let is_inexpressible = |path: &str| answer.inexpressible.iter().any(|it| it == path);
        self.unwritten(companion, ends, proposed, |path| {
            is_inexpressible(path).then_some(Loss::Inexpressible)
        });
        ruling
    }

    /// Tells the companion what the agent may write: it would miss a proposal for it otherwise.
    fn tell_accepted(&mut self, companion: &Companion, changes: &[Change], decided: &[Decided]) {
        let accepted = changes.iter().zip(decided);
        let accepted = accepted.filter(|(_, decided)| decided.accepted.is_some());
        let accepted: Vec<_> = accepted.map(|(change, _)| change.clone()).collect();
        if !accepted.is_empty() {
            let hook = agent::hook(self.agent, self.protocol, &accepted);
            self.companions.ask(companion, hook);
        }
    }

    /// Keeps what the person wrote and will not be written, and tells them. Returns where it is kept.
    fn unwritten(
        &mut self,
        companion: &Companion,
        ends: &[End],
        proposed: &[ProposedFile],
        how: impl Fn(&str) -> Option<Loss>,
    ) -> Vec<PathBuf> {
        let mut all_kept = Vec::new();
        for (end, file) in ends.iter().zip(proposed) {
            let Some(how) = how(&file.path) else {
                continue;
            };
            let kept = kept(end, file);
            all_kept.extend(kept.clone());
            if end.accepted().is_some() {
                let lost = LostOutcome {
                    proposer: Proposer::For(self.agent),
                    how,
                    path: PathBuf::from(&file.path),
                    text: kept.map_or(LostText::AsProposed, LostText::Kept),
                };
                self.companions.ask(companion, Lost(lost));
            }
        }
        all_kept
    }
}

/// Returns true if none of its views shows diffs.
fn hides_diffs(companion: &Companion) -> bool {
    companion.state.as_ref().is_some_and(|it| it.hides_diffs)
}

/// Adds the places of long texts that the person has edited, for a model that is to write them itself: it is told only the
/// beginning of each.
fn add_whole_texts(ruling: &mut Ruling) {
    if let Ruling::Accepted(accepted) = ruling {
        let kept = accepted.told_in_part().filter_map(|(path, written)| {
            let kept = text::keep(written).ok()?;
            Some(remarks::whole_text(path, &kept.display().to_string()))
        });
        let told: Vec<_> = accepted.context.iter().cloned().chain(kept).collect();
        accepted.context = Some(told.join("\n")).filter(|told| !told.is_empty());
    }
}

/// A change as it is shown.
fn proposed(change: &Change, ahead: &Ahead) -> ProposedFile {
    let file = match (&change.cell, &change.after) {
        (Some(cell), _) => ProposedFile::cell(&change.path, cell.clone()),
        (None, After::Text(text)) => ProposedFile::new(&change.path, text),
        (None, After::Deleted) => ProposedFile::deleted(&change.path),
    };
    ProposedFile {
        over: ahead.over(&change.path, change.before.as_deref()),
        ..file
    }
}

/// Why nothing is written, and where the person's own texts are.
pub fn undecided(why: &str, kept: &[PathBuf]) -> String {
    let places: Vec<_> = kept.iter().map(|it| it.display().to_string()).collect();
    remarks::not_made(why, &places)
}

fn changed_again(path: &str) -> String {
    format!("{path} changed again after it was accepted: read it again")
}

/// A file that is not as it was when the person decided.
struct Changed<'a>(&'a str);

/// Returns the decision about a change, as long as its file is as the person knew it.
///
/// # Errors
/// When an accepted text would go over another one.
fn decided<'a>(change: &'a Change, end: &End, ahead: &Ahead) -> Result<Decided, Changed<'a>> {
    let (notes, before) = (end.notes().to_vec(), change.before.clone());
    let (content, base) = match end {
        End::Accepted { content, base, .. } => (content, base),
        End::Rejected { .. } => {
            let accepted = None;
            return Ok(Decided {
                accepted,
                before,
                notes,
            });
        }
        End::Withdrawn { .. } => return Err(Changed(&change.path)),
    };
    let changed = || Changed(&change.path);
    let bytes = Disk.read(Path::new(&change.path)).map_err(|_| changed())?;
    if ahead.is_overtaken(&change.path, bytes.as_deref()) {
        return Err(changed());
    }
    let is_known = base
        .as_ref()
        .map(|base| fingerprint::of(bytes.as_deref()) == *base);
    let bytes = ahead.of_file(&change.path, bytes);
    let now = change.find(bytes).map_err(|_| changed())?;
    match is_known.unwrap_or(now == before) {
        true => Ok(Decided {
            accepted: Some(content.clone()),
            before: now,
            notes,
        }),
        false => Err(changed()),
    }
}

/// Keeps what the person wrote and nothing will be done with: its place.
fn kept(end: &End, proposed: &ProposedFile) -> Option<PathBuf> {
    let edited = match end {
        End::Withdrawn { edited, .. } => edited.as_deref(),
        end => end.accepted().filter(|text| *text != proposed.content),
    };
    text::keep(edited?).ok()
}
