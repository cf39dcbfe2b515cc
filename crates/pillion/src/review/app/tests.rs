//! The review as a person with a keyboard meets it, without terminal and files.

use std::sync::mpsc;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use pillion_protocol::Dialect;

use super::*;

/// A review with a clock that the test sets.
pub struct Person {
    pub app: App,
    pub now: Instant,
    next: u64,
    revision: u32,
    /// Which of the agents of its kind proposes.
    pub agent_number: u32,
}

impl Person {
    pub fn new(width: u16, height: u16) -> Self {
        let settings = Settings {
            roots: vec![PathBuf::from("/work/shop")],
        };
        Self {
            app: App::new(settings, Size::new(width, height)),
            now: Instant::now(),
            next: 1,
            revision: 0,
            agent_number: 1,
        }
    }

    /// An agent proposes a change, and the reviewer has had a look.
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
        agent: Dialect,
        name: &str,
        original: Option<&str>,
        proposed: &str,
    ) {
        let path = PathBuf::from("/work/shop").join(name);
        self.revision += 1;
        let diff = Diff {
            id,
            revision: self.revision,
            agent,
            agent_number: self.agent_number,
            path,
            original: Default::default(),
            proposed: proposed.into(),
        };
        let effects = self.happens(Event::Opened {
            diff,
            original: original.map(Into::into),
            shown: Reply::new(|_| ()),
        });
        assert!(matches!(effects[..], [Effect::Shown(_)]));
    }

    /// Something happens, and the screen is drawn at once.
    pub fn happens(&mut self, event: Event) -> Vec<Effect> {
        let effects = self.happens_undrawn(event);
        self.app.drawn(self.now);
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
        self.happens(Event::Key(self.press_of(code)))
    }

    fn press_of(&self, code: KeyCode) -> Press {
        Press {
            key: KeyEvent::new(code, KeyModifiers::NONE),
            at: self.now,
            is_in_burst: false,
        }
    }

    fn close(&mut self, id: DiffId) -> Result<String, String> {
        let (send, answer) = mpsc::channel();
        let closed = Reply::new(move |result| send.send(result).unwrap());
        let reason = CloseReason::ClosedByAgent;
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
        self.app.view().unwrap().id
    }

    fn message(&self) -> &str {
        self.app.message().map_or("", |message| &message.text)
    }
}

fn outcomes(effects: Vec<Effect>) -> Vec<(u64, Outcome)> {
    let outcome = |effect| match effect {
        Effect::Resolve(id, _, outcome) => Some((id.0, outcome)),
        _ => None,
    };
    effects.into_iter().filter_map(outcome).collect()
}

fn accepted(id: u64, content: &str) -> Vec<(u64, Outcome)> {
    let content = content.to_owned();
    vec![(id, Outcome::Accepted { content })]
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
fn a_new_diff_does_not_take_the_place_of_the_one_being_viewed() {
    let mut person = Person::new(80, 24);
    let first = person.open("a.txt", None, "a\n");
    person.open_now("b.txt", None, "b\n");
    assert_eq!(person.shown(), first);
    assert_eq!(person.message(), "Gemini CLI proposes b.txt · Tab shows it");
    assert_eq!(outcomes(person.press("a")), accepted(1, "a\n"));
}

#[test]
fn a_key_meant_for_a_view_that_vanished_does_not_hit_the_next() {
    let mut person = Person::new(80, 24);
    let first = person.open("a.txt", None, "a\n");
    person.open("b.txt", None, "b\n");
    assert_eq!(person.close(first).as_deref(), Ok("a\n"));
    assert_eq!(outcomes(person.press("ar ")), []);
    person.wait(500);
    assert_eq!(outcomes(person.press("r")), rejected(2));
}

#[test]
fn two_accepts_in_a_row_do_not_hit_two_diffs() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", None, "a\n");
    person.open("b.txt", None, "b\n");
    assert_eq!(outcomes(person.press("aa")), accepted(1, "a\n"));
}

/// Holds a key down for three seconds, as a terminal that repeats it 30 times a second.
fn hold(person: &mut Person, key: &str) -> Vec<Effect> {
    let mut effects = person.press(key);
    person.wait(500);
    for _ in 0..75 {
        effects.extend(person.press(key));
        person.wait(33);
    }
    effects
}

#[test]
fn a_held_key_decides_about_one_diff() {
    for key in ["a", "r"] {
        let mut person = Person::new(80, 24);
        for name in 0..12 {
            person.open_now(&format!("{name}.txt"), None, "a\n");
        }
        person.wait(1_000);
        assert_eq!(outcomes(hold(&mut person, key)).len(), 1);
        assert!(person.message().starts_with("a held key decides once"));
        person.wait(700);
        assert_eq!(outcomes(person.press(key)).len(), 1);
    }
}

#[test]
fn a_held_key_does_not_answer_the_question_that_it_raised() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    person.press(" ");
    assert_eq!(outcomes(hold(&mut person, "a")), []);
    assert!(person.message().starts_with("nothing left"));
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "a\n"));
}

#[test]
fn a_paste_decides_nothing_and_does_not_leave() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    let mut effects = Vec::new();
    for code in "aaaarrrr oeezZqy".chars().map(KeyCode::Char) {
        let is_in_burst = true;
        let press = Press {
            is_in_burst,
            ..person.press_of(code)
        };
        effects.extend(person.happens(Event::Key(press)));
    }
    assert!(effects.is_empty(), "{effects:?}");
    assert_eq!(person.message(), PASTED);
    person.happens(Event::Pasted);
    assert_eq!(person.message(), PASTED);
    assert_eq!(person.app.views.len(), 1);
}

#[test]
fn a_repeat_that_the_terminal_names_decides_nothing() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    let mut press = person.press_of(KeyCode::Char('a'));
    press.key.kind = KeyEventKind::Repeat;
    assert_eq!(outcomes(person.happens(Event::Key(press))), []);
    person.key(KeyCode::Char('q'));
    let mut press = person.press_of(KeyCode::Char('y'));
    press.key.kind = KeyEventKind::Repeat;
    assert!(!quits(&person.happens(Event::Key(press))));
}

#[test]
fn a_diff_that_is_not_drawn_yet_is_not_judged_however_long_it_takes() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    let other = person.open("b.txt", Some("a\n"), "b\n");
    let press = |person: &mut Person, code| {
        let press = person.press_of(code);
        person.now += Duration::from_secs(2);
        person.happens_undrawn(Event::Key(press))
    };
    // Another view comes up, the former one closes, the text is compared anew.
    press(&mut person, KeyCode::Tab);
    assert_eq!(person.shown(), other);
    assert_eq!(outcomes(press(&mut person, KeyCode::Char('a'))), []);
    person.wait(500);
    let closed = Reply::new(|_| ());
    let reason = CloseReason::ClosedByAgent;
    person.happens_undrawn(Event::Closed {
        id: other,
        reason,
        closed,
    });
    assert_eq!(person.shown(), id);
    assert_eq!(outcomes(press(&mut person, KeyCode::Char('r'))), []);
    person.wait(500);
    person.happens_undrawn(Event::Reread(id, Ok(Some("c\n".into()))));
    assert_eq!(outcomes(press(&mut person, KeyCode::Char('a'))), []);
    person.wait(500);
    person.happens_undrawn(Event::Edited(id, Edit::Text("mine\n".into())));
    assert_eq!(outcomes(press(&mut person, KeyCode::Char('a'))), []);
    person.happens(Event::Tick);
    person.wait(500);
    assert_eq!(outcomes(person.press("a")), accepted(1, "mine\n"));
}

#[test]
fn a_diff_that_was_covered_or_gone_from_the_terminal_is_looked_at_again() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    for cover in ["?", "q"] {
        person.press(cover);
        person.wait(1_000);
        person.key(KeyCode::Esc);
        assert_eq!(outcomes(person.press("a")), []);
        person.wait(700);
    }
    let suspend = KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL);
    let press = Press {
        key: suspend,
        ..person.press_of(KeyCode::Null)
    };
    person.happens(Event::Key(press));
    assert_eq!(outcomes(person.press("a")), []);
    person.wait(700);
    person.happens(Event::Resized(Size::new(30, 5)));
    person.wait(1_000);
    assert_eq!(outcomes(person.press("a")), [], "nothing is shown of it");
    person.happens(Event::Resized(Size::new(80, 24)));
    assert_eq!(outcomes(person.press("a")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "b\n"));
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
    person.wait(500);
    assert_eq!(outcomes(person.press("a")), accepted(2, "b\n"));
}

#[test]
fn closing_answers_with_the_edited_text_and_only_once() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    assert!(matches!(&person.press("e")[..], [Effect::Edit { text, .. }] if text == "b\n"));
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
fn the_editor_opens_at_the_line_of_the_hunk_as_the_text_stands() {
    let mut person = Person::new(80, 24);
    let [before, after] = FOUR;
    person.open("a.txt", Some(before), &format!("plus\nplus\n{after}"));
    let line = |person: &mut Person| match &person.press("e")[..] {
        [Effect::Edit { line, .. }] => *line,
        other => panic!("{other:?}"),
    };
    assert_eq!(line(&mut person), 1);
    person.press("nn");
    assert_eq!(line(&mut person), 11);
    person.press("pp nn");
    assert_eq!(line(&mut person), 9, "what is out takes no lines");
}

#[test]
fn an_edit_is_accepted_and_can_be_taken_back() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    person.press("e");
    person.happens(Event::Edited(id, Edit::Text("mine".into())));
    // What was typed while the editor closed is not a judgement.
    assert_eq!(outcomes(person.press("a")), []);
    person.wait(500);
    person.press("z");
    assert_eq!(person.app.view().unwrap().proposal.text(), "b\n");
    person.press("Z");
    assert_eq!(outcomes(person.press("a")), accepted(1, "mine"));
}

#[test]
fn edits_are_not_rejected_by_a_slip() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    person.happens(Event::Edited(id, Edit::Text("mine".into())));
    person.wait(500);
    assert_eq!(outcomes(person.press("r")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("nr")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("r")), rejected(1));
}

#[test]
fn accepting_nothing_asks_once_more() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", Some("a\n"), "b\n");
    assert_eq!(outcomes(person.press(" a")), []);
    assert!(person.message().starts_with("nothing left"));
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "a\n"));
}

#[test]
fn accepting_an_emptied_text_says_what_agents_do_with_it() {
    let mut person = Person::new(80, 24);
    let id = person.open("new.txt", None, "b\n");
    person.happens(Event::Edited(id, Edit::Text(String::new())));
    person.wait(500);
    assert_eq!(outcomes(person.press("a")), []);
    assert!(person.message().starts_with("agents take an empty text"));
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, ""));
}

#[test]
fn a_script_gets_an_emptied_text_like_any_other() {
    let mut person = Person::new(80, 24);
    let id = DiffId(1);
    person.propose(id, Dialect::Script, "new.txt", None, "b\n");
    person.happens(Event::Edited(id, Edit::Text(String::new())));
    person.wait(500);
    assert_eq!(outcomes(person.press("a")), accepted(1, ""));
}

#[test]
fn accepting_over_a_file_that_changed_on_disk_asks_once_more() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\n"), "a\nB\n");
    person.happens(Event::Disk(id, Disk::Changed));
    assert_eq!(outcomes(person.press("a")), []);
    assert!(matches!(&person.press("o")[..], [Effect::Reread(..)]));
    person.happens(Event::Reread(id, Ok(Some("c\nb\n".into()))));
    let note = "1 hunk would undo newer changes of the file";
    assert_eq!(person.app.note().as_deref(), Some(note));
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "c\nB\n"));
}

#[test]
fn a_merge_can_be_taken_back_and_the_file_is_then_known_to_be_another() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\n"), "a\nB\n");
    person.happens(Event::Reread(id, Ok(Some("c\nb\n".into()))));
    person.wait(700);
    person.press("z");
    assert_eq!(person.app.view().unwrap().proposal.text(), "a\nB\n");
    let note = "compared with an older text of the file · o merges both";
    assert_eq!(person.app.note().as_deref(), Some(note));
    assert_eq!(outcomes(person.press("a")), []);
    assert!(person.message().starts_with("the file changed on disk"));
    person.press("Z");
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "c\nB\n"));
}

#[test]
fn taking_in_what_undoes_a_newer_change_asks_once_more() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\nb\n"), "a\nB\n");
    person.happens(Event::Reread(id, Ok(Some("a\nmine\n".into()))));
    person.wait(700);
    assert_eq!(person.app.view().unwrap().proposal.text(), "a\nmine\n");
    person.press(" ");
    assert_eq!(outcomes(person.press("a")), []);
    assert!(person.message().contains("undoes newer changes"));
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(1, "a\nB\n"));
}

const FOUR: [&str; 2] = [
    "1\n-\n-\n-\n2\n-\n-\n-\n3\n-\n-\n-\n4\n",
    "I\n-\n-\n-\nII\n-\n-\n-\nIII\n-\n-\n-\nIV\n",
];

#[test]
fn hunks_that_were_taken_out_stay_out_in_a_newer_proposal() {
    let mut person = Person::new(80, 24);
    let [before, after] = FOUR;
    let id = person.open("a.txt", Some(before), after);
    person.press(" nn ");
    let newer = after.replace("IV\n", "IV\nplus\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(before), &newer);
    let count = person.app.view().unwrap().proposal.count();
    assert_eq!((count.hunks, count.out), (4, 2));
    let note = "1 hunk new since you looked";
    assert_eq!(person.app.note().as_deref(), Some(note));
    person.wait(500);
    let expected = "1\n-\n-\n-\nII\n-\n-\n-\n3\n-\n-\n-\nIV\nplus\n";
    assert_eq!(outcomes(person.press("a")), accepted(1, expected));
}

#[test]
fn what_changed_where_a_hunk_was_taken_out_is_asked_about() {
    let mut person = Person::new(80, 24);
    let [before, after] = FOUR;
    let id = person.open("a.txt", Some(before), after);
    person.press(" ");
    let newer = after.replace("I\n-", "One\n-");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some(before), &newer);
    person.wait(500);
    assert_eq!(outcomes(person.press("a")), []);
    assert!(person.message().starts_with("a hunk changed since"));
    person.wait(700);
    person.press("z");
    let former = person.app.view().unwrap().proposal.text();
    assert_eq!(former, after.replacen("I\n", "1\n", 1), "z goes back");
    person.press("Z");
    // Whoever took it out and in again has seen it.
    person.press("  ");
    assert_eq!(outcomes(person.press("a")), accepted(1, &newer));
}

#[test]
fn nothing_is_judged_while_texts_are_compared_and_closing_answers_with_the_newest() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "old\n");
    let diff = Diff {
        id,
        revision: 9,
        agent: Dialect::GeminiCli,
        agent_number: 1,
        path: PathBuf::from("/work/shop/a.txt"),
        original: Default::default(),
        proposed: "newer\n".into(),
    };
    let opened = Event::Opened {
        diff,
        original: Some("a\n".into()),
        shown: Reply::new(|_| ()),
    };
    let mut effects = person.app.update(opened, person.now);
    let Some(Effect::Compare(job)) = effects.pop() else {
        panic!("{effects:?}");
    };
    person.app.drawn(person.now);
    for ms in [0, 500, 5_000] {
        person.wait(ms);
        person.happens(Event::Resized(Size::new(100, 30)));
        assert_eq!(outcomes(person.press("ar ")), []);
    }
    // The reviewer's editor ends meanwhile, and its text waits for its turn.
    person.happens(Event::Edited(id, Edit::Text("mine\n".into())));
    assert!(person.app.view().unwrap().is_comparing());
    let compared = person.app.update(Event::Compared(job.run()), person.now);
    assert!(matches!(
        &compared[..],
        [Effect::Shown(_), Effect::Compare(_)]
    ));
    assert_eq!(outcomes(person.press("a")), []);
    assert_eq!(person.close(id).as_deref(), Ok("mine\n"));
}

#[test]
fn a_diff_that_closes_before_it_is_compared_answers_with_what_was_proposed() {
    let mut person = Person::new(80, 24);
    let diff = Diff {
        id: DiffId(1),
        revision: 1,
        agent: Dialect::GeminiCli,
        agent_number: 1,
        path: PathBuf::from("/work/shop/a.txt"),
        original: Default::default(),
        proposed: "new\n".into(),
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
    assert_eq!(outcomes(person.press("a")), accepted(1, "text\n"));
    let long = "x".repeat(2 << 20);
    person.open("b.txt", None, &long);
    assert_eq!(outcomes(person.press("a")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("a")), accepted(2, &long));
}

#[test]
fn a_newer_proposal_is_not_judged_unseen() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "c\n");
    assert_eq!(person.app.views.len(), 1);
    assert_eq!(outcomes(person.press("a")), []);
    person.wait(500);
    assert_eq!(outcomes(person.press("a")), accepted(1, "c\n"));
}

#[test]
fn a_decision_names_the_proposal_that_was_seen() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "b\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "c\n");
    person.wait(500);
    let effects = person.press("a");
    assert!(matches!(effects[..], [Effect::Resolve(_, 2, _)]));
}

#[test]
fn an_edit_of_a_replaced_proposal_does_not_become_the_newer_one() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "first\n");
    assert!(matches!(
        person.press("e")[..],
        [Effect::Edit { revision: 1, .. }]
    ));
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "second\n");
    person.wait(60_000);
    let kept = "your text is kept in /tmp/x".to_owned();
    person.happens(Event::Edited(id, Edit::Outdated(Some(kept.clone()))));
    assert_eq!(outcomes(person.press("a")), []);
    person.happens(Event::Edited(id, Edit::Outdated(Some(kept.clone()))));
    person.wait(30_000);
    assert_eq!(person.message(), kept);
    assert_eq!(outcomes(person.press("a")), accepted(1, "second\n"));
}

#[test]
fn an_unchanged_edit_of_a_replaced_proposal_tells_of_the_newer_one() {
    let mut person = Person::new(80, 24);
    let id = person.open("a.txt", Some("a\n"), "first\n");
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "second\n");
    person.wait(60_000);
    person.happens(Event::Edited(id, Edit::Outdated(None)));
    assert!(person.message().contains("has a newer proposal for a.txt"));
}

/// What is kept when the view closes for `reason`.
fn kept(person: &mut Person, id: DiffId, reason: CloseReason) -> Option<String> {
    let closed = Reply::new(|_| ());
    let effects = person.happens(Event::Closed { id, reason, closed });
    effects.into_iter().find_map(|effect| match effect {
        Effect::Keep(_, text) => Some(text),
        _ => None,
    })
}

#[test]
fn an_edit_that_is_only_in_the_history_is_kept_when_the_agent_goes() {
    let edited = |person: &mut Person| {
        let id = person.open("a.txt", Some("a\n"), "b\n");
        person.happens(Event::Edited(id, Edit::Text("mine\n".into())));
        person.wait(500);
        id
    };
    let mine = Some("mine\n".to_owned());
    let mut person = Person::new(80, 24);
    for reason in [
        CloseReason::AgentGone,
        CloseReason::NotShown,
        CloseReason::Overruled,
    ] {
        let id = edited(&mut person);
        person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "c\n");
        assert_eq!(kept(&mut person, id, reason), mine);
        let id = edited(&mut person);
        person.press("z");
        assert_eq!(kept(&mut person, id, reason), mine);
    }
    let id = edited(&mut person);
    person.propose(id, Dialect::GeminiCli, "a.txt", Some("a\n"), "c\n");
    person.wait(500);
    assert_eq!(outcomes(person.press("r")), []);
    person.wait(700);
    assert_eq!(outcomes(person.press("r")), rejected(id.0));
}

#[test]
fn an_edit_that_is_given_back_is_not_kept_as_well() {
    let mut person = Person::new(80, 24);
    for reason in [CloseReason::Settled, CloseReason::ClosedByAgent] {
        let id = person.open("a.txt", Some("a\n"), "b\n");
        person.happens(Event::Edited(id, Edit::Text("mine\n".into())));
        assert_eq!(kept(&mut person, id, reason), None);
    }
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
    let both = [(1, Outcome::Rejected), (2, Outcome::Rejected)];
    assert_eq!(outcomes(effects), both);
}

#[test]
fn being_stopped_rejects_without_asking() {
    let mut person = Person::new(80, 24);
    person.open("a.txt", None, "a\n");
    let effects = person.happens(Event::Stop);
    assert!(quits(&effects));
    assert_eq!(outcomes(effects), rejected(1));
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
    person.press("c");
    person.press("n");
    assert_eq!(hunk(&person), 1);
    person.press("p");
    assert_eq!(hunk(&person), 0);
    person.press("G");
    // No hunk is visible here: the key looks for the hunk, it does not change what nobody sees.
    person.press(" ");
    assert_eq!(person.app.view().unwrap().proposal.count().out, 0);
    person.press(" ");
    assert_eq!(person.app.view().unwrap().proposal.count().out, 1);
    for _ in 0..100 {
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
    for round in 0..40 {
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
