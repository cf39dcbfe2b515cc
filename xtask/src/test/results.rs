//! The table of `docs/editors.md`: which rule was seen to hold in which editor. A run of all these tests
//! compares it with what passed; with `UPDATE_DOCS` set, it writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::{env, fs};

use anyhow::{Context, Result, ensure};

use crate::root;

/// How the titles of these tests start. Then come the group of the rule, the rule, and the editor.
const SUITE: &str = "pillion/editors rules::";

const PAGE: &str = "docs/editors.md";

const BEGIN: &str = "<!-- results -->\n";
const END: &str = "<!-- end of results -->\n";

/// What passed, by group and rule.
#[derive(Debug, Default)]
pub struct Results(BTreeMap<(String, String), BTreeSet<String>>);

impl Results {
    /// Notes a test that passed, if it is one of these.
    pub fn passed(&mut self, title: &str) {
        let Some(test) = title.strip_prefix(SUITE) else {
            return;
        };
        if let [group, rule, editor] = *test.split("::").collect::<Vec<_>>() {
            let rule = (group.to_owned(), rule.replace('_', " "));
            self.0.entry(rule).or_default().insert(editor.to_owned());
        }
    }

    /// # Errors
    /// If the page has another table than this, or cannot be written.
    pub fn compare_with_page(&self) -> Result<()> {
        let path = root().join(PAGE);
        let page = fs::read_to_string(&path).context(PAGE)?;
        let expected = self.written_into(&page)?;
        if env::var_os("UPDATE_DOCS").is_some() {
            return fs::write(&path, expected).context(PAGE);
        }
        ensure!(
            page == expected,
            "{PAGE} has other results than this run.\n\
             Hint: UPDATE_DOCS=1 cargo xtask test --only editors writes them.\n{}",
            self.table()
        );
        Ok(())
    }

    fn written_into(&self, page: &str) -> Result<String> {
        let lines = "has no place for the results";
        let (before, rest) = page.split_once(BEGIN).context(lines)?;
        let (_, after) = rest.split_once(END).context(lines)?;
        Ok(format!("{before}{BEGIN}\n{}\n{END}{after}", self.table()))
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
            "pillion/vim seen::a_macro_accepts_nothing::vim_9_0",
        ] {
            results.passed(title);
        }
        results
    }

    #[test]
    fn each_rule_has_a_row_and_each_editor_a_column() {
        assert_eq!(
            results().table(),
            "| rule | Neovim 0.7 | Neovim 0.10 | Vim 9.0 |\n\
             | --- | --- | --- | --- |\n\
             | names are taken as they are | no | no | yes |\n\
             | a held key accepts nothing | yes | yes | yes |\n"
        );
    }

    #[test]
    fn the_rest_of_the_page_stays() {
        let page = format!("above\n{BEGIN}old\n{END}below\n");
        let written = results()
            .written_into(&page)
            .expect("the page has a place for it");
        assert_eq!(
            written,
            format!("above\n{BEGIN}\n{}\n{END}below\n", results().table())
        );
        assert!(results().written_into("above\n").is_err());
    }
}
