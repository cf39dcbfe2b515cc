//! What tabs ask: rows and texts, acts on pending diffs and decisions about them, and what was written.

use std::ops::Range;
use std::time::Duration;

use pillion_judge::act::{Act, GROUPS};
use pillion_judge::bases::{self, Bases, NO_BASES};
use pillion_judge::history::Past;
use pillion_judge::listed::{ListedWords, SentWords};
use pillion_judge::proposal::Side;
use pillion_judge::search::Needle;
use pillion_judge::{DECIDING, HunkNote, Step, highlight};
use pillion_protocol::Note;
use pillion_protocol::verdict;
use pillion_system::{lock, spawn};
use pillion_text::{Text, visible};
use pillion_view::ask::{Mention, Refused as Unasked};
use pillion_view::decision::TAKEN_FOR_REJECTION;
use pillion_view::{Choice, Chosen, DiffId, LOOK, ProposalKey, Proposed, Reply, Ruling, Stale};

use crate::Input;
use crate::colours::Wanted;
use crate::door::{Refused, StatusCode, refused};
use crate::page::fields::{self, Piece};
use crate::page::{Page, seen_now};
use crate::routes::{Call, OfDiff};
use crate::rows::{self, Arranged};
use crate::server::{Outcome, Respond, json};
use crate::wire::{self, Changed, Decision, Tone};

/// A decision of which the gate has ruled.
pub(crate) struct Decided {
    key: ProposalKey,
    tab: String,
    /// The reason that was typed goes with it.
    has_reason: bool,
    /// The note that was typed on the row of the change goes with it, too.
    on_row: SentWords,
    respond: Respond,
    ruling: Ruling,
}

/// Something is another than what the person saw.
const STALE: &str = "this diff is another by now: look at it first";

/// What can be done of a refusal, or why not.
type Done<T> = Result<T, Refused>;

impl Page {
    pub(crate) fn called(&mut self, tab: &str, call: Call, respond: Respond) {
        match call {
            Call::Diff(id, OfDiff::Decide(decide)) => self.decide(tab, id, decide, respond),
            Call::Diff(id, OfDiff::Colours(g, left, right)) => {
                self.colour(id, g, left, right, respond)
            }
            Call::Diff(id, OfDiff::Bases) => self.compare(id, respond),
            Call::Diff(id, call) => {
                let outcome = self.of_diff(tab, id, call);
                respond.with(outcome);
            }
            Call::Search(text) => respond.json(&self.search(text)),
            Call::Turns => self.read_list(respond),
            Call::Turn(id, act, with) => self.turn(id, act, with, respond),
            Call::TurnWords(id, typed) => {
                let outcome = self.typed_on_row(tab, id, typed);
                respond.with(outcome);
            }
            Call::History(at) => self.read_history(at, respond),
            Call::Review(wire::Choose { choice }) => {
                Choice::Review(Some(choice)).ask(&self.companion, chosen(respond));
            }
            Call::SendNotes => Choice::SendNotes.ask(&self.companion, chosen(respond)),
            Call::Mention(mention) => self.mention(mention, respond),
        }
    }

    /// Checks that this is the generation of a diff that is there.
    fn at(&mut self, tab: &str, id: DiffId, g: u64) -> Done<()> {
        let view = self.views.find(id).ok_or_else(gone)?;
        if view.g == g && !view.is_comparing() {
            return Ok(());
        }
        let (code, message) = match view.is_comparing() {
            true => ("comparing", "still comparing: look at it first"),
            false => ("stale", STALE),
        };
        let (status, mut refusal) = refused(StatusCode::CONFLICT, code, message);
        refusal.now = self.diff_state(id, tab).map(Box::new);
        Err((status, refusal))
    }

    /// Checks that what would be accepted may become something else.
    fn may_change(&mut self, tab: &str, id: DiffId, g: u64, writes: bool) -> Done<()> {
        self.at(tab, id, g)?;
        let view = self.views.find(id).map(|view| view.may_change(writes));
        let conflict = |why| refused(StatusCode::CONFLICT, "notNow", why);
        view.map_or(Ok(()), |may| may.map_err(conflict))
    }

    fn of_diff(&mut self, tab: &str, id: DiffId, call: OfDiff) -> Outcome {
        match call {
            OfDiff::Rows(query) => {
                self.at(tab, id, query.g)?;
                self.arranged(id, &query, |arranged, judged, g| {
                    json(&arranged.page(g, judged, &query))
                })
            }
            OfDiff::Row(query, of) => {
                self.at(tab, id, query.g)?;
                let side = match of.side {
                    wire::TextSide::Before => Side::Left,
                    _ => Side::Right,
                };
                self.arranged(id, &query, |arranged, _, _| {
                    let row = arranged.row_of(side, of.line);
                    json(&wire::RowAt { row })
                })
            }
            OfDiff::Text(query) => self.text(tab, id, query),
            OfDiff::Toggle(lines) => {
                self.may_change(tab, id, lines.g, true)?;
                let parts = self.parts(id, &lines)?;
                self.change(id, |view, keys| {
                    let toggled = match (lines.hunk, parts) {
                        (Some(hunk), _) => view.proposal.toggle(hunk),
                        (None, parts) => view.proposal.toggle_lines(&parts),
                    };
                    let tone = if toggled.is_ok() {
                        Tone::Info
                    } else {
                        Tone::Warning
                    };
                    (view.say_toggled(toggled, keys), tone)
                })
            }
            OfDiff::Split(lines) => {
                self.may_change(tab, id, lines.g, false)?;
                let parts = self.parts(id, &lines)?;
                self.change(id, |view, _| {
                    let is_split = view.proposal.split(&parts);
                    let said = "these lines are a hunk of their own already";
                    ((!is_split).then(|| said.to_owned()), Tone::Info)
                })
            }
            OfDiff::Edit(edit) => self.edit(tab, id, edit),
            OfDiff::Undo(wire::At { g }) => self.go_back(tab, id, g, true),
            OfDiff::Redo(wire::At { g }) => self.go_back(tab, id, g, false),
            OfDiff::Merge(wire::At { g }) => {
                self.may_change(tab, id, g, false)?;
                let view = self.views.find_mut(id);
                let is_written = view.is_some_and(|view| {
                    let is_written = view.diff.written.is_some();
                    view.is_rereading = !is_written;
                    is_written
                });
                let message = match is_written {
                    true => "this is in the file already: there is nothing to merge with",
                    false => {
                        let read = self.sources.reread(id);
                        read.map_err(|error| failed(error.to_string()))?;
                        "reading the file on disk…"
                    }
                };
                self.said(g, Some(message.to_owned()), Tone::Info)
            }
            OfDiff::Note(note) => self.note(tab, id, note),
            OfDiff::Words(typed) => self.typed(tab, id, typed),
            OfDiff::Whitespace(wire::Whitespace { ignore }) => {
                let g = self.views.find_mut(id).map(|view| {
                    view.ignores_white = ignore;
                    view.g
                });
                self.tell_diff(id);
                self.said(g.unwrap_or_default(), None, Tone::Info)
            }
            OfDiff::Seen(seen) => {
                let view = self.views.find_mut(id);
                let Some(view) = view.filter(|it| it.g == seen.g && !it.is_comparing()) else {
                    // These rows are of another text than that which counts: the tab hears of that.
                    return Ok(b"{}".to_vec());
                };
                if Duration::from_millis(seen.drawn_ms) >= LOOK {
                    view.note_look();
                }
                view.as_seen_by(tab, |judged| {
                    for (side, lines) in [(Side::Left, seen.left), (Side::Right, seen.right)] {
                        for (from, to) in lines {
                            judged.see_lines(side, from..to);
                        }
                    }
                });
                json(&seen_now(view, tab))
            }
            // They answer later.
            OfDiff::Colours(..) | OfDiff::Decide(_) | OfDiff::Bases => {
                Err(failed("not here".to_owned()))
            }
        }
    }

    /// Does something with the rows of a diff as they are asked for.
    fn arranged(
        &mut self,
        id: DiffId,
        query: &wire::RowsQuery,
        with: impl FnOnce(&Arranged, &pillion_judge::Judged, u64) -> Outcome,
    ) -> Outcome {
        let view = self.views.find_mut(id).ok_or_else(gone)?;
        let known = view.arranged.take();
        let arranged = Arranged::of(known, view, query);
        let outcome = with(&arranged, view, view.g);
        view.arranged = Some(arranged);
        outcome
    }

    fn parts(
        &mut self,
        id: DiffId,
        lines: &wire::Lines,
    ) -> Done<Vec<pillion_judge::proposal::Part>> {
        let Some(query) = &lines.rows else {
            return Ok(Vec::new());
        };
        let mut parts = None;
        self.arranged(id, query, |arranged, _, _| {
            // A note of another tab moves the rows below it.
            let is_same = query.total.is_none_or(|it| it == arranged.count());
            parts = is_same.then(|| arranged.parts(query.from..query.to));
            Ok(Vec::new())
        })?;
        parts.ok_or_else(|| refused(StatusCode::CONFLICT, "stale", STALE))
    }

    /// Changes what would be accepted, and tells all tabs.
    fn change(
        &mut self,
        id: DiffId,
        act: impl FnOnce(
            &mut pillion_judge::Judged,
            &pillion_judge::keys::Keys,
        ) -> (Option<String>, Tone),
    ) -> Outcome {
        let view = self.views.find_mut(id).ok_or_else(gone)?;
        let (message, tone) = act(view, &self.keys);
        view.changed();
        let g = view.g;
        self.tell_diff(id);
        self.said(g, message, tone)
    }

    fn said(&self, g: u64, message: Option<String>, tone: Tone) -> Outcome {
        json(&Changed { g, message, tone })
    }

    fn go_back(&mut self, tab: &str, id: DiffId, g: u64, back: bool) -> Outcome {
        self.may_change(tab, id, g, false)?;
        self.change(id, |view, keys| {
            (Some(view.go_back_and_say(back, keys)), Tone::Info)
        })
    }

    fn text(&mut self, tab: &str, id: DiffId, query: wire::TextQuery) -> Outcome {
        self.at(tab, id, query.g)?;
        let view = self.views.find(id).ok_or_else(gone)?;
        let proposal = &view.proposal;
        let side = match query.side {
            wire::TextSide::Before => Some(Side::Left),
            wire::TextSide::After => Some(Side::Right),
            wire::TextSide::Accepted => None,
        };
        let hunk = query.hunk.and_then(|hunk| proposal.hunks().get(hunk));
        let (mut lines, mut at) = (None, 0);
        let text = match (side, hunk) {
            (None, None) if query.edits => {
                let text = Text::new(proposal.text());
                let line = fields::accepted_line(proposal, query.line);
                lines = fields::part_of(&text, line);
                at = lines.map_or(0, |(from, _)| line.saturating_sub(from));
                let (from, to) = lines.unwrap_or((0, text.len()));
                String::from_utf8_lossy(text.slice(from..to)).into_owned()
            }
            (None, None) => proposal.text(),
            (side, hunk) => {
                let side = side.unwrap_or(Side::Right);
                let text = proposal.side(side);
                let lines = hunk.map_or(0..text.len(), |hunk| {
                    side.of((&hunk.before, &hunk.after)).clone()
                });
                String::from_utf8_lossy(text.slice(lines)).into_owned()
            }
        };
        let typed = match query.edits {
            true => self.begin_edit(tab, id, Piece::new(query.hunk, lines)),
            false => None,
        };
        let unseeable = match query.edits {
            true => wire::Unseeable::of(typed.as_ref().unwrap_or(&text)),
            false => wire::Unseeable::default(),
        };
        json(&wire::TextAnswer {
            g: query.g,
            text,
            lines,
            at,
            typed,
            unseeable,
        })
    }

    fn edit(&mut self, tab: &str, id: DiffId, edit: wire::EditText) -> Outcome {
        let view = self.views.find_mut(id);
        let part = Piece::new(edit.hunk, edit.lines);
        let begun = view.and_then(|view| view.fields.edit(tab, part).cloned());
        // What was begun on another text than the one that is there by now becomes a part of that.
        let now = self.views.find(id).map_or(edit.g, |view| view.g);
        let late = begun.filter(|_| now != edit.g);
        self.may_change(tab, id, if late.is_some() { now } else { edit.g }, true)?;
        let view = self.views.find_mut(id).ok_or_else(gone)?;
        let base = late.as_ref().map(|it| &it.base);
        let text = fields::edited(base.unwrap_or(&view.proposal), part, &edit.text);
        let text = text.ok_or_else(|| failed("there is no such hunk".to_owned()))?;
        let step = match base {
            None => Step::Edit(text.into()),
            Some(base) => Step::EditLate {
                base: base.text(),
                text: text.into(),
            },
        };
        view.fields.sent(tab, part);
        self.step(id, step);
        let g = self.views.find(id).map_or(edit.g, |view| view.g);
        self.said(g, None, Tone::Good)
    }

    fn note(&mut self, tab: &str, id: DiffId, note: wire::NoteText) -> Outcome {
        let g = note.g;
        let on = self.noted(tab, id, note)?;
        let view = self.views.find_mut(id).ok_or_else(gone)?;
        view.fields.notes.remove(tab);
        view.write_note(on);
        view.arranged = None;
        self.tell_diff(id);
        self.said(g, None, Tone::Good)
    }

    /// A note with the lines that it was begun on, also if the text is another by now.
    pub(crate) fn noted(&mut self, tab: &str, id: DiffId, note: wire::NoteText) -> Done<HunkNote> {
        let is_here = self.at(tab, id, note.g);
        let view = self.views.find_mut(id).ok_or_else(gone)?;
        if let Err(stale) = is_here {
            let begun = view.fields.begun_note(tab).cloned().ok_or(stale)?;
            let text = note.text;
            return Ok(HunkNote { text, ..begun });
        }
        let length = view.proposal.after().len().max(1);
        let on = match (note.removed, note.lines) {
            (Some((from, to)), _) => view.note_on_removed(from..to.max(from + 1)),
            (None, Some((from, to))) => {
                let from = from.min(length - 1);
                Some(view.note_at(from..to.clamp(from + 1, length)))
            }
            (None, None) => Some(view.note_on_file()),
        };
        let mut on = on.ok_or_else(|| failed("there is no such hunk".to_owned()))?;
        on.text = note.text;
        Ok(on)
    }

    fn colour(
        &mut self,
        id: DiffId,
        g: u64,
        left: Range<usize>,
        right: Range<usize>,
        respond: Respond,
    ) {
        let view = self.views.find(id);
        let Some(view) = view.filter(|it| it.g == g && !it.is_comparing()) else {
            // Whoever asked draws other rows by now.
            return respond.json(&wire::Colours::default());
        };
        let (before, after) = view.proposal.shared();
        let hunks = view.proposal.hunks().iter();
        // The first line after a fold is at most a few lines above a hunk.
        let below = hunks.map(|hunk| hunk.after.start.saturating_sub(3));
        self.colours.order(Wanted {
            texts: highlight::Texts {
                id,
                generation: view.texts,
            },
            path: view.target.path.clone(),
            before,
            after,
            below_folds: below.filter(|line| right.contains(line)).collect(),
            left: within(left, view.proposal.before().len()),
            right: within(right, view.proposal.after().len()),
            g: view.g,
            respond,
        });
    }

    fn search(&self, text: String) -> wire::Hits {
        let mut found = wire::Hits::default();
        if !text.is_empty() {
            let needle = Needle::new(text);
            for view in self.views.iter().filter(|view| !view.is_comparing()) {
                rows::hits(&mut found, &needle, view.g, view);
            }
        }
        found
    }

    fn decide(&mut self, tab: &str, id: DiffId, decide: wire::DecideNow, respond: Respond) {
        if let Err(refused) = self.at(tab, id, decide.g) {
            return respond.with(Err(refused));
        }
        let Some(view) = self.views.find_mut(id) else {
            return;
        };
        let why = match view.deciding {
            Some(_) => Some(("deciding", DECIDING)),
            None if view.diff.revision != decide.revision => {
                Some(("replaced", "a newer proposal has arrived: look at it first"))
            }
            None => None,
        };
        if let Some((code, message)) = why {
            return respond.with(Err(refused(StatusCode::CONFLICT, code, message)));
        }
        let how = decide.seen;
        let is_rejection = decide.decision == Decision::Reject;
        if is_rejection && view.proposal.holds_edits() && !how.answers {
            let text = "this would drop your edits: <answer> rejects, <accept> accepts them";
            return respond.json(&wire::Ruled {
                settled: false,
                code: Some("dropsEdits".to_owned()),
                message: self.keys.fill(text),
                asks: true,
                clipboard: None,
            });
        }
        let drawn = how.drawn_ms.map(Duration::from_millis);
        let pauses = how
            .pauses_ms
            .into_iter()
            .map(Duration::from_millis)
            .collect();
        let mut seen = view.as_seen_by(tab, |judged| judged.seen(drawn, pauses, how.answers));
        seen.is_typed = how.typed;
        let reason = Note::on_all(decide.reason);
        let reason = Some(reason).filter(|note| !note.text.trim().is_empty());
        let has_reason = is_rejection && reason.is_some();
        let written = view.diff.written.iter();
        let on_row = written.map(|id| {
            let note = self.row_words.on(id).note;
            let reason = String::new();
            (id.clone(), ListedWords { note, reason })
        });
        let on_row: SentWords = on_row
            .filter(|(_, it)| !it.note.trim().is_empty())
            .collect();
        let of_row = on_row.iter().map(|(_, it)| Note::on_all(&*it.note));
        let message = match is_rejection {
            false => view.accepted(),
            true => view.rejected(has_reason),
        };
        let said = reason.into_iter().chain(of_row);
        let notes = said.chain(view.notes(!is_rejection)).collect();
        let decision = match is_rejection {
            false => view.acceptance(seen, notes),
            true => view.rejection(seen, notes),
        };
        view.begin_decision(&decision, message);
        let (key, tab, inputs) = (view.key(), tab.to_owned(), self.inputs.clone());
        let ruled = Reply::told(move |ruling| {
            let decided = Decided {
                key,
                tab,
                has_reason,
                on_row,
                respond,
                ruling,
            };
            let _ = inputs.send(Input::Ruled(Box::new(decided)));
        });
        self.companion.ask(*decision, ruled);
        self.tell_diff(id);
    }

    /// The gate has ruled about a decision.
    pub(crate) fn ruled(&mut self, decided: Decided) {
        let Decided {
            key,
            tab,
            has_reason,
            on_row,
            respond,
            ruling,
        } = decided;
        let settled = |message: String, clipboard| wire::Ruled {
            settled: true,
            code: None,
            message,
            asks: false,
            clipboard,
        };
        let said = self
            .views
            .find_mut(key.id)
            .and_then(|view| view.deciding.take());
        let is_current = self.views.current(key).is_ok();
        match ruling {
            Ruling::Settled(told) => {
                self.words_told(on_row);
                let mut message = said.unwrap_or_default();
                let clipboard = told.as_ref().and_then(|told| told.clipboard.clone());
                if let Some(told) = told {
                    message = format!("{message}: {}", told.message);
                }
                if is_current && let Ok(mut view) = self.views.take(key) {
                    if has_reason {
                        view.reason.clear();
                    }
                    self.keep_unsent(&view, &message);
                    self.gone(view, message.clone(), Some(tab), clipboard.clone());
                }
                respond.json(&settled(message, clipboard));
            }
            Ruling::Refused(refusal) => {
                if let Some(view) = self.views.find_mut(key.id) {
                    view.is_told_rejection |= refusal.code == TAKEN_FOR_REJECTION;
                }
                self.tell_diff(key.id);
                let how = self.keys.fill("<answer> accepts anyway");
                respond.json(&wire::Ruled {
                    settled: false,
                    code: Some(refusal.code.into_owned()),
                    message: match refusal.repeat {
                        true => format!("{}: {how}", refusal.message),
                        false => refusal.message,
                    },
                    asks: refusal.repeat,
                    clipboard: None,
                });
            }
        }
    }

    /// Compares a proposal with other texts of its file: disks may take long.
    fn compare(&self, id: DiffId, respond: Respond) {
        let Some(view) = self.views.find(id) else {
            return respond.with(Err(gone()));
        };
        let bases = Bases::of(view, &self.roots);
        let _ = spawn("bases", move || {
            let pages = bases::compared(&bases).into_iter();
            respond.json(&wire::Pages {
                pages: pages
                    .map(|(title, lines)| readable(title, &lines))
                    .collect(),
                none: NO_BASES,
            });
        });
    }

    fn read_history(&self, at: Option<usize>, respond: Respond) {
        let (roots, environment) = (self.roots.clone(), self.environment.clone());
        let known = std::sync::Arc::clone(&self.history);
        // If there can be no thread, there is no answer.
        let _ = spawn("history", move || match at {
            None => {
                let items = Past::read(&environment, &roots);
                let items = match items {
                    Ok(items) => items,
                    Err(why) => return respond.with(Err(failed(why))),
                };
                let row = |past: &Past| wire::HistoryRow {
                    id: past.item.id(),
                    shown: visible::one_line(&past.item.shown().to_string_lossy()),
                    state: past.item.state().to_owned(),
                    agent: past.agent.clone(),
                    ago: past.ago.clone(),
                    lines: past.lines.clone(),
                };
                let list = wire::HistoryList {
                    items: items.iter().map(row).collect(),
                };
                *lock(&known) = items;
                respond.json(&list);
            }
            Some(at) => {
                let past = lock(&known).get(at).cloned();
                let lines = past.as_ref().and_then(|past| past.lines(&environment));
                match past.zip(lines) {
                    None => {
                        let message = "there is no such decision in the list";
                        respond.with(Err(refused(StatusCode::NOT_FOUND, "notFound", message)));
                    }
                    Some((past, lines)) => respond.json(&readable(past.title(), &lines)),
                }
            }
        });
    }

    fn mention(&self, mention: wire::Mention, respond: Respond) {
        let Some(view) = self.views.find(DiffId(mention.id)) else {
            return respond.with(Err(gone()));
        };
        let name = view.target.shown.clone();
        let lines = mention
            .lines
            .map(|(first, last)| verdict::Lines { first, last });
        let path = view.target.path.clone();
        let told = Reply::new(move |answer: Result<_, Unasked>| {
            let (done, message) = match answer {
                Ok(Some(agent)) => {
                    let agent: pillion_protocol::Dialect = agent;
                    (
                        true,
                        format!("{name} is in {}'s prompt", agent.display_name()),
                    )
                }
                Ok(None) => (
                    false,
                    "no agent that is connected takes mentions".to_owned(),
                ),
                Err(why) => (false, why.to_string()),
            };
            respond.json(&Chosen { done, message });
        });
        self.companion.ask(Mention { path, lines }, told);
    }

    /// The commands and their keys.
    pub(crate) fn key_table(&self) -> Vec<Vec<wire::KeyRow>> {
        let row = |command: &'static pillion_judge::act::Command| wire::KeyRow {
            name: command.name,
            keys: self
                .keys
                .all(command.act)
                .iter()
                .map(ToString::to_string)
                .collect(),
            places: command.places,
            guard: command.guard,
            hint: command.hint.map(|(word, _)| word),
            help: match command.act {
                Act::Edit => "edit the text of the file, here in the page",
                Act::Top | Act::End => "the top, the end",
                _ => command.help,
            },
        };
        let groups = GROUPS.iter();
        groups
            .map(|group| group.iter().map(row).collect())
            .collect()
    }
}

/// A unified diff as it may be shown.
fn readable(title: String, lines: &[String]) -> wire::HistoryItem {
    let lines = lines.iter().map(|it| visible::one_line(it)).collect();
    wire::HistoryItem { title, lines }
}

fn gone() -> Refused {
    let message = Stale::NotPending.to_string();
    refused(StatusCode::NOT_FOUND, "notPending", message)
}

fn failed(why: String) -> Refused {
    refused(StatusCode::CONFLICT, "failed", why)
}

fn chosen(respond: Respond) -> Reply<Chosen, Unasked> {
    Reply::told(move |chosen: Chosen| respond.json(&chosen))
}

/// The part of these lines that a text of so many has.
fn within(lines: Range<usize>, count: usize) -> Range<usize> {
    let end = lines.end.min(count);
    lines.start.min(end)..end
}
