//! The keys of commands: the table's, or those that a person chose in `keys.toml`. No keyboard.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use toml_edit::{ImDocument, Item, Value};

use crate::act::{Act, Command, Guard, Place, commands};

/// A key, as it is named in settings and on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character.
    Char(char),
    /// A key with a name, in its place in `NAMED`.
    Named(&'static str),
    /// A function key.
    Function(u8),
}

/// The keys that have a name.
const NAMED: [&str; 14] = [
    "Enter",
    "Esc",
    "Tab",
    "Shift-Tab",
    "Up",
    "Down",
    "Left",
    "Right",
    "Home",
    "End",
    "PgUp",
    "PgDn",
    "Backspace",
    "Delete",
];

/// How some of them are shown.
const SHOWN: [(&str, &str); 4] = [("Up", "↑"), ("Down", "↓"), ("Left", "←"), ("Right", "→")];

/// A key that is pressed, perhaps with another one held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chord {
    /// The key.
    pub key: Key,
    /// With Ctrl.
    pub control: bool,
    /// With Alt.
    pub alt: bool,
}

impl Key {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        let named = NAMED.iter().find(|it| it.eq_ignore_ascii_case(name));
        named.map(|name| Self::Named(name))
    }
}

impl FromStr for Chord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut rest, mut control, mut alt) = (text, false, false);
        loop {
            rest = match rest.split_once('-') {
                Some(("Ctrl" | "ctrl", after)) if !after.is_empty() => {
                    control = true;
                    after
                }
                Some(("Alt" | "alt", after)) if !after.is_empty() => {
                    alt = true;
                    after
                }
                _ => break,
            };
        }
        let shown = SHOWN.iter().find(|(_, shown)| *shown == rest);
        let name = shown.map_or(rest, |(name, _)| name);
        let mut chars = name.chars();
        let key = match (chars.next(), chars.as_str()) {
            (Some(char), "") if !char.is_control() => Key::Char(match control {
                true => char.to_ascii_lowercase(),
                false => char,
            }),
            _ if name.eq_ignore_ascii_case("space") => Key::Char(' '),
            (Some('F' | 'f'), number) if number.parse::<u8>().is_ok_and(|it| it > 0) => {
                Key::Function(number.parse().unwrap_or_default())
            }
            _ => Key::named(name).ok_or_else(|| format!("there is no key {text:?}"))?,
        };
        Ok(Self { key, control, alt })
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.control {
            f.write_str("Ctrl-")?;
        }
        if self.alt {
            f.write_str("Alt-")?;
        }
        match self.key {
            Key::Char(' ') => f.write_str("space"),
            Key::Char(char) if self.control => write!(f, "{}", char.to_ascii_uppercase()),
            Key::Char(char) => write!(f, "{char}"),
            Key::Function(number) => write!(f, "F{number}"),
            Key::Named(name) => {
                let shown = SHOWN.iter().find(|(it, _)| *it == name);
                f.write_str(shown.map_or(name, |(_, shown)| shown))
            }
        }
    }
}

/// The keys of each command, in the order of the table.
#[derive(Debug, Clone)]
pub struct Keys(Vec<Vec<Chord>>);

impl Default for Keys {
    fn default() -> Self {
        let chords = |command: &Command| parse(command.keys.split(' ')).unwrap_or_default();
        Self(commands().map(chords).collect())
    }
}

fn parse<'a>(keys: impl Iterator<Item = &'a str>) -> Result<Vec<Chord>, String> {
    keys.map(str::parse).collect()
}

impl Keys {
    /// Those that the person chose in a file, where there is one.
    ///
    /// # Errors
    /// A sentence with the file, the line and what is wrong there.
    pub fn of_file(path: &Path) -> Result<Self, String> {
        let file = path.display();
        match fs::read_to_string(path) {
            Ok(text) => Self::read(&text).map_err(|(line, why)| format!("{file}:{line}: {why}")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(format!("{file}: {error}")),
        }
    }

    /// Those of a text in TOML that has `name = "key"` or `name = ["key", "key"]` for commands with other keys than the table's.
    ///
    /// # Errors
    /// The line, from 1, and what is wrong there.
    pub fn read(text: &str) -> Result<Self, (usize, String)> {
        let line_at = |at: usize| {
            text.as_bytes()[..at.min(text.len())]
                .split(|it| *it == b'\n')
                .count()
        };
        let table = ImDocument::parse(text).map_err(|error| {
            let line = line_at(error.span().map_or(0, |span| span.start));
            (line, error.message().to_owned())
        })?;
        let mut keys = Self::default();
        let mut lines = vec![None; keys.0.len()];
        for (name, item) in table.iter() {
            let span = table.key(name).and_then(|key| key.span());
            let line = line_at(span.map_or(0, |span| span.start));
            let wrong = |why: String| (line, why);
            let (at, command) = { commands().enumerate() }
                .find(|(_, command)| command.name == name)
                .ok_or_else(|| wrong(format!("there is no command {name:?}")))?;
            if command.act.is_fixed() {
                return Err(wrong(format!("the keys of {name} cannot be changed")));
            }
            keys.0[at] = chosen(name, item).map_err(wrong)?;
            lines[at] = Some(line);
        }
        match keys.clash(&lines) {
            Some(clash) => Err(clash),
            None => Ok(keys),
        }
    }

    /// A key that means two things where both hold, or that would answer the question that it asks.
    fn clash(&self, lines: &[Option<usize>]) -> Option<(usize, String)> {
        let rows = || commands().zip(&self.0).zip(lines);
        for (at, ((one, keys), line)) in rows().enumerate() {
            for ((other, others), below) in rows().skip(at + 1) {
                let answers = (one.act == Act::Answer && other.act.may_ask())
                    || (other.act == Act::Answer && one.act.may_ask());
                let holds = one.places.iter().any(|place| other.places.contains(place));
                let same = keys.iter().find(|key| others.contains(key));
                if let Some(key) = same.filter(|_| answers || holds) {
                    let line = below.or(*line)?;
                    let (one, other) = (one.name, other.name);
                    let why = match answers {
                        true => format!(
                            "{key} cannot be both {one} and {other}: one key must not ask and answer"
                        ),
                        false => format!("{key} is the key of both {one} and {other}"),
                    };
                    return Some((line, why));
                }
            }
        }
        None
    }

    /// What a key means in a place, if anything.
    pub fn act(&self, place: Place, chord: Chord) -> Option<Act> {
        let act = self.of(chord).find(|it| it.places.contains(&place))?.act;
        match (act, chord.key) {
            (Act::Digit(_), Key::Char(digit)) => {
                Some(Act::Digit(u8::try_from(digit.to_digit(10)?).ok()?))
            }
            _ => Some(act),
        }
    }

    /// The commands that have a key, wherever they hold.
    fn of(&self, chord: Chord) -> impl Iterator<Item = &'static Command> {
        let rows = commands().zip(&self.0);
        rows.filter_map(move |(command, keys)| keys.contains(&chord).then_some(command))
    }

    /// Returns true if a key stands for a command that only a person may give, anywhere.
    pub fn is_guarded(&self, chord: Chord) -> bool {
        self.of(chord).any(|command| command.guard != Guard::Free)
    }

    /// Returns true if a key stands for this somewhere.
    pub fn is_for(&self, chord: Chord, act: Act) -> bool {
        self.of(chord).any(|command| command.act == act)
    }

    /// The keys of a command.
    pub fn all(&self, act: Act) -> &[Chord] {
        let rows = commands().zip(&self.0);
        let mut of_act = rows.filter(|(command, _)| command.act == act);
        of_act.next().map_or(&[], |(_, keys)| keys)
    }

    /// A sentence with the first key of each command whose name stands in it, as in `<undo> undoes it`.
    pub fn fill(&self, sentence: &'static str) -> String {
        let fill = |text: String, command: &Command| {
            text.replace(&format!("<{}>", command.name), &self.name(command.act))
        };
        let named = |command: &Command| sentence.matches(&format!("<{}>", command.name)).count();
        let all: usize = commands().map(named).sum();
        debug_assert_eq!(all, sentence.matches('<').count(), "{sentence}");
        commands().fold(sentence.to_owned(), fill)
    }

    /// The first key of a command, for people.
    pub fn name(&self, act: Act) -> String {
        self.all(act)
            .first()
            .map(Chord::to_string)
            .unwrap_or_default()
    }
}

/// The keys that a setting names: one at least.
fn chosen(name: &str, item: &Item) -> Result<Vec<Chord>, String> {
    let values: Vec<_> = match item {
        Item::Value(Value::Array(keys)) => keys.iter().map(Value::as_str).collect(),
        item => vec![item.as_str()],
    };
    let keys: Option<Vec<_>> = values.into_iter().collect();
    match keys.filter(|keys| !keys.is_empty()) {
        Some(keys) => parse(keys.into_iter()),
        None => Err(format!(
            "{name} needs a key, as in {name} = \"x\", or several in brackets"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chord(text: &str) -> Chord {
        text.parse().unwrap()
    }

    #[test]
    fn the_table_has_no_key_twice_in_a_place_and_no_name_twice() {
        let keys = Keys::default();
        assert_eq!(keys.clash(&vec![Some(0); keys.0.len()]), None);
        for command in commands() {
            assert!(!keys.all(command.act).is_empty(), "{}", command.name);
            let same = commands().filter(|it| it.name == command.name || it.act == command.act);
            assert_eq!(same.count(), 1, "{}", command.name);
        }
    }

    /// The texts in backticks of a cell.
    fn quoted(cell: &str) -> Vec<&str> {
        cell.split('`').skip(1).step_by(2).collect()
    }

    #[test]
    fn the_page_about_the_review_has_every_command_and_its_keys() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/review.md");
        let page = fs::read_to_string(page).unwrap();
        let rows = page.lines().filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            Some((cells.next()?, cells.next()?))
        });
        let mut found = Vec::new();
        for (keys, names) in rows {
            // Those that cannot be changed have no name there.
            for (name, keys) in quoted(names).into_iter().zip(keys.split('·')) {
                let command = commands().find(|it| it.name == name);
                let command = command.unwrap_or_else(|| panic!("{name}"));
                let keys = keys.replace('`', "");
                let keys =
                    parse(keys.split_whitespace()).unwrap_or_else(|why| panic!("{name}: {why}"));
                assert_eq!(keys, Keys::default().all(command.act), "{name}");
                found.push(name);
            }
        }
        let mut expected: Vec<_> = commands().collect();
        expected.retain(|it| !it.act.is_fixed());
        let mut expected: Vec<_> = expected.into_iter().map(|it| it.name).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_key_is_read_as_it_is_shown() {
        for command in commands() {
            for key in Keys::default().all(command.act) {
                assert_eq!(chord(&key.to_string()), *key);
            }
        }
        for (text, shown) in [
            ("down", "↓"),
            ("Ctrl-Alt-x", "Ctrl-Alt-X"),
            ("-", "-"),
            ("Ctrl--", "Ctrl--"),
            ("f12", "F12"),
            ("Space", "space"),
            ("é", "é"),
        ] {
            assert_eq!(chord(text).to_string(), shown);
        }
        for text in ["", "aa", "Ctrl-", "F0", "Hyper-x", "\n"] {
            assert!(text.parse::<Chord>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_person_puts_commands_on_other_keys() {
        let text =
            "# mine\ncopy = \"F5\"\naccept = \"y\"\nanswer = \"ü\"\nreject = [\"ö\", \"Ctrl-R\"]\n";
        let keys = Keys::read(text).unwrap();
        for (place, key, expected) in [
            (Place::Diff, "y", Some(Act::Accept)),
            (Place::Diff, "a", None),
            (Place::Question, "ü", Some(Act::Answer)),
            (Place::Diff, "Ctrl-R", Some(Act::Reject)),
            (Place::Diff, "r", None),
            (Place::List, "r", Some(Act::TakeBack)),
            (Place::Diff, "7", Some(Act::Digit(7))),
            (Place::Prompt, "y", None),
        ] {
            assert_eq!(keys.act(place, chord(key)), expected, "{place:?} {key}");
        }
        assert!(keys.is_guarded(chord("ö")) && !keys.is_guarded(chord("n")));
        assert_eq!(keys.name(Act::Accept), "y");
    }

    #[test]
    fn a_wrong_setting_is_named_with_its_line() {
        for (text, line, why) in [
            ("\nacept = \"x\"", 2, "there is no command \"acept\""),
            ("accept = \"xx\"", 1, "there is no key \"xx\""),
            ("wrap = \"x\"\naccept = 1", 2, "accept needs a key"),
            ("accept = []", 1, "accept needs a key"),
            (
                "accept = \"x\"\n\nreject = \"x\"",
                3,
                "x is the key of both accept and reject",
            ),
            ("note = \"z\"", 1, "z is the key of both note and undo"),
            ("accept = \"y\"", 1, "y cannot be both accept and answer"),
            ("answer = \"m\"", 1, "m cannot be both answer and mode"),
            (
                "suspend = \"x\"",
                1,
                "the keys of suspend cannot be changed",
            ),
            (
                "wrap = \"Ctrl-C\"",
                1,
                "Ctrl-C is the key of both wrap and interrupt",
            ),
            ("accept = \"x\"\naccept = \"w\"", 2, "duplicate key"),
            ("a = \"x\"\n\nb = \n", 3, ""),
        ] {
            let (at, said) = Keys::read(text).unwrap_err();
            assert_eq!(at, line, "{text:?}: {said}");
            assert!(said.contains(why), "{text:?}: {said}");
        }
    }
}
