//! Syntax colours: which part of a line is a keyword, a string, a comment. Works through a text from
//! the top, a bit at a time. Knows classes, not colours.

use std::path::Path;
use std::sync::LazyLock;

use pillion_text::Text;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Bigger texts get no colours.
const MAX_TEXT: usize = 1 << 20;

/// Longer lines get no colours.
const MAX_LINE: usize = 2_000;

/// The kind of a part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Nothing in particular.
    Plain,
    /// A comment.
    Comment,
    /// A string, or code in a text.
    String,
    /// A number or another constant.
    Constant,
    /// A keyword or an operator in letters.
    Keyword,
    /// The name of a function.
    Function,
    /// The name of a type or of a tag.
    Type,
    /// A key, an attribute, a heading.
    Name,
}

/// A part of a line, which begins where the one before ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The byte after it.
    pub end: usize,
    /// Its kind.
    pub class: Class,
}

/// The colours of lines that follow each other.
#[derive(Debug)]
pub struct Coloured {
    /// The first of them.
    pub first: usize,
    /// Their parts.
    pub lines: Vec<Vec<Span>>,
    /// True if no more will come: the text ends here, or has no colours.
    pub is_whole: bool,
}

/// Works out the colours of one text.
pub struct Highlighter {
    /// At the end of the lines that are done; nothing if there are no colours for this text.
    progress: Option<(ParseState, ScopeStack)>,
    /// The number of lines that are done.
    done: usize,
    /// Everything was sent.
    is_over: bool,
}

impl Highlighter {
    /// Nothing is done yet of `text`, which is the content of the file `path`. The first one loads the
    /// languages, which takes a moment.
    pub fn new(path: &Path, text: &Text) -> Self {
        let language = (text.bytes().len() <= MAX_TEXT).then(|| language_of(path, text));
        let start = |language| (ParseState::new(language), ScopeStack::new());
        Self {
            progress: language.flatten().map(start),
            done: 0,
            is_over: false,
        }
    }

    /// The colours of the lines that follow, down to `line` or until `budget` bytes were read, at
    /// least of one. `None` when nothing more is to be sent.
    pub fn work(&mut self, text: &Text, line: usize, budget: usize) -> Option<Coloured> {
        if self.is_over {
            return None;
        }
        let first = self.done;
        let mut lines = Vec::new();
        let mut read = 0;
        while let Some((state, stack)) = &mut self.progress
            && self.done <= line
            && self.done < text.len()
        {
            let shown = text.shown(self.done);
            read += shown.len();
            if read > budget && !lines.is_empty() {
                break;
            }
            let spans = if shown.len() > MAX_LINE {
                Some(Vec::new())
            } else {
                spans(shown, state, stack)
            };
            match spans {
                Some(spans) => {
                    lines.push(spans);
                    self.done += 1;
                }
                None => self.progress = None,
            }
        }
        self.is_over = self.done == text.len() || self.progress.is_none();
        (self.is_over || !lines.is_empty()).then_some(Coloured {
            first,
            lines,
            is_whole: self.is_over,
        })
    }
}

static LANGUAGES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

fn language_of(path: &Path, text: &Text) -> Option<&'static SyntaxReference> {
    let set = &*LANGUAGES;
    let name = path.file_name()?.to_str()?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    set.find_syntax_by_extension(name)
        .or_else(|| set.find_syntax_by_extension(extension?))
        .or_else(|| set.find_syntax_by_first_line(text.shown(0)))
        .filter(|syntax| syntax.name != "Plain Text")
}

fn spans(line: &str, state: &mut ParseState, stack: &mut ScopeStack) -> Option<Vec<Span>> {
    let mut spans: Vec<Span> = Vec::new();
    let mut push = |end: usize, class: Class| {
        let start = spans.last().map_or(0, |span| span.end);
        if end <= start {
            return;
        }
        match spans.last_mut() {
            Some(last) if last.class == class => last.end = end,
            _ => spans.push(Span { end, class }),
        }
    };
    for (at, operation) in state.parse_line(line, &LANGUAGES).ok()? {
        push(at, class(stack.as_slice()));
        stack.apply(&operation).ok()?;
    }
    push(line.len(), class(stack.as_slice()));
    Some(spans)
}

fn class(stack: &[Scope]) -> Class {
    let known = |scope: &Scope| {
        let row = TABLE.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope));
        row.map(|(_, class)| *class)
    };
    stack.iter().rev().find_map(known).unwrap_or(Class::Plain)
}

/// Scopes and what they are; of two that fit, the first counts.
static TABLE: LazyLock<Vec<(Scope, Class)>> = LazyLock::new(|| {
    let rows = [
        ("comment", Class::Comment),
        ("punctuation.definition.comment", Class::Comment),
        ("constant.character.escape", Class::Constant),
        ("string", Class::String),
        ("punctuation.definition.string", Class::String),
        ("markup.raw", Class::String),
        ("constant", Class::Constant),
        ("keyword.operator.word", Class::Keyword),
        ("keyword.operator.logical.python", Class::Keyword),
        ("keyword.operator", Class::Plain),
        ("keyword", Class::Keyword),
        ("storage.type.numeric", Class::Constant),
        ("storage", Class::Keyword),
        ("variable.language", Class::Keyword),
        ("entity.name.function", Class::Function),
        ("entity.name.macro", Class::Function),
        ("support.function", Class::Function),
        ("support.macro", Class::Function),
        ("variable.function", Class::Function),
        ("entity.name.type", Class::Type),
        ("entity.name.class", Class::Type),
        ("entity.name.struct", Class::Type),
        ("entity.name.enum", Class::Type),
        ("entity.name.trait", Class::Type),
        ("entity.name.interface", Class::Type),
        ("entity.name.namespace", Class::Type),
        ("entity.name.tag", Class::Type),
        ("entity.name.section", Class::Name),
        ("markup.heading", Class::Name),
        ("entity.other.inherited-class", Class::Type),
        ("support.type", Class::Type),
        ("support.class", Class::Type),
        ("entity.other.attribute-name", Class::Name),
        ("support.type.property-name", Class::Name),
        ("meta.interpolation", Class::Plain),
        ("meta.template.expression", Class::Plain),
    ];
    rows.into_iter()
        .filter_map(|(scope, class)| Some((Scope::new(scope).ok()?, class)))
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(path: &str, text: &str) -> Vec<(String, Class)> {
        let text = Text::new(text);
        let mut highlighter = Highlighter::new(Path::new(path), &text);
        let coloured = highlighter.work(&text, text.len(), usize::MAX).unwrap();
        assert!(coloured.is_whole);
        let mut parts = Vec::new();
        for (line, spans) in coloured.lines.iter().enumerate() {
            let shown = text.shown(line);
            let mut start = 0;
            for span in spans {
                let part = shown[start..span.end].trim().to_owned();
                if span.class != Class::Plain {
                    parts.push((part, span.class));
                }
                start = span.end;
            }
        }
        parts
    }

    fn is_known(name: &str) -> bool {
        language_of(Path::new(name), &Text::new("")).is_some()
    }

    #[test]
    fn languages_that_agents_write_are_known() {
        let parts = coloured("/w/a.ts", "const a: number = 1; // why\n");
        assert!(
            parts.contains(&("const".into(), Class::Keyword)),
            "{parts:?}"
        );
        assert!(
            parts.contains(&("// why".into(), Class::Comment)),
            "{parts:?}"
        );
        for name in [
            "a.rs",
            "a.tsx",
            "a.toml",
            "a.py",
            "a.go",
            "a.yaml",
            "Dockerfile",
            "Makefile",
        ] {
            assert!(is_known(name), "{name}");
        }
        assert!(!is_known("a.txt"));
    }

    #[test]
    fn work_stops_at_its_budget_and_goes_on_later() {
        let text = Text::new("let a = 1;\n".repeat(10));
        let mut highlighter = Highlighter::new(Path::new("a.rs"), &text);
        let mut work = |line, budget| {
            let coloured = highlighter.work(&text, line, budget)?;
            assert!(coloured.lines.iter().all(|spans| !spans.is_empty()));
            Some((coloured.first, coloured.lines.len(), coloured.is_whole))
        };
        assert_eq!(work(9, 40), Some((0, 3, false)));
        // A line longer than the budget is still finished.
        assert_eq!(work(9, 1), Some((3, 1, false)));
        assert_eq!(work(5, 4_000), Some((4, 2, false)));
        assert_eq!(work(5, 4_000), None);
        assert_eq!(work(9, 4_000), Some((6, 4, true)));
        assert_eq!(work(9, 4_000), None);
    }

    #[test]
    fn huge_texts_and_lines_have_no_colours() {
        let text = Text::new("let a = 1;\n".repeat(200_000));
        let mut highlighter = Highlighter::new(Path::new("a.rs"), &text);
        let coloured = highlighter.work(&text, 1, 9_000).unwrap();
        assert!(coloured.lines.is_empty() && coloured.is_whole);
        assert!(highlighter.work(&text, 1, 9_000).is_none());
        let text = Text::new(format!("let a = \"{}\";\nlet b = 1;\n", "x".repeat(3_000)));
        let mut highlighter = Highlighter::new(Path::new("a.rs"), &text);
        let coloured = highlighter.work(&text, 1, 9_000).unwrap();
        assert!(coloured.lines[0].is_empty());
        assert!(!coloured.lines[1].is_empty());
    }
}
