//! `pillion run claude` and `pillion run opencode`: what they are given, and what is taken from them.

use std::fs;

use super::{Stage, TALKATIVE};

const PORT: &str = "CLAUDE_CODE_SSE_PORT";

#[test]
fn claude_code_gets_the_port_and_installs_nothing() {
    let stage = Stage::new(TALKATIVE);
    let serve = stage.sandbox.serve::<&str>([]);
    let mut command = stage.command(["claude", "--permission-mode", "plan"]);
    command.env(PORT, "1");
    let said = stage.said(command);
    assert_eq!(said.stderr(), "");
    assert_eq!(
        said.args,
        ["--permission-mode", "plan"],
        "its mode is its own"
    );
    assert_eq!(said.variable(PORT), Some(serve.port().to_string().as_str()));
    let skips = "CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL";
    assert_eq!(said.leading(), [skips]);
    assert_eq!(said.variable(skips), Some("1"));
}

/// `env` in its settings wins over the terminal: what is set here would have no effect.
#[test]
fn settings_with_another_port_are_reported() {
    let stage = Stage::new(TALKATIVE);
    let serve = stage.sandbox.serve::<&str>([]);
    let settings = stage.sandbox.home.home().join(".claude/settings.json");
    let with_port = |port: u16| format!(r#"{{"env":{{"{PORT}":"{port}"}}}}"#);
    fs::write(&settings, with_port(1)).unwrap();
    let said = stage.said(stage.command(["claude"]));
    let instead = format!(
        "note: Claude Code takes {PORT} from `env` of {} instead: remove it there.\n",
        settings.display()
    );
    assert_eq!(said.stderr(), instead);
    // The same one does no harm.
    fs::write(&settings, with_port(serve.port())).unwrap();
    assert_eq!(stage.said(stage.command(["claude"])).stderr(), "");
}

#[test]
fn opencode_gets_no_port_for_it_would_dial_without_the_token() {
    let stage = Stage::new(TALKATIVE);
    let serve = stage.sandbox.serve::<&str>([]);
    let mut command = stage.command(["opencode"]);
    command.env(PORT, serve.port().to_string());
    let said = stage.said(command);
    assert_eq!(said.stderr(), "");
    assert_eq!(said.variable(PORT), None);
    assert!(said.leading().is_empty());
}

#[test]
fn without_a_companion_a_port_that_leads_nowhere_is_taken_out() {
    let stage = Stage::new(TALKATIVE);
    for agent in ["claude", "opencode"] {
        let mut command = stage.command([agent]);
        command.env(PORT, "1");
        let said = stage.said(command);
        assert!(said.stderr().contains("without one"), "{}", said.stderr());
        assert_eq!(said.variable(PORT), None, "{agent}");
    }
}
