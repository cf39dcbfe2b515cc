//! The review in lines: what a line that was typed means.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use pillion_judge::act::Act;
use pillion_judge::rows::Layout;

use super::{App, Event, Overlay, Press};

/// A part of what a line means.
#[derive(Debug)]
pub enum Line {
    /// A key, which means what it means when it is its turn.
    Key(KeyEvent),
    /// Anything else.
    Event(Box<Event>),
}

impl App {
    /// Arranges each diff in one column, and cuts no line: the order of the lines is that in which they are read.
    pub fn be_plain(&mut self) {
        self.is_plain = true;
        self.layout = Some(Layout::Unified);
        self.wrap = true;
    }

    /// What this line means that was typed so: text, where the review asks for some, or a key, and the text for it. An empty
    /// line goes on.
    pub fn typed(&self, line: &str, pressed: Press) -> Vec<Line> {
        let press = |code| Line::Key(KeyEvent::new(code, KeyModifiers::NONE));
        if let Some(key) = named(line).filter(|key| self.remark.is_none() || *key == KeyCode::Esc) {
            return vec![press(key)];
        }
        if self.remark.is_some() {
            return vec![
                Line::Event(Box::new(Event::Pasted(line.to_owned()))),
                press(KeyCode::Enter),
            ];
        }
        if self.overlay == Some(Overlay::Files) {
            let keys = line.chars().map(|it| press(KeyCode::Char(it)));
            return keys.chain([press(KeyCode::Enter)]).collect();
        }
        let mut rest = line.trim().chars();
        let Some(key) = rest.next() else {
            return vec![Line::Event(Box::new(Event::Act(Act::Next, pressed)))];
        };
        let rest = rest.as_str();
        let stands_for =
            |act| matches!(key.to_string().parse(), Ok(key) if self.keys.is_for(key, act));
        let asks = [
            Act::Reason,
            Act::Note,
            Act::NoteFile,
            Act::Search,
            Act::Line,
        ]
        .map(stands_for)
        .contains(&true);
        let text = rest.trim_start();
        match key {
            _ if rest.is_empty() => vec![press(KeyCode::Char(key))],
            _ if asks && (text.len() < rest.len() || !key.is_alphanumeric()) => {
                let typed = Line::Event(Box::new(Event::Pasted(text.to_owned())));
                vec![press(KeyCode::Char(key)), typed, press(KeyCode::Enter)]
            }
            _ => vec![Line::Event(Box::new(Event::Notice(NO_COMMAND.to_owned())))],
        }
    }
}

/// The key that a line names: one that is no character in a line. Where words are typed, `esc` alone is no text.
fn named(line: &str) -> Option<KeyCode> {
    Some(match line.trim() {
        "esc" => KeyCode::Esc,
        "enter" => KeyCode::Enter,
        "tab" => KeyCode::Tab,
        "space" => KeyCode::Char(' '),
        _ => return None,
    })
}

/// What is said of a line that means nothing.
const NO_COMMAND: &str =
    "a line is one key, and what follows it: ? lists the keys; esc, enter, space and tab are words";
