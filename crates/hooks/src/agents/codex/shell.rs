//! A patch in a shell command: recognised if the command does nothing else.

const PROGRAMS: [&str; 2] = ["apply_patch", "applypatch"];

/// The line that ends the patch in a command of ours. No line of a patch can be like it.
const DELIMITER: &str = "PATCH";

/// A patch, and the folder in which it is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Patched<'a> {
    /// As the command names it; none if it is that of the call.
    pub(super) folder: Option<String>,
    pub(super) patch: &'a str,
}

impl Patched<'_> {
    /// A command that applies another patch in the same folder.
    pub(super) fn command(&self, patch: &str) -> String {
        let folder = self.folder.as_deref().map(|folder| {
            let quoted = folder.replace('\'', r"'\''");
            format!("cd '{quoted}' && ")
        });
        let folder = folder.unwrap_or_default();
        format!(
            "{folder}{} <<'{DELIMITER}'\n{patch}{DELIMITER}\n",
            PROGRAMS[0]
        )
    }
}

/// The patch that a command applies; none if it does not mention the program.
///
/// # Errors
/// It mentions the program in a way that is not understood.
pub(super) fn patched(command: &str) -> Result<Option<Patched<'_>>, String> {
    if !mentions(command) {
        return Ok(None);
    }
    let patched = understood(command).ok_or(
        "Pillion cannot show what this command changes. Use the apply_patch tool, or a command that is nothing but \
         `apply_patch <<'EOF'`, the patch and `EOF`.",
    )?;
    Ok(Some(patched))
}

fn mentions(command: &str) -> bool {
    let is_of_word = |character: char| character.is_alphanumeric() || "_-.".contains(character);
    let mut words = command.split(|character| !is_of_word(character));
    words.any(|word| PROGRAMS.contains(&word))
}

/// `apply_patch <<'EOF'`, the patch and `EOF`, perhaps in a folder.
fn understood(command: &str) -> Option<Patched<'_>> {
    let (start, body) = command.trim_start().split_once('\n')?;
    let (folder, program) = match start.strip_prefix("cd ") {
        None => (None, start),
        Some(rest) => {
            let (folder, program) = rest.split_once("&&")?;
            (Some(word(folder.trim())?), program.trim_start())
        }
    };
    let names = PROGRAMS.into_iter();
    let after = { names }.find_map(|name| program.strip_prefix(name))?;
    let quoted = after.trim().strip_prefix("<<")?.trim_start();
    let delimiter = unquoted(quoted);
    let is_name =
        |it: &&str| !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    let delimiter = delimiter.filter(is_name).or(Some(quoted).filter(is_name))?;
    let (patch, rest) = split_at_line(body, delimiter)?;
    let is_expanded = delimiter == quoted && patch.contains(['$', '`', '\\']);
    (rest.trim().is_empty() && !is_expanded).then_some(Patched { folder, patch })
}

/// The text before and after the first line that is this one.
fn split_at_line<'a>(text: &'a str, line: &str) -> Option<(&'a str, &'a str)> {
    let mut at = 0;
    for piece in text.split_inclusive('\n') {
        if piece.strip_suffix('\n').unwrap_or(piece) == line {
            return Some((&text[..at], &text[at + piece.len()..]));
        }
        at += piece.len();
    }
    None
}

/// A word of which a shell makes nothing else.
fn word(word: &str) -> Option<String> {
    if let Some(inner) = unquoted(word) {
        let is_expanded = word.starts_with('"') && inner.contains(['$', '`', '\\']);
        return (!inner.is_empty() && !is_expanded).then(|| inner.to_owned());
    }
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+@,:=".contains(character);
    let is_option = word.starts_with('-');
    let is_word = !word.is_empty() && !is_option && word.chars().all(is_plain);
    is_word.then(|| word.to_owned())
}

/// Returns the text between two quotation marks of one kind.
fn unquoted(word: &str) -> Option<&str> {
    ['\'', '"'].into_iter().find_map(|mark| {
        let inner = word.strip_prefix(mark)?.strip_suffix(mark)?;
        (!inner.contains(mark)).then_some(inner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";

    fn folder(command: &str) -> Option<Option<String>> {
        let patched = patched(command).expect(command)?;
        assert_eq!(patched.patch, PATCH, "{command}");
        Some(patched.folder)
    }

    #[test]
    fn a_command_that_only_applies_a_patch_is_recognised() {
        for (start, expected) in [
            ("apply_patch <<'EOF'", None),
            ("apply_patch << \"EOF\"", None),
            ("  applypatch <<EOF", None),
            ("cd sub/dir && apply_patch <<'EOF'", Some("sub/dir")),
            ("cd '/w/it is' && apply_patch <<EOF", Some("/w/it is")),
            ("cd \"a b\"&& apply_patch <<'EOF'", Some("a b")),
        ] {
            for end in ["EOF", "EOF\n", "EOF\n\n  "] {
                let command = format!("{start}\n{PATCH}{end}");
                assert_eq!(
                    folder(&command),
                    Some(expected.map(str::to_owned)),
                    "{command}"
                );
            }
        }
    }

    #[test]
    fn a_command_of_ours_is_recognised() {
        for place in [None, Some("a b"), Some("it's"), Some("/w")] {
            let ours = Patched {
                folder: place.map(str::to_owned),
                patch: PATCH,
            };
            let command = ours.command(PATCH);
            match place {
                // No such folder is recognised in the first place.
                Some("it's") => drop(patched(&command).expect_err(&command)),
                place => assert_eq!(folder(&command), Some(place.map(str::to_owned))),
            }
        }
    }

    #[test]
    fn other_commands_are_none_of_ours() {
        for command in [
            "ls",
            "",
            "my_apply_patch x",
            "cat apply_patch.rs",
            "git apply x.patch",
        ] {
            assert_eq!(patched(command), Ok(None), "{command}");
        }
    }

    #[test]
    fn a_command_that_does_more_is_not_understood() {
        let heredoc = |start: &str, end: &str| format!("{start}\n{PATCH}{end}");
        for command in [
            "apply_patch".to_owned(),
            "cat x | apply_patch".to_owned(),
            "apply_patch \"$(cat x)\"".to_owned(),
            "bash -c 'apply_patch x'".to_owned(),
            "grep -r apply_patch .".to_owned(),
            heredoc("apply_patch <<'EOF'", ""),
            heredoc("apply_patch <<'EOF'", "EOF \n"),
            heredoc("apply_patch <<'EOF'", "EOF\nrm -r x\n"),
            heredoc("apply_patch <<'EOF' && rm x", "EOF\n"),
            heredoc("apply_patch <<-'EOF'", "EOF\n"),
            heredoc("apply_patch -x <<'EOF'", "EOF\n"),
            heredoc("ls; apply_patch <<'EOF'", "EOF\n"),
            heredoc("cd $HOME && apply_patch <<'EOF'", "EOF\n"),
            heredoc("cd ~ && apply_patch <<'EOF'", "EOF\n"),
            heredoc("cd - && apply_patch <<'EOF'", "EOF\n"),
            heredoc("cd a b && apply_patch <<'EOF'", "EOF\n"),
            heredoc("cd a || apply_patch <<'EOF'", "EOF\n"),
            heredoc("cd a && ls && apply_patch <<'EOF'", "EOF\n"),
            "apply_patch <<EOF\n*** Begin Patch\n+$(rm x)\nEOF\n".to_owned(),
        ] {
            let why = patched(&command).expect_err(&command);
            assert!(why.contains("Use the apply_patch tool"), "{command}: {why}");
        }
    }
}
