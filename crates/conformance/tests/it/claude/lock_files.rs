//! The lock files of the small companion.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::companion::{OTHER_TOKEN, Shared};
use crate::files::UNFINISHED;

/// How often it looks whether a file was deleted.
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
            let real = file.with_extension("real");
            write(&real, &text);
            symlink(real, file).unwrap();
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
    let (port, pid) = (shared.port, std::process::id());
    let other = shared.home.join(format!(
        "tmp/gemini/ide/gemini-ide-server-{pid}-{port}.json"
    ));
    let roots = shared.workspace.display().to_string();
    let content = json!({"port": port, "workspacePath": roots, "authToken": OTHER_TOKEN});
    write(&other, &content.to_string());
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
            replace(file, &content(shared).to_string());
        }
    }
}

/// Writes one again, as when a root was opened.
pub fn rewrite(shared: &Shared) {
    let files = shared.files.lock().unwrap();
    let Some(file) = files.last() else { return };
    let text = content(shared).to_string() + "\n";
    match shared.flaw {
        "K9-atomic" => fs::write(file, text).unwrap(),
        "K9-atomic/half" => {
            fs::write(file, "{").unwrap();
            thread::sleep(UNFINISHED);
            fs::write(file, text).unwrap();
        }
        "K9-atomic/gone" => {
            fs::remove_file(file).unwrap();
            thread::sleep(UNFINISHED);
            write(file, &text);
        }
        _ => replace(file, &text),
    }
}

fn content(shared: &Shared) -> Value {
    let mut content = json!({
        "pid": std::process::id(),
        "workspaceFolders": [shared.workspace],
        "ideName": "Small",
        "transport": "ws",
        "authToken": shared.token,
    });
    let root = shared.workspace.to_str().unwrap();
    let mut set = |field: &str, value: Value| match value {
        Value::Null => drop(content.as_object_mut().unwrap().remove(field)),
        value => content[field] = value,
    };
    match shared.flaw {
        "none/slash" => set("workspaceFolders", json!([format!("{root}/")])),
        "none/pid-text" => set("pid", std::process::id().to_string().into()),
        "K1-pid" => set("pid", dead_pid().into()),
        "K1-pid/word" => set("pid", "me".into()),
        "K1-pid-present" => set("pid", Value::Null),
        "K1-folders" => set("workspaceFolders", Value::Null),
        "K1-folders/empty" => set("workspaceFolders", json!([])),
        "K1-folders/text" => set("workspaceFolders", root.into()),
        "K1-resolved" => {
            let link = shared.home.join("link");
            let _ = symlink(&shared.workspace, &link);
            set("workspaceFolders", json!([link]));
        }
        "K1-resolved/relative" => set("workspaceFolders", json!([root, "project"])),
        "K1-resolved/gone" => set("workspaceFolders", json!([root, format!("{root}/none")])),
        "K1-transport" => set("transport", Value::Null),
        "K1-transport/sse" => set("transport", "sse".into()),
        "K1-token" => set("authToken", Value::Null),
        "K1-token/empty" => set("authToken", "".into()),
        "K1-ideName" => set("ideName", Value::Null),
        _ => {}
    }
    content
}

fn replace(file: &Path, text: &str) {
    let new = file.with_extension("new");
    write(&new, text);
    fs::rename(new, file).unwrap();
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    chmod(path, 0o600);
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The id of a process that has ended.
pub fn dead_pid() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}
