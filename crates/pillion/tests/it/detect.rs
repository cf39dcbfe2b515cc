//! `pillion detect`: beside Gemini CLI's own detection, and in real terminals.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pillion_discovery::{Environment, detect};
use pillion_system::process::Process;
use pillion_testkit::{Npm, SOON, Size, Tmux};
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, ran};

/// Everything that Gemini CLI reads, and a value that is none of its own.
const VARIABLES: [(&str, &str); 20] = [
    ("TERM_PROGRAM", "vscode"),
    ("TERM_PROGRAM", "sublime"),
    ("TERM_PROGRAM", "Zed"),
    ("TERM_PROGRAM", "tmux"),
    ("TERMINAL_EMULATOR", "JetBrains-JediTerm"),
    ("TERMINAL_EMULATOR", "xterm"),
    ("ANTIGRAVITY_CLI_ALIAS", "agy"),
    ("__COG_BASHRC_SOURCED", "1"),
    ("REPLIT_USER", "me"),
    ("CURSOR_TRACE_ID", "x"),
    ("CODESPACES", "true"),
    ("EDITOR_IN_CLOUD_SHELL", "true"),
    ("CLOUD_SHELL", "true"),
    ("TERM_PRODUCT", "Trae"),
    ("TERM_PRODUCT", "other"),
    ("MONOSPACE_ENV", "x"),
    ("POSITRON", "1"),
    ("POSITRON", "0"),
    ("ZED_SESSION_ID", "x"),
    ("XCODE_VERSION_ACTUAL", "1600"),
];

/// Commands of the IDE's process, and which IDE's own program it is, if it is one's.
///
/// Pillion means to differ in this: an editor's own program above says more than a variable that may
/// come from farther up, and forks of VS Code that Gemini CLI calls "IDE" have their names.
const COMMANDS: [(&str, Option<&str>); 30] = [
    ("", None),
    ("node /opt/server/main.js", None),
    ("node /home/me/code/main.js", None),
    ("/opt/void/void --type=x", None),
    ("systemd --user", None),
    ("/opt/idea-IU/jbr/bin/java com.intellij.idea.Main", None),
    ("/opt/WebStorm/jbr/bin/java x", None),
    ("/opt/pycharm/jbr/bin/java x", None),
    ("/opt/GoLand-2026/jbr/bin/java x", None),
    ("/opt/android-studio/jbr/bin/java x", None),
    ("/opt/clion/jbr/bin/java x", None),
    ("/opt/rustrover/jbr/bin/java x", None),
    ("/opt/datagrip/jbr/bin/java x", None),
    ("/opt/phpstorm/jbr/bin/java x", None),
    ("/opt/rider/jbr/bin/java x", None),
    ("/usr/share/code/code --type=x", Some("vscode")),
    ("/opt/cursor/cursor", Some("cursor")),
    ("/usr/lib/positron/positron", Some("positron")),
    ("/opt/antigravity/antigravity", Some("antigravity")),
    ("/opt/trae/trae", Some("trae")),
    ("/usr/share/codium/codium", Some("vscodium")),
    ("/opt/windsurf/windsurf", Some("windsurf")),
    ("/opt/sublime_text/sublime_text", Some("sublimetext")),
    ("/usr/libexec/zed-editor", Some("zed")),
    ("/opt/idea/bin/idea", Some("intellijidea")),
    ("/bin/sh /opt/goland/bin/goland.sh", Some("goland")),
    ("/opt/studio/bin/studio", Some("androidstudio")),
    ("nvim --embed", Some("neovim")),
    ("/usr/bin/emacs-gtk", Some("emacs")),
    ("kate", Some("kate")),
];

/// Run by a service in a browser: their programs are VS Code's.
const HOSTED: [&str; 5] = [
    "devin",
    "replit",
    "codespaces",
    "cloudshell",
    "firebasestudio",
];

/// Up to two variables at a time, no two of one name: which of them comes first is all that there is to three.
fn situations() -> Vec<Vec<(&'static str, &'static str)>> {
    let mut found = vec![Vec::new()];
    let mut longest = found.clone();
    for _ in 0..2 {
        let longer = longest.iter().flat_map(|chosen: &Vec<(&str, &str)>| {
            let after = chosen.last().map_or(0, |last| {
                VARIABLES.iter().position(|it| it == last).unwrap() + 1
            });
            VARIABLES[after..]
                .iter()
                .filter(|(name, _)| chosen.iter().all(|(other, _)| name != other))
                .map(|pair| [chosen.as_slice(), &[*pair]].concat())
        });
        longest = longer.collect();
        found.extend(longest.iter().cloned());
    }
    found
}

fn ours(variables: &[(&str, &str)], command: &str) -> Value {
    let commands = ["pillion detect", "bash", "helper", command];
    let chain = commands.iter().zip([40, 30, 20, 10]);
    let chain = chain.map(|(command, pid)| Process {
        pid,
        parent: pid - 10,
        command: (*command).to_owned(),
    });
    let environment = Environment::from_pairs(variables.iter().copied());
    let detection = detect(&environment, &chain.collect::<Vec<_>>());
    detection.map_or(Value::Null, |detection| {
        json!({ "name": detection.ide.name, "displayName": detection.ide.display_name })
    })
}

#[test]
#[ignore = "needs the real agents: cargo xtask test"]
fn the_same_as_gemini_cli_wherever_it_knows_the_terminal() {
    let npm = Npm::from_env();
    let mut node = Command::new(npm.node())
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/npm/detect-ide.mjs"))
        .arg(npm.package("@google/gemini-cli-core"))
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut questions = node.stdin.take().unwrap();
    let asked = std::thread::spawn(move || {
        for variables in situations() {
            for (command, _) in COMMANDS {
                let named: serde_json::Map<_, _> = variables
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), json!(value)))
                    .collect();
                writeln!(
                    questions,
                    "{}",
                    json!({ "variables": named, "command": command })
                )
                .unwrap();
            }
        }
    });
    let mut answers = BufReader::new(node.stdout.take().unwrap()).lines();
    let mut answer =
        || -> Value { serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap() };

    let known: Vec<_> = detect::known()
        .map(|ide| json!({ "name": ide.name, "displayName": ide.display_name }))
        .collect();
    let theirs = answer();
    assert_eq!(theirs.as_array().unwrap().len(), 24);
    for ide in theirs.as_array().unwrap() {
        assert!(known.contains(ide), "{ide} has no row");
    }

    let (mut same, mut nearer, mut more) = (0, 0, 0);
    for variables in situations() {
        for (command, program_of) in COMMANDS {
            let theirs = answer();
            let ours = ours(&variables, command);
            let is_hosted = HOSTED.iter().any(|name| theirs["name"] == *name);
            let overrides = program_of.filter(|name| !(is_hosted && *name == "vscode"));
            if let Some(name) = overrides
                && theirs["name"] != name
            {
                // Also where a service's variable is set and Gemini CLI does not know the terminal.
                let is_service = HOSTED.iter().any(|service| ours["name"] == *service);
                let is_right = ours["name"] == name || theirs.is_null() && is_service;
                assert!(is_right, "{variables:?} {command}: {ours}");
                nearer += 1;
            } else if theirs.is_null() {
                more += usize::from(!ours.is_null());
            } else {
                assert_eq!(ours, theirs, "{variables:?} {command}");
                same += 1;
            }
        }
    }
    asked.join().unwrap();
    assert!(node.wait().unwrap().success());
    assert!(same > 1000, "{same} the same, {nearer} nearer, {more} more");
}

impl Sandbox {
    /// A program that does what its arguments are, under another name.
    fn stand_in(&self, name: &str) -> PathBuf {
        let path = self.home.other_workspace("bin").join(name);
        std::os::unix::fs::symlink("/bin/bash", &path).unwrap();
        path
    }

    /// `pillion detect --json` two processes below a program of this name, as in its terminal.
    fn detect_below(&self, editor: &str, variables: &[(&str, &str)]) -> Ran {
        let script = "\"$0\" -c '\"$0\" detect --json; exit $?' \"$1\"; exit $?";
        let mut command = Command::new(self.stand_in(editor));
        command
            .args(["-c", script, "/bin/sh", env!("CARGO_BIN_EXE_pillion")])
            .env_clear()
            .envs(self.home.env().iter())
            .envs(variables.iter().copied());
        ran(&mut command, b"")
    }
}

#[test]
fn an_editor_is_known_by_its_program_above() {
    let sandbox = Sandbox::new();
    for (program, name, display_name) in [
        ("vim", "vim", "Vim"),
        ("emacs", "emacs", "Emacs"),
        ("kak", "kakoune", "Kakoune"),
        ("hx", "helix", "Helix"),
        ("kate", "kate", "Kate"),
        ("code", "vscode", "VS Code"),
        ("pycharm", "pycharm", "PyCharm"),
    ] {
        let ran = sandbox
            .detect_below(program, &[("TERM_PROGRAM", "Zed")])
            .expect(0);
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(found["name"], name);
        assert_eq!(found["displayName"], display_name);
        let command = found["command"].as_str().unwrap();
        assert!(
            command.contains(&format!("/bin/{program} -c ")),
            "{command}"
        );
        assert_eq!(found["via"], format!("process {}", found["pid"]));
    }
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_variable_that_came_through_tmux_says_so() {
    let sandbox = Sandbox::new();
    let tmux = Tmux::start();
    let run = |name: &str, variable: &str, value: &str| {
        let env = sandbox.home.env().with(variable, value);
        let command = [env!("CARGO_BIN_EXE_pillion"), "detect"];
        let pane = tmux.spawn(
            name,
            Size::new(120, 10),
            &env,
            &sandbox.home.workspace(),
            &command,
        );
        let code = pane.wait_exit(SOON);
        (code, pane.scrollback())
    };
    let (code, screen) = run("emacs", "INSIDE_EMACS", "30.1,vterm");
    assert_eq!(code, 0, "{screen}");
    let expected = "Emacs (emacs)\nrecognised by variable INSIDE_EMACS, inherited through tmux";
    assert!(screen.starts_with(expected), "{screen}");
    // No process has this number.
    let (code, screen) = run("gone", "NVIM", "/run/user/1/nvim.4194999.0");
    assert_eq!(code, 1, "{screen}");
    assert!(
        screen.contains("error: no editor was recognised"),
        "{screen}"
    );
}

#[test]
fn what_a_process_calls_itself_does_not_control_the_terminal() {
    let sandbox = Sandbox::new();
    let script = "\"$1\" detect; exit $?";
    let mut command = Command::new(sandbox.stand_in("kak"));
    command
        .args(["-c", script, "x\x1b[31m", env!("CARGO_BIN_EXE_pillion")])
        .env_clear()
        .envs(sandbox.home.env().iter());
    let ran = ran(&mut command, b"").expect(0);
    assert!(
        ran.stdout.starts_with("Kakoune (kakoune)\nprocess "),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("x␛[31m"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("\nrecognised by process "),
        "{}",
        ran.stdout
    );
}
