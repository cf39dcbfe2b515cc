//! The agent itself, and its settings.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::world::{GEMINI, QWEN, World};

const ON: &str = r#"{"ide": {"enabled": true}, "security": {"folderTrust": {"enabled": false}}}"#;

#[test]
fn both_agents_would_connect_and_nothing_is_wrong() {
    let world = World::new();
    let _serve = world.serve();
    for agent in [GEMINI, QWEN] {
        let told = world.doctor(agent);
        told.expect_connects("no-companion");
        assert!(!told.text.contains('✗'), "{}", told.text);
        assert_eq!(told.agent["companion"]["displayName"], "Pillion");
    }
    // Without a name: every one that is installed.
    fs::remove_file(world.bin().join(QWEN)).unwrap();
    let told = world.told_by(world.command("\"$0\" \"$@\"", &["--json"]), || {
        world.command("\"$0\" \"$@\"", &[])
    });
    assert_eq!(told.agent["name"], "gemini");
}

/// A terminal that shows ASCII only, and a pipe.
#[test]
fn the_report_is_plain_where_it_has_to_be() {
    let world = World::new();
    let told = world.after("export LANG=C NO_COLOR=1", GEMINI);
    told.expect_first("no-companion", "no companion is running");
    assert!(told.text.is_ascii(), "{}", told.text);
    assert!(told.text.contains("  X  companion"), "{}", told.text);
    assert!(!world.doctor(GEMINI).text.contains('\u{1b}'));
}

#[test]
fn how_to_install_a_missing_agent_is_reported() {
    let world = World::new();
    let _serve = world.serve();
    fs::remove_file(world.bin().join(GEMINI)).unwrap();
    let told = world.doctor(GEMINI);
    let fix = told.expect_first("agent-not-installed", "the command `gemini` is not on PATH");
    assert_eq!(fix, "npm install -g @google/gemini-cli@latest");
    assert_eq!(told.agent["version"], serde_json::Value::Null);
    world.install(GEMINI, "0.61.0");
    world.doctor(GEMINI).expect_connects("agent-not-installed");
}

#[test]
fn an_agent_without_a_package_is_asked_for_its_version() {
    let world = World::new();
    let _serve = world.serve();
    fs::remove_file(world.bin().join(GEMINI)).unwrap();
    world.program(GEMINI, "#!/bin/sh\necho 0.44.1\n");
    let told = world.doctor(GEMINI);
    told.expect_first("agent-too-old", "0.44.1");
    world.program(GEMINI, "#!/bin/sh\nexit 1\n");
    let told = world.doctor(GEMINI);
    told.expect(
        "agent-release-unknown",
        "warning",
        "cannot tell which release",
    );
    // A start script instead of a link, as some package managers write it.
    let folder = world
        .home()
        .root()
        .join("lib/node_modules/@google/gemini-cli");
    let script = "#!/bin/sh\nbasedir=x\nexec node \"$basedir/../lib/node_modules/@google/gemini-cli/bundle/cli.js\"\n";
    assert!(folder.exists());
    world.program(GEMINI, script);
    let told = world.doctor(GEMINI);
    assert_eq!(told.agent["version"], "0.61.0");
    told.expect_connects("agent-release-unknown");
}

#[test]
fn a_release_older_than_the_supported_ones_is_to_be_updated_and_nothing_else_is_reported() {
    let world = World::new();
    let _serve = world.serve();
    for (agent, old, newest, package) in [
        (GEMINI, ["0.44.1", "0.45.0"], "0.61.0", "@google/gemini-cli"),
        (
            QWEN,
            ["0.15.10", "0.21.2"],
            "0.24.4",
            "@qwen-code/qwen-code",
        ),
    ] {
        let [old, oldest] = old;
        world.install(agent, old);
        let told = world.doctor(agent);
        let what = format!("{old} is installed, and {oldest} is the oldest release");
        let fix = told.expect_first("agent-too-old", &what);
        assert_eq!(fix, format!("npm install -g {package}@latest"));
        assert_eq!(told.agent["findings"].as_array().unwrap().len(), 1);
        world.install(agent, newest);
        world.doctor(agent).expect_connects("agent-too-old");
    }
}

#[test]
fn node_and_ps_are_missed() {
    let world = World::new();
    let _serve = world.serve();
    let empty = world.home().other_workspace("tools");
    fs::copy("/bin/sh", empty.join("sh")).unwrap();
    let path = format!("PATH={}:{}", world.bin().display(), empty.display());
    let told = world.after(&path, GEMINI);
    told.expect("ps-missing", "warning", "`ps` is missing");
    told.expect_connects("node-missing");
    fs::remove_file(world.bin().join("node")).unwrap();
    let told = world.after(&path, GEMINI);
    told.expect_first("node-missing", "Node.js is missing");
}

#[test]
fn ide_mode_that_is_off_is_the_first_break() {
    let world = World::new();
    let _serve = world.serve();
    let off = r#"{"ide": {"enabled": false /* by me */}}"#;
    for agent in [GEMINI, QWEN] {
        world.settings(agent, "{}");
        let told = world.doctor(agent);
        let fix = told.expect_first("ide-mode-off", "no settings file sets `ide.enabled`");
        assert_eq!(fix, "/ide enable");
        let file = world.settings(agent, off);
        let told = world.doctor(agent);
        told.expect_first("ide-mode-off", file.to_str().unwrap());
        // What that command writes.
        world.settings(agent, ON);
        world.doctor(agent).expect_connects("ide-mode-off");
    }
}

#[test]
fn the_settings_of_the_system_go_before_the_users_and_the_folders_own_are_named() {
    let world = World::new();
    let _serve = world.serve();
    let system = world.home().root().join("system.json");
    fs::write(&system, r#"{"ide": {"enabled": false}}"#).unwrap();
    let world = world.with("GEMINI_CLI_SYSTEM_SETTINGS_PATH", &system);
    let told = world.doctor(GEMINI);
    let fix = told.expect_first("ide-mode-off", system.to_str().unwrap());
    assert!(fix.contains(system.to_str().unwrap()), "{fix}");
    fs::remove_file(&system).unwrap();
    // Whether the folder is trusted is not known.
    world.settings(GEMINI, "{}");
    let project = world.home().file(".gemini/settings.json", ON);
    let told = world.doctor(GEMINI);
    told.expect_connects("ide-mode-off");
    assert!(
        told.text.contains(project.to_str().unwrap()),
        "{}",
        told.text
    );
}

#[test]
fn a_sandbox_for_tools_turns_ide_mode_off() {
    let world = World::new();
    let _serve = world.serve();
    let sandbox = r#"{"tools": {"executionSandbox": {"filesystem": "workspace-write",
        "network": "open"}}, "ide"#;
    let file = world.settings(QWEN, &ON.replace("{\"ide", sandbox));
    let told = world.doctor(QWEN);
    let fix = told.expect_first("ide-mode-off", "sets `tools.executionSandbox`");
    assert!(fix.contains(file.to_str().unwrap()), "{fix}");
    world.settings(QWEN, ON);
    world.doctor(QWEN).expect_connects("ide-mode-off");
}

#[test]
fn a_settings_file_that_is_none_is_named() {
    let world = World::new();
    let _serve = world.serve();
    let file = world.settings(GEMINI, r#"{"ide": {"enabled": true},}"#);
    let told = world.doctor(GEMINI);
    let fix = told.expect_first("settings-broken", file.to_str().unwrap());
    // An editor that does it right.
    let fix = format!(
        "EDITOR=fixed\nfixed() {{ echo '{ON}' > \"$1\"; }}\n{}",
        fix.replace("\"${EDITOR:-vi}\"", "fixed")
    );
    world.after(&fix, GEMINI).expect_connects("settings-broken");
}

#[test]
fn an_agent_that_does_not_ask_shows_no_diffs() {
    let world = World::new();
    let _serve = world.serve();
    let told = world.doctor(QWEN);
    let fix = told.expect("changes-without-asking", "note", "its own default");
    assert_eq!(fix, "qwen --approval-mode default");
    world.settings(
        QWEN,
        &ON.replace(
            "{\"ide",
            "{\"tools\": {\"approvalMode\": \"default\"}, \"ide",
        ),
    );
    world.doctor(QWEN).expect_connects("changes-without-asking");
    world.settings(
        GEMINI,
        &ON.replace(
            "{\"ide",
            "{\"general\": {\"defaultApprovalMode\": \"auto_edit\"}, \"ide",
        ),
    );
    world
        .doctor(GEMINI)
        .expect("changes-without-asking", "note", "auto_edit");
}

/// npm would put another one beside it.
#[test]
fn what_claude_codes_own_installer_put_in_place_is_installed() {
    let world = World::new();
    let program = "#!/bin/sh\necho '2.1.332 (Claude Code)'\n";
    let home = world.home().home();
    let path = home.join(".claude/local/claude");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, program).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let told = world.doctor("claude");
    told.expect_gone("agent-not-installed");
    assert_eq!(told.agent["version"], "2.1.332", "{}", told.text);
    assert!(told.text.contains(".claude/local/claude"), "{}", told.text);
    fs::remove_file(&path).unwrap();
    let told = world.doctor("claude");
    told.expect("agent-not-installed", "problem", "not on PATH");
}
