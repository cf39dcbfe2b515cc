//! The index of a help file in Vim's format, as `:helptags` writes it: made here, so that help works
//! at once and without starting the editor.

use std::collections::BTreeSet;

/// The text of `tags` for one help file.
pub fn help_tags(file_name: &str, text: &str) -> String {
    let tags: BTreeSet<_> = text.lines().flat_map(line_tags).collect();
    let lines = tags.into_iter().map(|tag| {
        let pattern = tag.replace('\\', r"\\").replace('/', r"\/");
        format!("{tag}\t{file_name}\t/*{pattern}*\n")
    });
    lines.collect()
}

/// The tags `*like-this*` of a line: between blanks or at its ends.
fn line_tags(line: &str) -> impl Iterator<Item = &str> {
    line.split([' ', '\t']).filter_map(|word| {
        let tag = word.strip_prefix('*')?.strip_suffix('*')?;
        (!tag.is_empty() && !tag.contains(['*', '|'])).then_some(tag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_words_between_stars_sorted_by_bytes() {
        let text = "*b.txt*  Title\n\t\t*b* *:B*\nnot *this one* nor a*c* nor **\n*a/b\\c*\n";
        let tags = help_tags("b.txt", text);
        let expected = ":B\tb.txt\t/*:B*\na/b\\c\tb.txt\t/*a\\/b\\\\c*\nb\tb.txt\t/*b*\nb.txt\tb.txt\t/*b.txt*\n";
        assert_eq!(tags, expected);
    }
}
