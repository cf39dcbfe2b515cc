//! Compares a proposal with the file before the turn, with what was looked at last, with the last commit and, where the file has
//! changed in the same lines meanwhile, with both: to be read, and nothing else. On a thread: disks and git may take long.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pillion_changes::{Kept, Store, staging};
use pillion_discovery::{Environment, real_path};
use pillion_text::unified::patch;
use pillion_text::{Text, counted, merge};
use pillion_view::{Original, ProposalKey, Proposed};

use crate::Judged;
use crate::proposal::Version;

/// What people are told where there is nothing to compare with.
pub const NO_BASES: &str =
    "no other text of this file is known: git has none, and no turn has changed it";

/// A proposal, and what the view itself knows of its file's former texts.
#[derive(Debug)]
pub struct Bases {
    /// The proposal.
    pub key: ProposalKey,
    /// The file.
    path: PathBuf,
    /// Its name for people.
    shown: String,
    /// The text that would be accepted.
    proposed: String,
    /// The proposal that was on the screen before it.
    pub looked_at: Option<Version>,
    /// The file as it came with the proposal, and the agent's own text: none if that is in the file already.
    came: Option<(Arc<Text>, Arc<Text>)>,
    /// The workspace folders.
    roots: Vec<PathBuf>,
}

impl Bases {
    /// Those of a diff in these workspace folders.
    pub fn of(judged: &Judged, roots: &[PathBuf]) -> Self {
        let is_written = judged.diff.written.is_some();
        Self {
            key: judged.key(),
            path: judged.target.path.clone(),
            shown: judged.target.shown.clone(),
            proposed: judged.proposal.text(),
            looked_at: judged.looked_at_before().cloned(),
            came: judged.proposal.came().filter(|_| !is_written),
            roots: roots.to_vec(),
        }
    }
}

/// The pages on which a proposal is compared with other texts: a title and the lines of each.
pub fn compared(bases: &Bases) -> Vec<(String, Vec<String>)> {
    let proposed = Text::new(&*bases.proposed);
    let turn = before_turn(bases);
    let looked_at = bases.looked_at.as_ref();
    let looked_at = looked_at.map(|it| {
        let text = Text::new(it.after().bytes());
        ("what you looked at last".to_owned(), text)
    });
    let head = staging::committed(&bases.path);
    let head = head.map(|text| ("the last commit (HEAD)".to_owned(), Text::new(text)));
    let texts = turn.into_iter().chain(looked_at).chain(head);
    let mut pages: Vec<_> = texts
        .map(|(name, base)| {
            let mut lines = lines_of(&patch(&base, &proposed));
            if lines.is_empty() {
                lines.push("# the texts are the same".to_owned());
            }
            (format!("compared with {name}"), lines)
        })
        .collect();
    pages.extend(three_ways(bases));
    let of = pages.len();
    let pages = pages.into_iter().zip(1..);
    pages
        .map(|((title, lines), place)| {
            let shown = &bases.shown;
            let title = format!("{shown} {title} ({place} of {of}), nothing is decided here");
            (title, lines)
        })
        .collect()
}

/// The file as it was before the newest turn that has changed it.
fn before_turn(bases: &Bases) -> Option<(String, Text)> {
    let store = Store::of(&Environment::current()).ok()?;
    let turns = Kept::of_folders(&store, &bases.roots, drop).ok()?;
    let path = real_path(&bases.path);
    let mut found = turns.iter().rev().filter_map(|kept| {
        let mut changes = kept.turn.real_changes();
        let change = changes.find(|it| it.path == path)?;
        Some((kept.turn.number, kept.first(change)))
    });
    let (number, before) = found.next()?;
    let text = store.text_of(before).ok()?;
    let name = format!("the file before turn {number}");
    Some((name, Text::new(text.unwrap_or_default())))
}

/// The places that the file and the proposal have both changed, with the lines that were there.
fn three_ways(bases: &Bases) -> Option<(String, Vec<String>)> {
    let (came, agents) = bases.came.as_ref()?;
    let now = on_disk(&bases.path)?;
    let conflicts = merge::conflicts(came, agents, &now);
    let count = conflicts.len();
    let shown = conflicts.into_iter().zip(1..);
    let lines = shown.flat_map(|([before, proposed, on_disk], number)| {
        let place = before.start + 1;
        let heading = vec![format!("# {number} of {count}: line {place}, before both")];
        let parts = [
            (' ', &**came, before, None),
            ('-', &now, on_disk, Some("@ the file now")),
            ('+', &**agents, proposed, Some("@ the proposal")),
        ];
        let parts = parts.into_iter().flat_map(|(sign, text, lines, heading)| {
            let heading = heading.map(str::to_owned);
            heading.into_iter().chain(signed(sign, text, lines))
        });
        heading.into_iter().chain(parts).collect::<Vec<_>>()
    });
    let lines: Vec<_> = lines.collect();
    let title = format!("and the file both change {}", counted(count, "place"));
    (count > 0).then_some((title, lines))
}

fn on_disk(path: &Path) -> Option<Text> {
    Original::read(path).ok()?.text.map(Text::new)
}

/// Lines of a text behind a sign.
fn signed(sign: char, text: &Text, lines: Range<usize>) -> Vec<String> {
    let lines = lines.map(|line| format!("{sign}{}", text.shown(line).trim_end()));
    lines.collect()
}

fn lines_of(patch: &[u8]) -> Vec<String> {
    let patch = String::from_utf8_lossy(patch);
    patch.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
