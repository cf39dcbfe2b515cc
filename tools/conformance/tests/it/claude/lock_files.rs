//! The lock files of the small companion.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::companion::Shared;
use crate::files::{chmod, write, write_again, write_behind_link};
use crate::lock_files::{publish_another, set, spoil};

/// The interval between looks whether a file was deleted.
const KEEP_INTERVAL: Duration = Duration::from_millis(20);

/// Writes them; the first is in the folder that the agent's variable names.
pub fn publish(shared: &Shared) -> Vec<PathBuf> {
    let (config, home) = (
        shared.home.join("config/ide"),
        shared.home.join("home/.claude/ide"),
    );
    let name = match shared.flaw {
        "K1-name" => format!("claude-ide-{}.lock", shared.port),
        "K1-name/zeros" => format!("0{}.lock", shared.port),
        _ => format!("{}.lock", shared.port),
    };
    let folders = match shared.flaw {
        "K1-folder" => vec![home],
        "K1-one" => vec![config, home],
        _ => vec![config],
    };
    let files: Vec<_> = folders.iter().map(|folder| folder.join(&name)).collect();
    for (number, file) in files.iter().enumerate() {
        let mut text = content(shared).to_string();
        match shared.flaw {
            "K1-json" => drop(text.pop()),
            "K1-json/lines" => text = shared.workspace.display().to_string(),
            _ => {}
        }
        if number == 0 && shared.breaks("K1-file") {
            write_behind_link(file, &text);
        } else {
            write(file, &text);
        }
    }
    if shared.breaks("K1-private-file") {
        chmod(&files[0], 0o644);
    }
    if shared.breaks("K1-private-folder") {
        chmod(files[0].parent().unwrap(), 0o777);
    }
    publish_another(&shared.home, shared.port, &shared.workspace);
    files
}

/// Restores what was deleted.
pub fn keep(shared: &Shared) {
    while !shared.is_stopped.load(Ordering::SeqCst) {
        thread::sleep(KEEP_INTERVAL);
        let files = shared.files.lock().unwrap();
        for file in files.iter() {
            if file.symlink_metadata().is_ok() || shared.breaks("K9-restored") {
                continue;
            }
            if shared.breaks("K9-atomic/back") {
                write(file, "{");
                // The suite keeps what it moved aside until it has seen the file again.
                let aside = file.with_extension("pillion-conformance");
                while aside.exists() && !shared.is_stopped.load(Ordering::SeqCst) {
                    thread::sleep(KEEP_INTERVAL);
                }
            }
            write_again(file, &content(shared).to_string(), None);
        }
    }
}

/// Writes one again, as when a root was opened.
pub fn rewrite(shared: &Shared) {
    let files = shared.files.lock().unwrap();
    let Some(file) = files.last() else { return };
    let text = content(shared).to_string() + "\n";
    write_again(file, &text, shared.flaw.strip_prefix("K9-atomic"));
}

fn content(shared: &Shared) -> Value {
    let mut content = json!({
        "pid": std::process::id(),
        "workspaceFolders": [shared.workspace],
        "ideName": "Small",
        "transport": "ws",
        "authToken": shared.token,
    });
    let flaw = shared.flaw.strip_prefix("K1-").unwrap_or_default();
    spoil(&mut content, flaw, &shared.home, &shared.workspace);
    let root = shared.workspace.to_str().unwrap();
    let mut set = |field: &str, value: Value| set(&mut content, field, value);
    match shared.flaw {
        "none/slash" => set("workspaceFolders", json!([format!("{root}/")])),
        "none/pid-text" => set("pid", std::process::id().to_string().into()),
        "K1-pid-present" => set("pid", Value::Null),
        "K1-transport" => set("transport", Value::Null),
        "K1-transport/sse" => set("transport", "sse".into()),
        "K1-token" => set("authToken", Value::Null),
        "K1-token/empty" => set("authToken", "".into()),
        _ => {}
    }
    content
}
