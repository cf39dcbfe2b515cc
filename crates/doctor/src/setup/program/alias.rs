//! Agents that only an alias of the person's shell leads to: it stands in a file that the shell reads, and nothing
//! of that name is on PATH.

use std::path::{Path, PathBuf};

use pillion_discovery::regular_file;

/// The files that shells read when they start, below the home directory.
const FILES: [&str; 6] = [
    ".bashrc",
    ".bash_aliases",
    ".bash_profile",
    ".zshrc",
    ".profile",
    ".config/fish/config.fish",
];

/// No such file of a person's is as long.
const MAX_FILE: u64 = 1 << 20;

/// The program that an alias of this name starts, if it is named by its path.
pub fn program(name: &str, home: &Path) -> Option<PathBuf> {
    FILES.iter().find_map(|file| {
        let text = regular_file::read(&home.join(file), MAX_FILE).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        // The last one counts.
        let mut lines = text.lines().rev();
        let program = lines.find_map(|line| in_line(line, name, home))?;
        program.is_file().then_some(program)
    })
}

/// `alias NAME='PROGRAM …'`, or as fish has it, `alias NAME 'PROGRAM …'`.
fn in_line(line: &str, name: &str, home: &Path) -> Option<PathBuf> {
    let rest = line.trim_start().strip_prefix("alias ")?;
    let rest = rest.trim_start().strip_prefix(name)?;
    let value = rest.strip_prefix('=').or_else(|| rest.strip_prefix(' '))?;
    let command = shell_words::split(value).ok()?.into_iter().next()?;
    let words = shell_words::split(&command).ok()?;
    // Variables may be set before it.
    let is_program = |word: &&String| !word.contains('=') && *word != "env";
    let program = words.iter().find(is_program)?;
    let below_home = ["~/", "$HOME/", "${HOME}/"];
    let mut below_home = below_home
        .iter()
        .filter_map(|start| program.strip_prefix(start));
    let path = match below_home.next() {
        Some(rest) => home.join(rest),
        None => PathBuf::from(program),
    };
    path.is_absolute().then_some(path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_alias_names_a_program_by_its_path() {
        let home = Path::new("/h");
        for (line, expected) in [
            (
                "alias claude='~/.claude/local/claude'",
                "/h/.claude/local/claude",
            ),
            ("  alias claude=\"$HOME/bin/claude --ide\"", "/h/bin/claude"),
            (
                "alias claude=/opt/claude/claude # mine",
                "/opt/claude/claude",
            ),
            ("alias claude '/opt/c/claude --ide'", "/opt/c/claude"),
            ("alias claude='FOO=1 env B=2 /opt/claude'", "/opt/claude"),
        ] {
            let found = in_line(line, "claude", home);
            assert_eq!(found.as_deref(), Some(Path::new(expected)), "{line}");
        }
        for line in [
            "# alias claude=/opt/claude",
            "alias claude='docker run -it claude'",
            "alias claude='unclosed",
            "alias claudette=/opt/claude",
            "alias cl=/opt/claude",
            "export claude=/opt/claude",
            "alias claude=",
        ] {
            assert_eq!(in_line(line, "claude", home), None, "{line}");
        }
    }

    #[test]
    fn the_last_alias_counts_and_only_a_program_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        assert_eq!(program("claude", home), None);
        fs::write(home.join("claude"), "").unwrap();
        let text = "alias claude=/nowhere/claude\nalias claude=~/claude\n";
        fs::write(home.join(".zshrc"), text).unwrap();
        assert_eq!(program("claude", home), Some(home.join("claude")));
        fs::write(home.join(".zshrc"), "alias claude=/nowhere/claude\n").unwrap();
        assert_eq!(program("claude", home), None);
    }
}
