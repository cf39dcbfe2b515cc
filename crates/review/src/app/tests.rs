//! The review as a person with a keyboard meets it, without terminal and files.

mod acts;
mod all_seen;
mod bases;
pub mod changes;
mod cursor;
mod deciding;
mod delay;
mod drafts;
mod edits;
mod effort;
mod files;
mod folds;
mod history;
mod layout;
mod merging;
mod mode;
mod naming;
mod note_list;
mod noticing;
mod numbers;
mod pane;
mod remark;
mod search;
mod sets;
mod staying;
mod unseen;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pillion_companion::gate::Gate;
use pillion_protocol::{Decision, Dialect, Outcome, Proposer};
use pillion_view::{Against, ModeChange, Refusal, SetPlace};

use super::*;
use crate::keyboard::meaning;

/// A text of four hunks, before and after.
const FOUR: [&str; 2] = [
    "1\n-\n-\n-\n2\n-\n-\n-\n3\n-\n-\n-\n4\n",
    "I\n-\n-\n-\nII\n-\n-\n-\nIII\n-\n-\n-\nIV\n",
];

/// A key that is pressed.
struct Pressed {
    key: KeyEvent,
    at: Instant,
    is_in_burst: bool,
    is_held: bool,
}

/// A review with a clock that the test sets.
pub struct Person {
    pub app: App,
    pub now: Instant,
    next: u64,
    revision: u32,
    /// The number of the proposer among those of its kind.
    pub number: u64,
    /// The notes that come with the next proposals.
    pub notes: Vec<String>,
    /// The place in a set that the next proposals come with.
    pub set: Option<SetPlace>,
    pub deletes: bool,
    /// The change of a turn that the next proposals are.
    pub written: Option<String>,
    /// The permissions that those give the file.
    pub mode: Option<ModeChange>,
    pub is_of_subagent: bool,
    /// What runs or obeys the file of those.
    pub runner: Option<String>,
    gate: Gate,
    /// Accepted texts that the gate has asked about.
    asked: Vec<Decide>,
    /// The next answer of the gate, if not its own.
    ruling: Option<Ruling>,
}

impl Person {
    pub fn new(width: u16, height: u16) -> Self {
        let roots = vec![PathBuf::from("/work/shop")];
        Self {
            app: App::new(roots, Size::new(width, height)),
            now: Instant::now(),
            next: 1,
            revision: 0,
            number: 1,
            notes: Vec::new(),
            set: None,
            deletes: false,
            written: None,
            mode: None,
            is_of_subagent: false,
            runner: None,
            gate: Gate::default(),
            asked: Vec::new(),
            ruling: None,
        }
    }

    /// The gate, as far as it needs no file.
    fn rule(&mut self, decide: &Decide) -> Ruling {
        if let Some(ruling) = self.ruling.take() {
            return ruling;
        }
        if let Err(refusal) = self.gate.look(decide, self.now) {
            return Ruling::Refused(refusal);
        }
        let seen = decide.by.seen();
        let unseen = seen.and_then(|seen| seen.unseen_hunks);
        let is_doubted = seen.is_some_and(|seen| seen.against != Against::default())
            || unseen.is_some_and(|unseen| unseen.hunks > 0);
        let answers = seen.and_then(|seen| seen.answers) == Some(true);
        let is_same = |asked: &Decide| {
            answers && (asked.key, &asked.verdict) == (decide.key, &decide.verdict)
        };
        if decide.verdict.is_rejection() || !is_doubted || self.asked.iter().any(is_same) {
            return Ruling::Settled(None);
        }
        self.asked.push(decide.clone());
        doubted("this is doubted")
    }

    /// An agent proposes a change, and the reviewer has seen it.
    pub fn open(&mut self, name: &str, original: Option<&str>, proposed: &str) -> DiffId {
        let id = self.open_now(name, original, proposed);
        self.wait(1_000);
        id
    }

    pub fn open_now(&mut self, name: &str, original: Option<&str>, proposed: &str) -> DiffId {
        let id = DiffId(self.next);
        self.next += 1;
        self.propose(id, Dialect::GeminiCli, name, original, proposed);
        id
    }

    pub fn propose(
        &mut self,
        id: DiffId,
        proposer: impl Into<Proposer>,
        name: &str,
        original: Option<&str>,
        proposed: &str,
    ) -> Vec<Effect> {
        let path = PathBuf::from("/work/shop").join(name);
        self.revision += 1;
        let diff = Diff {
            id,
            revision: self.revision,
            proposer: proposer.into(),
            number: self.number,
            path,
            original: Default::default(),
            proposed: proposed.to_owned().into(),
            notes: self.notes.clone(),
            hunks: Vec::new(),
            set: self.set,
            deletes: self.deletes,
            original_is_other: false,
            written: self.written.clone(),
            is_unclear: false,
            is_of_subagent: self.is_of_subagent,
            runner: self.runner.clone(),
            mode: self.mode,
        };
        let effects = self.happens(Event::Opened {
            diff,
            original: original.map(Into::into),
            shown: Reply::new(|_| ()),
        });
        assert!(matches!(effects.last(), Some(Effect::Shown(_))));
        effects
    }

    /// Something happens, and the screen is drawn at once.
    pub fn happens(&mut self, event: Event) -> Vec<Effect> {
        let effects = self.happens_undrawn(event);
        self.app.see(self.now);
        if let Some(question) = self.app.drawn(self.now) {
            self.app
                .update(Event::Answered(question, self.now), self.now);
        }
        effects
    }

    /// Something happens, texts are compared at once, and nothing is drawn.
    fn happens_undrawn(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        let mut next = self.app.update(event, self.now);
        while !next.is_empty() {
            for effect in std::mem::take(&mut next) {
                match effect {
                    Effect::Compare(job) => {
                        let compared = Event::Compared(job.run());
                        next.extend(self.app.update(compared, self.now));
                    }
                    Effect::Decide(decide) => {
                        let ruling = self.rule(&decide);
                        if ruling.is_settled() {
                            effects.push(Effect::Decide(decide.clone()));
                        }
                        let ruled = Event::Ruled(decide.key, ruling);
                        next.extend(self.app.update(ruled, self.now));
                    }
                    other => effects.push(other),
                }
            }
        }
        effects
    }

    pub fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
        self.happens(Event::Tick);
    }

    pub fn press(&mut self, keys: &str) -> Vec<Effect> {
        let keys = keys.chars().map(KeyCode::Char).collect::<Vec<_>>();
        keys.into_iter().flat_map(|key| self.key(key)).collect()
    }

    pub fn key(&mut self, code: KeyCode) -> Vec<Effect> {
        if self.app.changes().is_some() {
            // Whoever reads a line of the list takes their time.
            self.now += Duration::from_millis(400);
        }
        let effects = self.happens(self.event(self.press_of(code)));
        if code == KeyCode::Char('n') && self.app.remark.is_none() {
            // So does who goes through a diff.
            self.wait(300);
        }
        effects
    }

    /// What a key means now.
    fn event(&self, pressed: Pressed) -> Event {
        let press = Press {
            at: pressed.at,
            is_in_burst: pressed.is_in_burst,
            is_held: pressed.is_held,
        };
        meaning(&self.app, pressed.key, press)
    }

    fn press_of(&self, code: KeyCode) -> Pressed {
        Pressed {
            key: KeyEvent::new(code, KeyModifiers::NONE),
            at: self.now,
            is_in_burst: false,
            is_held: false,
        }
    }

    fn close(&mut self, id: DiffId) -> Result<String, String> {
        self.close_for(id, CloseReason::ClosedByAgent)
    }

    fn close_for(&mut self, id: DiffId, reason: CloseReason) -> Result<String, String> {
        let (send, answer) = crossbeam_channel::unbounded();
        let closed = Reply::new(move |result| send.send(result).unwrap());
        for effect in self.happens(Event::Closed { id, reason, closed }) {
            match effect {
                Effect::Closed(closed, Ok(text)) => closed.done(text),
                Effect::Closed(closed, Err(reason)) => closed.failed(reason),
                other => panic!("{other:?}"),
            }
        }
        answer.recv().unwrap()
    }

    fn shown(&self) -> DiffId {
        self.app.view().unwrap().diff.id
    }

    fn message(&self) -> &str {
        self.app
            .message
            .as_ref()
            .map_or("", |message| &message.text)
    }
}

/// A question of the gate's.
fn doubted(message: &str) -> Ruling {
    Ruling::Refused(Refusal {
        code: "doubt".into(),
        message: message.to_owned(),
        repeat: true,
    })
}

/// The decisions, as any agent gets them.
fn outcomes(effects: Vec<Effect>) -> Vec<(u64, Outcome)> {
    let outcome = |effect| match effect {
        Effect::Decide(decide) => {
            let outcome = match decide.verdict.decision {
                Decision::Accept { content } => Outcome::accepted(content.unwrap()),
                Decision::Reject => Outcome::Rejected,
            };
            Some((decide.key.id.0, outcome))
        }
        _ => None,
    };
    effects.into_iter().filter_map(outcome).collect()
}

fn accepted(id: u64, content: &str) -> Vec<(u64, Outcome)> {
    vec![(id, Outcome::accepted(content))]
}

fn rejected(id: u64) -> Vec<(u64, Outcome)> {
    vec![(id, Outcome::Rejected)]
}

fn quits(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| matches!(effect, Effect::Quit))
}

#[test]
fn accepting_sends_the_text_as_it_stands() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("1\n2\n3\n"), "one\n2\nthree");
    person.press("n ");
    assert_eq!(person.app.view().unwrap().proposal.count().out, 1);
    assert_eq!(outcomes(person.press("a")), accepted(1, "one\n2\n3\n"));
    assert!(person.app.views.is_empty());
    assert_eq!(outcomes(person.press("a")), []);
    assert_eq!(person.message(), "accepted a.txt with 1 of 2 hunks");
}

#[test]
fn a_change_without_any_of_its_hunks_is_not_said_to_be_written() {
    let mut person = Person::new(80, 24);
    let hook = Proposer::For(Dialect::ClaudeCode);
    person.propose(DiffId(1), hook, "a.txt", Some("1\n"), "one\n");
    person.wait(1_000);
    assert_eq!(outcomes(person.press(" a")), accepted(1, "1\n"));
    let said = "accepted a.txt without any of its hunks: nothing is left to be written";
    assert_eq!(person.message(), said);
}

#[test]
fn a_new_diff_does_not_take_the_place_of_the_one_being_viewed() {
    let mut person = Person::new(80, 24);
    let first = person.open("a.txt", None, "a\n");
    person.open_now("b.txt", None, "b\n");
    assert_eq!(person.shown(), first);
    assert_eq!(person.message(), "Gemini CLI proposes b.txt · Tab shows it");
    person.open_now("c.txt", None, "c\n");
    assert_eq!(person.message(), "Gemini CLI proposes c.txt · f lists it");
    assert_eq!(outcomes(person.press("a")), accepted(1, "a\n"));
}

#[test]
fn a_view_elsewhere_in_the_list_goes_without_moving_the_one_that_is_shown() {
    let mut person = Person::new(80, 24);
    let first = person.open("a.txt", None, "a\n");
    let second = person.open("b.txt", None, "b\n");
    person.key(KeyCode::Tab);
    assert_eq!(person.shown(), second);
    person.close(first).unwrap();
    assert_eq!(person.shown(), second);
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(2, "b\n"));
}

#[test]
fn closing_answers_with_the_edited_text_and_only_once() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    assert!(
        matches!(&person.press("e")[..], [Effect::Edit { text, .. }] if text.as_deref() == Some("b\n"))
    );
    person.happens(Event::Saved(id, "half\n".into()));
    assert_eq!(person.close(id).as_deref(), Ok("half\n"));
    assert!(person.close(id).is_err());
    // The editor ends later: its text has no diff any more, and the driver keeps it.
    assert_eq!(
        outcomes(person.happens(Event::Edited(id, Edit::Text("x".into())))),
        []
    );
}

#[test]
fn notes_are_those_of_the_newest_proposal() {
    let mut person = Person::new(80, 24);
    person.notes = vec![
        "It is written with LF.".to_owned(),
        "And\x1b so on.".to_owned(),
    ];
    let id = person.open("a.txt", Some("a\n"), "b\n");
    let note = "It is written with LF. · And␛ so on.";
    assert_eq!(person.app.note().as_deref(), Some(note));
    person.notes.clear();
    person.propose(id, Dialect::ClaudeCode, "a.txt", Some("a\n"), "c\n");
    let note = person.app.note().unwrap_or_default();
    assert!(!note.contains("LF"), "{note}");
}

#[test]
fn a_diff_that_closes_before_it_is_compared_answers_with_what_was_proposed() {
    let mut person = Person::new(80, 24);
    let diff = Diff {
        id: DiffId(1),
        revision: 1,
        proposer: Dialect::GeminiCli.into(),
        number: 1,
        path: PathBuf::from("/work/shop/a.txt"),
        original: Default::default(),
        proposed: "new\n".to_owned().into(),
        notes: Vec::new(),
        hunks: Vec::new(),
        set: None,
        deletes: false,
        original_is_other: false,
        written: None,
        is_unclear: false,
        is_of_subagent: false,
        runner: None,
        mode: None,
    };
    let opened = Event::Opened {
        diff,
        original: None,
        shown: Reply::new(|_| ()),
    };
    let mut effects = person.app.update(opened, person.now);
    assert_eq!(person.close(DiffId(1)).as_deref(), Ok("new\n"));
    let Some(Effect::Compare(job)) = effects.pop() else {
        panic!("{effects:?}");
    };
    assert!(
        person
            .app
            .update(Event::Compared(job.run()), person.now)
            .is_empty()
    );
    assert!(person.app.views.is_empty());
}

#[test]
fn what_cannot_be_shown_is_accepted_on_second_thought_only() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.bin", Some("a\n"), "text\n");
    let binary = b"\xff\0\n".to_vec();
    person.happens(Event::Reread(id, Ok(Some(binary))));
    person.wait(700);
    assert_eq!(
        person.app.note().as_deref(),
        Some("the file is not shown: binary, 3 bytes")
    );
    person.press(" ");
    assert!(
        person.message().contains("this hunk stays"),
        "{}",
        person.message()
    );
    assert_eq!(outcomes(person.press("a")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("y")), accepted(1, "text\n"));
}

#[test]
fn quitting_asks_when_diffs_are_pending_and_rejects_them() {
    let mut person = Person::new(80, 24);
    assert!(quits(&person.press("q")));
    person.open("a.txt", None, "a\n");
    person.open("b.txt", None, "b\n");
    assert!(!quits(&person.press("q")));
    assert_eq!(outcomes(person.press("a")), []);
    assert!(!quits(&person.press("n")));
    assert_eq!(person.app.overlay, None);
    person.press("q");
    let effects = person.press("y");
    assert!(quits(&effects));
    assert_eq!(outcomes(effects), [], "another view may show them");
}

#[test]
fn being_stopped_quits_without_asking() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", None, "a\n");
    let effects = person.happens(Event::Stop);
    assert!(quits(&effects));
    assert_eq!(outcomes(effects), [], "another view may show it");
}

#[test]
fn hunks_are_walked_and_scrolling_takes_the_current_hunk_along() {
    let mut person = Person::new(80, 15);
    let before: String = (0..200).map(|line| format!("{line}\n")).collect();
    let after = before
        .replace("\n50\n", "\nfifty\n")
        .replace("\n150\n", "\nx\n");
    person.open("a.txt", Some(&before), &after);
    let hunk = |person: &Person| person.app.view().unwrap().hunk;
    person.press("x");
    person.press("n");
    assert_eq!(hunk(&person), 1);
    person.press("p");
    assert_eq!(hunk(&person), 0);
    person.press("G");
    // No hunk is visible here: the key goes to the hunk, it does not change what is not visible.
    person.press(" ");
    assert_eq!(person.app.view().unwrap().proposal.count().out, 0);
    person.press(" ");
    assert_eq!(person.app.view().unwrap().proposal.count().out, 1);
    for _ in 0..120 {
        person.press("j");
    }
    assert_eq!(hunk(&person), 1);
}

#[test]
fn any_keys_in_any_order_do_no_harm() {
    let mut person = Person::new(60, 15);
    let long = format!("{}\n", "x漢\t".repeat(5_000));
    let codes = "npjkhlgG0$uwc?z Z1239o\t";
    let mut seed = 7_u64;
    for round in (0..40).step_by(2) {
        person.open("a.txt", Some("a\nb\nc\n"), &format!("{long}b\n{long}"));
        person.open("b.txt", None, "");
        person.open("c.txt", Some("same\n"), "same\n");
        for _ in 0..200 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = usize::try_from(seed >> 33).unwrap() % codes.len();
            person.press(&codes[at..=at]);
            person.key(
                [
                    KeyCode::Tab,
                    KeyCode::PageDown,
                    KeyCode::PageUp,
                    KeyCode::End,
                ][at % 4],
            );
            person.key(KeyCode::Esc);
        }
        let size = Size::new(20 + round * 5, 3 + round);
        person.happens(Event::Resized(size));
        person.happens(Event::Resized(Size::new(60 + round * 3, 15)));
    }
}
