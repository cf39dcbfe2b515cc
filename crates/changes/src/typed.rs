//! The words that a person types after a command about changes: the name of one, words for the agent, or both with a colon
//! between them. Editors send them as they were typed.

use std::str::FromStr;

use crate::turn::ChangeRef;

/// The parts of what was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Typed {
    /// The change or turn that is named.
    pub name: Option<ChangeRef>,
    /// The words for the agent.
    pub words: Option<String>,
}

/// The reason why it is not clear what is meant. Nothing is done then: something else could be meant than the person sees.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TypedError {
    /// A name with words after it, and no colon between them.
    #[error("{0} may be a change: write `{0}: words` if it is, or begin with another word")]
    Unclear(ChangeRef),
    /// It looks like a name, and is none.
    #[error("{0} names no change: write `7.2`, or `7.2: words`; words alone begin with a letter")]
    NoName(String),
}

impl FromStr for Typed {
    type Err = TypedError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let words = |words: &str| (!words.is_empty()).then(|| words.to_owned());
        let (first, rest) = first_word(text);
        let (name, is_clear) = match first.split_once(':') {
            Some((name, more)) => (name, more.is_empty()),
            None => (first, rest.is_empty()),
        };
        let is_plain = name.bytes().all(|it| it.is_ascii_digit() || it == b'.');
        match name.parse() {
            Ok(name) if is_plain && is_clear => Ok(Self {
                name: Some(name),
                words: words(rest),
            }),
            Ok(name) if is_plain => Err(TypedError::Unclear(name)),
            _ if looks_like_name(first) => Err(TypedError::NoName(first.to_owned())),
            _ if is_turn(text) => Err(TypedError::NoName(text.to_owned())),
            _ => Ok(Self {
                name: None,
                words: words(text),
            }),
        }
    }
}

fn first_word(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim_start())
}

/// Returns true for `7,2`, `#7.2` or `7.2.`, and false for `2nd`.
fn looks_like_name(word: &str) -> bool {
    let is_of_name = |it: u8| it.is_ascii_digit() || b"#.,:-".contains(&it);
    word.starts_with(|it: char| it == '#' || it.is_ascii_digit())
        && word.bytes().any(|it| it.is_ascii_digit())
        && word.bytes().all(is_of_name)
}

/// Returns true for `turn 7` and `turn7: words`, and false for `turn 7 is too long`.
fn is_turn(text: &str) -> bool {
    let number = text.strip_prefix("turn").map(str::trim_start);
    let (first, rest) = number.map(first_word).unwrap_or_default();
    looks_like_name(first) && (rest.is_empty() || first.ends_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Result<(String, String), String> {
        let typed: Typed = text.parse().map_err(|it: TypedError| it.to_string())?;
        let name = typed.name.map(|it| it.to_string());
        Ok((name.unwrap_or_default(), typed.words.unwrap_or_default()))
    }

    #[test]
    fn a_name_words_or_both() {
        for (text, name, words) in [
            ("", "", ""),
            ("  ", "", ""),
            ("7", "7", ""),
            (" 7.2 ", "7.2", ""),
            ("7.2:", "7.2", ""),
            ("7: all of it", "7", "all of it"),
            ("7.2:  good, and : short", "7.2", "good, and : short"),
            ("use the table", "", "use the table"),
            ("use: 7.2", "", "use: 7.2"),
            ("2nd G is too many", "", "2nd G is too many"),
            ("3x too many", "", "3x too many"),
            ("turn 7 is too long", "", "turn 7 is too long"),
            ("turn it round", "", "turn it round"),
            ("# is no comment here", "", "# is no comment here"),
            ("-- no", "", "-- no"),
        ] {
            let expected = (name.to_owned(), words.to_owned());
            assert_eq!(typed(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn what_may_be_a_name_is_not_taken_for_words() {
        for (text, first) in [
            ("7,2", "7,2"),
            ("7-2", "7-2"),
            ("7.", "7."),
            ("7.2.", "7.2."),
            ("7.2.1", "7.2.1"),
            ("#7.2", "#7.2"),
            ("#7: why", "#7:"),
            ("7,2 is not needed", "7,2"),
            ("turn7", "turn7"),
            ("turn 7", "turn 7"),
            ("99999999999999999999", "99999999999999999999"),
        ] {
            let expected = TypedError::NoName(first.to_owned());
            assert_eq!(typed(text), Err(expected.to_string()), "{text:?}");
        }
        for (text, name) in [
            ("7 spaces", "7"),
            ("1.1 is too low", "1.1"),
            ("7 : why", "7"),
            ("7.2:why", "7.2"),
            ("1:2 it is", "1"),
        ] {
            let error = typed(text).unwrap_err();
            assert!(
                error.starts_with(&format!("{name} may be a change: ")),
                "{error}"
            );
        }
    }
}
