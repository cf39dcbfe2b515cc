//! The reviewer's own version of a proposal that is not decided: kept elsewhere, and offered again.

use std::sync::Arc;

use pillion_text::{Text, hunks};

use super::places::Origin;
use super::state::State;
use super::texts::Texts;
use super::{Change, Proposal};

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

    /// The agent's text without some of its hunks, if that is what it is, or else a text of the reviewer's.
    fn offered(&self, text: Text) -> State {
        let original = self.now.texts.original.clone();
        let agents = Arc::clone(&self.now.agents);
        let proposed = Texts::new(original.clone(), Arc::clone(&agents));
        let mut state = State::new(proposed, Change::Toggled);
        let own = Texts::new(original, Arc::new(text));
        if state.texts.are_readable() && own.are_readable() {
            let kept = hunks::between(&own.before, &own.after);
            let texts = Arc::clone(&state.texts);
            for hunk in Arc::make_mut(&mut state.hunks) {
                let after = texts.after.slice(hunk.after.clone());
                let is_kept = kept.iter().any(|it| {
                    it.before == hunk.before && own.after.slice(it.after.clone()) == after
                });
                let before = texts.before.slice(hunk.before.clone());
                hunk.out = !is_kept && std::str::from_utf8(before).is_ok();
            }
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

#[cfg(test)]
mod tests {
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
