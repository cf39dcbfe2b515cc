//! Runs an editor's own program, and reads what it says as a person would.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anstream::adapter::strip_str;
use pillion_system::child::{self, Group};

/// A download over a slow line takes a while; a program that asks something waits forever.
pub const INSTALL_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// To list what is there takes no download.
pub const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// As many lines are repeated to people: a reason is at the end.
const MAX_LINES: usize = 20;

/// The status with which a program ended, and the lines that it printed.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub out: Vec<String>,
    pub errors: Vec<String>,
}

/// Runs a program with these very arguments: no shell reads them, and nobody answers it.
pub fn run<A: AsRef<OsStr>>(
    program: &Path,
    arguments: &[A],
    timeout: Duration,
) -> Result<Ended, String> {
    let ended = child::run(
        Command::new(program).args(arguments),
        Group::Shared,
        timeout,
    );
    let program = program.display();
    let ended = ended.map_err(|error| format!("cannot run {program}: {error}"))?;
    let (out, errors) = (lines(&ended.out), lines(&ended.errors));
    let Some(status) = ended.status else {
        let seconds = timeout.as_secs();
        let said = in_words(&[errors, out].concat());
        let said = said.map_or_else(|| " nothing".to_owned(), |said| format!(": {said}"));
        return Err(format!(
            "{program} was still running after {seconds} seconds and was stopped; its output was{said}"
        ));
    };
    Ok(Ended {
        status,
        out,
        errors,
    })
}

/// The last of these lines, for a message; nothing if there are none.
pub fn in_words(lines: &[String]) -> Option<String> {
    let last = &lines[lines.len().saturating_sub(MAX_LINES)..];
    (!last.is_empty()).then(|| last.join("\n  "))
}

/// The lines that are not empty.
fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().map(|line| plain(line).trim().to_owned());
    lines.filter(|line| !line.is_empty()).collect()
}

/// A line as a terminal would leave it: without colours, and of a progress that is drawn over itself
/// the last state.
fn plain(line: &str) -> String {
    let last = line.trim_end().rsplit('\r').next();
    strip_str(last.unwrap_or_default()).to_string()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str, timeout: Duration) -> Result<Ended, String> {
        run(Path::new("/bin/sh"), &["-c", script], timeout)
    }

    #[test]
    fn a_program_that_hangs_is_stopped_and_its_words_are_kept() {
        // A busy machine may stop it before it has written anything.
        let timeouts = [300, 3_000, 30_000].map(Duration::from_millis).into_iter();
        let run = |timeout| sh("echo Really? [y/n]; exec sleep 600", timeout).unwrap_err();
        let mut errors = timeouts
            .map(run)
            .skip_while(|it| it.ends_with("output was nothing"));
        let error = errors.next().unwrap_or_default();
        assert!(
            error.ends_with("was stopped; its output was: Really? [y/n]"),
            "{error}"
        );
    }

    #[test]
    fn lines_are_kept_without_colours_and_without_what_is_drawn_over() {
        for (line, kept) in [
            ("\x1b[32mdone\x1b[0m", "done"),
            ("10%\r\x1b[K20%\r", "20%"),
            ("\x1b]8;;http://x\x07a link\x1b]8;;\x07", "a link"),
            ("é\x1b[1;31", "é"),
            ("\x1b(B\x1b[mplain", "plain"),
        ] {
            assert_eq!(plain(line), kept);
        }
    }

    #[test]
    fn of_a_flood_the_last_lines_are_repeated() {
        let ended = sh("seq 1 100000 >&2; exit 3", INSTALL_TIMEOUT).unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert!(ended.out.is_empty());
        let words = in_words(&ended.errors).unwrap();
        assert!(
            words.ends_with("\n  100000") && words.lines().count() == MAX_LINES,
            "{words}"
        );
    }
}
