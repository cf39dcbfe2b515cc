//! A shell of the person's, with a window on their display. No process of the test is above it.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Env, SOON, display};

/// It runs lines as long as this lives, and is none of what was started in the home: what that is may be killed.
#[derive(Debug)]
pub(crate) struct Person(ChildStdin);

/// Commands of editors that do something in the person's name, beside decisions about the diff in front, with what follows them.
pub const IN_THE_PERSONS_NAME: [(&str, &str); 4] = [
    ("keep", "1.1"),
    ("take-back", "1.1"),
    ("undo", ""),
    ("send-notes", ""),
];

/// The command of Vim and Neovim that other editors and the program call by this name: `PillionTakeBack 1.1` for `take-back`.
pub fn vim_command(name: &str, words: &str) -> String {
    let parts = name.split('-').map(|part| {
        let (first, rest) = part.split_at(1);
        first.to_uppercase() + rest
    });
    let command = format!("Pillion{} {words}", parts.collect::<String>());
    command.trim_end().to_owned()
}

/// The output of a command that a person gave, and how it ended.
#[derive(Debug)]
pub struct Said {
    /// The exit code.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// What it said of errors.
    pub stderr: String,
}

impl Person {
    /// Starts it in this folder.
    pub(crate) fn new(folder: &Path) -> Self {
        const LOOP: &str = "exec 3<&0; while read -r line; do eval \"$line\"; done <&3 &";
        let mut shell = Command::new("/bin/sh");
        let mut shell = shell
            .args(["-c", LOOP])
            .env_clear()
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(display::window())
            .spawn()
            .expect("there is a shell");
        // Waiting would close it.
        let stdin = shell.stdin.take().expect("it is piped");
        assert!(shell.wait().expect("it was started").success());
        Self(stdin)
    }

    /// Runs a program with these variables, and waits for its end. What it says passes through files in `folder`.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, env: &Env, folder: &Path, words: &[S]) -> Said {
        fs::create_dir_all(folder).expect("a folder can be made");
        let [code, out, err] = ["code", "out", "err"].map(|name| folder.join(name));
        let variables = env.iter().map(|(name, value)| {
            let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
            quoted(&format!("{name}={value}"))
        });
        let words = words
            .iter()
            .map(|word| quoted(&word.as_ref().to_string_lossy()));
        let words: Vec<_> = variables.chain(words).collect();
        let [at, to_out, to_err] = [&code, &out, &err].map(|path| quoted(&path.to_string_lossy()));
        let line = format!(
            "/usr/bin/env -i {} </dev/null >{to_out} 2>{to_err} 3<&-; echo $? >{at}.new; /bin/mv {at}.new {at}",
            words.join(" "),
        );
        writeln!(&self.0, "{line}").expect("the shell reads");
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let started = Instant::now();
        while !code.exists() {
            assert!(started.elapsed() < SOON, "{words:?}: {}", read(&err));
            thread::sleep(Duration::from_millis(5));
        }
        let said = Said {
            code: read(&code).trim().parse().ok(),
            stdout: read(&out),
            stderr: read(&err),
        };
        fs::remove_dir_all(folder).expect("it was just made");
        said
    }
}

/// A command that starts another one in the background, with a window on the person's display, and prints its number: no
/// process of a test is above it. It has the input of the command that is returned, and the output, or else writes to a file.
pub(crate) fn in_background(command: &Command, log: Option<&Path>) -> Command {
    let redirected = log.map_or(String::new(), |log| {
        format!(">>{} 2>&1", quoted(&log.to_string_lossy()))
    });
    let script = format!(r#"exec 3<&0 4>&2; "$@" <&3 3<&- {redirected} & echo $!"#);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", &script, "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .stderr(display::window());
    let variables = command.get_envs();
    shell.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().unwrap_or(Path::new("/")));
    shell
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
