//! The faults that keep Claude Code from its companion, or its changes from the editor.

use std::fs;

use pillion_testkit::IdleProcess;
use serde_json::{Value, json};

use super::world::{CLAUDE, World, in_namespace, kill};

const NEW: &str = "2.1.332";

const ON: &str = r#"{"env": {"CLAUDE_CODE_AUTO_CONNECT_IDE": "true"}}"#;
const OFF: &str = r#"{"env": {"CLAUDE_CODE_AUTO_CONNECT_IDE": "false"}}"#;

/// Claude Code is installed, connects by itself, and asks before it changes anything.
fn world() -> World {
    let world = World::new();
    world.install(CLAUDE, NEW);
    let home = world.home().home();
    fs::create_dir_all(home.join(".claude/ide")).unwrap();
    menus(&world, &json!({"autoConnectIde": true}));
    let asks = json!({"permissions": {"defaultMode": "default"}});
    world.settings(CLAUDE, &asks.to_string());
    world
}

/// Sets what its menus would set.
fn menus(world: &World, settings: &Value) {
    let path = world.home().home().join(".claude.json");
    fs::write(path, settings.to_string()).unwrap();
}

/// Another's lock file.
fn lock(world: &World, port: u16, pid: u32, root: &str) {
    let lock = json!({
        "pid": pid, "workspaceFolders": [root], "ideName": "Kate", "transport": "ws", "authToken": "hidden",
    });
    let path = world.home().home().join(format!(".claude/ide/{port}.lock"));
    fs::write(path, lock.to_string()).unwrap();
}

#[test]
fn nothing_is_wrong_where_it_connects() {
    let world = world();
    let serve = world.serve();
    let told = world.doctor(CLAUDE);
    told.expect_connects("ide-mode-off");
    told.expect_gone("changes-without-asking");
    told.expect_gone("diffs-hidden");
    assert_eq!(told.agent["companion"]["port"], serve.port());
}

#[test]
fn of_two_companions_it_takes_none() {
    let world = world();
    let (_one, _two) = (world.serve(), world.serve());
    let told = world.doctor(CLAUDE);
    let fix = told.expect_first("several-companions", "2 companions serve this folder");
    assert!(fix.starts_with("pillion run --port "), "{fix}");
}

#[test]
fn it_does_not_connect_by_itself_unless_it_is_configured_to() {
    let world = world();
    menus(&world, &json!({}));
    let told = world.doctor(CLAUDE);
    told.expect("ide-mode-off", "warning", "does not connect on its own");
    assert_eq!(
        told.expect_first("no-companion", "no companion is running"),
        "pillion"
    );
    let serve = world.serve();
    let told = world.doctor(CLAUDE);
    let fix = told.expect_first("ide-mode-off", "does not connect on its own");
    assert_eq!(fix, "pillion run claude");
    let named = world.with("CLAUDE_CODE_SSE_PORT", serve.port().to_string());
    named.doctor(CLAUDE).expect_connects("ide-mode-off");
    let off = named.with("CLAUDE_CODE_AUTO_CONNECT_IDE", "false");
    let fix = off
        .doctor(CLAUDE)
        .expect_first("ide-mode-off", "from connecting");
    assert_eq!(fix, "unset CLAUDE_CODE_AUTO_CONNECT_IDE");
    off.after(&fix, CLAUDE).expect_connects("ide-mode-off");
}

#[test]
fn variables_in_its_settings_win_over_those_of_the_terminal() {
    let world = world().with("CLAUDE_CODE_AUTO_CONNECT_IDE", "true");
    let serve = world.serve();
    menus(&world, &json!({}));
    let told = world.doctor(CLAUDE);
    told.expect_connects("ide-mode-off");
    assert!(told.text.contains("but never with `-p`"), "{}", told.text);
    let off = json!({"env": {"CLAUDE_CODE_AUTO_CONNECT_IDE": false}});
    let path = world.settings(CLAUDE, &off.to_string());
    let told = world.doctor(CLAUDE);
    let fix = told.expect_first("ide-mode-off", "`env` of ");
    assert!(fix.contains(path.to_str().unwrap()), "{fix}");
    // The folder's win over the person's, and what its menus wrote over nobody.
    let of_menus = json!({"env": {"CLAUDE_CODE_AUTO_CONNECT_IDE": "false"}});
    menus(&world, &of_menus);
    let folder = world.home().workspace().join(".claude");
    fs::create_dir_all(&folder).unwrap();
    let named = json!({"env": {"CLAUDE_CODE_AUTO_CONNECT_IDE": 1, "CLAUDE_CODE_SSE_PORT": serve.port().to_string()}});
    fs::write(folder.join("settings.json"), named.to_string()).unwrap();
    world.doctor(CLAUDE).expect_connects("ide-mode-off");
}

/// Files in a folder win over the one beside it, by their names.
#[test]
fn an_administrators_files_count_one_after_the_other() {
    let world = world().with("CLAUDE_CODE_AUTO_CONNECT_IDE", "true");
    let _serve = world.serve();
    let managed = |drop_ins: &[(&str, &str)]| {
        let write = drop_ins.iter().map(|(name, content)| {
            format!("printf %s '{content}' > /etc/claude-code/managed-settings.d/{name}; ")
        });
        let script = format!(
            "mount -t tmpfs tmpfs /etc && mkdir -p /etc/claude-code/managed-settings.d && \
             printf %s '{OFF}' > /etc/claude-code/managed-settings.json; {}exec \"$@\"",
            write.collect::<String>()
        );
        let wrapped = |args: &[&str]| {
            let command = world.command("\"$0\" \"$@\"; exit $?", args);
            in_namespace(&script, &[], &command)
        };
        world.told_by(wrapped(&[CLAUDE, "--json"]), || wrapped(&[CLAUDE]))
    };
    managed(&[]).expect_first("ide-mode-off", "managed-settings.json");
    managed(&[("b.json", ON)]).expect_connects("ide-mode-off");
    let told = managed(&[("b.json", ON), ("c.json", OFF), (".d.json", ON)]);
    told.expect_first("ide-mode-off", "managed-settings.d/c.json");
    let told = managed(&[("b.json", "{")]);
    told.expect("settings-broken", "problem", "managed-settings.d/b.json");
}

#[test]
fn modes_that_show_no_diff_are_reported() {
    let world = world();
    let _serve = world.serve();
    let asks = json!(["Edit", "Write"]);
    for (permissions, is_told) in [
        (json!({}), true),
        (json!({"defaultMode": "acceptEdits"}), true),
        (json!({"defaultMode": "plan"}), false),
        (json!({"defaultMode": "auto", "ask": asks}), false),
        (json!({"ask": asks}), false),
    ] {
        let settings = json!({"permissions": permissions});
        world.settings(CLAUDE, &settings.to_string());
        let told = world.doctor(CLAUDE);
        if is_told {
            let fix = told.expect("changes-without-asking", "note", "without asking");
            assert!(fix.contains(".claude/settings.json"), "{fix}");
        } else {
            told.expect_gone("changes-without-asking");
        }
        assert_eq!(told.code, 0, "{}", told.text);
    }
    // An older release asks unless it is configured otherwise.
    world.settings(CLAUDE, "{}");
    world.install(CLAUDE, "2.1.153");
    world.doctor(CLAUDE).expect_gone("changes-without-asking");
}

#[test]
fn settings_of_the_folder_count_and_broken_ones_are_named() {
    let world = world();
    let _serve = world.serve();
    let folder = world.home().workspace().join(".claude");
    fs::create_dir_all(&folder).unwrap();
    let local = folder.join("settings.local.json");
    fs::write(&local, r#"{"permissions": {"defaultMode": "acceptEdits"}}"#).unwrap();
    let told = world.doctor(CLAUDE);
    told.expect("changes-without-asking", "note", "acceptEdits");
    fs::write(&local, "{").unwrap();
    let told = world.doctor(CLAUDE);
    told.expect("settings-broken", "warning", "settings.local.json");
}

#[test]
fn diffs_in_its_own_window_are_reported() {
    let world = world();
    let _serve = world.serve();
    menus(
        &world,
        &json!({"autoConnectIde": true, "diffTool": "terminal"}),
    );
    let told = world.doctor(CLAUDE);
    let fix = told.expect("diffs-in-terminal", "warning", "`diffTool`");
    assert_eq!(fix, "/config");
    assert_eq!(told.code, 0, "{}", told.text);
}

#[test]
fn a_companion_that_is_gone_and_a_stale_variable_are_reported() {
    let world = world();
    let serve = world.serve();
    let files = serve.files();
    let port = kill(serve);
    let is_claudes = |path: &std::path::PathBuf| path.to_str().unwrap().contains("/.claude/");
    assert!(files.iter().any(is_claudes));
    let world = world.with("CLAUDE_CODE_SSE_PORT", port.to_string());
    let told = world.doctor(CLAUDE);
    // The next companion removes the file of the dead one.
    let fix = told.expect_first("no-companion", "no companion is running");
    assert_eq!(fix, "pillion");
    told.expect_gone("dead-companion");
    told.expect("stale-variable", "warning", "CLAUDE_CODE_SSE_PORT");
}

#[test]
fn in_a_terminal_of_vs_code_only_an_ancestors_companion_counts() {
    let world = world().with("TERM_PROGRAM", "vscode");
    let stranger = IdleProcess::start();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let root = world.home().workspace().display().to_string();
    lock(&world, port, stranger.id(), &root);
    let told = world.doctor(CLAUDE);
    let fix = told.expect_first("companion-not-taken", "does not accept");
    assert_eq!(fix, format!("pillion run --port {port} claude"));
}
