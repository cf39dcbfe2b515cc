//! The syntax of `.env` files, as the parser that both agents carry takes it.
//!
//! That parser is one pattern that is searched for again and again, and what it makes of odd files
//! is what counts here: a value may begin on the next line if it is quoted, an unclosed quote is
//! part of the value, and what does not fit is passed over.

/// An assignment.
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
    let mut entries = Vec::new();
    let mut start = 0;
    while start <= text.len() {
        match assignment(&text, start) {
            Some((entry, end)) => {
                entries.push(entry);
                start = line_after(&text, end);
            }
            None => start = line_after(&text, start),
        }
    }
    entries
}

/// Where the line behind this place begins; behind the end if there is none.
fn line_after(text: &str, from: usize) -> usize {
    text[from..]
        .find('\n')
        .map_or(text.len() + 1, |at| from + at + 1)
}

/// The assignment that begins on the line at `start`, and where it ends.
fn assignment(text: &str, start: usize) -> Option<(Entry, usize)> {
    let start = skip_space(text, start);
    let exported = text[start..].strip_prefix("export").and_then(|_| {
        let begin = start + "export".len();
        let name = skip_space(text, begin);
        (name > begin).then_some(name)
    });
    // A variable may be called `export`.
    let starts = exported.into_iter().chain([start]);
    let (begin, end, value) = starts.into_iter().find_map(|begin| {
        let end = skip(text, begin, is_of_name);
        Some((begin, end, value_start(text, end).filter(|_| end > begin)?))
    })?;
    let (value, rest) = value_at(text, value);
    let entry = Entry {
        name: text[begin..end].to_owned(),
        value: unquoted(value),
        line: text[..begin].matches('\n').count() + 1,
    };
    Some((entry, rest))
}

/// Behind what separates a name from its value: `=`, or a colon with a space behind it.
fn value_start(text: &str, name_end: usize) -> Option<usize> {
    let sign = skip_space(text, name_end);
    if text[sign..].starts_with('=') {
        return Some(sign + 1);
    }
    let rest = text[name_end..].strip_prefix(':')?;
    let space = rest.chars().next().filter(|char| is_space(*char))?;
    Some(name_end + 1 + space.len_utf8())
}

/// The text of the value, and where the assignment ends.
fn value_at(text: &str, start: usize) -> (&str, usize) {
    let open = skip_space(text, start);
    let quote = text[open..].chars().next();
    if let Some(quote) = quote.filter(|quote| is_quote(*quote))
        && let Some((close, end)) = closing(text, open + 1, quote)
    {
        return (&text[open..=close], end);
    }
    let end = skip(text, start, |char| char != '#' && char != '\n');
    (&text[start..end], end)
}

/// Where a quoted value closes, and where its assignment ends. An escaped quote closes it only if
/// nothing else does.
fn closing(text: &str, start: usize, quote: char) -> Option<(usize, usize)> {
    let mut escaped = Vec::new();
    let mut at = start;
    while let Some(found) = text[at..].find(quote).map(|offset| at + offset) {
        // Each backslash belongs to the quote right behind it, whatever stands before.
        let is_escaped = found > at && text.as_bytes()[found - 1] == b'\\';
        if !is_escaped {
            if let Some(end) = ending(text, found + 1) {
                return Some((found, end));
            }
            break;
        }
        escaped.push(found);
        at = found + 1;
    }
    let mut candidates = escaped.into_iter().rev();
    candidates.find_map(|close| Some((close, ending(text, close + 1)?)))
}

/// Where an assignment ends whose value does at `from`: nothing but a comment may follow on the line.
fn ending(text: &str, from: usize) -> Option<usize> {
    let rest = skip_space(text, from);
    if rest == text.len() || text[rest..].starts_with('#') {
        return Some(skip(text, rest, |char| char != '\n'));
    }
    text[from..rest].rfind('\n').map(|at| from + at)
}

fn unquoted(value: &str) -> String {
    let value = value.trim_matches(is_space);
    let quote = value.chars().next().filter(|quote| is_quote(*quote));
    let inner = quote.and_then(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let text = inner.unwrap_or(value);
    if quote == Some('"') {
        text.replace("\\n", "\n").replace("\\r", "\r")
    } else {
        text.to_owned()
    }
}

fn skip_space(text: &str, from: usize) -> usize {
    skip(text, from, is_space)
}

fn skip(text: &str, from: usize, is: impl Fn(char) -> bool) -> usize {
    text[from..]
        .find(|char| !is(char))
        .map_or(text.len(), |offset| from + offset)
}

fn is_of_name(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-')
}

fn is_quote(char: char) -> bool {
    matches!(char, '\'' | '"' | '`')
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

    /// What the agents' own parser makes of these.
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
