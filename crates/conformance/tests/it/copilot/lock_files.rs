//! The lock file of the small companion.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::{Value, json};

use super::companion::{OTHER_TOKEN, Shared, chmod};
use crate::claude::dead_pid;
use crate::files::UNFINISHED;

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
        let real = file.with_extension("real");
        write(&real, &text);
        symlink(real, &file).unwrap();
    } else {
        write(&file, &text);
    }
    if shared.breaks("P1-private-file") {
        chmod(&file, 0o644);
    }
    if shared.breaks("P1-private-folder") {
        chmod(file.parent().unwrap(), 0o777);
    }
    let name = format!("gemini-ide-server-{}-{PORT}.json", std::process::id());
    let other = shared.home.join("tmp/gemini/ide").join(name);
    let roots = shared.workspace.display().to_string();
    let content = json!({"port": PORT, "workspacePath": roots, "authToken": OTHER_TOKEN});
    write(&other, &content.to_string());
    file
}

/// Writes it again, as when a root was opened.
pub fn rewrite(shared: &Shared) {
    let files = shared.files.lock().unwrap();
    let Some(file) = files.first() else { return };
    let text = content(shared).to_string() + "\n";
    match shared.flaw {
        "P9-atomic" => fs::write(file, text).unwrap(),
        "P9-atomic/half" => {
            fs::write(file, "{").unwrap();
            thread::sleep(UNFINISHED);
            fs::write(file, text).unwrap();
        }
        "P9-atomic/gone" => {
            fs::remove_file(file).unwrap();
            thread::sleep(UNFINISHED);
            write(file, &text);
        }
        _ => {
            let new = file.with_extension("new");
            write(&new, &text);
            fs::rename(new, file).unwrap();
        }
    }
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
    let root = shared.workspace.to_str().unwrap();
    let mut set = |field: &str, value: Value| match value {
        Value::Null => drop(content.as_object_mut().unwrap().remove(field)),
        value => content[field] = value,
    };
    match shared.flaw {
        "none/slash" => set("workspaceFolders", json!([format!("{root}/")])),
        "P1-socket" => set("socketPath", Value::Null),
        "P1-socket/file" => set("socketPath", json!(format!("{root}/file-0.txt"))),
        "P1-socket/relative" => set("socketPath", "run/s".into()),
        "P1-headers" => set("headers", Value::Null),
        "P1-headers/number" => set("headers", json!({"Authorization": 7})),
        "P1-token" => set("headers", json!({"X-Companion": "small"})),
        "P1-token/empty" => set("headers", json!({"Authorization": "Nonce "})),
        "P1-ideName" => set("ideName", Value::Null),
        "P1-ideName/empty" => set("ideName", "".into()),
        "P1-timestamp" => set("timestamp", Value::Null),
        "P1-timestamp/text" => set("timestamp", "5".into()),
        "P1-pid" => set("pid", dead_pid().into()),
        "P1-pid/none" => set("pid", Value::Null),
        "P1-pid/word" => set("pid", "me".into()),
        "P1-folders" => set("workspaceFolders", Value::Null),
        "P1-folders/empty" => set("workspaceFolders", json!([])),
        "P1-folders/text" => set("workspaceFolders", root.into()),
        "P1-resolved" => {
            let link = shared.home.join("link");
            let _ = symlink(&shared.workspace, &link);
            set("workspaceFolders", json!([link]));
        }
        "P1-resolved/gone" => set("workspaceFolders", json!([root, format!("{root}/none")])),
        "P1-resolved/relative" => set("workspaceFolders", json!([root, "project"])),
        _ => {}
    }
    content
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    chmod(path, 0o600);
}
