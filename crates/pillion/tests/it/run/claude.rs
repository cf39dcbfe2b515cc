//! `pillion run claude` and `pillion run opencode`: what they are given, and what is taken from them.

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
