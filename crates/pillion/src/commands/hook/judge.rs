//! Judges a call: if there is something to decide, whom to ask, and what they decided.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use pillion_agent::set::{End, ProposedFile};
use pillion_hooks::{
    After, Answer, Call, Change, Changes, Decided, Event, Files, HookProtocol, Ruling,
};
use pillion_protocol::diff::set::MAX_FILES;
use pillion_protocol::{Dialect, Outcome, remarks};
use pillion_system::Signal;
use pillion_text::fingerprint;
use pillion_view::ask::Lost;
use pillion_view::{Client, Loss, LostOutcome, LostText};

use super::files::Disk;
use super::find::{self, Missing, is_gone};
use super::record::Watch;
use super::{IS_SHOWN, NOT_IN_TIME, agent, approvals, work};
use crate::agent_connection::AgentConnection;
use crate::args::Target;
use crate::commands::ask::{self, Asked};
use crate::commands::diff::text;

/// Why a change is denied whose companion has ended.
const COMPANION_ENDED: &str = "the editor or review that showed it ended, and nobody had decided";

/// Why a change is denied whose agent the person has stopped meanwhile.
const STOPPED: &str = "the user stopped the agent before anybody had decided";

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
    /// This is the answer.
    Answered(Answer),
    /// The agent, or whoever ends this process, does not wait for one any more.
    Interrupted(Signal),
    /// The hook's own options are wrong, as this says: the call must not pass.
    Misled(String),
}

/// Why there is no ruling.
enum Stop {
    Signal(Signal),
    /// See [`Verdict::Misled`].
    Misled(String),
    /// The companion is gone, and has shown nothing.
    Gone,
}

/// Judges a call before it is made. If it is to be made, the companion is told before.
pub fn judge(
    agent: Dialect,
    protocol: &'static dyn HookProtocol,
    call: &Call,
    target: &Target,
    limits: Limits,
    watch: Watch,
) -> Verdict {
    let ruling = match (&call.event, protocol.changes(call, &mut Disk)) {
        (_, Changes::None) => Ok(Ruling::Pass),
        (_, Changes::Files(changes)) if is_nothing_new(&changes) => Ok(Ruling::Pass),
        (_, Changes::Files(changes)) if approvals::take(agent, call, &changes) => {
            Ok(Ruling::Approved)
        }
        (Event::BeforeTool, changes) => {
            shown(agent, protocol, changes, call, target, limits, watch)
        }
        _ => Ok(Ruling::Pass),
    };
    match ruling {
        Ok(ruling) => {
            let mut answer = protocol.answer(call, &ruling);
            approvals::remember(agent, protocol, call, &mut answer);
            // If the agent asks the person, who may reject it, nobody hears of its end.
            if answer.lets_pass() && call.event == Event::BeforeTool {
                work::tell(agent, protocol, call, target);
            }
            Verdict::Answered(answer)
        }
        Err(Stop::Signal(signal)) => Verdict::Interrupted(signal),
        Err(Stop::Misled(why)) => Verdict::Misled(why),
        // Whoever asks looks for it again.
        Err(Stop::Gone) => Verdict::Answered(protocol.block(undecided(COMPANION_ENDED, &[]))),
    }
}

/// Returns true if the files have these texts already.
fn is_nothing_new(changes: &[Change]) -> bool {
    changes.iter().all(Change::is_nothing)
}

/// Shows the changes to a person, if there is one.
fn shown(
    agent: Dialect,
    protocol: &'static dyn HookProtocol,
    changes: Changes,
    call: &Call,
    target: &Target,
    limits: Limits,
    mut watch: Watch,
) -> Result<Ruling, Stop> {
    let targets = find::targets(&changes, call, target);
    loop {
        // Another's may bear no second session, and an agent of its own may be connected to it.
        let companion = match find::companion(&targets, limits.deadline) {
            Ok(companion) => companion,
            Err(Missing::Misled(why)) => return Err(Stop::Misled(why)),
            Err(Missing::Silent(why) | Missing::Unreachable(why)) => {
                return Ok(Ruling::Denied(undecided(&why, &[])));
            }
            Err(Missing::Nobody(why)) => return Ok(nobody(&why, limits)),
        };
        let connection = AgentConnection::to(companion, target);
        match shown_at(
            &connection,
            agent,
            protocol,
            &changes,
            call,
            limits,
            &mut watch,
        ) {
            // It may come back.
            Err(Stop::Gone) => {}
            ruling => return ruling,
        }
    }
}

/// Shows the changes at this companion.
fn shown_at(
    connection: &AgentConnection,
    agent: Dialect,
    protocol: &'static dyn HookProtocol,
    changes: &Changes,
    call: &Call,
    limits: Limits,
    watch: &mut Watch,
) -> Result<Ruling, Stop> {
    if let Some(it) = agent::connected(agent, protocol, &connection.companion, &[])
        && (it.calls_companion || protocol.shows_itself(call))
    {
        // It is shown once, by the agent's own proposal.
        return Ok(Ruling::Pass);
    }
    let changes = match changes {
        Changes::None => return Ok(Ruling::Pass),
        Changes::Unclear(why) => return Ok(Ruling::Unclear(why.clone())),
        Changes::Invalid(why) => return Ok(Ruling::Denied(why.clone())),
        Changes::Files(changes) => changes.clone(),
    };
    if changes.len() > MAX_FILES as usize {
        let why = format!("it changes more than {MAX_FILES} files, which is too many to be shown");
        return Ok(Ruling::Unclear(why));
    }
    ask(agent, protocol, call, connection, changes, limits, watch)
}

fn nobody(why: &anyhow::Error, limits: Limits) -> Ruling {
    match limits.is_strict {
        true => Ruling::Denied(format!(
            "The user reviews every change, and no one is available to review this one: {why}."
        )),
        false => Ruling::NobodyAsked(format!("Pillion does not show this change: {why}.")),
    }
}

fn ask(
    agent: Dialect,
    protocol: &'static dyn HookProtocol,
    call: &Call,
    connection: &AgentConnection,
    changes: Vec<Change>,
    limits: Limits,
    watch: &mut Watch,
) -> Result<Ruling, Stop> {
    let proposed: Vec<_> = changes.iter().map(|it| proposed(agent, it)).collect();
    let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
    let left = limits.deadline.map(left);
    IS_SHOWN.store(true, Ordering::Relaxed);
    let asking = ask::ask(
        connection,
        &proposed,
        left.map(|it| it.max(Duration::from_millis(1))),
        watch.call_is_stopped(),
        |_, _| {},
    );
    let asked = pillion_agent::runtime()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(asking));
    let Asked { ends, stop, error } = match asked {
        Ok(asked) => asked,
        Err(error) if is_gone(&error) => return Err(Stop::Gone),
        Err(error) => return Ok(Ruling::Denied(undecided(&error.to_string(), &[]))),
    };
    let is_decided = |end: &End| matches!(end, End::Decided { .. });
    if ends.iter().all(is_decided) {
        let told = Told {
            agent,
            connection,
            ends: &ends,
            proposed: &proposed,
        };
        let decided = changes.iter().zip(&ends).map(|(it, end)| decided(it, end));
        let decided = match decided.collect::<Result<Vec<_>, _>>() {
            Ok(decided) => decided,
            Err(Changed(path)) => {
                let kept = told.unwritten(Loss::FileChanged);
                let why = format!("{path} changed again after it was accepted: read it again");
                return Ok(Ruling::Denied(undecided(&why, &kept)));
            }
        };
        tell_accepted(agent, protocol, connection, &changes, &decided);
        let mut ruling = Ruling::of(changes, decided);
        let answer = protocol.answer(call, &ruling);
        if !answer.lets_pass() {
            add_whole_texts(&mut ruling);
        }
        if answer.is_inexpressible {
            told.unwritten(Loss::Inexpressible);
        }
        return Ok(ruling);
    }
    let kept = kept(&ends, &proposed);
    let kept: Vec<_> = kept.into_iter().flatten().collect();
    match (stop, error) {
        (Some(ask::Stop::Signal(signal)), _) => Err(Stop::Signal(signal)),
        (Some(ask::Stop::TimeUp), _) => Ok(Ruling::Denied(undecided(NOT_IN_TIME, &kept))),
        // The agent does not make the call any more, whatever it is answered.
        (Some(ask::Stop::GivenUp), _) => Ok(Ruling::Denied(undecided(STOPPED, &kept))),
        (None, error) => {
            let why = match error {
                Some(error) if is_gone(&error) => COMPANION_ENDED.to_owned(),
                Some(error) => error.to_string(),
                None => "it was not shown".to_owned(),
            };
            Ok(Ruling::Denied(undecided(&why, &kept)))
        }
    }
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

/// Tells the companion what the agent may write: it would miss a proposal for it otherwise.
fn tell_accepted(
    agent: Dialect,
    protocol: &dyn HookProtocol,
    connection: &AgentConnection,
    changes: &[Change],
    decided: &[Decided],
) {
    let accepted = changes.iter().zip(decided);
    let accepted = accepted.filter(|(_, decided)| decided.accepted.is_some());
    let accepted: Vec<_> = accepted.map(|(change, _)| change.clone()).collect();
    if !accepted.is_empty() {
        agent::connected(agent, protocol, &connection.companion, &accepted);
    }
}

/// A change of this agent as it is shown.
fn proposed(agent: Dialect, change: &Change) -> ProposedFile {
    let file = match (&change.cell, &change.after) {
        (Some(cell), _) => ProposedFile::cell(&change.path, cell.clone()),
        (None, After::Text(text)) => ProposedFile::new(&change.path, text),
        (None, After::Deleted) => ProposedFile::deleted(&change.path),
    };
    file.on_behalf_of(agent)
}

/// Why nothing is written, and where the person's own texts are.
pub fn undecided(why: &str, kept: &[PathBuf]) -> String {
    let why = format!("The change was not made: {why}.");
    let places: Vec<_> = kept.iter().map(|it| it.display().to_string()).collect();
    match &places[..] {
        [] => why,
        places => format!(
            "{why} What the user had edited is kept in {}.",
            places.join(", ")
        ),
    }
}

/// A file that is not as it was when the person decided.
struct Changed<'a>(&'a str);

/// Returns the decision about a change, as long as its file is as the person knew it.
///
/// # Errors
/// When an accepted text would go over another one.
fn decided<'a>(change: &'a Change, end: &End) -> Result<Decided, Changed<'a>> {
    let End::Decided { outcome, notes } = end else {
        return Err(Changed(&change.path));
    };
    let (notes, before) = (notes.clone(), change.before.clone());
    let Outcome::Accepted { content, base } = outcome else {
        let accepted = None;
        return Ok(Decided {
            accepted,
            before,
            notes,
        });
    };
    let changed = || Changed(&change.path);
    let bytes = Disk.read(Path::new(&change.path)).map_err(|_| changed())?;
    let is_known = base
        .as_ref()
        .map(|base| fingerprint::of(bytes.as_deref()) == *base);
    let now = change.find(bytes).map_err(|_| changed())?;
    match is_known.unwrap_or(now == before) {
        true => Ok(Decided {
            accepted: Some(content.to_string()),
            before: now,
            notes,
        }),
        false => Err(changed()),
    }
}

/// The texts that the person accepted, and that will not be written.
struct Told<'a> {
    agent: Dialect,
    connection: &'a AgentConnection,
    ends: &'a [End],
    proposed: &'a [ProposedFile],
}

impl Told<'_> {
    /// Keeps what the person wrote, and tells them. Returns where it is kept.
    fn unwritten(&self, how: Loss) -> Vec<PathBuf> {
        let kept = kept(self.ends, self.proposed);
        let state = self.connection.companion.state.as_ref();
        let client = state.and_then(Client::new);
        for ((end, file), kept) in self.ends.iter().zip(self.proposed).zip(&kept) {
            let is_accepted = matches!(
                end,
                End::Decided {
                    outcome: Outcome::Accepted { .. },
                    ..
                }
            );
            if let (true, Some(client)) = (is_accepted, &client) {
                let lost = LostOutcome {
                    agent: self.agent,
                    how,
                    path: PathBuf::from(&file.path),
                    text: kept.clone().map_or(LostText::AsProposed, LostText::Kept),
                };
                let told = client.ask(Lost(lost));
                let _ = told.inspect_err(|error| tracing::warn!(%error, "nobody is told"));
            }
        }
        kept.into_iter().flatten().collect()
    }
}

/// Keeps what the person wrote and nothing will be done with: the place of each text.
fn kept(ends: &[End], proposed: &[ProposedFile]) -> Vec<Option<PathBuf>> {
    let edited = |(end, proposed): (&End, &ProposedFile)| match end {
        End::Withdrawn { edited, .. } => edited.clone(),
        End::Decided {
            outcome: Outcome::Accepted { content, .. },
            ..
        } => (**content != proposed.content).then(|| content.to_string()),
        End::Decided { .. } => None,
    };
    let edited = ends.iter().zip(proposed).map(edited);
    let keep = |text: Option<String>| text::keep(&text?).ok();
    edited.map(keep).collect()
}
