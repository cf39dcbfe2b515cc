//! Compares a proposal with the file before the turn, with what was looked at last, with the last commit and, where the file has
//! changed in the same lines meanwhile, with both. On a thread: disks and git may take long.

use std::ops::Range;
use std::path::Path;

use crossbeam_channel::Sender;
use pillion_changes::{Kept, Store, staging};
use pillion_discovery::{Environment, real_path};
use pillion_system::spawn;
use pillion_text::unified::patch;
use pillion_text::{Text, counted, merge};
use pillion_view::Original;

use crate::Input;
use crate::app::{Bases, Event, Opened};

/// Works them out.
///
/// # Errors
/// When the system has no thread for it.
pub fn read(bases: Bases, sender: Sender<Input>) -> std::io::Result<()> {
    spawn("bases", move || {
        let compared = compared(&bases);
        let _ = sender.send(Input::Event(Event::Bases(bases.key, compared)));
    })
}

fn compared(bases: &Bases) -> Vec<Opened> {
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
        .map(|((title, lines), place)| Opened {
            title: format!(
                "{} {title} ({place} of {of}), nothing is decided here",
                bases.shown
            ),
            lines,
            from: 0,
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
