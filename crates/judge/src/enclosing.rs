//! The function, the type or the section in which a line lies: by the names that the syntax finds, and by how lines are indented.

use pillion_text::Text;

use crate::syntax::Heading;

/// A beginning that is farther above is not looked for.
const FARTHEST: usize = 5_000;

/// What begins a line that belongs to the beginning of a block, although it is indented as that is.
const GOES_ON: [char; 6] = [')', '{', '#', '/', '*', '-'];

/// The name of what `line` lies in, as far as it is among the lines that name what they begin.
pub fn enclosing<'a>(text: &'a Text, headings: &[Heading], line: usize) -> Option<&'a str> {
    let heading = begins(text, headings, line).filter(|_| line < text.len())?;
    let shown = text.shown(heading).trim();
    Some(shown.trim_end_matches('{').trim_end())
}

/// The line at which that begins.
fn begins(text: &Text, headings: &[Heading], line: usize) -> Option<usize> {
    let above = headings.partition_point(|heading| heading.line < line);
    let headings = headings[..above].iter().rev();
    // What encloses a line that is empty is what encloses the next one.
    let mut below = (line..text.len()).filter_map(|line| indent(text, line));
    let mut inner = below.next().unwrap_or(usize::MAX);
    let mut next = line;
    for heading in headings.take_while(|heading| heading.line + FARTHEST > line) {
        if heading.is_section {
            return Some(heading.line);
        }
        let ends = |line: &usize| Some((indent(text, *line)?, goes_on(text, *line)));
        for (indent, goes_on) in (heading.line + 1..next)
            .rev()
            .filter_map(|line| ends(&line))
        {
            if !goes_on {
                inner = inner.min(indent);
            }
        }
        next = heading.line;
        let own = indent(text, heading.line)?;
        if own < inner {
            return Some(heading.line);
        }
        inner = inner.min(own);
    }
    None
}

/// The columns before the first character of a line, of one that has any.
fn indent(text: &Text, line: usize) -> Option<usize> {
    let shown = text.shown(line);
    let solid = shown.trim_start();
    (!solid.is_empty()).then(|| {
        let spaces = shown[..shown.len() - solid.len()].chars();
        spaces.map(|it| if it == '\t' { 4 } else { 1 }).sum()
    })
}

fn goes_on(text: &Text, line: usize) -> bool {
    text.shown(line).trim_start().starts_with(GOES_ON)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::syntax::Highlighter;

    /// The heading of the line that holds `<`.
    fn of(path: &str, text: &str) -> Option<String> {
        let text = Text::new(text);
        let mut highlighter = Highlighter::new(Path::new(path), &text);
        let coloured = highlighter
            .work(&text, &(0..text.len()), usize::MAX)
            .unwrap();
        let line = (0..text.len())
            .find(|line| text.shown(*line).contains('<'))
            .unwrap();
        enclosing(&text, &coloured.headings, line).map(str::to_owned)
    }

    #[test]
    fn a_line_lies_in_what_begins_above_and_is_not_over() {
        for (path, text, expected) in [
            (
                "a.rs",
                "fn a(\n    b: u8,\n) -> u8 {\n    <\n}\n",
                Some("fn a("),
            ),
            (
                "a.rs",
                "fn a() {\n    1\n}\n\nstatic B: [u8; 1] = [\n    1, // <\n];\n",
                None,
            ),
            (
                "a.rs",
                "impl A {\n    fn b() {\n        1\n    }\n\n    // <\n}\n",
                Some("impl A"),
            ),
            (
                "a.rs",
                "impl A {\n    fn b() {\n        1\n    }\n}\n// <\n",
                None,
            ),
            (
                "a.rs",
                "fn a() {\n    if b {\n        1\n    }\n\n    // <\n}\n",
                Some("fn a()"),
            ),
            (
                "a.py",
                "class A:\n    def b(self):\n        c = 1\n\n        <\n",
                Some("def b(self):"),
            ),
            ("a.py", "def a():\n    1\n\nb = 1 # <\n", None),
            (
                "a.c",
                "int main(void)\n{\n    1;\n#if B\n    2; // <\n}\n",
                Some("int main(void)"),
            ),
            ("a.md", "# A\n\na\n\n## B\n\nb <\n", Some("## B")),
            ("a.toml", "[a]\nb = 1\n\n[c]\nd = \"<\"\n", Some("[c]")),
            ("a.txt", "a\n  <\n", None),
        ] {
            assert_eq!(of(path, text).as_deref(), expected, "{text}");
        }
    }
}
