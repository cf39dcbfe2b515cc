//! A terminal's answer to a query that timed out. It arrives as if a person
//! typed it: "rgb" in it would reject a proposal. A state machine, without a terminal.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// An answer has no more characters than this.
const MAX_ANSWER: usize = 64;

/// Tells answers of the terminal from keys.
///
/// The answer to a question about a colour reads `ESC ] 1 1 ; r g b : … ESC \`, or ends in a bell.
/// Of such a sequence the parser of keys makes `]` with Alt, and then one key for each character. Where its escape came
/// in a part of its own, that is a key, and the `]` has no Alt. A `]` without an escape is what somebody types.
#[derive(Debug, Default)]
pub struct Answers {
    state: State,
}

#[derive(Debug, Default, Clone, Copy)]
enum State {
    /// Nothing but keys.
    #[default]
    Keys,
    /// The last key was an escape.
    Escaped,
    /// A `]` came with an escape.
    Opened,
    /// And then the number of what was asked.
    Number,
    /// And then the answer, so many characters of it.
    Body(usize),
}

impl Answers {
    /// Returns true if what comes next may belong to an answer, unless there is a silence before it.
    pub fn is_waiting(&self) -> bool {
        !matches!(self.state, State::Keys)
    }

    /// Returns true if an answer has begun, as it seems, and is not at its end.
    pub fn is_open(&self) -> bool {
        !matches!(self.state, State::Keys | State::Escaped)
    }

    /// Returns true if `event` belongs to an answer, as far as can be told, and is nobody's key.
    pub fn holds(&mut self, event: &Event) -> bool {
        let Event::Key(key) = event else {
            return false;
        };
        if key.kind == KeyEventKind::Release {
            return self.is_open();
        }
        let (state, holds) = self.state.after(key);
        self.state = state;
        holds
    }
}

impl State {
    fn after(self, key: &KeyEvent) -> (Self, bool) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_escaped = matches!(self, Self::Escaped) || key.modifiers == KeyModifiers::ALT;
        match (self, key.code) {
            (Self::Keys | Self::Escaped, KeyCode::Char(']')) if is_escaped && !control => {
                (Self::Opened, true)
            }
            (Self::Opened | Self::Number, KeyCode::Char('0'..='9')) if !control => {
                (Self::Number, true)
            }
            (Self::Number, KeyCode::Char(';')) => (Self::Body(0), true),
            (Self::Body(_), KeyCode::Char('g')) if control => (Self::Keys, true),
            (Self::Body(_), KeyCode::Char('\\')) => (Self::Keys, true),
            // The escape of the end, in a part of its own.
            (Self::Body(_), KeyCode::Esc) => (self, true),
            (Self::Body(count), KeyCode::Char(char))
                if !control && count < MAX_ANSWER && is_of_colour(char) =>
            {
                (Self::Body(count + 1), true)
            }
            (_, KeyCode::Esc) => (Self::Escaped, false),
            _ => (Self::Keys, false),
        }
    }
}

/// Returns true for what colours are written with: `rgb:1e1e/1e1e/1e1e`, `rgba:…` or `#1e1e1e`.
fn is_of_colour(char: char) -> bool {
    char.is_ascii_hexdigit() || "rgb:/#".contains(char)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: char, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(KeyCode::Char(code), modifiers))
    }

    /// The keys that come through, of what the parser makes of `bytes`.
    fn through(text: &str) -> String {
        let mut answers = Answers::default();
        let mut keys = String::new();
        let mut chars = text.chars();
        while let Some(char) = chars.next() {
            let (event, name) = match char {
                '\u{1b}' => match chars.next() {
                    Some(char) => (key(char, KeyModifiers::ALT), char),
                    None => (Event::Key(KeyCode::Esc.into()), '⎋'),
                },
                '\u{7}' => (key('g', KeyModifiers::CONTROL), '␇'),
                char => (key(char, KeyModifiers::NONE), char),
            };
            if !answers.holds(&event) {
                keys.push(name);
            }
        }
        keys
    }

    #[test]
    fn a_late_answer_is_no_key() {
        let dark = "\u{1b}]11;rgb:1e1e/1e1e/1e1e";
        assert_eq!(through(&format!("{dark}\u{1b}\\a")), "a");
        assert_eq!(through(&format!("n{dark}\u{7}a")), "na");
        let both = format!("\u{1b}]10;rgb:ffff/ffff/ffff\u{7}{dark}\u{7}r");
        assert_eq!(through(&both), "r");
    }

    #[test]
    fn an_answer_in_parts_is_no_key_either() {
        let mut answers = Answers::default();
        assert!(!answers.holds(&Event::Key(KeyCode::Esc.into())));
        for char in "]11;rgb:ffff/ffff/ffff".chars() {
            assert!(answers.holds(&key(char, KeyModifiers::NONE)), "{char}");
        }
        assert!(answers.holds(&Event::Key(KeyCode::Esc.into())));
        assert!(answers.holds(&key('\\', KeyModifiers::NONE)));
        assert!(!answers.holds(&key('a', KeyModifiers::NONE)));
    }

    #[test]
    fn a_bracket_that_is_typed_is_no_answer() {
        for text in ["]n", "v[0], not v[i]; see [docs](x)", "]11;rgb:1e1e"] {
            assert_eq!(through(text), text);
        }
        // With Alt, or after an escape, it may begin one.
        assert_eq!(through("\u{1b}]a"), "a");
        let mut answers = Answers::default();
        let of = |code: KeyCode| Event::Key(code.into());
        assert!(!answers.holds(&of(KeyCode::Esc)));
        assert!(!answers.holds(&of(KeyCode::Char('R'))));
        assert!(
            !answers.holds(&of(KeyCode::Char(']'))),
            "the escape is over"
        );
    }

    #[test]
    fn keys_after_an_answer_without_an_end_are_typed() {
        assert_eq!(through("\u{1b}]11;rgb:1e1eno, [1]"), "no, [1]");
    }

    #[test]
    fn an_answer_without_an_end_does_not_swallow_keys_for_ever() {
        let text = format!("\u{1b}]11;{}", "r".repeat(MAX_ANSWER + 3));
        assert_eq!(through(&text), "rrr");
        let mut answers = Answers::default();
        answers.holds(&Event::Key(KeyCode::Esc.into()));
        for char in "]11;rgb".chars() {
            answers.holds(&key(char, KeyModifiers::NONE));
        }
        assert!(!answers.holds(&Event::Key(KeyCode::Down.into())));
        assert!(!answers.holds(&key('r', KeyModifiers::NONE)));
    }
}
