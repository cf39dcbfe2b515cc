//! The thread that reads the keyboard: reports when each key was pressed, and which arrived together.

mod answers;

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use pillion_system::spawn;

use crate::Input;
use crate::app::{Press, decides};
use answers::Answers;

/// Keys that arrive closer to each other are a paste, which some terminals do not mark as one.
/// Nobody types two keys so fast, and no keyboard's repeats are so fast unless one asked for it.
const BURST_INTERVAL: Duration = Duration::from_millis(20);

/// The keys. Nothing reads from the terminal after a key that may hand it to another program, until
/// the review goes on.
pub struct Keyboard {
    go_on: mpsc::Sender<()>,
}

impl Keyboard {
    /// Reads, on a thread of its own.
    ///
    /// # Errors
    /// When there can be no thread.
    pub fn start(inputs: mpsc::Sender<Input>) -> io::Result<Self> {
        let (go_on, wait) = mpsc::channel();
        spawn("keys", move || {
            let mut reader = Reader::new(next_event);
            loop {
                let Ok(input) = reader.next() else {
                    let _ = inputs.send(Input::Stop);
                    return;
                };
                let waits = matches!(&input, Input::Key(press) if hands_over(press));
                if inputs.send(input).is_err() || (waits && wait.recv().is_err()) {
                    return;
                }
            }
        })?;
        Ok(Self { go_on })
    }

    /// Reads on. To be called once for every key that [`hands_over`] the terminal.
    pub fn go_on(&self) {
        // The thread is gone only when the terminal is, which it has reported.
        let _ = self.go_on.send(());
    }

    /// Forgets what was typed and not yet read.
    pub fn discard() {
        while event::poll(Duration::ZERO).unwrap_or(false) {
            if event::read().is_err() {
                return;
            }
        }
    }
}

/// Whether another program may read from the terminal after this key.
pub fn hands_over(press: &Press) -> bool {
    match press.key.code {
        KeyCode::Char('e') => true,
        KeyCode::Char('z') => press.key.modifiers.contains(KeyModifiers::CONTROL),
        _ => false,
    }
}

/// The terminal's next event; `None` when `timeout` passed without one.
fn next_event(timeout: Option<Duration>) -> io::Result<Option<Event>> {
    match timeout {
        Some(timeout) if !event::poll(timeout)? => Ok(None),
        _ => event::read().map(Some),
    }
}

/// Turns events into input.
struct Reader<S> {
    /// Answers as [`next_event`] does.
    source: S,
    /// What was read to find out whether it follows at once.
    ahead: VecDeque<(Event, Instant)>,
    answers: Answers,
    last_key: Option<Instant>,
}

impl<S: FnMut(Option<Duration>) -> io::Result<Option<Event>>> Reader<S> {
    fn new(source: S) -> Self {
        Self {
            source,
            ahead: VecDeque::new(),
            answers: Answers::default(),
            last_key: None,
        }
    }

    fn next(&mut self) -> io::Result<Input> {
        loop {
            let (event, at) = match self.ahead.pop_front() {
                Some(read) => read,
                None => match (self.source)(None)? {
                    Some(event) => (event, Instant::now()),
                    None => continue,
                },
            };
            if self.answers.holds(&event) {
                continue;
            }
            let Event::Key(key) = event else {
                return Ok(Input::Terminal(event));
            };
            if key.kind == KeyEventKind::Release {
                continue;
            }
            let follows = |last: Instant| at.duration_since(last) < BURST_INTERVAL;
            let follows_another = self.last_key.replace(at).is_some_and(follows);
            // Only these are worth waiting for.
            let is_in_burst = follows_another || (decides(&key) && self.is_followed(at)?);
            return Ok(Input::Key(Press {
                key,
                at,
                is_in_burst,
            }));
        }
    }

    /// Whether another key arrives together with the one that was read at `at`.
    fn is_followed(&mut self, at: Instant) -> io::Result<bool> {
        let is_press =
            |event: &Event| matches!(event, Event::Key(key) if key.kind != KeyEventKind::Release);
        let mut known = self.ahead.iter();
        if let Some((_, next)) = known.find(|(event, _)| is_press(event)) {
            return Ok(next.duration_since(at) < BURST_INTERVAL);
        }
        loop {
            // What waits in the terminal already is read even when the time is over.
            let left = BURST_INTERVAL.saturating_sub(at.elapsed());
            let Some(event) = (self.source)(Some(left))? else {
                return Ok(false);
            };
            let is_key = is_press(&event);
            self.ahead.push_back((event, Instant::now()));
            if is_key {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::*;

    /// Groups of events: each group waits in the terminal as a whole.
    fn script(
        mut groups: VecDeque<VecDeque<Event>>,
    ) -> impl FnMut(Option<Duration>) -> io::Result<Option<Event>> {
        move |timeout| match (groups.front_mut().and_then(VecDeque::pop_front), timeout) {
            (Some(event), _) => Ok(Some(event)),
            (None, Some(_)) => Ok(None),
            (None, None) if groups.len() > 1 => {
                groups.pop_front();
                std::thread::sleep(BURST_INTERVAL);
                Ok(None)
            }
            (None, None) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn key(code: char, kind: KeyEventKind) -> Event {
        let key = KeyEvent::new_with_kind(KeyCode::Char(code), KeyModifiers::NONE, kind);
        Event::Key(key)
    }

    fn typed(keys: &str) -> VecDeque<Event> {
        keys.chars()
            .map(|code| key(code, KeyEventKind::Press))
            .collect()
    }

    /// The keys that come out, in upper case if they are part of a burst.
    fn read(groups: Vec<VecDeque<Event>>) -> String {
        let mut reader = Reader::new(script(groups.into()));
        let mut out = String::new();
        while let Ok(input) = reader.next() {
            match input {
                Input::Key(press) => {
                    let code = press.key.code.as_char().unwrap();
                    out.push(if press.is_in_burst {
                        code.to_ascii_uppercase()
                    } else {
                        code
                    });
                }
                Input::Terminal(_) => out.push('.'),
                other => panic!("{other:?}"),
            }
        }
        out
    }

    #[test]
    fn every_key_of_a_paste_is_known_as_one_also_the_first() {
        assert_eq!(read(vec![typed("aaaarrrr")]), "AAAARRRR");
        assert_eq!(read(vec![typed("ra"), typed("a")]), "RAa");
    }

    #[test]
    fn keys_that_are_typed_one_after_the_other_are_none() {
        assert_eq!(read(vec![typed("a"), typed("r"), typed("n")]), "arn");
    }

    #[test]
    fn an_answer_of_the_terminal_is_no_key_and_makes_no_burst() {
        let mut events = typed("]11;rgb:1e1e/1e1e/1e1e\\");
        events.extend(typed("a"));
        assert_eq!(read(vec![events]), "a");
    }

    #[test]
    fn neither_the_release_of_a_key_nor_another_size_makes_a_burst() {
        let mut events = typed("a");
        events.push_back(key('n', KeyEventKind::Release));
        events.push_back(Event::Resize(80, 24));
        assert_eq!(read(vec![events]), "a.");
    }
}
