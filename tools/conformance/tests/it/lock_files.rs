//! The lock files of small companions, and the tokens in them: what Claude Code's and Copilot CLI's have in common.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::files::{dead_pid, write};

/// Another agent's.
pub const OTHER_TOKEN: &str = "another-0123456789-abcdef";

/// Writes the file of another agent of the same companion.
pub fn publish_another(home: &Path, port: u16, workspace: &Path) {
    let name = format!("gemini-ide-server-{}-{port}.json", std::process::id());
    let roots = workspace.display().to_string();
    let content = json!({"port": port, "workspacePath": roots, "authToken": OTHER_TOKEN});
    write(
        &home.join("tmp/gemini/ide").join(name),
        &content.to_string(),
    );
}

/// Another value for a field; null takes it out.
pub fn set(content: &mut Value, field: &str, value: Value) {
    match value {
        Value::Null => drop(content.as_object_mut().unwrap().remove(field)),
        value => content[field] = value,
    }
}

/// Spoils what every lock file has; `flaw` is a rule's id without its section.
pub fn spoil(content: &mut Value, flaw: &str, home: &Path, workspace: &Path) {
    let root = workspace.to_str().unwrap();
    let mut set = |field: &str, value: Value| set(content, field, value);
    match flaw {
        "pid" => set("pid", dead_pid().into()),
        "pid/word" => set("pid", "me".into()),
        "ideName" => set("ideName", Value::Null),
        "folders" => set("workspaceFolders", Value::Null),
        "folders/empty" => set("workspaceFolders", json!([])),
        "folders/text" => set("workspaceFolders", root.into()),
        "resolved" => {
            let link = home.join("link");
            let _ = symlink(workspace, &link);
            set("workspaceFolders", json!([link]));
        }
        "resolved/gone" => set("workspaceFolders", json!([root, format!("{root}/none")])),
        "resolved/relative" => set("workspaceFolders", json!([root, "project"])),
        _ => {}
    }
}

/// Returns true if a companion with this token takes the one that is sent, perhaps in a way in which it must not: a rule's
/// id without its section.
pub fn takes(token: &str, sent: &str, way: &str) -> bool {
    let half = token.len() / 2;
    let is_as_long = sent.len() == token.len();
    let is_taken = match way {
        "wrong" => is_as_long && !sent.eq_ignore_ascii_case(token),
        "wrong/half" => is_as_long && sent[..half] == token[..half],
        "truncated" => token.starts_with(sent),
        "truncated/end" => token.ends_with(sent),
        "extended" => sent.starts_with(token),
        "extended/end" => sent.ends_with(token),
        "case" => sent.eq_ignore_ascii_case(token),
        "other" => sent == OTHER_TOKEN,
        _ => false,
    };
    is_taken || sent == token
}
