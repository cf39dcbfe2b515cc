//! Commands to paste: nothing from a file or a variable gets into them unquoted.

use std::path::Path;

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

/// Opens a file in the user's editor.
pub fn edit(file: &Path) -> String {
    format!("\"${{EDITOR:-vi}}\" {}", path(file))
}

/// Removes files.
pub fn remove<'a>(files: impl IntoIterator<Item = &'a Path>) -> String {
    on_files("rm -f --", files)
}

/// A command with files behind it.
pub fn on_files<'a>(command: &str, files: impl IntoIterator<Item = &'a Path>) -> String {
    let mut text = command.to_owned();
    for file in files {
        text.push(' ');
        text.push_str(&path(file));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pasted_is_one_word() {
        let odd = Path::new("/a b/$(x)'\n;y");
        let command = remove([odd, Path::new("/c")]);
        let words = shell_words::split(&command).unwrap();
        assert_eq!(words, ["rm", "-f", "--", "/a b/$(x)'\n;y", "/c"]);
        assert_eq!(export("A", "x y"), "export A='x y'");
    }
}
