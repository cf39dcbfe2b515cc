//! Syntax colours: which part of a line is a keyword, a string, a comment. Works through a text from
//! the top, a bit at a time, and only as far as somebody looks. Knows classes, not colours.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::text::Text;

/// Bigger texts get no colours.
const MAX_TEXT: usize = 1 << 20;

/// Longer lines get no colours.
const MAX_LINE: usize = 2_000;

/// What a part of a line is.
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
    /// What it is.
    pub class: Class,
}

/// The colours of one text, as far as they are known.
pub struct Colours {
    progress: Progress,
    lines: Vec<Vec<Span>>,
}

enum Progress {
    /// For a file of this path; the languages are not loaded yet.
    Waiting(PathBuf),
    /// At the end of the lines that are known.
    At(Box<(ParseState, ScopeStack)>),
    /// There are no colours for this text.
    Never,
}

impl Colours {
    /// Colours for `text`, which is the content of the file `path`.
    pub fn new(path: &Path, text: &Text) -> Self {
        let progress = if text.bytes().len() > MAX_TEXT {
            Progress::Never
        } else {
            Progress::Waiting(path.to_owned())
        };
        Self {
            progress,
            lines: Vec::new(),
        }
    }

    /// The parts of a line, if they are known.
    pub fn line(&self, index: usize) -> &[Span] {
        self.lines.get(index).map_or(&[], Vec::as_slice)
    }

    /// Works on until the colours of `line` are known or `budget` bytes were read, which are taken
    /// from it. Answers whether there is more to do.
    pub fn work(&mut self, text: &Text, line: usize, budget: &mut usize) -> bool {
        let Some(languages) = LANGUAGES.get() else {
            return false;
        };
        if let Progress::Waiting(path) = &self.progress {
            self.progress = match language_of(languages, path, text) {
                Some(language) => {
                    Progress::At(Box::new((ParseState::new(language), ScopeStack::new())))
                }
                None => Progress::Never,
            };
        }
        let Progress::At(progress) = &mut self.progress else {
            return false;
        };
        let (state, stack) = &mut **progress;
        while self.lines.len() <= line && self.lines.len() < text.len() {
            let shown = text.shown(self.lines.len());
            let Some(left) = budget.checked_sub(shown.len() + 1) else {
                return true;
            };
            *budget = left;
            if shown.len() > MAX_LINE {
                self.lines.push(Vec::new());
                continue;
            }
            match spans(languages, &shown, state, stack) {
                Some(spans) => self.lines.push(spans),
                None => {
                    self.progress = Progress::Never;
                    return false;
                }
            }
        }
        false
    }
}

static LANGUAGES: OnceLock<SyntaxSet> = OnceLock::new();

/// Loads the languages, which takes a moment. Until then there are no colours.
pub fn load() {
    LANGUAGES.get_or_init(two_face::syntax::extra_newlines);
}

fn language_of<'a>(set: &'a SyntaxSet, path: &Path, text: &Text) -> Option<&'a SyntaxReference> {
    let name = path.file_name()?.to_str()?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    set.find_syntax_by_extension(name)
        .or_else(|| set.find_syntax_by_extension(extension?))
        .or_else(|| set.find_syntax_by_first_line(&text.shown(0)))
        .filter(|syntax| syntax.name != "Plain Text")
}

fn spans(
    languages: &SyntaxSet,
    line: &str,
    state: &mut ParseState,
    stack: &mut ScopeStack,
) -> Option<Vec<Span>> {
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
    for (at, operation) in state.parse_line(line, languages).ok()? {
        push(at, class(stack.as_slice()));
        stack.apply(&operation).ok()?;
    }
    push(line.len(), class(stack.as_slice()));
    Some(spans)
}

fn class(stack: &[Scope]) -> Class {
    let known = |scope: &Scope| {
        let row = table()
            .iter()
            .find(|(prefix, _)| prefix.is_prefix_of(*scope));
        row.map(|(_, class)| *class)
    };
    stack.iter().rev().find_map(known).unwrap_or(Class::Plain)
}

/// Scopes and what they are; of two that fit, the first counts.
fn table() -> &'static [(Scope, Class)] {
    static TABLE: OnceLock<Vec<(Scope, Class)>> = OnceLock::new();
    TABLE.get_or_init(|| {
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
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(path: &str, text: &str) -> Vec<(String, Class)> {
        load();
        let text = Text::new(text);
        let mut colours = Colours::new(Path::new(path), &text);
        assert!(!colours.work(&text, text.len(), &mut usize::MAX.clone()));
        let mut parts = Vec::new();
        for line in 0..text.len() {
            let shown = text.shown(line);
            let mut start = 0;
            for span in colours.line(line) {
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
        let languages = LANGUAGES.get().unwrap();
        language_of(languages, Path::new(name), &Text::new("")).is_some()
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
        load();
        let text = Text::new("let a = 1;\n".repeat(10));
        let mut colours = Colours::new(Path::new("a.rs"), &text);
        assert!(colours.work(&text, 9, &mut 40));
        assert!(!colours.line(2).is_empty());
        assert!(colours.line(3).is_empty());
        assert!(!colours.work(&text, 9, &mut 4_000));
        assert!(!colours.line(9).is_empty());
    }

    #[test]
    fn huge_texts_and_lines_have_no_colours() {
        let text = Text::new("let a = 1;\n".repeat(200_000));
        load();
        let mut colours = Colours::new(Path::new("a.rs"), &text);
        assert!(!colours.work(&text, 1, &mut 9_000));
        assert!(colours.line(0).is_empty());
        let text = Text::new(format!("let a = \"{}\";\nlet b = 1;\n", "x".repeat(3_000)));
        let mut colours = Colours::new(Path::new("a.rs"), &text);
        colours.work(&text, 1, &mut 9_000);
        assert!(colours.line(0).is_empty());
        assert!(!colours.line(1).is_empty());
    }
}
