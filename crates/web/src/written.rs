//! The list of what agents have written: what is decided on its rows, and the person's words on these, which go with that.

use std::time::Duration;

use pillion_judge::listed::{self, SentWords};
use pillion_protocol::Note;
use pillion_protocol::verdict;
use pillion_view::ask::Changes;
use pillion_view::changes::{ActDone, ChangesAct, ChangesList, Meant, Part, Row};
use pillion_view::{Chosen, Reply};

use crate::Input;
use crate::page::Page;
use crate::routes::TurnDo;
use crate::server::{Outcome, Respond, json};
use crate::wire::{self, Event, RowUnsent, Unseeable};

impl Page {
    /// Has the list made.
    pub(crate) fn read_list(&self, respond: Respond) {
        let inputs = self.inputs.clone();
        let told = Reply::told(move |list| {
            let _ = inputs.send(Input::Listed(Box::new(list), respond));
        });
        self.companion.ask(Changes, told);
    }

    /// The list is there.
    pub(crate) fn listed(&mut self, mut list: ChangesList, respond: Respond) {
        self.row_words.take_former(&mut list);
        let words = self.row_words.all().collect();
        respond.json(&wire::Turns { list: &list, words });
        self.list = list;
    }

    /// Words are typed on a row.
    pub(crate) fn typed_on_row(&mut self, tab: &str, id: String, typed: wire::RowTyped) -> Outcome {
        let wire::RowTyped { n, unsent } = typed;
        let (RowUnsent::Note(text) | RowUnsent::Reason(text)) = &unsent;
        let hidden = Unseeable::of(text);
        let is_reason = matches!(unsent, RowUnsent::Reason(_));
        let heard = self
            .heard_on_rows
            .entry((id.clone(), is_reason))
            .or_default();
        // Of two requests of a tab, the second may come first.
        if heard.0 != tab || heard.1 <= n {
            *heard = (tab.to_owned(), n);
            let words = self.row_words.on_mut(id.clone());
            match unsent {
                RowUnsent::Note(text) => words.note = text,
                RowUnsent::Reason(text) => words.reason = text,
            }
            self.tell_words(id);
        }
        json(&hidden)
    }

    fn tell_words(&self, id: String) {
        let words = self.row_words.on(&id);
        self.tell_all(&Event::Words(wire::WordsOn { id, words }));
    }

    /// These words have gone with a decision.
    pub(crate) fn words_told(&mut self, sent: SentWords) {
        for (id, words) in sent {
            self.row_words.told(&id, &words);
            self.tell_words(id);
        }
    }

    /// Does something with a row, or with what was decided last.
    pub(crate) fn turn(
        &mut self,
        id: Option<String>,
        act: TurnDo,
        with: wire::TurnAct,
        respond: Respond,
    ) {
        let has_reason = !with.reason.trim().is_empty();
        let mut notes: Vec<_> = has_reason
            .then(|| Note::on_all(&*with.reason))
            .into_iter()
            .collect();
        let mut words = SentWords::new();
        let is_decision = matches!(act, TurnDo::Keep | TurnDo::TakeBack);
        // What is said of all of it does not go with a part.
        if let Some(id) = id.as_ref().filter(|_| is_decision && with.lines.is_none()) {
            if has_reason {
                self.row_words.on_mut(id.clone()).reason = with.reason;
            }
            if let Some(row) = listed::rows(&self.list).find(|it| it.id() == id) {
                words = self
                    .row_words
                    .for_act(row, matches!(act, TurnDo::Keep), has_reason);
                notes = row.notes_of(&words);
            }
        }
        let is_in_list = with.rested_ms.is_some() || with.is_chosen;
        let meant = Meant {
            id: id.clone(),
            revision: with.revision,
            row: is_in_list.then(|| Row {
                rested_for: with.rested_ms.map(Duration::from_millis),
                is_chosen: with.is_chosen,
            }),
            notes,
            ..Meant::default()
        };
        let lines = with
            .lines
            .map(|(first, last)| verdict::Lines { first, last });
        let act = match act {
            TurnDo::Look => ChangesAct::Look(id),
            TurnDo::Keep => ChangesAct::Keep(meant),
            TurnDo::TakeBack => ChangesAct::TakeBack(Part { meant, lines }),
            TurnDo::Undo => ChangesAct::Undo(id),
            TurnDo::Stage => ChangesAct::Stage(Part { meant, lines }),
        };
        let inputs = self.inputs.clone();
        let told = Reply::told(move |done| {
            let _ = inputs.send(Input::Acted(words, done, respond));
        });
        self.companion.ask(act, told);
    }

    /// What came of that.
    pub(crate) fn acted(&mut self, words: SentWords, done: ActDone, respond: Respond) {
        let ActDone { done, message, .. } = done;
        if done {
            self.words_told(words);
        }
        respond.json(&Chosen { done, message });
    }
}
