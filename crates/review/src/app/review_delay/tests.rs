//! A reviewer in front of a terminal that shows at once what is drawn, late, or nothing that it says.

use super::*;

const FRAME: Duration = Duration::from_millis(16);

struct Scene {
    delay: ReviewDelay,
    subject: Subject,
    now: Instant,
    /// The last question to the terminal.
    asked: Option<Mark>,
    answers_at_once: bool,
}

impl Scene {
    fn new() -> Self {
        let mut scene = Self::slow();
        scene.answers_at_once = true;
        scene.draw();
        scene.answer(scene.asked);
        scene
    }

    /// Nothing is answered by itself.
    fn slow() -> Self {
        let mut scene = Self {
            delay: ReviewDelay::default(),
            subject: Subject {
                id: DiffId(1),
                revision: 1,
                changes: 0,
                asked: None,
            },
            now: Instant::now(),
            asked: None,
            answers_at_once: false,
        };
        scene.draw();
        scene
    }

    fn draw(&mut self) {
        if let Some(mark) = self.delay.drawn(Some(self.subject), false, self.now) {
            self.asked = Some(mark);
            if self.answers_at_once {
                self.delay.answered(mark, self.now);
            }
        }
    }

    fn answer(&mut self, mark: Option<Mark>) {
        self.delay.answered(mark.unwrap(), self.now);
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    fn press(&mut self) -> Result<(), TooEarly> {
        self.press_as(false, false)
    }

    fn press_as(&mut self, is_held: bool, is_in_burst: bool) -> Result<(), TooEarly> {
        let press = Press {
            at: self.now,
            is_in_burst,
            is_held,
        };
        press.check()?;
        match self.delay.looked_at(&press, Some(self.subject)) {
            Some(time) if time >= LOOK => Ok(()),
            _ => Err(TooEarly::Unseen),
        }
    }

    /// The diff is decided, and the next one is drawn a frame later.
    fn next(&mut self) {
        self.subject.id.0 += 1;
        self.now += FRAME;
        self.draw();
    }
}

#[test]
fn a_steady_reviewer_decides_about_everything() {
    for interval in [150, 400, 650, 800] {
        let mut scene = Scene::new();
        let mut decided = 0;
        for _ in 0..60 {
            scene.wait(interval);
            if scene.press().is_ok() {
                decided += 1;
                scene.next();
            }
        }
        let most = 60 * interval / 1_500;
        assert!(decided >= most, "{interval}: {decided}");
    }
}

#[test]
fn another_key_than_the_one_that_decided_waits_as_long() {
    let mut scene = Scene::new();
    scene.wait(1_000);
    assert_eq!(scene.press(), Ok(()));
    scene.next();
    scene.wait(699);
    assert_eq!(scene.press(), Err(TooEarly::Unseen));
    scene.wait(1);
    assert_eq!(scene.press(), Ok(()));
}

#[test]
fn keys_that_were_pressed_before_the_frame_decide_nothing_however_late_it_is() {
    let mut scene = Scene::new();
    scene.wait(1_000);
    scene.subject.revision += 1;
    assert_eq!(scene.press(), Err(TooEarly::Unseen));
    scene.wait(10_000);
    assert_eq!(scene.press(), Err(TooEarly::Unseen), "nothing was drawn");
    let typed = scene.now;
    scene.wait(5_000);
    scene.draw();
    scene.now = typed;
    assert_eq!(scene.press(), Err(TooEarly::Unseen), "typed before");
}

#[test]
fn what_the_reviewer_changed_is_decided_about_once_it_is_drawn() {
    let mut scene = Scene::new();
    scene.wait(1_000);
    scene.subject.changes += 1;
    assert_eq!(scene.press(), Err(TooEarly::Unseen));
    scene.wait(1_000);
    scene.draw();
    assert_eq!(scene.press(), Ok(()));
}

#[test]
fn a_question_is_read_before_it_is_answered() {
    let mut scene = Scene::new();
    scene.wait(1_000);
    scene.subject.asked = Some(1);
    scene.draw();
    scene.wait(699);
    assert_eq!(scene.press(), Err(TooEarly::Unseen));
    scene.wait(1);
    assert_eq!(scene.press(), Ok(()));
}

#[test]
fn the_same_proposal_is_looked_at_again_after_it_was_covered() {
    let mut scene = Scene::new();
    scene.wait(1_000);
    scene.delay.drawn(None, false, scene.now);
    assert_eq!(scene.press(), Err(TooEarly::Unseen));
    scene.wait(1_000);
    scene.draw();
    scene.wait(699);
    assert_eq!(scene.press(), Err(TooEarly::Unseen));
    scene.delay.forget();
    scene.wait(1_000);
    assert_eq!(scene.press(), Err(TooEarly::Unseen));
}

#[test]
fn keys_that_arrive_together_and_held_ones_decide_nothing() {
    let mut scene = Scene::new();
    scene.wait(1_000);
    assert_eq!(scene.press_as(false, true), Err(TooEarly::Pasted));
    assert_eq!(scene.press_as(true, false), Err(TooEarly::Held));
    assert_eq!(scene.press(), Ok(()));
}

#[test]
fn on_a_slow_line_the_delay_begins_when_the_terminal_shows_the_text() {
    for late in [100, 3_000, 20_000] {
        let mut scene = Scene::slow();
        scene.answer(scene.asked);
        scene.wait(1_000);
        assert_eq!(scene.press(), Ok(()));
        scene.next();
        scene.wait(late);
        assert_eq!(scene.press(), Err(TooEarly::Unseen), "{late}");
        scene.answer(scene.asked);
        scene.wait(699);
        assert_eq!(scene.press(), Err(TooEarly::Unseen), "{late}");
        scene.wait(1);
        assert_eq!(scene.press(), Ok(()), "{late}");
    }
}

#[test]
fn an_answer_that_comes_late_or_twice_is_none_to_another_question() {
    let mut scene = Scene::slow();
    let first = scene.asked;
    scene.answer(first);
    scene.next();
    let second = scene.asked;
    scene.next();
    for mark in [first, second, second] {
        scene.answer(mark);
        scene.wait(1_000);
        assert_eq!(scene.press(), Err(TooEarly::Unseen));
    }
    scene.answer(scene.asked);
    scene.wait(500);
    scene.answer(scene.asked);
    scene.wait(200);
    assert_eq!(scene.press(), Ok(()), "the first answer counts");
}

#[test]
fn a_terminal_that_never_answers_is_waited_for_and_no_longer() {
    let mut scene = Scene::slow();
    for _ in 0..3 {
        scene.wait(2_699);
        assert!(scene.press().is_err());
        scene.wait(1);
        assert_eq!(scene.press(), Ok(()));
        scene.next();
    }
    // One that lost a question does not lock the reviewer out.
    let mut scene = Scene::new();
    scene.answers_at_once = false;
    scene.next();
    scene.wait(30_699);
    assert!(scene.press().is_err());
    scene.wait(1);
    assert_eq!(scene.press(), Ok(()));
}

#[test]
fn every_question_has_a_place_of_its_own() {
    let mut mark = Mark::default();
    for _ in 0..600 {
        let (row, column) = mark.place();
        assert_eq!(Mark::at(row, column), Some(mark));
        assert!(
            (2..=9).contains(&row) && (1..=40).contains(&column),
            "{mark:?}"
        );
        mark = mark.next();
    }
    for (row, column) in [(0, 0), (1, 2), (2, 33), (10, 1), (u16::MAX, u16::MAX)] {
        assert_eq!(Mark::at(row, column), None);
    }
}

/// The frame has the question, and the key that gives no answer to it means the proposal.
#[test]
fn what_was_on_the_screen_is_decided_about_beside_a_question() {
    let mut scene = Scene::new();
    scene.wait(1_000);
    scene.subject.asked = Some(1);
    scene.draw();
    scene.wait(16);
    assert_eq!(scene.press(), Err(TooEarly::Unseen), "the question is new");
    scene.subject.asked = None;
    assert_eq!(scene.press(), Ok(()));
    scene.subject.changes += 1;
    assert_eq!(scene.press(), Err(TooEarly::Unseen));
    // Nor does a question that no frame has.
    (scene.subject.changes, scene.subject.asked) = (0, Some(2));
    assert_eq!(scene.press(), Err(TooEarly::Unseen));
}
