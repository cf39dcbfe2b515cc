//! The discovery files of the small companion.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::companion::Shared;

/// The time for which a file stays half written or missing: long enough for a watcher to notice on a busy machine.
const UNFINISHED: Duration = Duration::from_millis(200);

/// Writes them; the first is Gemini CLI's.
pub fn publish(shared: &Shared, tmp: &Path, home: &Path) -> Vec<PathBuf> {
    if shared.breaks("C2.2-name") {
        let path = tmp.join("companion.json");
        write(&path, &content(shared, true).to_string());
        return vec![path];
    }
    let port = shared.port;
    let name_pid = if shared.breaks("C2.3-pid") {
        dead_pid()
    } else {
        std::process::id()
    };
    let name_port = port ^ u16::from(shared.breaks("C2.3-port"));
    let folder =
        |rule, path: &str, wrong: &str| tmp.join(if shared.breaks(rule) { wrong } else { path });
    let gemini = match shared.flaw {
        "C2.2-gemini/tmpdir" => tmp.to_owned(),
        "C2.2-gemini/folder" => tmp.join("gemini"),
        "C2.2-gemini/other-folder" => tmp.join("gemini-cli/ide"),
        _ => folder("C2.2-gemini", "gemini/ide", "gemini"),
    };
    let gemini = gemini.join(match shared.flaw {
        "C2.2-name/short" => format!("gemini-ide-{name_pid}-{name_port}.json"),
        "C2.2-name/letters" => format!("gemini-ide-server-{name_pid}-x{name_port}.json"),
        "C2.2-name/lock" => format!("gemini-ide-server-{name_pid}-{name_port}.lock"),
        "C2.3-port/swapped" => format!("gemini-ide-server-{name_port}-{name_pid}.json"),
        _ => format!("gemini-ide-server-{name_pid}-{name_port}.json"),
    });
    let qwen = match shared.flaw {
        "C2.2-qwen/folder" => tmp.join("qwen"),
        _ => folder("C2.2-qwen", "qwen/ide", "gemini/ide"),
    };
    let own_pid = std::process::id();
    let mut files = vec![
        gemini,
        qwen.join(format!("qwen-code-ide-server-{own_pid}-{port}.json")),
    ];
    if shared.breaks("C2.2-lock/folder") {
        files.push(home.join(format!(".qwen/{port}.lock")));
    } else if !shared.breaks("C2.2-lock") {
        files.push(home.join(format!(".qwen/ide/{port}.lock")));
    }
    for (number, file) in files.iter().enumerate() {
        let mut content = content(shared, number == 0);
        if file.extension().is_some_and(|it| it == "lock") {
            let fields = content.as_object_mut().unwrap();
            match shared.flaw {
                "C2.4-lock-ideInfo" => drop(fields.remove("ideInfo")),
                "C2.4-ideName" => drop(fields.remove("ideName")),
                "C2.4-ideName/empty" => fields["ideName"] = "".into(),
                "C2.2-lock-ppid/text" => fields["ppid"] = own_pid.to_string().into(),
                _ => {}
            }
        }
        let mut text = content.to_string();
        if number == 0 && shared.breaks("C2.4-json") {
            text.pop();
        }
        if number == 0 && shared.breaks("C2.4-json/array") {
            text = format!("[{text}]");
        }
        if number == 0 && shared.breaks("C2.4-json/mark") {
            text.insert(0, '\u{feff}');
        }
        if number == 1 && shared.breaks("C2.1-file/other") {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            symlink(&files[0], file).unwrap();
            continue;
        }
        let is_link = number == 0 && shared.breaks("C2.1-file");
        if is_link || shared.breaks("C2.1-file/all") {
            write_behind_link(file, &text);
            continue;
        }
        if number == 0 && shared.breaks("C2.1-file/pipe") {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let made = Command::new("mkfifo").arg(file).status();
            assert!(made.unwrap().success());
            continue;
        }
        write(file, &text);
    }
    if shared.breaks("C3.1-file") {
        chmod(&files[0], 0o644);
    }
    if shared.breaks("C3.1-folder") {
        chmod(files[0].parent().unwrap(), 0o777);
    }
    files
}

/// Writes one again, as when a root was opened.
pub fn rewrite(shared: &Shared) {
    let files = shared.files.lock().unwrap();
    let mut content = content(shared, false);
    // A second folder is open now.
    let separator = if shared.breaks("C2.5-separator/later") {
        ';'
    } else {
        ':'
    };
    let roots = shared.workspace.display();
    let other = shared.workspace.parent().unwrap().display();
    content["workspacePath"] = format!("{roots}{separator}{other}").into();
    let text = content.to_string() + "\n";
    if let Some(file) = files.get(1) {
        write_again(file, &text, shared.flaw.strip_prefix("C2.5-atomic"));
    }
}

fn content(shared: &Shared, is_gemini: bool) -> Value {
    let pid = std::process::id();
    let mut content = json!({
        "port": shared.port,
        "workspacePath": shared.workspace,
        "authToken": shared.token,
        "ideInfo": {"name": "small", "displayName": "Small"},
        "ideName": "Small",
        "ppid": pid,
    });
    if shared.breaks("C2.2-lock-ppid") {
        content["ppid"] = dead_pid().into();
    }
    if shared.breaks("C3.2-files") && !is_gemini {
        content["authToken"] = "another0123456789abcdef".into();
    }
    if shared.breaks("C2.5-same") && !is_gemini {
        content["workspacePath"] = json!(shared.workspace.parent());
    }
    if !is_gemini {
        return content;
    }
    if shared.breaks("C2.4-port") {
        content["port"] = shared.port.to_string().into();
    }
    if shared.breaks("C2.4-workspacePath") {
        content["workspacePath"] = json!([shared.workspace]);
    }
    if shared.breaks("C2.4-authToken") {
        content.as_object_mut().unwrap().remove("authToken");
    }
    if shared.breaks("C2.4-ideInfo") {
        content.as_object_mut().unwrap().remove("ideInfo");
    }
    if shared.breaks("C2.4-ideInfo-name") {
        content["ideInfo"]["name"] = "Small Editor".into();
    }
    if shared.breaks("C2.4-authToken/number") {
        content["authToken"] = 12_345_678.into();
    }
    if shared.breaks("C2.4-ideInfo/empty") {
        content["ideInfo"]["displayName"] = "".into();
    }
    if shared.breaks("C2.4-port/zero") {
        content["port"] = 0.into();
    }
    let root = shared.workspace.display();
    if shared.breaks("C2.5-absolute/uri") {
        content["workspacePath"] = format!("file://{root}").into();
    }
    if shared.breaks("C2.5-separator/array") {
        content["workspacePath"] = format!("[\"{root}\"]").into();
    }
    if shared.breaks("C2.5-separator") {
        content["workspacePath"] = format!("{root};{root}").into();
    }
    if shared.breaks("C2.5-absolute") {
        content["workspacePath"] = "project".into();
    }
    if shared.breaks("C2.5-exists") {
        content["workspacePath"] = format!("{root}:{root}/none").into();
    }
    content
}

/// Writes a file again, in one of the ways in which readers see something else meanwhile; without one, as it should be.
pub fn write_again(file: &Path, text: &str, way: Option<&str>) {
    match way {
        Some("/half") => {
            fs::write(file, "{").unwrap();
            thread::sleep(UNFINISHED);
            fs::write(file, text).unwrap();
        }
        Some("/gone") => {
            fs::remove_file(file).unwrap();
            thread::sleep(UNFINISHED);
            write(file, text);
        }
        Some("") => fs::write(file, text).unwrap(),
        _ => {
            let new = file.with_extension("new");
            write(&new, text);
            fs::rename(new, file).unwrap();
        }
    }
}

/// Writes a file beside, and a link to it.
pub fn write_behind_link(file: &Path, text: &str) {
    let real = file.with_extension("real");
    write(&real, text);
    symlink(real, file).unwrap();
}

pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    chmod(path, 0o600);
}

pub fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The id of a process that has ended.
pub fn dead_pid() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}
