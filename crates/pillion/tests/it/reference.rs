//! The documentation of the command line is checked against the command.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

/// The commands that only editors start. The help leaves them out.
const EDITORS_OWN: [&str; 2] = ["lsp", "kakoune"];

/// The commands that the help lists, in its order.
fn commands(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| !line.starts_with("Review"));
    lines
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| *name != "help")
        .collect()
}

/// The commands below a command, as its help lists them.
fn below(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .map_while(|line| line.strip_prefix("  ")?.split(' ').next())
        .collect()
}

/// `docs/cli.md` holds every help text, below an introduction that is written there by hand.
/// `UPDATE_DOCS=1 cargo test -p pillion reference` writes the rest.
#[test]
fn the_reference_is_what_help_prints() {
    let sandbox = Sandbox::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let written = fs::read_to_string(&path).unwrap();
    let (introduction, _) = written.split_once("\n## pillion\n").unwrap();
    let mut reference = introduction.to_owned();
    let mut section = |args: &[&str]| {
        let help = sandbox.run([args, &["--help"]].concat()).expect(0).stdout;
        let title = ["pillion"].iter().chain(args).copied().collect::<Vec<_>>();
        write!(
            reference,
            "\n## {}\n\n```text\n{}\n```\n",
            title.join(" "),
            help.trim_end()
        )
        .unwrap();
    };
    section(&[]);
    let help = sandbox.run(["--help"]).expect(0).stdout;
    let commands = commands(&help);
    assert!(
        commands.contains(&"review") && commands.contains(&"man"),
        "{help}"
    );
    for command in commands.into_iter().chain(EDITORS_OWN) {
        assert_eq!(
            help.contains(&format!("  {command} ")),
            !EDITORS_OWN.contains(&command)
        );
        section(&[command]);
        for below in below(&sandbox.run([command, "--help"]).expect(0).stdout) {
            section(&[command, below]);
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &reference).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    assert_eq!(written, reference, "docs/cli.md is not what --help prints");
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.run(["completions", shell]).expect(0).stdout;
        assert!(script.contains("content-file"), "{shell}");
    }
    let script = sandbox.run(["completions", "bash"]).expect(0).stdout;
    let checked = std::process::Command::new("bash")
        .args(["-n", "-c", &script])
        .output();
    assert!(checked.unwrap().status.success());
    let page = sandbox.run(["man"]).expect(0).stdout;
    let has = |text: &str| page.contains(text);
    assert!(has(".TH pillion") && has("Exit codes"), "{page}");
    let page = sandbox.run(["man", "accept"]).expect(0).stdout;
    assert!(page.contains("content\\-file"), "{page}");
    sandbox
        .run(["man", "none"])
        .expect_error(2, "unknown command", "pillion help");

    let folder = sandbox.home.home().join("of mine/man1");
    let ran = sandbox.run([OsStr::new("man"), OsStr::new("--to"), folder.as_os_str()]);
    assert_eq!(ran.expect(0).stdout, "");
    let help = sandbox.run(["--help"]).expect(0).stdout;
    for command in commands(&help) {
        let page = fs::read_to_string(folder.join(format!("pillion-{command}.1"))).unwrap();
        assert!(page.contains(&format!(".TH pillion-{command} 1")), "{page}");
    }
    let page = fs::read_to_string(folder.join("pillion.1")).unwrap();
    assert_eq!(page, sandbox.run(["man"]).expect(0).stdout);
    let file = sandbox.home.file("taken", "");
    let words = [OsStr::new("man"), OsStr::new("--to"), file.as_os_str()];
    let ran = sandbox.run(words).expect(70);
    assert!(
        ran.stderr.contains("cannot write the pages"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_version_is_printed() {
    let ran = Sandbox::new().run(["--version"]).expect(0);
    assert_eq!(
        ran.stdout,
        format!("pillion {}\n", env!("CARGO_PKG_VERSION"))
    );
}
