//! The reviewer's own version of a proposal that is not decided: kept elsewhere, and offered again.

use std::sync::Arc;

use pillion_text::{Text, hunks};

use super::places::Origin;
use super::state::State;
use super::texts::Texts;
use super::{Change, Hunk, Proposal};

impl Proposal {
    /// The reviewer's own version of the agent's text, if any: as it stands, or what was written and is in the history.
    pub fn draft(&self) -> Option<String> {
        let text = self.text();
        let is_other = text.as_bytes() != self.now.agents.bytes();
        is_other.then_some(text).or_else(|| self.edited_text())
    }

    /// Puts what the reviewer had made of the agent's text where [`redo`](Self::redo) finds it: nothing that is shown changes.
    /// Returns false if it is in the history already.
    pub fn offer(&mut self, text: &str) -> bool {
        let mut known = { std::iter::once(&self.now) }
            .chain(&self.undo)
            .chain(&self.redo);
        if known.any(|state| state.text() == text) || text.as_bytes() == self.now.agents.bytes() {
            return false;
        }
        let next = self.offered(Text::new(text));
        self.redo.push(next);
        true
    }

    /// The agent's text without some of its hunks or of their lines, if that is what it is, or else a text of the reviewer's.
    fn offered(&self, text: Text) -> State {
        let original = self.now.texts.original.clone();
        let agents = Arc::clone(&self.now.agents);
        let proposed = Texts::new(original.clone(), Arc::clone(&agents));
        let mut state = State::new(proposed, Change::Toggled);
        let own = Texts::new(original, Arc::new(text));
        if state.texts.are_readable() && own.are_readable() {
            state.hunks = Arc::new(without_lines(&state, &own));
        }
        if state.text().as_bytes() != own.proposed.bytes() {
            state = State::new(own, Change::Edited);
            state.agents = agents;
        }
        if !Arc::ptr_eq(&state.texts, &self.now.texts) {
            state.origin = Some(Arc::new(Origin::new(&self.now.texts, &state.texts)));
        }
        state
    }
}

/// The hunks of a state, of which those and the lines are out in whose place `own` has the lines before.
fn without_lines(state: &State, own: &Texts) -> Vec<Hunk> {
    let (texts, kept) = (&state.texts, hunks::between(&own.before, &own.after));
    let changes = hunks::between(&texts.after, &own.after);
    let pieces = state.hunks.iter().flat_map(|hunk| {
        let is_touched =
            |it: &Hunk| it.before.start <= hunk.before.end && hunk.before.start <= it.before.end;
        let is_text = || std::str::from_utf8(texts.before.slice(hunk.before.clone())).is_ok();
        if !kept.iter().any(is_touched) && is_text() {
            let out = true;
            return vec![Hunk {
                out,
                ..hunk.clone()
            }];
        }
        let is_inside =
            |it: &&Hunk| hunk.after.start <= it.before.start && it.before.end <= hunk.after.end;
        let (mut pieces, mut rest) = (Vec::new(), hunk.clone());
        for change in changes.iter().filter(is_inside) {
            let (lines, count) = (own.after.slice(change.after.clone()), change.after.len());
            let above = rest.after.start..change.before.start;
            // Lines that nothing stands in place of have their pairs above them.
            let first = match count {
                0 => rest.before.start + above.len().min(rest.before.len()),
                _ => rest.before.start,
            };
            let is_there = |at: &usize| texts.before.slice(*at..*at + count) == lines;
            let Some(at) = (first..(rest.before.end + 1).saturating_sub(count)).find(is_there)
            else {
                continue;
            };
            pieces.push(Hunk::new(rest.before.start..at, above));
            pieces.push(Hunk {
                out: true,
                ..Hunk::new(at..at + count, change.before.clone())
            });
            rest = Hunk::new(
                at + count..rest.before.end,
                change.before.end..rest.after.end,
            );
        }
        pieces.push(rest);
        pieces.retain(|it| !it.before.is_empty() || !it.after.is_empty());
        pieces
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::super::Part;
    use super::*;

    const BEFORE: &str = "1\n2\n3\n4\n5\n";
    const PROPOSED: &str = "one\n2\n3\n4\nfive\n";

    fn proposal(original: Option<&[u8]>, proposed: &str) -> Proposal {
        Proposal::new(original.map(Text::new), proposed)
    }

    /// The texts that redoing leads to, one after the other.
    fn redone(proposal: &mut Proposal) -> Vec<String> {
        let mut texts = Vec::new();
        while proposal.redo().is_some() {
            texts.push(proposal.text());
        }
        texts
    }

    #[test]
    fn what_is_offered_comes_back_byte_for_byte_and_only_when_it_is_asked_for() {
        for (original, proposed, mine) in [
            (Some(BEFORE), PROPOSED, "one\n2\nmine\n4\nfive\n"),
            (
                Some("\u{feff}a\r\nb\r\n"),
                "\u{feff}A\r\nb\r\n",
                "\u{feff}A\r\nb",
            ),
            (Some("a\r\nb"), "A\nb", "A\nmine"),
            (None, "new", ""),
            (Some("x"), "y", "z\r"),
            (Some("x\n"), "", "x\ny\n"),
        ] {
            let mut proposal = proposal(original.map(str::as_bytes), proposed);
            let changes = proposal.changes();
            assert!(proposal.offer(mine), "{mine:?}");
            assert_eq!(
                (proposal.text(), proposal.changes()),
                (proposed.to_owned(), changes)
            );
            assert!(!proposal.offer(mine), "it is there");
            assert_eq!(redone(&mut proposal), [mine]);
            assert_eq!(proposal.draft().as_deref(), Some(mine));
            proposal.undo();
            assert_eq!(proposal.text(), proposed);
            assert!(!proposal.offer(mine), "it is in the history");
        }
    }

    #[test]
    fn hunks_that_were_out_are_out_again() {
        for out in [&[0][..], &[1], &[0, 1]] {
            let mut former = proposal(Some(BEFORE.as_bytes()), PROPOSED);
            for hunk in out {
                former.toggle(*hunk).unwrap();
            }
            let draft = former.draft().unwrap();
            let mut again = proposal(Some(BEFORE.as_bytes()), PROPOSED);
            assert!(again.offer(&draft));
            assert_eq!(again.redo(), Some(Change::Toggled));
            assert_eq!(again.hunks(), former.hunks(), "{out:?}");
            assert!(!again.is_edited());
        }
    }

    #[test]
    fn lines_that_were_out_are_out_again_and_no_text_of_the_reviewers() {
        let part = |before, after| Part {
            hunk: 0,
            before,
            after,
        };
        for (original, proposed, out) in [
            (Some("a\nb\nc\nd\n"), "a\nB1\nB2\nc\nd\n", part(2..2, 2..3)),
            (Some("a\nb\nc\nd\n"), "a\nB1\nB2\nc\nd\n", part(1..2, 1..2)),
            (Some("a\nb\nc\nd\n"), "a\nB\nC\nd\n", part(2..3, 2..3)),
            (Some("a\nb\nc\nd\n"), "a\nd\nE\n", part(2..3, 1..1)),
            (None, "one\ntwo\nthree\n", part(0..0, 1..2)),
        ] {
            let new = || proposal(original.map(str::as_bytes), proposed);
            let mut former = new();
            former.toggle_lines(&[out]).unwrap();
            let draft = former.draft().unwrap();
            let mut again = new();
            assert!(again.offer(&draft));
            assert_eq!(again.redo(), Some(Change::Toggled), "{draft:?}");
            assert_eq!(again.text(), draft);
            assert!(!again.is_edited() && !again.holds_edits());
            assert_eq!(again.hunks(), former.hunks(), "{draft:?}");
            // All of the agent's lines are there to be included again.
            for hunk in 0..again.hunks().len() {
                if again.hunks()[hunk].out {
                    again.toggle(hunk).unwrap();
                }
            }
            assert_eq!(again.text(), proposed);
        }
    }

    #[test]
    fn the_draft_is_what_stands_there_or_what_was_written() {
        let mut proposal = proposal(Some(BEFORE.as_bytes()), PROPOSED);
        assert_eq!(proposal.draft(), None);
        proposal.toggle(0).unwrap();
        assert_eq!(proposal.draft().as_deref(), Some("1\n2\n3\n4\nfive\n"));
        proposal.toggle(0).unwrap();
        assert_eq!(proposal.draft(), None, "a hunk that is in again is nothing");
        proposal.edit("mine\n");
        proposal.undo();
        assert_eq!(proposal.draft().as_deref(), Some("mine\n"));
    }
}
