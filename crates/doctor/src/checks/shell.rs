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

/// Removes a file.
pub fn remove(file: &Path) -> String {
    on_files("rm -f --", &[file])
}

/// A command with files behind it.
pub fn on_files(command: &str, files: &[impl AsRef<Path>]) -> String {
    let files = files.iter().map(|file| path(file.as_ref()));
    let words = std::iter::once(command.to_owned()).chain(files);
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pasted_is_one_word() {
        let odd = Path::new("/a b/$(x)'\n;y");
        let command = on_files("rm -f --", &[odd, Path::new("/c")]);
        let words = shell_words::split(&command).unwrap();
        assert_eq!(words, ["rm", "-f", "--", "/a b/$(x)'\n;y", "/c"]);
        assert_eq!(export("A", "x y"), "export A='x y'");
    }
}
