//! `initialize`: what is answered, what agents find, and what is refused.

use std::fs;
use std::mem;
use std::process::Command;

use pillion_testkit::{TestAgent, discovery_file};
use serde_json::{Value, json};

use crate::agent;
use crate::client::{Editor, plugin_params, uri};
use crate::sandbox::Sandbox;

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn a_plugin_is_answered_when_agents_can_find_the_editor() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start::<&str>(&sandbox, []);
    let result = editor.initialize(plugin_params());
    let workspace = json!({"workspaceFolders": {"supported": true, "changeNotifications": true}});
    let expected = json!({
        "serverInfo": {"name": "pillion", "version": VERSION},
        "capabilities": {
            "positionEncoding": "utf-8",
            "workspace": workspace,
            "experimental": {"pillion": {"version": VERSION}},
        },
    });
    assert_eq!(result, expected);
    assert_eq!(sandbox.running_pid(), std::process::id(), "the editor's");
    assert!(
        editor.passed().is_empty(),
        "nothing is said before initialized"
    );

    editor.notify("initialized", json!({}));
    let environment = editor.params("pillion/environment");
    assert_eq!(environment["pid"], editor.child.id());
    let file = &crate::client::files(&environment)[0];
    let parent = std::process::id();
    let name = format!("gemini-ide-server-{parent}-{}.json", environment["port"]);
    assert!(file.ends_with(&name), "C2.2: {} {name}", file.display());
    let found = discovery_file(file);
    let workspace = sandbox.home.workspace();
    assert_eq!(environment["port"], found.port);
    assert_eq!(found.workspace_path, workspace.to_str().unwrap());
    let ide = found.ide_info.unwrap();
    assert_eq!(
        (ide.name.as_str(), ide.display_name.as_str()),
        ("test-editor", "Test Editor")
    );
    let nobody = json!({
        "agents": [], "mentions": [], "notes": [], "pendingDiffs": 0, "review": null, "warnings": [],
        "unseen": 0, "changes": 0, "decided": null, "atQuit": null,
    });
    assert_eq!(editor.params("pillion/didChangeStatus"), nobody);
}

#[test]
fn the_environment_for_terminals_holds_no_secret() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::plugin(&sandbox);
    let environment = editor.params("pillion/environment");
    let (port, workspace) = (environment["port"].to_string(), sandbox.home.workspace());
    assert_eq!(
        environment["variables"],
        json!({
            "CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL": "1",
            "CLAUDE_CODE_SSE_PORT": port,
            "GEMINI_CLI_IDE_SERVER_PORT": port,
            "GEMINI_CLI_IDE_WORKSPACE_PATH": workspace,
            "QWEN_CODE_IDE_SERVER_PORT": port,
            "QWEN_CODE_IDE_WORKSPACE_PATH": workspace,
        })
    );
}

#[test]
fn an_unidentified_editor_is_named_by_the_command_line_and_its_process_is_the_parent() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start(&sandbox, ["--editor", "Kate"]);
    let pillion = json!({"pillion": true});
    let result = editor.initialize(json!({"capabilities": {"experimental": pillion}}));
    assert_eq!(result["capabilities"]["positionEncoding"], "utf-16");
    editor.notify("initialized", json!({}));
    let file = agent::files(&mut editor).remove(0);
    let parent = format!("-{}-", std::process::id());
    assert!(
        file.to_str().unwrap().contains(&parent),
        "{}",
        file.display()
    );
    assert_eq!(discovery_file(&file).ide_info.unwrap().name, "kate");
}

#[test]
fn a_client_without_a_plugin_gets_the_plain_profile() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start::<&str>(&sandbox, []);
    let result = editor.initialize(json!({
        "processId": null,
        "clientInfo": {"name": "Helix"},
        "capabilities": {"experimental": {"snippets": [1]}, "textDocument": {"hover": {}}},
    }));
    assert!(result["capabilities"]["experimental"].is_null(), "{result}");
    assert_eq!(result["serverInfo"]["name"], "pillion");
    editor.notify("initialized", json!({}));
    assert!(
        !editor
            .passed()
            .iter()
            .any(|method| method.starts_with("pillion/"))
    );
}

#[test]
fn before_initialized_nothing_is_sent_and_nothing_lost() {
    let sandbox = Sandbox::new();
    let (file, other) = (sandbox.home.file("a", ""), sandbox.home.file("b", ""));
    let (path, other) = (file.to_str().unwrap(), other.to_str().unwrap());
    let workspace = sandbox.home.other_workspace("w");
    let mut editor = Editor::start::<&str>(&sandbox, []);
    editor.initialize(plugin_params());
    let event = json!({"added": [{"uri": uri(&workspace)}, {"uri": "ssh://h/a"}], "removed": []});
    let folders = "workspace/didChangeWorkspaceFolders";
    editor.notify(folders, json!({"event": event}));
    editor.notify(folders, json!({}));
    editor.notify("pillion/didChangeContext", json!({}));
    let gemini = sandbox.home.tmp().join("gemini/ide");
    let found = fs::read_dir(&gemini).unwrap().next().unwrap().unwrap();
    let agent = TestAgent::connect(&found.path());
    let mut given_up = agent.proposing(path, "one");
    // Until the proposal, which is sent beside, has come.
    let closed = (0..1000).any(|_| match agent.closing(path).end() {
        Err(error) => error.contains("never shown"),
        // It came, but not yet to the editor: once more.
        Ok(_) => {
            let next = agent.proposing(path, "one");
            mem::replace(&mut given_up, next).end().unwrap_err();
            false
        }
    });
    assert!(closed);
    given_up.end().unwrap_err();
    let call = agent.proposing(other, "two");
    assert!(editor.passed().is_empty(), "{:?}", editor.passed());

    editor.notify("initialized", json!({}));
    assert_eq!(editor.open_diff()["path"], other);
    call.end().unwrap();
    let variables = editor.params("pillion/environment")["variables"].take();
    let roots = variables["QWEN_CODE_IDE_WORKSPACE_PATH"].as_str().unwrap();
    assert!(roots.ends_with(workspace.to_str().unwrap()), "{roots}");
    let logged = [(); 3].map(|()| editor.params("window/logMessage"));
    for expected in ["ssh://h/a", folders, "openFiles"] {
        let is_expected = |it: &Value| it["message"].as_str().unwrap().contains(expected);
        assert!(logged.iter().any(is_expected), "{logged:#?}");
    }
}

#[test]
fn requests_out_of_place_are_refused_and_notifications_out_of_place_ignored() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start::<&str>(&sandbox, []);
    editor.notify("pillion/didChangeContext", json!({"openFiles": []}));
    let mut code = |method: &str, params: Value| {
        let answer = editor.request(method, params);
        answer["error"]["code"].as_i64().unwrap_or_default()
    };
    for method in ["shutdown", "pillion/openDiff", "textDocument/hover"] {
        assert_eq!(code(method, Value::Null), -32002, "{method}");
    }
    assert_eq!(code("initialize", plugin_params()), 0);
    assert_eq!(code("initialize", plugin_params()), -32600);
    assert_eq!(code("textDocument/hover", json!({})), -32601);
    assert_eq!(code("shutdown", Value::Null), 0);
    for method in ["shutdown", "initialize", "textDocument/hover"] {
        assert_eq!(code(method, Value::Null), -32600, "{method}");
    }
    editor.notify("pillion/didChangeContext", json!({"openFiles": []}));
    editor.notify("exit", Value::Null);
    assert_eq!(editor.ended(), (Some(0), String::new()));
}

#[test]
fn parameters_that_cannot_be_read_are_named_and_the_next_try_counts() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start::<&str>(&sandbox, []);
    for (params, field) in [
        (json!({"processId": "x"}), "processId"),
        (json!({"clientInfo": {}}), "clientInfo"),
        (
            json!({"workspaceFolders": [{"uri": 5}]}),
            "workspaceFolders[0].uri",
        ),
        (
            json!({"capabilities": {"general": {"positionEncodings": [1]}}}),
            "positionEncodings[0]",
        ),
        (
            json!({"capabilities": {"experimental": {"pillion": 5}}}),
            "experimental.pillion",
        ),
    ] {
        let answer = editor.request("initialize", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(field), "{message}");
    }
    editor.initialize(plugin_params());
}

#[test]
fn a_companion_that_cannot_start_reports_why() {
    let sandbox = Sandbox::new();
    let program = env!("CARGO_BIN_EXE_pillion");
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -n 5; exec \"$0\" lsp", program])
        .env_clear()
        .envs(sandbox.home.env().iter())
        .current_dir(sandbox.home.workspace());
    let mut editor = Editor::spawn(&mut command);
    let answer = editor.request("initialize", plugin_params());
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("cannot start the companion: "),
        "{message}"
    );
    editor.notify("exit", Value::Null);
    assert_eq!(editor.ended().0, Some(1));
}

#[test]
fn a_plugin_of_another_version_is_warned_once() {
    let sandbox = Sandbox::new();
    let warnings = |version: &str| {
        let mut params = plugin_params();
        params["capabilities"]["experimental"]["pillion"]["version"] = version.into();
        let mut editor = Editor::start::<&str>(&sandbox, []);
        editor.initialize(params);
        editor.notify("initialized", json!({}));
        let warns = editor
            .passed()
            .iter()
            .filter(|method| *method == "window/showMessage")
            .count();
        (warns > 0).then(|| (warns, editor.params("window/showMessage")))
    };
    assert_eq!(warnings(VERSION), None);
    let (count, warning) = warnings("99.0.0").unwrap();
    assert_eq!((count, &warning["type"]), (1, &json!(2)));
    assert!(
        warning["message"]
            .as_str()
            .unwrap()
            .contains("is newer than"),
        "{warning}"
    );
}

#[test]
fn the_log_holds_what_happened_but_no_secret_and_no_text() {
    let sandbox = Sandbox::new();
    let log = sandbox.home.root().join("log");
    let file = sandbox.home.file("a.txt", "the original text");
    let mut editor = Editor::start(&sandbox, ["--log", log.to_str().unwrap()]);
    editor.initialize(plugin_params());
    editor.notify("initialized", json!({}));
    let mut agent = agent::connect(&mut editor);
    let path = file.to_str().unwrap();
    let call = agent.proposing(path, "the proposed text");
    let diff = editor.open_diff();
    call.end().unwrap();
    editor.notify(
        "pillion/didChangeContext",
        json!({"openFiles": "the selected text"}),
    );
    editor.settle(&diff, "accept", Some("the edited text"));
    agent.outcome();
    editor.hang_up();
    assert_eq!(editor.ended().0, Some(0));
    let text = fs::read_to_string(&log).unwrap();
    for said in [
        "Test Editor",
        "pillion/openDiff",
        "pillion/decide",
        "1000000",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    for secret in [
        " text\"",
        "the proposed",
        "the edited",
        "the selected",
        "the original",
        "authToken",
    ] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}

#[cfg(unix)]
#[test]
fn a_hub_of_another_version_is_reported_once() {
    for (version, age) in [("0.0.1", "is older than"), ("99.0.0", "is newer than")] {
        let sandbox = Sandbox::new();
        crate::other_hub::start(&sandbox.home, version);
        let mut editor = Editor::plugin(&sandbox);
        let warning = editor.params("window/showMessage");
        assert_eq!(warning["type"], 2);
        let message = warning["message"].as_str().unwrap();
        assert!(
            message.contains(age) && message.contains(version),
            "{message}"
        );
        assert!(message.contains("quit all your editors"), "{message}");
        editor.params("pillion/environment");
        assert!(!editor.passed().contains(&"window/showMessage".to_owned()));
    }
}
