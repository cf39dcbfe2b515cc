//! Syntax colours: which part of a line is a keyword, a string, a comment. Works through a text from
//! the top, a bit at a time. Knows classes, not colours.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use pillion_text::Text;
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// Bigger texts get no colours.
const MAX_TEXT: usize = 1 << 20;

/// Longer lines get no colours.
const MAX_LINE: usize = 2_000;

/// Colours of lines that are farther from what is known than twice this are guessed first, from so many lines above on.
const ABOVE: usize = 200;

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

/// A line that names what it begins: a function, a type, a key, a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading {
    /// Its index.
    pub line: usize,
    /// It goes on until the next of its kind, however lines are indented.
    pub is_section: bool,
}

/// The colours of lines that follow each other.
#[derive(Debug, Default)]
pub struct Coloured {
    /// The first of them.
    pub first: usize,
    /// Their parts.
    pub lines: Vec<Vec<Span>>,
    /// The lines among them that name what they begin.
    pub headings: Vec<Heading>,
    /// True if no more will come: the text ends here, or has no colours.
    pub is_whole: bool,
    /// True if what is above was not read: a comment or a string that begins there is not known.
    pub is_guess: bool,
}

/// Works out the colours of one text: first of the lines that are wanted, from a guess a little above them, then of all from the top.
pub struct Highlighter {
    /// From the first line on; nothing if there are no colours for this text.
    whole: Option<Run>,
    guess: Option<Run>,
    /// Everything was sent.
    is_over: bool,
}

impl Highlighter {
    /// Nothing is done yet of `text`, which is the content of the file `path`. The first one loads the
    /// languages, which takes a moment.
    pub fn new(path: &Path, text: &Text) -> Self {
        let language = (text.bytes().len() <= MAX_TEXT).then(|| language_of(path, text));
        Self {
            whole: language.flatten().map(|language| Run::new(language, 0)),
            guess: None,
            is_over: false,
        }
    }

    /// The next colours on the way to these lines, until `budget` bytes were read, at least of one line. `None` when nothing more is
    /// to be sent.
    pub fn work(&mut self, text: &Text, wanted: &Range<usize>, budget: usize) -> Option<Coloured> {
        if self.is_over {
            return None;
        }
        if let Some(guessed) = self.guess(text, wanted, budget) {
            return Some(guessed);
        }
        let bit = self
            .whole
            .as_mut()
            .map(|run| run.work(text, wanted.end, budget));
        if let Some(Err(NoColours)) = bit {
            self.whole = None;
        }
        let bit = bit.and_then(Result::ok).unwrap_or_default();
        self.is_over = self.whole.as_ref().is_none_or(|run| run.next == text.len());
        (self.is_over || !bit.lines.is_empty()).then_some(Coloured {
            is_whole: self.is_over,
            ..bit
        })
    }

    /// The next colours of lines that are far from what is known, if there are any to guess.
    fn guess(&mut self, text: &Text, wanted: &Range<usize>, budget: usize) -> Option<Coloured> {
        let whole = self.whole.as_ref()?;
        if wanted.start < whole.next + 2 * ABOVE {
            return None;
        }
        // It may be on its way to them.
        let near = |run: &Run| (run.first..=run.next + 2 * ABOVE).contains(&wanted.start);
        let run = match self.guess.take().filter(near) {
            Some(run) => run,
            None => Run::new(whole.language, outermost_line(text, wanted.start - ABOVE)),
        };
        let bit = self.guess.insert(run).work(text, wanted.end, budget).ok()?;
        (!bit.lines.is_empty()).then_some(Coloured {
            is_guess: true,
            ..bit
        })
    }
}

/// The last line down to `line` that is not indented, if one is near: there, little is open that began above.
fn outermost_line(text: &Text, line: usize) -> usize {
    let begins = |line: &usize| {
        text.shown(*line)
            .starts_with(|it: char| !it.is_whitespace())
    };
    let mut near = (line.saturating_sub(ABOVE)..=line).rev();
    near.find(begins).unwrap_or(line)
}

/// A language fails on this text.
#[derive(Debug)]
struct NoColours;

/// Lines that are worked through, one after the other.
struct Run {
    language: &'static SyntaxReference,
    state: ParseState,
    stack: ScopeStack,
    scopes: Scopes,
    /// The line that is worked on names what it begins, perhaps a section.
    heading: Option<bool>,
    first: usize,
    /// The first line that is not done.
    next: usize,
}

impl Run {
    fn new(language: &'static SyntaxReference, first: usize) -> Self {
        Self {
            language,
            state: ParseState::new(language),
            stack: ScopeStack::new(),
            scopes: Scopes::default(),
            heading: None,
            first,
            next: first,
        }
    }

    /// The colours of the next lines before `end`.
    fn work(&mut self, text: &Text, end: usize, budget: usize) -> Result<Coloured, NoColours> {
        let mut bit = Coloured {
            first: self.next,
            ..Coloured::default()
        };
        let mut read = 0;
        while self.next < end.min(text.len()) {
            let shown = text.shown(self.next);
            read += shown.len();
            if read > budget && !bit.lines.is_empty() {
                break;
            }
            self.heading = None;
            bit.lines.push(match shown.len() > MAX_LINE {
                true => Vec::new(),
                false => self.spans(shown).ok_or(NoColours)?,
            });
            let line = self.next;
            let heading = self.heading.map(|is_section| Heading { line, is_section });
            bit.headings.extend(heading);
            self.next += 1;
        }
        Ok(bit)
    }

    fn spans(&mut self, line: &str) -> Option<Vec<Span>> {
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
        for (at, operation) in self.state.parse_line(line, &LANGUAGES).ok()? {
            push(at, self.scopes.class(self.stack.as_slice()));
            self.stack.apply(&operation).ok()?;
            self.heading = self.heading.or(self.scopes.heading(self.stack.as_slice()));
        }
        push(line.len(), self.scopes.class(self.stack.as_slice()));
        Some(spans)
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

/// What scopes mean, as far as they were looked up: a file has few.
#[derive(Default)]
struct Scopes(HashMap<Scope, Meaning>);

#[derive(Clone, Copy)]
struct Meaning {
    class: Option<Class>,
    /// It is the name of what a line begins, perhaps of a section.
    heading: Option<bool>,
    is_call: bool,
}

impl Scopes {
    fn of(&mut self, scope: Scope) -> Meaning {
        *self.0.entry(scope).or_insert_with(|| Meaning {
            class: first(&TABLE, scope),
            heading: first(&HEADINGS, scope),
            is_call: CALL.is_prefix_of(scope),
        })
    }

    fn class(&mut self, stack: &[Scope]) -> Class {
        let mut scopes = stack.iter().rev();
        let class = scopes.find_map(|scope| self.of(*scope).class);
        class.unwrap_or(Class::Plain)
    }

    /// If the last of these is the name of what a line begins: whether that is a section.
    fn heading(&mut self, stack: &[Scope]) -> Option<bool> {
        let is_section = self.of(*stack.last()?).heading?;
        let is_called = stack.iter().any(|scope| self.of(*scope).is_call);
        (!is_called).then_some(is_section)
    }
}

/// What the first row that fits says of a scope.
fn first<T: Copy>(table: &[(Scope, T)], scope: Scope) -> Option<T> {
    let row = table.iter().find(|(prefix, _)| prefix.is_prefix_of(scope));
    row.map(|(_, meaning)| *meaning)
}

/// Rows with their scopes.
fn table<T: Copy>(rows: &[(&str, T)]) -> Vec<(Scope, T)> {
    let rows = rows.iter();
    rows.filter_map(|(scope, meaning)| Some((Scope::new(scope).ok()?, *meaning)))
        .collect()
}

/// Some grammars name the function that is called as they do where it begins.
static CALL: LazyLock<Scope> = LazyLock::new(|| {
    let call = Scope::new("meta.function-call");
    call.unwrap_or_default()
});

/// The names of what a line begins, and whether that is a section.
static HEADINGS: LazyLock<Vec<(Scope, bool)>> = LazyLock::new(|| {
    table(&[
        ("entity.name.section", true),
        ("entity.name.table", true),
        ("entity.name.function", false),
        ("entity.name.class", false),
        ("entity.name.struct", false),
        ("entity.name.union", false),
        ("entity.name.enum", false),
        ("entity.name.trait", false),
        ("entity.name.impl", false),
        ("entity.name.interface", false),
        ("entity.name.namespace", false),
        ("entity.name.module", false),
        ("entity.name.macro", false),
        ("entity.name.tag.yaml", false),
        ("entity.name.type.class", false),
        ("entity.name.type.enum", false),
        ("entity.name.type.interface", false),
        ("entity.name.type.module", false),
    ])
});

/// Scopes and what they are; of two that fit, the first counts.
static TABLE: LazyLock<Vec<(Scope, Class)>> = LazyLock::new(|| {
    table(&[
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
    ])
});

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(path: &str, text: &str) -> Vec<(String, Class)> {
        let text = Text::new(text);
        let mut highlighter = Highlighter::new(Path::new(path), &text);
        let coloured = highlighter
            .work(&text, &(0..text.len()), usize::MAX)
            .unwrap();
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
            let coloured = highlighter.work(&text, &(line..line + 1), budget)?;
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
        let coloured = highlighter.work(&text, &(0..2), 9_000).unwrap();
        assert!(coloured.lines.is_empty() && coloured.is_whole);
        assert!(highlighter.work(&text, &(0..2), 9_000).is_none());
        let text = Text::new(format!("let a = \"{}\";\nlet b = 1;\n", "x".repeat(3_000)));
        let mut highlighter = Highlighter::new(Path::new("a.rs"), &text);
        let coloured = highlighter.work(&text, &(0..2), 9_000).unwrap();
        assert!(coloured.lines[0].is_empty());
        assert!(!coloured.lines[1].is_empty());
    }

    /// A file of functions in which a comment that is long begins at some line.
    fn functions(lines: usize, comment: usize) -> Text {
        let line = |at| match at {
            at if at == comment => "/* why\n".to_owned(),
            at if at == comment + 1_000 => "*/\n".to_owned(),
            at => format!("fn f{at}() {{}}\n"),
        };
        Text::new((0..lines).map(line).collect::<String>())
    }

    #[test]
    fn lines_far_down_are_guessed_first_and_right_in_the_end() {
        for (comment, is_right) in [(20_000, true), (8_900, false)] {
            let text = functions(10_000, comment);
            let mut highlighter = Highlighter::new(Path::new("a.rs"), &text);
            let wanted = 9_500..9_540;
            let guesses: Vec<_> = std::iter::from_fn(|| {
                let coloured = highlighter.work(&text, &wanted, 4_000)?;
                coloured.is_guess.then_some(coloured)
            })
            .collect();
            let read: usize = guesses.iter().map(|bit| bit.lines.len()).sum();
            assert_eq!((guesses[0].first, read), (9_300, 240));
            let mut bits: Vec<_> =
                std::iter::from_fn(|| highlighter.work(&text, &wanted, 4_000)).collect();
            assert!(bits.iter().all(|bit| !bit.is_guess));
            let last = bits.pop().unwrap();
            assert_eq!(last.first + last.lines.len(), wanted.end);
            let guessed = guesses.last().unwrap().lines.last().unwrap();
            assert_eq!(last.lines.last() == Some(guessed), is_right);
        }
    }

    #[test]
    fn the_next_page_goes_on_with_the_guess() {
        let text = functions(10_000, 20_000);
        let mut highlighter = Highlighter::new(Path::new("a.rs"), &text);
        let mut guess = |wanted: Range<usize>| {
            let coloured = highlighter.work(&text, &wanted, usize::MAX)?;
            coloured
                .is_guess
                .then_some((coloured.first, coloured.lines.len()))
        };
        assert_eq!(guess(9_000..9_040), Some((8_800, 240)));
        assert_eq!(guess(9_030..9_070), Some((9_040, 30)));
        assert_eq!(guess(5_000..5_040), Some((4_800, 240)));
        // Nothing is guessed near what is known.
        assert_eq!(guess(100..140), None);
    }

    /// The lines that name what they begin.
    fn headings(path: &str, text: &str) -> Vec<String> {
        let text = Text::new(text);
        let mut highlighter = Highlighter::new(Path::new(path), &text);
        let coloured = highlighter
            .work(&text, &(0..text.len()), usize::MAX)
            .unwrap();
        let lines = coloured
            .headings
            .iter()
            .map(|it| text.shown(it.line).trim());
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn lines_that_name_what_they_begin_are_found() {
        let rust = "struct A;\nimpl A {\n    fn b(&self) {\n        c(d);\n    }\n}\n";
        assert_eq!(
            headings("a.rs", rust),
            ["struct A;", "impl A {", "fn b(&self) {"]
        );
        let python = "class A:\n    def b(self):\n        c(self)\n";
        assert_eq!(headings("a.py", python), ["class A:", "def b(self):"]);
        let ts = "export class A {\n  b(c: string) {\n    d(c);\n  }\n}\nfunction e() {}\n";
        assert_eq!(
            headings("a.ts", ts),
            ["export class A {", "b(c: string) {", "function e() {}"]
        );
        let go = "func (a *A) b() {\n\tc()\n}\n";
        assert_eq!(headings("a.go", go), ["func (a *A) b() {"]);
        let c = "int\nmain(void)\n{\n    puts(\"a\");\n}\n";
        assert_eq!(headings("a.c", c), ["main(void)"]);
        let md = "# A\n\ntext\n\n## B\n";
        assert_eq!(headings("a.md", md), ["# A", "## B"]);
        let toml = "[a]\nb = 1\n";
        assert_eq!(headings("a.toml", toml), ["[a]"]);
        let yaml = "jobs:\n  test:\n    steps: []\n";
        assert_eq!(headings("a.yaml", yaml), ["jobs:", "test:", "steps: []"]);
    }
}
