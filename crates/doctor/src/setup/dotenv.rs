//! The syntax of `.env` files, as the parser that both agents carry takes it.
//!
//! That parser is one pattern that is searched for again and again, and what it makes of odd files
//! is what counts here: a value may begin on the next line if it is quoted, an unclosed quote is
//! part of the value, and what does not fit is passed over.

use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;

/// An assignment: white space is JavaScript's, and an escaped quote closes a value only if nothing
/// else does.
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| {
    let space = r"[[\s\x{FEFF}]--\x{85}]";
    let quoted =
        ["'", "\"", "`"].map(|quote| format!(r"{space}*{quote}(?:\\{quote}|[^{quote}])*{quote}"));
    let value = format!(r"{}|[^\#\n]+", quoted.join("|"));
    let pattern = format!(
        r"(?mx) ^ {space}* (?: export {space}+ )?
          (?<name> [A-Za-z0-9_.-]+ ) (?: {space}*= | :{space} ) (?<value> {value} )?
          {space}* (?: \#.* )? $"
    );
    Regex::new(&pattern).expect("the pattern is valid")
});

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub value: String,
    /// The line that its name is on, from 1.
    pub line: usize,
}

/// Every assignment, in their order. Of several to one name the last one counts.
pub fn parse(text: &str) -> Vec<Entry> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let entry = |found: Captures| {
        let name = found.get_group_by_name("name")?.range();
        let value = found.get_group_by_name("value").map(|it| &text[it.range()]);
        Some(Entry {
            name: text[name.clone()].to_owned(),
            value: unquoted(value.unwrap_or_default()),
            line: text[..name.start].matches('\n').count() + 1,
        })
    };
    ASSIGNMENT.captures_iter(&text).filter_map(entry).collect()
}

fn unquoted(value: &str) -> String {
    let value = value.trim_matches(is_space);
    let quote = value.chars().next();
    let quote = quote.filter(|char| matches!(char, '\'' | '"' | '`'));
    let inner = quote.and_then(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let text = inner.unwrap_or(value);
    if quote == Some('"') {
        text.replace("\\n", "\n").replace("\\r", "\r")
    } else {
        text.to_owned()
    }
}

/// White space in JavaScript.
fn is_space(char: char) -> bool {
    char == '\u{feff}' || (char.is_whitespace() && char != '\u{85}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect(text: &str, expected: &[(&str, &str, usize)]) {
        let entries = parse(text);
        let entries: Vec<_> = entries
            .iter()
            .map(|entry| (entry.name.as_str(), entry.value.as_str(), entry.line))
            .collect();
        assert_eq!(entries, expected, "{text:?}");
    }

    /// The expected entries are those of the agents' own parser.
    #[test]
    fn odd_files_are_read_as_the_agents_read_them() {
        expect("", &[]);
        expect(
            "\u{feff}A=1\r\nB=2\rC=3",
            &[("A", "1", 1), ("B", "2", 2), ("C", "3", 3)],
        );
        expect("# A=1\n\n export  B = x y # c\n", &[("B", "x y", 3)]);
        expect(
            "A='x # y' # c\nB=\"a\\nb\"\nC=`'\"`",
            &[("A", "x # y", 1), ("B", "a\nb", 2), ("C", "'\"", 3)],
        );
        expect(
            "A='x\ny'\nB='a' b\nC='d",
            &[("A", "x\ny", 1), ("B", "'a' b", 3), ("C", "'d", 4)],
        );
        expect(
            "A='x\\'y'\nB='z\\'\n",
            &[("A", "x\\'y", 1), ("B", "z\\", 2)],
        );
        expect("A=\n'x'\nB=\nC", &[("A", "x", 1), ("B", "", 3)]);
        expect("A: 1\nB:2\nC:\nD=3", &[("A", "1", 1), ("C", "D=3", 3)]);
        expect(
            "export=1\nexport A=2\nexport B\n",
            &[("export", "1", 1), ("A", "2", 2)],
        );
        expect(
            "no\nA\n=1\n=2\nB =\t\nC=#x",
            &[("A", "1", 2), ("B", "", 5), ("C", "", 6)],
        );
    }
}
