//! `pillion look`: changes that are written already, in the same views as proposals.

use std::future::pending;
use std::path::PathBuf;
use std::thread;

use pillion_agent::set::{End, ProposedFile};
use pillion_changes::history::as_text;
use pillion_changes::take_back::{self, Present};
use pillion_changes::{
    Author, Change, ChangeRef, ChangeState, DecideError, Deciding, Kept, Store, Words,
};
use pillion_protocol::diff::set::MAX_FILES;
use pillion_protocol::diff::written::{self, Written};
use pillion_protocol::{Dialect, Outcome};
use pillion_text::stderr;

use super::decide;
use super::said::{MAX_LINES, Said};
use super::{failure as failed, store, turns_of};
use crate::agent_connection::AgentConnection;
use crate::args::Target;
use crate::commands::{ask, control_client};
use crate::failure::{self, Failure, Kind};
use crate::workspace;

/// Look at what agents changed, in your editor or review
///
/// Shows changes that are written already as diffs, in the view in which proposals are shown: the text before the turn
/// beside what the file has now. Accept to keep a change; what you take out or edit before that is changed in the file. What
/// was overwritten is kept, and `pillion undo` brings it back. If you reject a diff, nothing happens, and the change stays
/// unseen. If you reject it with a reason, the change is taken back, and the agent is told why. A deleted file is shown as
/// an empty one. Files that are not text are left out: `pillion changes` lists them.
///
/// Without CHANGE, the newest turn of this folder that has something unseen.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The change (`7.2`), or all of a turn that nobody has seen (`7`)
    change: Option<ChangeRef>,

    /// Changes that are left out, because they are shown already
    #[arg(long, hide = true, value_delimiter = ',')]
    without: Vec<ChangeRef>,

    #[command(flatten)]
    target: Target,
}

/// A change that can be shown, beside what stands there.
struct Shown<'a> {
    change: &'a Change,
    name: ChangeRef,
    present: Present,
    now: String,
}

pub fn run(args: Args) -> anyhow::Result<()> {
    control_client::speak_for_the_person()?;
    let store = store()?;
    let name = match args.change {
        Some(name) => name,
        None => newest(&store, args.target.workspace.as_slice())?,
    };
    let kept = Kept::read(&store, name.turn).map_err(failed)?;
    let is_meant = |it: &&Change| name.change.is_some() || kept.state(it) == ChangeState::Unseen;
    let named = kept.named(name).map_err(failed)?;
    let (open, changes): (Vec<_>, Vec<_>) = { named.into_iter().filter(is_meant) }
        .partition(|it| args.without.contains(&kept.name(it)));
    if changes.is_empty() && !open.is_empty() {
        let message = format!("everything unseen in {name} is open already");
        return Err(Failure::new(Kind::Refused, message).into());
    }
    let (mut left_out, of) = (0, changes.len());
    let mut shown = Vec::new();
    for change in changes {
        if shown.len() == MAX_FILES as usize {
            stderr::warn(format_args!(
                "only {MAX_FILES} of {of} files are shown: give the command again when you have decided about these, or use \
                 `pillion keep {turn}` or `pillion revert {turn}` for all",
                turn = name.turn
            ));
            break;
        }
        match show(&store, &kept, change, left_out < MAX_LINES) {
            Some(it) => shown.push(it),
            None => left_out += 1,
        }
    }
    if left_out > MAX_LINES {
        let more = left_out - MAX_LINES;
        stderr::warn(format_args!("{more} more files are left out"));
    }
    let Some(first) = shown.first() else {
        let message = format!("nothing in {name} can be shown as text");
        return Err(Failure::new(Kind::Refused, message)
            .hint(format!(
                "`pillion changes {}` lists what there is.",
                name.turn
            ))
            .into());
    };
    let agent = Dialect::from_name(&kept.turn.agent);
    let files: Vec<_> = shown.iter().map(|it| it.proposed(agent)).collect();
    let connection = AgentConnection::find(&args.target.about(&first.change.path))?;
    if !connection.companion.is_pillion() {
        let message = format!(
            "the companion of {} is not Pillion's",
            connection.companion.display_name()
        );
        return Err(Failure::new(Kind::Refused, message)
            .hint("Open `pillion` or an editor with the plugin there.")
            .into());
    }
    let mut deciding = Deciding::new(&store, &kept);
    let mut said = Said::default();
    // What was accepted is done at once, whatever becomes of the other files.
    let decided = |at: usize, end: &End| {
        let End::Decided { outcome, notes } = end else {
            return;
        };
        let shown = &shown[at];
        deciding.apart();
        let words_on = |text: &str| Words {
            notes: notes.clone(),
            shown: Some(text.to_owned()),
            ..Words::default()
        };
        let result = match outcome {
            Outcome::Accepted { content, .. } => {
                deciding.say(words_on(content));
                shown.accepted(&mut deciding, content)
            }
            Outcome::Rejected if written::takes_back(notes) => {
                deciding.say(words_on(&shown.now));
                deciding.take_back(shown.change)
            }
            Outcome::Rejected => {
                deciding.tell_notes(shown.change, notes, &shown.now);
                Ok("")
            }
        };
        let decided = deciding.decided(shown.change, result);
        if !matches!(decided.result, Ok("")) {
            said.say(decided);
        }
        // Looking for companions may need a runtime of its own, which this thread cannot have.
        let told = thread::scope(|scope| scope.spawn(|| decide::tell(&kept, &mut deciding)).join());
        if let Ok(Err(error)) = told {
            failure::warn(&error);
        }
    };
    let asking = ask::ask(&connection, &files, None, pending(), decided);
    let asked = pillion_agent::runtime()?.block_on(asking)?;
    let done = said.end();
    let Some(error) = asked.error else {
        return done;
    };
    if let Err(other) = done {
        failure::warn(&other);
    }
    Err(error)
}

/// The newest turn of the named folder, or of the current one, that has something unseen.
fn newest(store: &Store, named: &[PathBuf]) -> anyhow::Result<ChangeRef> {
    let turns = turns_of(store, &workspace::roots(named)?)?;
    let newest = turns.iter().rev().find(|kept| kept.unseen() > 0);
    let none = || Failure::new(Kind::Refused, "there are no unseen changes here");
    let turn = newest.ok_or_else(none)?.turn.number;
    Ok(ChangeRef { turn, change: None })
}

/// A change as it can be shown; if it cannot, it is said why if that `is_said`.
fn show<'a>(store: &Store, kept: &Kept, change: &'a Change, is_said: bool) -> Option<Shown<'a>> {
    let left_out = |why: &str| {
        if !is_said {
            return;
        }
        let path = kept.turn.shown(&change.path).display();
        stderr::warn(format_args!(
            "{} {path} is left out: {why}",
            kept.name(change)
        ));
    };
    let present = match take_back::present(store, &kept.turn.roots, change) {
        Ok(present) => present,
        Err(error) => {
            left_out(&error.to_string());
            return None;
        }
    };
    let texts = [&present.before, &present.now];
    let texts = texts.map(|it| as_text(it.as_deref().unwrap_or_default()));
    let [Some(_), Some(now)] = texts else {
        left_out("it is not text");
        return None;
    };
    Some(Shown {
        change,
        name: kept.name(change),
        now: now.to_owned(),
        present,
    })
}

impl Shown<'_> {
    fn proposed(&self, agent: Option<Dialect>) -> ProposedFile {
        let before = self.present.before.clone();
        let before = before.and_then(|it| String::from_utf8(it).ok());
        let path = self.change.path.to_string_lossy();
        let written = Written {
            before,
            change: self.name.to_string(),
            is_unclear: self.change.by == Author::Unclear,
        };
        let mut file = ProposedFile::written(path, &*self.now, written);
        file.deletes = self.present.now.is_none();
        match agent {
            Some(agent) => file.on_behalf_of(agent),
            None => file,
        }
    }

    /// The person has accepted this text.
    fn accepted(
        &self,
        deciding: &mut Deciding<'_>,
        content: &str,
    ) -> Result<&'static str, DecideError> {
        let Self {
            change,
            present,
            now,
            ..
        } = self;
        if content == now {
            return deciding.keep(change);
        }
        let before = present.before.as_deref();
        match before == Some(content.as_bytes()) || (before.is_none() && content.is_empty()) {
            true => deciding.take_back(change),
            false => deciding.rewrite(change, present, content),
        }
    }
}
