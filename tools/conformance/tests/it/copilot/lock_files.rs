//! The lock file of the small companion.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::companion::Shared;
use crate::files::{chmod, write, write_again, write_behind_link};
use crate::lock_files::{publish_another, set, spoil};

/// In the name of the file, as of a companion that has a port as well.
const PORT: u16 = 4321;

/// Writes it.
pub fn publish(shared: &Shared) -> PathBuf {
    let folder = match shared.flaw {
        "P1-folder" => "home/.config",
        _ => "copilot/ide",
    };
    let file = shared.home.join(folder).join(format!("{PORT}.lock"));
    let mut text = content(shared).to_string();
    match shared.flaw {
        "P1-json" => drop(text.pop()),
        "P1-json/array" => text = format!("[{text}]"),
        _ => {}
    }
    if shared.breaks("P1-file") {
        write_behind_link(&file, &text);
    } else {
        write(&file, &text);
    }
    if shared.breaks("P1-private-file") {
        chmod(&file, 0o644);
    }
    if shared.breaks("P1-private-folder") {
        chmod(file.parent().unwrap(), 0o777);
    }
    publish_another(&shared.home, PORT, &shared.workspace);
    file
}

/// Writes it again, as when a root was opened.
pub fn rewrite(shared: &Shared) {
    let files = shared.files.lock().unwrap();
    let Some(file) = files.first() else { return };
    let text = content(shared).to_string() + "\n";
    write_again(file, &text, shared.flaw.strip_prefix("P9-atomic"));
}

fn content(shared: &Shared) -> Value {
    let mut content = json!({
        "socketPath": shared.socket,
        "scheme": "unix",
        "headers": {"Authorization": format!("Nonce {}", shared.token), "X-Companion": "small"},
        "pid": std::process::id(),
        "ideName": "Small",
        "timestamp": 5,
        "workspaceFolders": [shared.workspace],
    });
    let flaw = shared.flaw.strip_prefix("P1-").unwrap_or_default();
    spoil(&mut content, flaw, &shared.home, &shared.workspace);
    let root = shared.workspace.to_str().unwrap();
    let mut set = |field: &str, value: Value| set(&mut content, field, value);
    match shared.flaw {
        "none/slash" => set("workspaceFolders", json!([format!("{root}/")])),
        "P1-socket" => set("socketPath", Value::Null),
        "P1-socket/file" => set("socketPath", json!(format!("{root}/file-0.txt"))),
        "P1-socket/relative" => set("socketPath", "run/s".into()),
        "P1-headers" => set("headers", Value::Null),
        "P1-headers/number" => set("headers", json!({"Authorization": 7})),
        "P1-token" => set("headers", json!({"X-Companion": "small"})),
        "P1-token/empty" => set("headers", json!({"Authorization": "Nonce "})),
        "P1-ideName/empty" => set("ideName", "".into()),
        "P1-timestamp" => set("timestamp", Value::Null),
        "P1-timestamp/text" => set("timestamp", "5".into()),
        "P1-pid/none" => set("pid", Value::Null),
        _ => {}
    }
    content
}
