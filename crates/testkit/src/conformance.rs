//! `companion-conformance` on a companion of Pillion's, whatever its front end, and its result.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Home;

/// A program of another package of the workspace, which lies where cargo has put this test's own.
///
/// # Panics
/// If it is not built: `cargo test` builds no programs of other packages.
pub fn program(package: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let mut folders = test.ancestors().skip(1);
    let folder = folders.find(|it| !it.ends_with("deps"));
    let program = folder.expect("it lies in a folder").join(package);
    let is_there = program.is_file();
    assert!(
        is_there,
        "{} is not there: cargo build --package {package}",
        program.display()
    );
    program
}

/// The suite with these arguments, in the workspace and the environment of `home`.
pub fn suite(home: &Home, arguments: impl IntoIterator<Item: AsRef<std::ffi::OsStr>>) -> Command {
    let mut command = Command::new(program("companion-conformance"));
    command
        .args(arguments)
        .env_clear()
        .envs(home.env().iter())
        .current_dir(home.workspace())
        .stdin(Stdio::null());
    command
}

/// The commands that settle diffs, move the cursor and stop the companion in a person's place.
pub fn commands(stop: &str) -> [String; 8] {
    let pillion = quoted_pillion();
    let port = "--port \"$PILLION_CONFORMANCE_PORT\"";
    // The only one that is pending, once it is: a long text takes its time to be shown.
    let newest = format!("$({pillion} diffs {port} | awk 'END {{print $1}}')");
    let wait =
        format!("newest={newest}; while [ -z \"$newest\" ]; do sleep 0.1; newest={newest}; done");
    let [accept, reject] =
        ["accept", "reject"].map(|how| format!("{pillion} {how} {port} \"$newest\""));
    let place = "\"$PILLION_CONFORMANCE_FILE:$PILLION_CONFORMANCE_LINE\"";
    // Longer than may be sent.
    let selection = "\"$(printf %020000d 0)\"";
    // The person goes ahead if they are asked, but rejects what the agent would take for a rejection.
    let accept = format!(
        "{wait}; said=$({accept} 2>&1) || \
         case $said in *rejection*) {reject} ;; *) sleep 1; {accept} || {reject} ;; esac"
    );
    [
        "--accept-with".to_owned(),
        accept,
        "--reject-with".to_owned(),
        format!("{wait}; {reject}"),
        "--move-with".to_owned(),
        format!("{pillion} focus {port} --selection {selection} {place}"),
        "--stop-with".to_owned(),
        stop.to_owned(),
    ]
}

/// As [`commands`], for Claude Code's rules. Nothing in Pillion closes a view without a decision but its editor:
/// `close` is the line for that.
pub fn claude_commands(stop: &str, close: Option<&str>) -> Vec<String> {
    let pillion = quoted_pillion();
    let lines =
        "$PILLION_CONFORMANCE_FILE:$PILLION_CONFORMANCE_LINE-$PILLION_CONFORMANCE_LAST_LINE";
    let mention = format!("{pillion} mention --port \"$PILLION_CONFORMANCE_PORT\" \"{lines}\"");
    let mut all = vec!["--protocol".to_owned(), "claude".to_owned()];
    all.extend(commands(stop));
    all.extend(["--mention-with".to_owned(), mention]);
    if let Some(close) = close {
        all.extend(["--close-with".to_owned(), close.to_owned()]);
    }
    all
}

/// As [`claude_commands`], for Copilot CLI's rules.
pub fn copilot_commands(stop: &str) -> Vec<String> {
    let mut all = claude_commands(stop, None);
    all[1] = "copilot".to_owned();
    let edit = all[3].replace("accept --port", "accept --content-file - --port");
    all.extend(["--edit-with".to_owned(), format!("echo edited | ({edit})")]);
    all
}

fn quoted_pillion() -> String {
    format!("'{}'", program("pillion").display())
}

/// A line for `close` that asks the test to do it, by a file, and waits until that is gone.
pub fn close_line(asked: &Path) -> String {
    let asked = asked.display();
    format!("touch '{asked}'; while [ -e '{asked}' ]; do sleep 0.1; done")
}

/// Fills a workspace with more files than may be listed, each with some lines.
pub fn fill(home: &Home) {
    for number in 0..11 {
        home.file(&format!("file-{number:02}.txt"), "text\n".repeat(9));
    }
}

/// The outcome for each rule.
#[derive(Debug)]
pub struct Outcome {
    /// What `--json` prints.
    pub report: Value,
}

/// Runs it with `--json`.
///
/// # Panics
/// If it prints no report.
pub fn run(command: &mut Command) -> Outcome {
    let output = command.arg("--json").output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let report = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}\n{errors}"));
    Outcome { report }
}

impl Outcome {
    /// Every rule passes, but for these, which are skipped.
    ///
    /// # Panics
    /// If others do not pass.
    #[track_caller]
    pub fn expect_all_but(&self, skipped: &[&str]) {
        let rules = self.report["rules"].as_array().expect("rules");
        let others: Vec<_> = rules.iter().filter(|it| it["result"] != "pass").collect();
        let ids: Vec<_> = others.iter().map(|it| &it["id"]).collect();
        let are_skipped = others.iter().all(|it| it["result"] == "skip");
        assert!(ids == skipped && are_skipped, "{others:#?}");
    }
}
