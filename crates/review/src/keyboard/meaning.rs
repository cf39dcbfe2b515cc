//! What a key of the terminal means: an act, by the keys that the person has, or a character that is typed.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use pillion_judge::act::Place;
use pillion_judge::keys::{Chord, Key};

use crate::app::{App, Event, Press};

/// A key as settings name it; none of those that no command can have.
pub fn chord(key: &KeyEvent) -> Option<Chord> {
    let named = |name| Key::named(name);
    let held = |modifier| key.modifiers.contains(modifier);
    let code = match key.code {
        KeyCode::Char(char) => Some(Key::Char(match held(KeyModifiers::CONTROL) {
            true => char.to_ascii_lowercase(),
            false => char,
        })),
        KeyCode::F(number) => Some(Key::Function(number)),
        KeyCode::Enter => named("Enter"),
        KeyCode::Esc => named("Esc"),
        KeyCode::Tab if held(KeyModifiers::SHIFT) => named("Shift-Tab"),
        KeyCode::Tab => named("Tab"),
        KeyCode::BackTab => named("Shift-Tab"),
        KeyCode::Up => named("Up"),
        KeyCode::Down => named("Down"),
        KeyCode::Left => named("Left"),
        KeyCode::Right => named("Right"),
        KeyCode::Home => named("Home"),
        KeyCode::End => named("End"),
        KeyCode::PageUp => named("PgUp"),
        KeyCode::PageDown => named("PgDn"),
        KeyCode::Backspace => named("Backspace"),
        KeyCode::Delete => named("Delete"),
        _ => None,
    };
    Some(Chord {
        key: code.filter(|_| !held(KeyModifiers::SUPER))?,
        control: held(KeyModifiers::CONTROL),
        alt: held(KeyModifiers::ALT),
    })
}

/// What a key means in the review as it is.
pub fn meaning(app: &App, key: KeyEvent, press: Press) -> Event {
    let chord = chord(&key);
    let act = |place| chord.and_then(|chord| app.keys.act(place, chord));
    let answer = act(Place::Question).filter(|_| app.has_question());
    match answer.or_else(|| act(app.place())) {
        Some(act) => Event::Act(act, press),
        None => Event::Typed(key, press),
    }
}
