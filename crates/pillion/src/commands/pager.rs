//! Patches on a terminal: in colour, and by way of the person's pager, as git prints them. Elsewhere every byte is as it is.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::process::{self, Command, Stdio};

use pillion_discovery::Environment;
use pillion_system::signals::{Signal, on_each_signal};

use super::output::{is_plain, print_bytes, printable};

const BOLD: &str = "\x1b[1m";
const CYAN: &str = "\x1b[36m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const END: &str = "\x1b[m";

/// What a shell exits with if there is no such program.
const NO_PROGRAM: i32 = 127;

/// Prints a patch. On a terminal it waits until the person has left their pager.
pub fn page(patch: &[u8]) -> io::Result<()> {
    let environment = Environment::current();
    match pager(&environment).filter(|_| io::stdout().is_terminal()) {
        Some(pager) if is_paged(&pager, &on_terminal(patch, &environment))? => Ok(()),
        _ => print_patch(patch),
    }
}

/// Prints a patch without a pager.
pub fn print_patch(patch: &[u8]) -> io::Result<()> {
    match io::stdout().is_terminal() {
        true => {
            let text = on_terminal(patch, &Environment::current());
            io::stdout().write_all(text.as_bytes())
        }
        false => print_bytes(patch),
    }
}

/// The command of the person's pager; none if they want none.
fn pager(environment: &Environment) -> Option<Cow<'_, OsStr>> {
    let set = ["GIT_PAGER", "PAGER"].into_iter();
    let set = set.filter_map(|name| environment.value(name)).next();
    let pager = set.map_or(Cow::Borrowed(OsStr::new("less")), Cow::from);
    (cfg!(unix) && !pager.is_empty() && *pager != *"cat").then_some(pager)
}

/// Returns false if there is no such pager.
fn is_paged(pager: &OsStr, text: &str) -> io::Result<bool> {
    // Ctrl-C is the pager's.
    let _ = on_each_signal(|signal| match signal {
        Signal::Interrupt => true,
        Signal::HangUp | Signal::Terminate => process::exit(128 + i32::from(signal.number())),
    });
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    let Ok(mut child) = command.spawn() else {
        return Ok(false);
    };
    if let Some(mut stdin) = child.stdin.take() {
        // The person need not read all of it.
        let _ = stdin.write_all(text.as_bytes());
    }
    Ok(child.wait()?.code() != Some(NO_PROGRAM))
}

/// A patch as a terminal is to show it.
fn on_terminal(patch: &[u8], environment: &Environment) -> String {
    let text = String::from_utf8_lossy(patch);
    let text = printable(&text, true);
    match is_plain(environment) {
        true => text.into_owned(),
        false => coloured(&text),
    }
}

/// A patch in git's colours.
fn coloured(patch: &str) -> String {
    let mut coloured = String::with_capacity(patch.len() * 2);
    // The lines that are left of a hunk, before and after: in it, a line may look like a header.
    let mut left = (0_usize, 0_usize);
    for line in patch.split_inclusive('\n') {
        let (text, end) = match line.strip_suffix('\n') {
            Some(text) => (text, "\n"),
            None => (line, ""),
        };
        let colour = match (text.bytes().next(), &mut left) {
            (Some(b'-'), (before @ 1.., _)) => {
                *before -= 1;
                RED
            }
            (Some(b'+'), (_, after @ 1..)) => {
                *after -= 1;
                GREEN
            }
            (Some(b'\\'), _) => "",
            (_, (before, after)) if *before > 0 || *after > 0 => {
                (*before, *after) = (before.saturating_sub(1), after.saturating_sub(1));
                ""
            }
            (Some(b'#'), _) => "",
            _ => match hunk(text) {
                Some(lines) => {
                    left = lines;
                    CYAN
                }
                None => BOLD,
            },
        };
        match colour.is_empty() || text.is_empty() {
            true => coloured.push_str(line),
            false => coloured.extend([colour, text, END, end]),
        }
    }
    coloured
}

/// The numbers of lines of a hunk before and after, by its header.
fn hunk(header: &str) -> Option<(usize, usize)> {
    let count = |range: &str| match range.split_once(',') {
        Some((_, count)) => count.parse().ok(),
        None => Some(1),
    };
    let ranges = header.strip_prefix("@@ -")?.split_once(" @@")?.0;
    let (before, after) = ranges.split_once(" +")?;
    count(before).zip(count(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_has_gits_colours_and_a_line_that_looks_like_a_header_is_none() {
        let patch = "# 1.1 unseen\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n-- a\n \n+++ b\n\\ No newline at end of file\ndiff --git a/b b/b\n";
        let shown = coloured(patch).replace('\x1b', "^");
        let expected = [
            "# 1.1 unseen",
            "^[1mdiff --git a/a b/a^[m",
            "^[1m--- a/a^[m",
            "^[1m+++ b/a^[m",
            "^[36m@@ -1,2 +1,2 @@^[m",
            "^[31m-- a^[m",
            " ",
            "^[32m+++ b^[m",
            "\\ No newline at end of file",
            "^[1mdiff --git a/b b/b^[m",
            "",
        ];
        assert_eq!(shown.split('\n').collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_pager_is_gits_before_the_usual_one_and_may_be_none() {
        for (set, expected) in [
            (&[][..], Some("less")),
            (&[("PAGER", "more")], Some("more")),
            (
                &[("PAGER", "more"), ("GIT_PAGER", "less -S")],
                Some("less -S"),
            ),
            (&[("PAGER", "more"), ("GIT_PAGER", "")], None),
            (&[("PAGER", "cat")], None),
        ] {
            let environment = Environment::from_pairs(set.iter().copied());
            let found = pager(&environment).map(|it| it.to_string_lossy().into_owned());
            assert_eq!(found.as_deref(), expected.filter(|_| cfg!(unix)), "{set:?}");
        }
    }
}
