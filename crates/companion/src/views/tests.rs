//! The views that show each proposal, and the handling of their answers.

mod guests;
mod sets;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pillion_discovery::Environment;
use pillion_protocol::{Cursor, Dialect};
use pillion_view::Original;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;

/// The requests to a view, in one word each, and the replies that it has not given.
#[derive(Default)]
struct Asked {
    words: Vec<String>,
    opens: Vec<Reply<()>>,
    closes: Vec<Reply<String>>,
}

struct Scene {
    views: Views,
    events: UnboundedReceiver<Event>,
    asked: Vec<Arc<Mutex<Asked>>>,
    now: Instant,
}

fn options(shows: Shows, root: &str) -> Options {
    Options {
        environment: Environment::from_pairs::<&str, &str>([]),
        editor_pid: 1,
        ide: IdeInfo::new(format!("{shows:?}"), "Editor"),
        roots: vec![root.into()],
        shows,
    }
}

fn editor(asked: &Arc<Mutex<Asked>>) -> Box<dyn Editor> {
    let asked = Arc::clone(asked);
    Box::new(move |event: EditorEvent| {
        let mut asked = asked.lock().unwrap();
        match event {
            EditorEvent::Open(diff, shown) => {
                asked.words.push(format!("open {}", diff.key()));
                asked.opens.push(shown);
            }
            EditorEvent::Close(id, reason, closed) => {
                asked.words.push(format!("close {id} {reason:?}"));
                asked.closes.push(closed);
            }
            EditorEvent::Text(key, told) => {
                asked.words.push(format!("text {key}"));
                told.done(String::new());
            }
            EditorEvent::Shared(key) => asked.words.push(format!("shared {key}")),
            EditorEvent::Draft(key, text) => asked.words.push(format!("draft {key} {text}")),
            EditorEvent::Notes(key, notes) => {
                asked.words.push(format!("notes {key} {}", notes.len()))
            }
            EditorEvent::Stopped => asked.words.push("stopped".to_owned()),
            EditorEvent::Diagnostics(..)
            | EditorEvent::Status(_)
            | EditorEvent::Lost(_)
            | EditorEvent::Moved(_) => {}
        }
    })
}

fn diff(id: u64, revision: u32) -> Diff {
    Diff {
        id: DiffId(id),
        revision,
        proposer: Dialect::ClaudeCode.into(),
        number: 1,
        path: "/w/a/file".into(),
        original: Original::default(),
        proposed: Arc::new("proposed".to_owned()),
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
    }
}

fn left_over(view: u32, text: &str) -> Leftover {
    let (view, text) = (ViewId(view), text.to_owned());
    Leftover {
        view,
        diff: diff(1, 1),
        text,
    }
}

impl Scene {
    fn new(shows: Shows, root: &str) -> Self {
        let (sender, events) = unbounded_channel();
        let asked = Arc::default();
        let views = Views::new(options(shows, root), editor(&asked), sender);
        Self {
            views,
            events,
            asked: vec![asked],
            now: Instant::now(),
        }
    }

    fn add(&mut self, shows: Shows, root: &str) -> ViewId {
        let asked = Arc::default();
        let id = ViewId(u32::try_from(self.asked.len()).unwrap());
        self.views.add(id, options(shows, root), editor(&asked));
        self.asked.push(asked);
        id
    }

    /// Returns what the views were asked since.
    fn words(&self) -> Vec<Vec<String>> {
        let take = |asked: &Arc<Mutex<Asked>>| std::mem::take(&mut asked.lock().unwrap().words);
        self.asked.iter().map(take).collect()
    }

    fn shows(&mut self, view: usize, result: Result<(), &str>) -> Option<ShownResult> {
        let shown = self.asked[view].lock().unwrap().opens.remove(0);
        match result {
            Ok(()) => shown.done(()),
            Err(why) => shown.failed(why),
        }
        match self.events.try_recv().unwrap() {
            Event::Shown(view, key, result) => self.views.shown(view, key, result),
            other => panic!("{other:?}"),
        }
    }

    fn closes(&mut self, view: usize, text: Result<&str, &str>) -> Closed {
        let closed = self.asked[view].lock().unwrap().closes.remove(0);
        match text {
            Ok(text) => closed.done(text.to_owned()),
            Err(why) => closed.failed(why),
        }
        match self.events.try_recv().unwrap() {
            Event::Closed(view, key, text) => self.views.closed(view, key, text, self.now),
            other => panic!("{other:?}"),
        }
    }

    fn reads(&mut self, view: ViewId, path: &str, line: u32) -> Reported {
        let cursor = Some(Cursor { line, character: 1 });
        let file = File {
            cursor,
            ..File::focused(path, 1)
        };
        self.views.report(view, vec![file], None)
    }
}

#[test]
fn a_proposal_is_shown_where_the_person_was_last_and_in_every_review() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    let second = scene.add(Shows::LastUsed, "/w");
    scene.add(Shows::Always, "/w");
    scene.add(Shows::Alone, "/w");
    scene.add(Shows::Never, "/w");
    scene.views.open(diff(1, 1));
    let [first, other, review, alone, never] = &scene.words()[..] else {
        panic!()
    };
    assert_eq!(
        (other, review),
        (&vec!["open 1.1".to_owned()], &vec!["open 1.1".to_owned()])
    );
    assert!(first.is_empty() && alone.is_empty() && never.is_empty());
    scene.reads(second, "/w/x", 1);
    scene.reads(ViewId::FIRST, "/w/y", 1);
    scene.views.open(diff(2, 1));
    assert_eq!(scene.words()[..2], [vec!["open 2.1"], vec![]]);
}

#[test]
fn the_view_whose_roots_hold_the_file_goes_before_the_one_that_was_used_last() {
    let mut scene = Scene::new(Shows::LastUsed, "/w/a");
    scene.add(Shows::LastUsed, "/w/b");
    scene.views.open(diff(1, 1));
    assert_eq!(scene.words(), [vec!["open 1.1"], vec![]]);
}

#[test]
fn a_file_that_is_only_reported_again_is_no_use_of_its_view() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    let second = scene.add(Shows::LastUsed, "/w");
    scene.reads(ViewId::FIRST, "/w/x", 1);
    let reported = scene.reads(second, "/w/y", 1);
    assert_eq!(
        reported
            .files
            .iter()
            .filter(|file| file.is_focused())
            .count(),
        1
    );
    assert_eq!(reported.files[0].path, "/w/y");
    assert_eq!(scene.reads(ViewId::FIRST, "/w/x", 1).files[0].path, "/w/y");
    assert_eq!(scene.reads(ViewId::FIRST, "/w/x", 2).files[0].path, "/w/x");
}

#[test]
fn the_agent_hears_once_that_it_is_shown_and_only_of_the_last_that_cannot() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.add(Shows::Always, "/w");
    scene.views.open(diff(1, 1));
    assert_eq!(scene.shows(0, Err("no room")), None, "the review may");
    assert_eq!(scene.shows(1, Ok(())), Some(ShownResult::Shown));
    scene.views.open(diff(1, 2));
    let words = scene.words();
    assert_eq!(words[1], ["open 1.1", "open 1.2"]);
    let all = ["open 1.1", "close 1 NotShown", "open 1.2"];
    assert_eq!(words[0], all, "it may be able to show this one");
    assert_eq!(scene.shows(0, Ok(())), Some(ShownResult::Shown));
    assert_eq!(scene.shows(1, Ok(())), None);
}

#[test]
fn where_no_view_can_show_it_the_next_is_asked_and_then_the_agent_hears_why() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.add(Shows::LastUsed, "/w");
    scene.views.open(diff(1, 1));
    assert_eq!(scene.words(), [vec![], vec!["open 1.1"]]);
    assert_eq!(scene.shows(1, Err("no room")), None);
    assert_eq!(scene.words(), [vec!["open 1.1"], vec!["close 1 NotShown"]]);
    let why = ShownResult::NotShown("no room, either".to_owned());
    assert_eq!(scene.shows(0, Err("no room, either")), Some(why));
}

#[test]
fn a_review_that_comes_later_shows_what_waits_and_an_editor_only_what_nobody_sees() {
    let mut scene = Scene::new(Shows::Alone, "/w");
    scene.views.open(diff(1, 1));
    scene.add(Shows::LastUsed, "/w");
    scene.add(Shows::Always, "/w");
    scene.add(Shows::LastUsed, "/w");
    let opened = vec!["open 1.1"];
    assert_eq!(scene.words(), [vec![], opened.clone(), opened, vec![]]);
}

#[test]
fn a_page_that_nobody_has_open_is_shown_nothing_and_once_it_is_open_all_that_waits() {
    let mut scene = Scene::new(Shows::Always, "/w");
    scene.add(Shows::LastUsed, "/w");
    assert!(scene.views.shows_diffs());
    scene.views.now_shows(ViewId::FIRST, Shows::Never);
    scene.views.open(diff(1, 1));
    assert_eq!(scene.words(), [vec![], vec!["open 1.1"]]);
    assert_eq!(scene.shows(1, Ok(())), Some(ShownResult::Shown));
    scene.views.now_shows(ViewId::FIRST, Shows::Always);
    assert_eq!(scene.words(), [vec!["open 1.1"], vec![]]);
    // It could not show it, and somebody opens it again.
    assert_eq!(scene.shows(0, Err("nobody has it open")), None);
    scene.views.now_shows(ViewId::FIRST, Shows::Never);
    scene.views.now_shows(ViewId::FIRST, Shows::Always);
    let again = vec!["close 1 NotShown", "open 1.1"];
    assert_eq!(scene.words(), [again, vec![]]);
}

/// A view that shows nothing has no part in what becomes of a proposal.
#[test]
fn a_proposal_that_is_not_shown_is_kept_as_it_came() {
    let mut scene = Scene::new(Shows::Alone, "/w");
    for revision in [1, 2] {
        scene.views.open(diff(1, revision));
        let shown = scene.events.try_recv().unwrap();
        assert!(matches!(shown, Event::Shown(_, key, Ok(())) if key.revision == revision));
    }
    let text = |scene: &mut Scene, revision| {
        let (sender, told) = crossbeam_channel::unbounded();
        let reply = Reply::new(move |text| sender.send(text).unwrap());
        scene.views.ask_text(diff(1, revision).key(), reply);
        told.recv().unwrap()
    };
    assert!(text(&mut scene, 1).is_err(), "a newer one is there");
    assert_eq!(text(&mut scene, 2), Ok("proposed".to_owned()));
    scene
        .views
        .close(diff(1, 2).key(), CloseReason::ClosedByAgent);
    let closed = scene.events.try_recv().unwrap();
    assert!(matches!(closed, Event::Closed(_, _, Ok(text)) if text == "proposed"));
    assert!(text(&mut scene, 2).is_err(), "it is gone");
    assert_eq!(scene.words(), [[""; 0]]);
}

#[test]
fn who_leaves_hands_over_to_the_next() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    let second = scene.add(Shows::LastUsed, "/w");
    scene.views.open(diff(1, 1));
    scene.shows(1, Ok(()));
    scene.words();
    assert_eq!(scene.views.remove(second, scene.now), []);
    assert_eq!(scene.words()[0], ["open 1.1"]);
    assert_eq!(scene.shows(0, Ok(())), None, "the agent knows");
}

#[test]
fn what_no_view_is_left_for_is_told() {
    let mut scene = Scene::new(Shows::Never, "/w");
    let editor = scene.add(Shows::LastUsed, "/w");
    scene.views.open(diff(1, 1));
    scene.shows(1, Ok(()));
    scene.views.open(diff(2, 1));
    let told = scene.views.remove(editor, scene.now);
    assert_eq!(told[0], (diff(1, 1).key(), ShownResult::Unseen));
    assert!(matches!(told[1].1, ShownResult::NotShown(_)));
    scene.views.open(diff(3, 1));
    assert!(matches!(
        scene.events.try_recv(),
        Ok(Event::Shown(_, _, Err(_)))
    ));
}

#[test]
fn closed_is_what_was_edited_or_else_what_was_used_last() {
    for (first, review, expected) in [
        (Ok("proposed"), Ok("proposed"), Ok("proposed")),
        (Ok("mine"), Ok("proposed"), Ok("mine")),
        (Ok("proposed"), Ok("mine"), Ok("mine")),
        (Ok("mine"), Ok("other"), Ok("other")),
        (Err("gone"), Ok("proposed"), Ok("proposed")),
        (Err("gone"), Err("gone, too"), Err("gone, too")),
    ] {
        let mut scene = Scene::new(Shows::LastUsed, "/w");
        scene.add(Shows::Always, "/w");
        scene.views.open(diff(1, 1));
        scene
            .views
            .close(diff(1, 1).key(), CloseReason::ClosedByAgent);
        assert_eq!(scene.closes(0, first), Closed::default());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(scene.closes(1, review).text, Some(expected));
    }
}

/// It shows and is told, but nothing that it says counts.
#[test]
fn a_view_that_an_agent_started_does_not_say_what_is_accepted() {
    for (own, agents, expected) in [
        (Ok("proposed"), Ok("evil"), Ok("proposed")),
        (Ok("mine"), Ok("evil"), Ok("mine")),
        (Err("gone"), Ok("evil"), Ok("proposed")),
        (Err("gone"), Err("gone, too"), Err("gone, too")),
    ] {
        let mut scene = Scene::new(Shows::LastUsed, "/w");
        let agents_view = scene.add(Shows::Always, "/w");
        scene.views.is_of_agent(agents_view, true);
        scene.views.open(diff(1, 1));
        assert_eq!(scene.words(), [["open 1.1"], ["open 1.1"]], "it looks");
        scene.views.close(diff(1, 1).key(), CloseReason::Settled);
        assert_eq!(scene.closes(0, own), Closed::default());
        let closed = scene.closes(1, agents);
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(closed.text, Some(expected));
        let is_mine = |it: &Leftover| it.view == ViewId::FIRST;
        assert!(closed.leftovers.iter().all(is_mine), "nobody wrote that");
    }
}

#[test]
fn a_view_that_an_agent_started_takes_no_proposal_from_the_persons() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    let agents = scene.add(Shows::LastUsed, "/w");
    scene.views.is_of_agent(agents, true);
    scene.views.used(agents);
    scene.views.open(diff(1, 1));
    assert_eq!(scene.words(), [vec!["open 1.1"], vec![]]);
    scene.views.report(agents, Vec::new(), Some(true));
    scene.views.is_of_agent(agents, true);
    assert_eq!(scene.views.reported().is_trusted, None);
    let (sender, told) = crossbeam_channel::unbounded();
    let reply = Reply::new(move |text| sender.send(text).unwrap());
    scene.views.ask_text(diff(1, 1).key(), reply);
    assert_eq!(told.recv().unwrap(), Ok(String::new()));
    assert_eq!(scene.words(), [vec!["text 1.1"], vec![]]);
    // What was shown there alone comes to the person's editor, too.
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.views.open(diff(1, 1));
    scene.add(Shows::LastUsed, "/w");
    scene.words();
    scene.views.is_of_agent(ViewId::FIRST, true);
    assert_eq!(scene.words(), [vec![], vec!["open 1.1"]]);
}

#[test]
fn of_two_edits_the_one_that_the_agent_does_not_get_is_left_over() {
    for reason in [CloseReason::ClosedByAgent, CloseReason::Settled] {
        let mut scene = Scene::new(Shows::LastUsed, "/w");
        scene.add(Shows::Always, "/w");
        scene.add(Shows::Always, "/w");
        scene.views.open(diff(1, 1));
        scene.views.close(diff(1, 1).key(), reason);
        scene.closes(0, Ok("one"));
        scene.closes(1, Ok("two"));
        let closed = scene.closes(2, Ok("proposed"));
        assert_eq!(closed.text, Some(Ok("two".to_owned())));
        assert_eq!(closed.leftovers, [left_over(0, "one")]);
    }
}

#[test]
fn what_comes_late_is_left_over_too_also_when_the_rest_is_settled() {
    // Nobody waits for a view that hangs, but what was written in it comes some time.
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    let (key, accepted) = (diff(1, 1).key(), Some(Arc::new("accepted".to_owned())));
    scene.add(Shows::Always, "/w");
    scene.add(Shows::Always, "/w");
    scene.views.open(diff(1, 1));
    scene
        .views
        .decided(Decider::View(ViewId::FIRST), key, accepted, scene.now);
    assert_eq!(scene.closes(1, Ok("proposed")), Closed::default());
    scene.now += Duration::from_secs(60);
    assert_eq!(scene.views.due(), None);
    assert_eq!(scene.views.elapse(scene.now), []);
    let late = scene.closes(2, Ok("mine"));
    assert_eq!(late.leftovers, [left_over(2, "mine")]);

    scene.views.open(diff(2, 1));
    scene.views.close(diff(2, 1).key(), CloseReason::Settled);
    scene.closes(0, Ok("one"));
    let due = scene.views.due().unwrap();
    let text = scene.views.elapse(due)[0].1.text.clone();
    assert_eq!(text, Some(Ok("one".to_owned())));
    let late = scene.closes(1, Ok("two"));
    assert_eq!((late.text, late.leftovers.len()), (None, 1));
    assert_eq!(
        scene.closes(2, Ok("one")),
        Closed::default(),
        "it was taken"
    );
}

#[test]
fn one_that_leaves_while_it_closes_is_not_waited_for() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    let review = scene.add(Shows::Always, "/w");
    scene.views.open(diff(1, 1));
    let key = diff(1, 1).key();
    scene.views.close(key, CloseReason::ClosedByAgent);
    scene.closes(0, Ok("mine"));
    scene.views.remove(review, scene.now);
    let closed = scene.views.elapse(scene.now);
    assert_eq!(closed[0].1.text, Some(Ok("mine".to_owned())));
    assert_eq!(scene.views.elapse(scene.now), []);
}

#[test]
fn a_view_that_hangs_is_not_waited_for_long() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.add(Shows::Always, "/w");
    scene.views.open(diff(1, 1));
    let key = diff(1, 1).key();
    scene.views.close(key, CloseReason::Settled);
    assert_eq!(
        scene.views.due(),
        None,
        "the whole has a deadline elsewhere"
    );
    assert_eq!(scene.closes(1, Ok("mine")), Closed::default());
    let due = scene.views.due().unwrap();
    assert_eq!(scene.views.elapse(due - Duration::from_millis(1)), []);
    let text = Some(Ok("mine".to_owned()));
    let leftovers = Vec::new();
    assert_eq!(scene.views.elapse(due), [(key, Closed { text, leftovers })]);
    assert_eq!(scene.views.due(), None);
}

#[test]
fn what_a_command_could_not_take_stays_shown() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.views.open(diff(1, 1));
    let key = diff(1, 1).key();
    scene.views.close(key, CloseReason::Settled);
    let closed = scene.closes(0, Err("busy"));
    assert_eq!(closed.text, Some(Err("busy".to_owned())));
    scene.words();
    scene.views.close(key, CloseReason::Settled);
    assert_eq!(scene.words()[0], ["close 1 Settled"]);
}

#[test]
fn who_decides_first_wins_and_what_was_written_elsewhere_is_left_over() {
    for (elsewhere, left) in [
        ("proposed", None),
        ("accepted", None),
        ("mine", Some("mine")),
    ] {
        let mut scene = Scene::new(Shows::LastUsed, "/w");
        scene.add(Shows::Always, "/w");
        scene.views.open(diff(1, 1));
        scene.words();
        let accepted = Some(Arc::new("accepted".to_owned()));
        scene.views.decided(
            Decider::View(ViewId::FIRST),
            diff(1, 1).key(),
            accepted,
            scene.now,
        );
        assert_eq!(scene.words(), [vec![], vec!["close 1 AcceptedElsewhere"]]);
        let expected: Vec<_> = left.map(|text| left_over(1, text)).into_iter().collect();
        let closed = scene.closes(1, Ok(elsewhere));
        assert_eq!((closed.text, closed.leftovers), (None, expected));
    }
}

#[test]
fn a_rejection_elsewhere_is_said_to_be_one() {
    let mut scene = Scene::new(Shows::LastUsed, "/w");
    scene.add(Shows::Always, "/w");
    scene.views.open(diff(1, 1));
    scene.words();
    scene
        .views
        .decided(Decider::View(ViewId(1)), diff(1, 1).key(), None, scene.now);
    assert_eq!(scene.words(), [vec!["close 1 RejectedElsewhere"], vec![]]);
    assert_eq!(
        scene.closes(0, Ok("mine")).leftovers,
        [left_over(0, "mine")]
    );
}

#[test]
fn of_problems_of_one_file_those_of_the_view_that_was_used_last_count() {
    type Found = Vec<FileDiagnostics>;
    let file = |uri: &str, number: usize| FileDiagnostics {
        uri: uri.to_owned(),
        diagnostics: Vec::with_capacity(number),
    };
    let (sender, _events) = unbounded_channel();
    let answering = |answer: Found| -> Box<dyn Editor> {
        Box::new(move |event: EditorEvent| {
            if let EditorEvent::Diagnostics(_, found) = event {
                found.done(answer.clone());
            }
        })
    };
    let first = answering(vec![file("a", 0), file("b", 0)]);
    let mut views = Views::new(options(Shows::LastUsed, "/w"), first, sender);
    let second = answering(vec![file("c", 0), file("a", 0)]);
    views.add(ViewId(1), options(Shows::LastUsed, "/w"), second);
    let told = Arc::new(Mutex::new(None));
    let tell = Arc::clone(&told);
    let found = Reply::new(move |found: Result<Found, String>| {
        *tell.lock().unwrap() = Some(found.unwrap());
    });
    views.ask_diagnostics(None, found);
    let told = told.lock().unwrap().take().unwrap();
    let uris: Vec<_> = told.iter().map(|file| file.uri.as_str()).collect();
    assert_eq!(uris, ["c", "a", "b"]);
}

#[test]
fn roots_and_name_are_those_of_all() {
    let mut scene = Scene::new(Shows::Always, "/w");
    assert_eq!(scene.views.ide().unwrap().name, "Always");
    let second = scene.add(Shows::LastUsed, "/w/a");
    scene.add(Shows::LastUsed, "/w");
    assert_eq!(scene.views.ide().unwrap().name, "LastUsed");
    assert_eq!(scene.views.roots(), ["/w", "/w/a"].map(PathBuf::from));
    scene.views.remove(second, scene.now);
    assert_eq!(scene.views.roots(), ["/w"].map(PathBuf::from));
    assert!(!scene.views.is_last(ViewId::FIRST));
}

#[test]
fn what_a_view_has_read_is_new_to_its_person_for_as_long_as_a_look_takes() {
    let mut scene = Scene::new(Shows::Always, "/w");
    let other = scene.add(Shows::Always, "/w");
    let path = PathBuf::from("/w/a");
    let at = |ms| scene.now + Duration::from_millis(ms);
    let views = &mut scene.views;
    views.has_read(ViewId::FIRST, path.clone(), at(0));
    assert_eq!(
        views.just_read(ViewId::FIRST, at(699)),
        std::slice::from_ref(&path)
    );
    assert_eq!(views.just_read(other, at(0)), [] as [PathBuf; 0]);
    assert_eq!(views.just_read(ViewId::FIRST, at(700)), [] as [PathBuf; 0]);
    views.has_read(ViewId::FIRST, path.clone(), at(800));
    views.has_read(ViewId::FIRST, path.clone(), at(1200));
    assert_eq!(views.just_read(ViewId::FIRST, at(1899)), [path]);
    assert_eq!(views.just_read(ViewId::FIRST, at(1900)), [] as [PathBuf; 0]);
}
