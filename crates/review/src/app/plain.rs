//! The review in lines: what a line that was typed means.

use std::time::Instant;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{App, Event, Overlay, Press};
use pillion_judge::rows::Layout;

impl App {
    /// Arranges each diff in one column, and cuts no line: the order of the lines is that in which they are read.
    pub fn be_plain(&mut self) {
        self.is_plain = true;
        self.layout = Some(Layout::Unified);
        self.wrap = true;
    }

    /// What this line means that was typed at this time: text, where the review asks for some, or a key, and the text for it. An empty
    /// line goes on.
    pub fn typed(&self, line: &str, at: Instant) -> Vec<Event> {
        let press = |code| {
            Event::Key(Press {
                key: KeyEvent::new(code, KeyModifiers::NONE),
                at,
                is_in_burst: false,
                is_held: false,
            })
        };
        if self.remark.is_some() {
            return vec![Event::Pasted(line.to_owned()), press(KeyCode::Enter)];
        }
        if self.overlay == Some(Overlay::Files) && !is_word(line) {
            let keys = line.chars().map(|it| press(KeyCode::Char(it)));
            return keys.chain([press(KeyCode::Enter)]).collect();
        }
        let mut rest = line.trim().chars();
        let Some(key) = rest.next() else {
            return vec![press(KeyCode::Char('n'))];
        };
        let rest = rest.as_str();
        let text = rest.trim_start();
        match key {
            _ if rest.is_empty() => vec![press(KeyCode::Char(key))],
            'R' | 'C' | 'c' | '/' | ':' if text.len() < rest.len() || matches!(key, '/' | ':') => {
                let typed = Event::Pasted(text.to_owned());
                vec![press(KeyCode::Char(key)), typed, press(KeyCode::Enter)]
            }
            _ if is_word(line) => vec![press(match line.trim() {
                "esc" => KeyCode::Esc,
                "tab" => KeyCode::Tab,
                "space" => KeyCode::Char(' '),
                _ => KeyCode::Enter,
            })],
            _ => vec![Event::Notice(NO_COMMAND.to_owned())],
        }
    }
}

/// Returns true if a line is the name of a key that is no character.
fn is_word(line: &str) -> bool {
    matches!(line.trim(), "esc" | "enter" | "tab" | "space")
}

/// What is said of a line that means nothing.
const NO_COMMAND: &str =
    "a line is one key, and what follows it: ? lists the keys; esc, enter, space and tab are words";
