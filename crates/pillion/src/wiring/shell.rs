//! Shells: which one asks, and how each sets a variable. Every value is quoted so that the shell
//! takes it as it is.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::Path;

use pillion_discovery::Environment;

/// A shell that can be given variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// PowerShell
    #[value(alias = "pwsh")]
    Powershell,
    /// Every other POSIX shell, such as dash and ksh
    #[value(aliases = ["dash", "ksh", "ash"])]
    Sh,
}

impl Shell {
    /// The shell that runs this command, by the name of its parent process; else the user's own.
    /// None if it is one that reads none of these.
    pub fn asking(parent: Option<&str>, environment: &Environment) -> Option<Self> {
        let login = environment.filled("SHELL").map(Path::new);
        let login = login.and_then(Path::file_name).and_then(OsStr::to_str);
        Self::choose(parent, login, cfg!(windows))
    }

    fn choose(parent: Option<&str>, login: Option<&str>, is_windows: bool) -> Option<Self> {
        let parent = parent.map(program);
        if parent.as_deref().is_some_and(|name| OTHERS.contains(&name)) {
            return None;
        }
        // On Windows there are no login shells: $SHELL is left behind by Git Bash, Cygwin or Wine.
        let default = if is_windows {
            Some(Self::Powershell)
        } else {
            login.map(program).as_deref().and_then(Self::named)
        };
        parent.as_deref().and_then(Self::named).or(default)
    }

    /// The shell whose program has this name.
    fn named(name: &str) -> Option<Self> {
        <Self as clap::ValueEnum>::from_str(name, true).ok()
    }

    /// A line that sets a variable for all programs that are started afterwards.
    pub fn assignment(self, name: &str, value: &str) -> String {
        match self {
            Self::Bash | Self::Zsh | Self::Sh => format!("export {name}={}", posix(value)),
            Self::Fish => format!("set -gx {name} {}", fish(value)),
            Self::Powershell => format!("$env:{name} = {}", powershell(value)),
        }
    }

    /// A line that takes a variable out.
    pub fn removal(self, name: &str) -> String {
        match self {
            Self::Bash | Self::Zsh | Self::Sh => format!("unset {name}"),
            Self::Fish => format!("set -e {name}"),
            Self::Powershell => {
                format!("Remove-Item -ErrorAction SilentlyContinue Env:{name}")
            }
        }
    }
}

/// Shells with words of their own: who runs one may well have another for login.
const OTHERS: [&str; 6] = ["csh", "tcsh", "nu", "elvish", "xonsh", "cmd"];

/// A program's name without what systems put around it.
fn program(name: &str) -> String {
    // A login shell's name starts with a hyphen.
    let name = name.strip_prefix('-').unwrap_or(name);
    let name = name.to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

/// Within single quotes a POSIX shell takes everything as it is, up to the next one.
fn posix(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

/// fish knows two escapes within single quotes.
fn fish(value: &str) -> String {
    format!("'{}'", value.replace('\\', r"\\").replace('\'', r"\'"))
}

/// One expression in printable ASCII: PowerShell reads other programs' output line by line, in an
/// encoding that differs from system to system, and takes typographic quotes for quotes.
fn powershell(value: &str) -> String {
    let mut expression = "'".to_owned();
    let mut is_quoted = true;
    for unit in value.encode_utf16() {
        let plain = u8::try_from(unit)
            .ok()
            .filter(|byte| matches!(byte, b' '..=b'~'));
        if is_quoted != plain.is_some() {
            expression.push_str(if is_quoted { "'" } else { " + '" });
            is_quoted = !is_quoted;
        }
        match plain {
            Some(b'\'') => expression.push_str("''"),
            Some(byte) => expression.push(char::from(byte)),
            None => {
                // Writing to a String cannot fail.
                let _ = write!(expression, " + [char]{unit}");
            }
        }
    }
    if is_quoted {
        expression.push('\'');
    }
    format!("({expression})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_process_determines_the_shell_before_the_variable() {
        let zsh = Environment::from_pairs([("SHELL", "/usr/bin/zsh")]);
        for (parent, expected) in [
            (Some("fish"), Shell::Fish),
            (Some("-bash"), Shell::Bash),
            (Some("pwsh"), Shell::Powershell),
            (Some("PowerShell.exe"), Shell::Powershell),
            (Some("dash"), Shell::Sh),
            (Some("make"), Shell::Zsh),
            (None, Shell::Zsh),
        ] {
            assert_eq!(Shell::asking(parent, &zsh), Some(expected), "{parent:?}");
        }
    }

    #[test]
    fn an_unknown_shell_is_not_guessed() {
        for parent in [Some("tcsh"), Some("make"), None] {
            assert_eq!(Shell::choose(parent, Some("tcsh"), false), None);
        }
    }

    #[test]
    fn on_windows_it_is_powershell_unless_another_shell_asks() {
        for (parent, expected) in [
            (Some("pwsh.exe"), Some(Shell::Powershell)),
            (Some("POWERSHELL.EXE"), Some(Shell::Powershell)),
            (Some("bash.exe"), Some(Shell::Bash)),
            (Some("Code.exe"), Some(Shell::Powershell)),
            (Some("CMD.EXE"), None),
            (None, Some(Shell::Powershell)),
        ] {
            assert_eq!(
                Shell::choose(parent, Some("bash"), true),
                expected,
                "{parent:?}"
            );
        }
    }

    #[test]
    fn a_shell_that_reads_other_words_is_not_given_the_login_shells() {
        let bash = Environment::from_pairs([("SHELL", "/bin/bash")]);
        for parent in ["nu", "-tcsh", "cmd.exe"] {
            assert_eq!(Shell::asking(Some(parent), &bash), None, "{parent}");
        }
    }

    #[test]
    fn each_shell_has_its_own_words() {
        let lines = |shell: Shell| [shell.assignment("A", r"x'\y"), shell.removal("A")];
        let posix = [r"export A='x'\''\y'", "unset A"];
        assert_eq!(lines(Shell::Bash), posix);
        assert_eq!(lines(Shell::Zsh), posix);
        assert_eq!(lines(Shell::Sh), posix);
        assert_eq!(lines(Shell::Fish), [r"set -gx A 'x\'\\y'", "set -e A"]);
        assert_eq!(
            lines(Shell::Powershell),
            [
                r"$env:A = ('x''\y')",
                "Remove-Item -ErrorAction SilentlyContinue Env:A"
            ]
        );
    }

    /// PowerShell's own reading of such an expression, of which there is little: literals of
    /// printable ASCII with doubled quotes, and numbers of characters, joined by `+`.
    fn read_powershell(expression: &str) -> String {
        let inner = expression
            .strip_prefix('(')
            .unwrap()
            .strip_suffix(')')
            .unwrap();
        assert!(
            inner.bytes().all(|byte| matches!(byte, b' '..=b'~')),
            "{inner}"
        );
        let mut rest = inner;
        let mut units = Vec::new();
        loop {
            if let Some(mut literal) = rest.strip_prefix('\'') {
                loop {
                    let (text, after) = literal.split_once('\'').unwrap();
                    units.extend(text.encode_utf16());
                    literal = after;
                    let Some(after) = literal.strip_prefix('\'') else {
                        break;
                    };
                    units.push(u16::from(b'\''));
                    literal = after;
                }
                rest = literal;
            } else {
                let number = rest.strip_prefix("[char]").unwrap();
                let end = number.find(' ').unwrap_or(number.len());
                units.push(number[..end].parse().unwrap());
                rest = &number[end..];
            }
            match rest.strip_prefix(" + ") {
                Some(after) => rest = after,
                None => break,
            }
        }
        assert_eq!(rest, "");
        String::from_utf16(&units).unwrap()
    }

    #[test]
    fn powershell_gets_ascii_on_one_line() {
        assert_eq!(powershell("C:\\a b"), "('C:\\a b')");
        assert_eq!(
            powershell("é'\nz"),
            "('' + [char]233 + '''' + [char]10 + 'z')"
        );
        assert_eq!(powershell(""), "('')");
        assert_eq!(powershell("’"), "('' + [char]8217)");
        assert_eq!(powershell("$(x)`y"), "('$(x)`y')");
    }

    proptest::proptest! {
        #[test]
        fn what_powershell_reads_is_what_was_meant(value in "(\\PC|['\n\r\t$`\"’é𝒳]){0,20}") {
            assert_eq!(read_powershell(&powershell(&value)), value);
        }
    }
}
