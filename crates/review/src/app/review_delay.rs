//! When a key may decide: not before what it decides about has been drawn, not while a key is held
//! down, and not as part of a paste. No clock of its own.

use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use pillion_companion::DiffId;

/// After something else was drawn under the reviewer's fingers, no key decides about it for so
/// long. A key that comes too early starts the delay anew: a held key never outlasts it.
pub const REVIEW_DELAY: Duration = Duration::from_millis(400);

/// The key that decided acts again only after so much silence. A held key is silent before it
/// begins to repeat: 660 ms where X11 is left as it is, 200 to 500 ms elsewhere.
pub const REPEAT_DELAY: Duration = Duration::from_millis(700);

/// A key as it was pressed.
#[derive(Debug, Clone, Copy)]
pub struct Press {
    /// Which.
    pub key: KeyEvent,
    /// When it was read.
    pub at: Instant,
    /// Whether it arrived together with another key, which no person's keys do.
    pub is_in_burst: bool,
}

impl Press {
    /// Whether it decides nothing, whatever is on the screen: it is held down, or pasted.
    pub fn is_no_decision(&self) -> bool {
        self.is_in_burst || self.key.kind == KeyEventKind::Repeat
    }
}

/// Whether a key may change what an agent gets: only a person may press it, not a paste.
pub fn decides(key: &KeyEvent) -> bool {
    matches!(
        key.code,
        KeyCode::Char('a' | 'r' | ' ' | 'e' | 'z' | 'Z' | 'o' | 'q' | 'y')
    ) && !key.modifiers.intersects(KeyModifiers::CONTROL)
}

/// What the reviewer would decide about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sight {
    /// The diff.
    pub id: DiffId,
    /// Which of its proposals.
    pub revision: u32,
    /// How often the reviewer changed it.
    pub changes: u64,
    /// Whether a question about it waits for the same key again.
    pub is_asked: bool,
}

/// Why a key decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooEarly {
    /// What it would decide about was not seen.
    Unseen,
    /// It decided a moment ago, and may be held down.
    Held,
    /// It is part of a paste.
    Pasted,
}

/// The delay before a decision.
#[derive(Debug, Default)]
pub struct ReviewDelay {
    drawn: Option<Drawn>,
    /// The last key that came too early.
    disturbed: Option<Instant>,
    /// The key that acted last, and when it was last pressed.
    acted: Option<(KeyCode, Instant)>,
}

#[derive(Debug, Clone, Copy)]
struct Drawn {
    sight: Sight,
    /// When it was first drawn as it is.
    at: Instant,
    /// When this proposal was first drawn, whatever the reviewer changed since.
    came: Instant,
}

impl Sight {
    fn is_same_proposal(&self, other: &Self) -> bool {
        (self.id, self.revision) == (other.id, other.revision)
    }
}

impl ReviewDelay {
    /// A frame was drawn; `sight` is what can be decided about in it.
    pub fn drawn(&mut self, sight: Option<Sight>, now: Instant) {
        self.drawn = sight.map(|sight| match self.drawn {
            Some(drawn) if drawn.sight == sight => drawn,
            Some(drawn) if drawn.sight.is_same_proposal(&sight) => Drawn {
                sight,
                at: now,
                came: drawn.came,
            },
            _ => Drawn {
                sight,
                at: now,
                came: now,
            },
        });
    }

    /// What was drawn is not what is there any more, although it is the same proposal.
    pub fn forget(&mut self) {
        self.drawn = None;
    }

    /// Whether `press` may change `sight` or, if it `settles`, decide about it.
    ///
    /// # Errors
    /// Why not. The delay starts anew.
    pub fn admit(
        &mut self,
        press: &Press,
        sight: Option<Sight>,
        settles: bool,
    ) -> Result<(), TooEarly> {
        let result = self.judge(press, sight, settles);
        if let Some((key, at)) = &mut self.acted
            && *key == press.key.code
        {
            *at = press.at;
        }
        if result.is_err() {
            self.disturbed = Some(press.at);
        }
        result
    }

    fn judge(&self, press: &Press, sight: Option<Sight>, settles: bool) -> Result<(), TooEarly> {
        if press.is_in_burst {
            return Err(TooEarly::Pasted);
        }
        let is_silent = |since: Instant, delay| press.at >= since + delay;
        if let Some((key, at)) = self.acted
            && key == press.key.code
            && !is_silent(at, REPEAT_DELAY)
        {
            return Err(TooEarly::Held);
        }
        if press.key.kind == KeyEventKind::Repeat {
            return Err(TooEarly::Held);
        }
        let (Some(drawn), Some(sight)) = (self.drawn, sight) else {
            return Err(TooEarly::Unseen);
        };
        let is_seen = if settles {
            drawn.sight == sight && press.at >= drawn.at
        } else {
            drawn.sight.is_same_proposal(&sight)
        };
        let is_disturbed = self
            .disturbed
            .is_some_and(|at| !is_silent(at, REVIEW_DELAY));
        if !is_seen || is_disturbed || !is_silent(drawn.came, REVIEW_DELAY) {
            return Err(TooEarly::Unseen);
        }
        Ok(())
    }

    /// `press` decided, or asked whether to: held down, it must not do so again.
    pub fn acted(&mut self, press: &Press) {
        self.acted = Some((press.key.code, press.at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_millis(16);

    /// A reviewer in front of a screen that is drawn at once.
    struct Scene {
        delay: ReviewDelay,
        sight: Sight,
        now: Instant,
    }

    impl Scene {
        fn new() -> Self {
            let mut scene = Self {
                delay: ReviewDelay::default(),
                sight: Sight {
                    id: DiffId(1),
                    revision: 1,
                    changes: 0,
                    is_asked: false,
                },
                now: Instant::now(),
            };
            scene.draw();
            scene
        }

        fn draw(&mut self) {
            self.delay.drawn(Some(self.sight), self.now);
        }

        fn wait(&mut self, ms: u64) {
            self.now += Duration::from_millis(ms);
        }

        fn press(&mut self, key: char) -> Result<(), TooEarly> {
            self.press_as(key, KeyEventKind::Press, false)
        }

        fn press_as(
            &mut self,
            key: char,
            kind: KeyEventKind,
            is_in_burst: bool,
        ) -> Result<(), TooEarly> {
            let code = KeyCode::Char(key);
            let press = Press {
                key: KeyEvent::new_with_kind(code, KeyModifiers::NONE, kind),
                at: self.now,
                is_in_burst,
            };
            let result = self.delay.admit(&press, Some(self.sight), true);
            if result.is_ok() {
                self.delay.acted(&press);
            }
            result
        }

        /// The diff is decided, and the next one is drawn a frame later.
        fn next(&mut self) {
            self.sight.id.0 += 1;
            self.now += FRAME;
            self.draw();
        }
    }

    #[test]
    fn a_key_that_comes_too_early_starts_the_delay_anew() {
        let mut scene = Scene::new();
        for _ in 0..20 {
            scene.wait(390);
            assert_eq!(scene.press('a'), Err(TooEarly::Unseen));
        }
        scene.wait(400);
        assert_eq!(scene.press('a'), Ok(()));
    }

    #[test]
    fn a_held_key_decides_once_whenever_the_terminal_begins_to_repeat_it() {
        for first_repeat in [200, 250, 500, 660] {
            for interval in [10, 33, 100, 390] {
                let mut scene = Scene::new();
                scene.wait(1_000);
                assert_eq!(scene.press('a'), Ok(()));
                scene.next();
                scene.wait(first_repeat - 16);
                for _ in 0..100 {
                    assert!(scene.press('a').is_err(), "{first_repeat} {interval}");
                    scene.wait(interval);
                }
                scene.wait(700);
                assert_eq!(scene.press('a'), Ok(()), "{first_repeat} {interval}");
            }
        }
    }

    #[test]
    fn another_key_than_the_one_that_decided_waits_for_a_look_only() {
        let mut scene = Scene::new();
        scene.wait(1_000);
        assert_eq!(scene.press('a'), Ok(()));
        scene.next();
        scene.wait(450);
        assert_eq!(scene.press('r'), Ok(()));
    }

    #[test]
    fn keys_that_were_pressed_before_the_frame_decide_nothing_however_late_it_is() {
        let mut scene = Scene::new();
        scene.wait(1_000);
        scene.sight.revision += 1;
        assert_eq!(scene.press('a'), Err(TooEarly::Unseen));
        scene.wait(10_000);
        assert_eq!(scene.press('a'), Err(TooEarly::Unseen), "nothing was drawn");
        let typed = scene.now;
        scene.wait(5_000);
        scene.draw();
        scene.now = typed;
        assert_eq!(scene.press('r'), Err(TooEarly::Unseen), "typed before");
    }

    #[test]
    fn what_the_reviewer_changed_is_decided_about_once_it_is_drawn() {
        let mut scene = Scene::new();
        scene.wait(1_000);
        scene.sight.changes += 1;
        assert_eq!(scene.press('a'), Err(TooEarly::Unseen));
        scene.wait(1_000);
        scene.draw();
        assert_eq!(scene.press('a'), Ok(()));
    }

    #[test]
    fn the_same_proposal_is_looked_at_again_after_it_was_covered() {
        let mut scene = Scene::new();
        scene.wait(1_000);
        scene.delay.drawn(None, scene.now);
        assert_eq!(scene.press('a'), Err(TooEarly::Unseen));
        scene.wait(1_000);
        scene.draw();
        scene.wait(399);
        assert_eq!(scene.press('a'), Err(TooEarly::Unseen));
        scene.delay.forget();
        scene.wait(1_000);
        assert_eq!(scene.press('a'), Err(TooEarly::Unseen));
    }

    #[test]
    fn keys_that_arrive_together_and_repeats_that_are_known_as_such_decide_nothing() {
        let mut scene = Scene::new();
        scene.wait(1_000);
        let pasted = scene.press_as('a', KeyEventKind::Press, true);
        assert_eq!(pasted, Err(TooEarly::Pasted));
        scene.wait(1_000);
        let repeated = scene.press_as('a', KeyEventKind::Repeat, false);
        assert_eq!(repeated, Err(TooEarly::Held));
        scene.wait(1_000);
        assert_eq!(scene.press('a'), Ok(()));
    }
}
