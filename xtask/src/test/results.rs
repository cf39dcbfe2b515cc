//! The results in `docs/editors.md` of what was seen to work in which editor: a table of the rules that all editors with a
//! plugin keep, and a list for each editor without one. A run of them with all releases (`--all`) compares them with
//! what passed; with `UPDATE_DOCS` set, it writes them.

mod clients;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::{env, fs};

use anyhow::{Context, Result, ensure};

use self::clients::Clients;
use super::EDITORS;
use crate::root;

const PAGE: &str = "docs/editors.md";

/// The tests that passed.
#[derive(Debug, Default)]
pub struct Results {
    rules: Rules,
    clients: Clients,
}

impl Results {
    /// Notes a test that passed, if it is one of these.
    pub fn passed(&mut self, title: &str) {
        self.rules.passed(title);
        self.clients.passed(title);
    }

    /// Of all tests of this suite.
    ///
    /// # Errors
    /// If the page has other results than these, or cannot be written.
    pub fn compare_with_page(&self, suite: &str) -> Result<()> {
        let path = root().join(PAGE);
        let page = fs::read_to_string(&path).context(PAGE)?;
        let results = match suite {
            EDITORS => self.rules.table(),
            _ => self.clients.lists(),
        };
        let expected = written_into(&page, suite, &results)?;
        if env::var_os("UPDATE_DOCS").is_some() {
            return fs::write(&path, expected).context(PAGE);
        }
        ensure!(
            page == expected,
            "{PAGE} has other results than this run.\n\
             Hint: UPDATE_DOCS=1 cargo xtask test --all --only {suite} writes them.\n{results}"
        );
        Ok(())
    }
}

/// The page with these results.
fn written_into(page: &str, suite: &str, results: &str) -> Result<String> {
    let (begin, end) = (
        format!("<!-- results of {suite} -->\n"),
        format!("<!-- end of results of {suite} -->\n"),
    );
    let lines = "has no place for the results";
    let (before, rest) = page.split_once(&begin).context(lines)?;
    let (_, after) = rest.split_once(&end).context(lines)?;
    Ok(format!("{before}{begin}\n{results}\n{end}{after}"))
}

/// The rules of editors with a plugin, by group: in which editors each holds.
#[derive(Debug, Default)]
struct Rules(BTreeMap<(String, String), BTreeSet<String>>);

/// The start of the titles of their tests. Then come the group of the rule, the rule, and the editor.
const RULES: &str = "pillion/editors rules::";

impl Rules {
    fn passed(&mut self, title: &str) {
        let Some(test) = title.strip_prefix(RULES) else {
            return;
        };
        if let [group, rule, editor] = *test.split("::").collect::<Vec<_>>() {
            // A rule that not every editor keeps has a test for each that does.
            let end = format!("_in_{}", editor.split('_').next().unwrap_or_default());
            let rule = rule.strip_suffix(&end).unwrap_or(rule);
            let rule = (group.to_owned(), rule.replace('_', " "));
            self.0.entry(rule).or_default().insert(editor.to_owned());
        }
    }

    fn table(&self) -> String {
        let editors: BTreeSet<&String> = self.0.values().flatten().collect();
        let mut editors: Vec<_> = editors.into_iter().collect();
        editors.sort_by_key(|editor| order(editor));
        let mut table = "| rule |".to_owned();
        for editor in &editors {
            let _ = write!(table, " {} |", name(editor));
        }
        let _ = write!(table, "\n| --- |{}\n", " --- |".repeat(editors.len()));
        for ((_, rule), passed) in &self.0 {
            let _ = write!(table, "| {rule} |");
            for editor in &editors {
                let cell = if passed.contains(editor.as_str()) {
                    "yes"
                } else {
                    "no"
                };
                let _ = write!(table, " {cell} |");
            }
            table.push('\n');
        }
        table
    }
}

/// By the editor, then by its version: 0.7 before 0.10.
fn order(test: &str) -> (&str, Vec<u32>) {
    let (editor, version) = test.split_once('_').unwrap_or((test, ""));
    let numbers = version.split('_').map(|number| number.parse().unwrap_or(0));
    (editor, numbers.collect())
}

/// An editor as people name it, of a test's name such as `vim_9_0`.
fn name(test: &str) -> String {
    let (editor, version) = test.split_once('_').unwrap_or((test, ""));
    let mut letters = editor.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    let editor: String = first.into_iter().chain(letters).collect();
    format!("{editor} {}", version.replace('_', "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results() -> Results {
        let mut results = Results::default();
        for title in [
            "pillion/editors rules::seen::a_held_key_accepts_nothing::vim_9_0",
            "pillion/editors rules::seen::a_held_key_accepts_nothing::neovim_0_10",
            "pillion/editors rules::seen::a_held_key_accepts_nothing::neovim_0_7",
            "pillion/editors rules::names::names_are_taken_as_they_are::vim_9_0",
            "pillion/editors rules::names::links_are_kept_in_vim::vim_9_0",
            "pillion/vim seen::a_macro_accepts_nothing::vim_9_0",
        ] {
            results.passed(title);
        }
        results
    }

    #[test]
    fn each_rule_has_a_row_and_each_editor_a_column() {
        assert_eq!(
            results().rules.table(),
            "| rule | Neovim 0.7 | Neovim 0.10 | Vim 9.0 |\n\
             | --- | --- | --- | --- |\n\
             | links are kept | no | no | yes |\n\
             | names are taken as they are | no | no | yes |\n\
             | a held key accepts nothing | yes | yes | yes |\n"
        );
    }

    #[test]
    fn the_rest_of_the_page_stays() {
        let page = |results: &str| {
            let begin = "<!-- results of lsp -->";
            format!("above\n{begin}\n{results}<!-- end of results of lsp -->\nbelow\n")
        };
        let written = written_into(&page("old\n"), "lsp", "new\n");
        let written = written.expect("the page has a place for it");
        assert_eq!(written, page("\nnew\n\n"));
        assert!(written_into("above\n", "lsp", "new\n").is_err());
    }
}
