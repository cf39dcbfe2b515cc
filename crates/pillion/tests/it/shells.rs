//! The output of `pillion env`, read by real shells: every value arrives as it is, and nothing in it
//! is run. (PowerShell's quoting has unit tests only.)

use std::collections::BTreeMap;
use std::process::{self, Command};

use proptest::prelude::*;

use crate::foreign::Foreign;
use crate::sandbox::Sandbox;

/// A shell, and how a person has it read the lines.
struct Shell {
    program: &'static str,
    options: &'static [&'static str],
    script: &'static str,
}

const POSIX: &str = r#"eval "$("$PILLION" env --port "$PORT")"; exec env -0"#;

const BASH: Shell = Shell {
    program: "bash",
    options: &["--norc", "--noprofile"],
    script: POSIX,
};

const SH: Shell = Shell {
    program: "sh",
    options: &[],
    script: POSIX,
};

const ZSH: Shell = Shell {
    program: "zsh",
    options: &["-f"],
    script: POSIX,
};

/// With the option that gives two quotes within quotes a meaning.
const ZSH_RC_QUOTES: Shell = Shell {
    program: "zsh",
    options: &["-f", "-o", "rcquotes", "-o", "bangHist"],
    script: POSIX,
};

const FISH: Shell = Shell {
    program: "fish",
    options: &["--no-config"],
    script: r#""$PILLION" env --port "$PORT" | source; exec env -0"#,
};

/// A workspace and a token as the worst of companions could write them.
struct Hostile {
    sandbox: Sandbox,
    foreign: Foreign,
}

impl Hostile {
    fn new() -> Self {
        let (sandbox, foreign) = (Sandbox::new(), Foreign::new());
        Self { sandbox, foreign }
    }

    /// The shell, which is to read the lines.
    fn command(&self, shell: &Shell) -> Command {
        let home = &self.sandbox.home;
        let mut command = Command::new(shell.program);
        command
            .args(shell.options)
            .args(["-c", shell.script])
            .current_dir(home.workspace())
            .env_clear()
            .envs(home.env().iter())
            .env("PILLION", env!("CARGO_BIN_EXE_pillion"))
            .env("PORT", self.foreign.port().to_string());
        command
    }

    /// Has the shell read the lines; what its children then have for these values.
    fn read(&self, shell: &Shell, workspace: &str, token: &str) -> [Option<String>; 2] {
        self.foreign
            .serve_gemini(&self.sandbox, process::id(), workspace, token);
        let output = self
            .command(shell)
            // Only the parent process shows which shell this is.
            .env("SHELL", "/bin/none")
            .output()
            .unwrap_or_else(|error| panic!("{} does not run: {error}", shell.program));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {told}", shell.program);
        let out = String::from_utf8(output.stdout).unwrap();
        let pairs = out.split('\0').filter_map(|pair| pair.split_once('='));
        let variables: BTreeMap<_, _> = pairs.collect();
        ["GEMINI_CLI_IDE_WORKSPACE_PATH", "GEMINI_CLI_IDE_AUTH_TOKEN"]
            .map(|name| variables.get(name).map(|value| (*value).to_owned()))
    }

    fn check(&self, shell: &Shell, workspace: &str, token: &str) {
        let read = self.read(shell, workspace, token);
        let meant = [workspace, token].map(|value| Some(value.to_owned()));
        assert_eq!(read, meant, "{}", shell.program);
    }
}

const WORST: [&str; 14] = [
    "/a b",
    "/it's '' '''",
    "'",
    "\\' \\",
    "/a\\",
    "/\"quoted\"",
    "$(touch pwned) `touch pwned` ${HOME} $HOME",
    "'; touch pwned; '",
    "/two\nlines\n\n",
    "!! !x !$",
    "-n -rf",
    "/é/日本/\u{1f9d1}\u{200d}\u{1f680}/\u{202e}x",
    "\u{1b}]0;x\u{7}\r\t\u{7f}\u{9b}",
    "~ * ? [a] {a,b} #x %y (z) <w >v &u | ; = ^",
];

fn the_worst(shells: &[Shell]) {
    let hostile = Hostile::new();
    for shell in shells {
        for value in WORST {
            hostile.check(shell, value, value);
        }
        assert!(!hostile.sandbox.home.workspace().join("pwned").exists());
    }
}

/// Made of what some shell takes for something, and of everything else.
fn value() -> impl Strategy<Value = String> {
    "([^\0]|['\"\\\\$`!\n\r\t :;()-]){1,12}"
}

fn anything(shells: &[Shell]) {
    let hostile = Hostile::new();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let checked = runner.run(&(value(), value()), |(workspace, token)| {
        for shell in shells {
            let read = hostile.read(shell, &workspace, &token);
            let meant = [&workspace, &token].map(|value| Some(value.clone()));
            prop_assert_eq!(read, meant, "{}", shell.program);
        }
        Ok(())
    });
    if let Err(error) = checked {
        panic!("{error}");
    }
}

#[test]
fn bash_and_sh_read_the_worst_as_it_is() {
    the_worst(&[BASH, SH]);
}

#[test]
fn bash_and_sh_read_anything_as_it_is() {
    anything(&[BASH, SH]);
}

#[test]
#[ignore = "needs zsh and fish: cargo xtask test"]
fn zsh_and_fish_read_the_worst_as_it_is() {
    the_worst(&[ZSH, ZSH_RC_QUOTES, FISH]);
}

#[test]
#[ignore = "needs zsh and fish: cargo xtask test"]
fn zsh_and_fish_read_anything_as_it_is() {
    anything(&[ZSH, ZSH_RC_QUOTES, FISH]);
}

#[test]
fn nothing_to_read_changes_nothing() {
    let hostile = Hostile::new();
    for shell in [BASH, SH] {
        let output = hostile.command(&shell).output().unwrap();
        assert!(output.status.success());
        let out = String::from_utf8(output.stdout).unwrap();
        assert!(!out.contains("_IDE_"), "{out}");
    }
}
