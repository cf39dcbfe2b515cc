//! The person's words about a proposal: notes on its lines, and the reason for a decision. Kakoune knows where edits
//! have moved the lines; the texts are here.

use pillion_protocol::Note;
use pillion_protocol::verdict::Lines;

/// The mark in the margin beside lines with a note, before its number.
const MARK: &str = "\u{25b8}";

/// A client's words with a decision, or as a note.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub client: String,
    pub text: String,
    /// The places of the notes by now: the line of each number.
    places: Vec<(u32, usize)>,
}

/// The notes on a proposal.
#[derive(Debug, Default)]
pub struct Notes {
    all: Vec<One>,
    count: usize,
}

#[derive(Debug)]
struct One {
    number: usize,
    /// From 0. None of a note on a text that another one has replaced.
    first: Option<u32>,
    /// The number of lines that follow the first.
    more: u32,
    text: String,
}

impl Said {
    /// Reads the client, the text and a `line-specs` option.
    pub fn read(words: impl IntoIterator<Item = String>) -> Option<Self> {
        let mut words = words.into_iter();
        let (client, text) = (words.next()?, words.next()?);
        let places = words.skip(1).filter_map(|word| {
            let (line, mark) = word.split_once('|')?;
            let number = mark.strip_prefix(MARK)?.parse().ok()?;
            Some((line.parse::<u32>().ok()?.checked_sub(1)?, number))
        });
        let places = places.collect();
        Some(Self {
            client,
            text,
            places,
        })
    }
}

impl Notes {
    /// They are there by now.
    fn move_to(&mut self, places: &[(u32, usize)]) {
        for note in &mut self.all {
            let place = places.iter().find(|(_, number)| *number == note.number);
            note.first = place.map(|(line, _)| *line);
        }
    }

    /// The person writes a note on a selection, in place of those that are there; an empty one only takes them away.
    pub fn write(&mut self, said: Said, selection: &str) -> Option<()> {
        let line = |place: &str| place.split('.').next()?.parse::<u32>().ok()?.checked_sub(1);
        let (anchor, cursor) = selection.split_once(',')?;
        let (anchor, cursor) = (line(anchor)?, line(cursor)?);
        let (first, last) = (anchor.min(cursor), anchor.max(cursor));
        self.move_to(&said.places);
        self.all.retain(|note| {
            !note
                .first
                .is_some_and(|at| at <= last && first <= at + note.more)
        });
        if !said.text.trim().is_empty() {
            self.count += 1;
            self.all.push(One {
                number: self.count,
                first: Some(first),
                more: last - first,
                text: said.text,
            });
        }
        Some(())
    }

    /// For the agent: the reason, and the notes where they are by now.
    pub fn with(&mut self, said: &Said) -> Vec<Note> {
        self.move_to(&said.places);
        let reason = Some(&said.text).filter(|text| !text.trim().is_empty());
        let reason = reason.map(|text| Note::on_all(text.clone()));
        reason.into_iter().chain(self.all()).collect()
    }

    /// The notes where they were when Kakoune told their places last.
    pub fn all(&self) -> impl Iterator<Item = Note> {
        self.all.iter().map(|note| {
            let lines = note.first.map(|first| Lines {
                first,
                last: first + note.more,
            });
            Note::at(lines, note.text.clone())
        })
    }

    /// Another text takes the place of the one that they are on.
    pub fn lose_places(&mut self) {
        self.move_to(&[]);
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// All of them, for the person.
    pub fn text(&self) -> Option<String> {
        let texts: Vec<&str> = self.all.iter().map(|note| note.text.as_str()).collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// `LINE|MARK` for each, as a `line-specs` option has it.
    pub fn specs(&self) -> impl Iterator<Item = String> {
        let placed = self
            .all
            .iter()
            .filter_map(|note| Some((note.first?, note.number)));
        placed.map(|(first, number)| format!("{}|{MARK}{number}", first + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, specs: &[&str]) -> Said {
        let words = ["client0", text, "7"]
            .into_iter()
            .chain(specs.iter().copied());
        Said::read(words.map(str::to_owned)).expect("it is whole")
    }

    #[test]
    fn notes_move_are_changed_and_removed() {
        let mut notes = Notes::default();
        let write = |notes: &mut Notes, text, selection, specs: &[&str]| {
            let said = said(text, specs);
            notes.write(said, selection).expect("a selection");
            notes.specs().collect::<Vec<_>>()
        };
        assert_eq!(write(&mut notes, "why", "4.3,2.1", &[]), ["2|▸1"]);
        let two = write(&mut notes, "b", "9.1,9.1", &["2|▸1"]);
        assert_eq!(two, ["2|▸1", "9|▸2"]);
        // Two lines were written above; the last one of its three is changed.
        let two = write(&mut notes, "c", "6.1,6.1", &["4|▸1", "11|▸2"]);
        assert_eq!(two, ["11|▸2", "6|▸3"]);
        let one = write(&mut notes, " ", "11.1,11.1", &["11|▸2", "6|▸3"]);
        assert_eq!(one, ["6|▸3"]);
        let all = notes.with(&said("no", &["7|▸3"]));
        let lines = Some(Lines { first: 6, last: 6 });
        let text = "c".to_owned();
        assert_eq!(all, [Note::on_all("no"), Note::at(lines, text)]);
        notes.lose_places();
        assert_eq!(notes.with(&said("", &[])), [Note::on_all("c")]);
    }
}
