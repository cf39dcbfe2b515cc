//! Commands to paste: nothing from a file or a variable gets into them unquoted.

use std::path::Path;

use super::super::facts::Facts;

/// A path as one word of a command.
pub fn path(path: &Path) -> String {
    word(&path.to_string_lossy())
}

/// A text as one word of a command.
pub fn word(text: &str) -> String {
    shell_words::quote(text).into_owned()
}

/// Sets a variable for this shell.
pub fn export(name: &str, value: &str) -> String {
    format!("export {name}={}", word(value))
}

/// Takes a variable away, or opens the file that sets it.
pub fn unset(facts: &Facts, name: &str) -> String {
    match facts.setup.variables.origin(name) {
        Some(origin) => edit(&origin.path),
        None => format!("unset {name}"),
    }
}

/// Opens a file in the user's editor.
pub fn edit(file: &Path) -> String {
    format!("\"${{EDITOR:-vi}}\" {}", path(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pasted_is_one_word() {
        let odd = "/a b/$(x)'\n;y";
        let words = shell_words::split(&edit(Path::new(odd))).unwrap();
        assert_eq!(words.last().unwrap(), odd);
        assert_eq!(export("A", "x y"), "export A='x y'");
    }
}
