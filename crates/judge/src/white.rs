//! Changes of whitespace only: between and within lines, also where lines are broken anew.

use std::path::Path;

/// Files in which the indentation of a line is part of its meaning, by their extension or their name.
const INDENTED: [&str; 34] = [
    "py",
    "pyi",
    "pyw",
    "pyx",
    "yaml",
    "yml",
    "mk",
    "makefile",
    "gnumakefile",
    "justfile",
    "coffee",
    "elm",
    "fs",
    "fsi",
    "fsx",
    "gd",
    "haml",
    "hs",
    "jade",
    "lhs",
    "litcoffee",
    "markdown",
    "md",
    "nim",
    "patch",
    "diff",
    "pug",
    "purs",
    "rst",
    "sass",
    "sls",
    "slim",
    "styl",
    "tsv",
];

/// Returns true if the indentation of a line is part of its meaning in this file.
pub fn is_indented(path: &Path) -> bool {
    let ends = [path.extension(), path.file_name()];
    let mut ends = ends.into_iter().flatten().filter_map(|end| end.to_str());
    ends.any(|end| INDENTED.iter().any(|it| it.eq_ignore_ascii_case(end)))
}

/// Returns true if the lines of two texts that are not empty are indented alike.
pub fn has_same_indents(one: &[u8], other: &[u8]) -> bool {
    indents(one).eq(indents(other))
}

fn indents(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let first = line.iter().position(|byte| !byte.is_ascii_whitespace())?;
        Some(&line[..first])
    })
}

/// Returns true if two texts differ in nothing but whitespace.
pub fn is_same(one: &[u8], other: &[u8]) -> bool {
    one != other && solid(one).eq(solid(other))
}

fn solid(text: &[u8]) -> impl Iterator<Item = &u8> {
    text.iter().filter(|byte| !byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_has_a_meaning_in_some_files() {
        for (name, expected) in [
            ("a.py", true),
            ("b/Makefile", true),
            ("c.YML", true),
            ("d.rs", false),
            ("py", true),
            (".py", false),
            ("", false),
        ] {
            assert_eq!(is_indented(Path::new(name)), expected, "{name}");
        }
        for (one, other, expected) in [
            ("if a:\n    b\n", "if a:\nb\n", false),
            ("\tmake\n", "        make\n", false),
            ("a  =  1\n", "a = 1\n", true),
            ("  a\n\n  b \n", "  a\n  b\n", true),
            ("  a\r\n", "  a\n", true),
            ("a b\n", "a\nb\n", false),
        ] {
            let found = has_same_indents(one.as_bytes(), other.as_bytes());
            assert_eq!(found, expected, "{one:?} {other:?}");
        }
    }

    #[test]
    fn whitespace_is_all_that_may_differ() {
        for (one, other, expected) in [
            ("\ta\n", "    a\n", true),
            ("a b\n", "a\nb\n", true),
            ("a\r\n", "a\n", true),
            ("\n", "", true),
            ("a\n", "a\n", false),
            ("a b\n", "ab c\n", false),
            ("", "a\n", false),
        ] {
            let found = is_same(one.as_bytes(), other.as_bytes());
            assert_eq!(found, expected, "{one:?} {other:?}");
        }
    }
}
