//! The discovery files: where they are, what their names say, what is in them, who can read them
//! (C2, C3.1).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pillion_protocol::Dialect;
use pillion_protocol::discovery::split_roots;
use pillion_system::process;
use serde_json::Value;

use crate::check::checks;
use crate::facts;
use crate::rule::{Counter, Finding, Look, Problem, blocked, broken, shown, unchecked};
use crate::target::TargetFile;
use crate::test_context::TestContext;

checks! {
    Discovery:
    Must "C2.1-file" => each(regular_file),
        "Discovery files are regular files of this user, not links";
    Must "C2.2-name" => each(known_name),
        "Every discovery file has a name that agents look for";
    Must "C2.2-gemini" => specified_place(Dialect::GeminiCli),
        "Gemini CLI's file is TMPDIR/gemini/ide/gemini-ide-server-PID-PORT.json";
    Must "C2.2-lock" => lock_file,
        "Qwen Code's lock file is ~/.qwen/ide/PORT.lock";
    Must "C2.2-lock-ppid" => lock_ppid,
        "The lock file's `ppid` is the number of a running process; otherwise Qwen Code deletes the file";
    Should "C2.2-qwen" => specified_place(Dialect::QwenCode),
        "Qwen Code's file for older releases is TMPDIR/qwen/ide/qwen-code-ide-server-PID-PORT.json";
    Must "C2.3-pid" => each(living_pid),
        "The process id in a file's name belongs to a running process";
    Must "C2.3-port" => each(port_in_name),
        "The port in a file's name is the port in its content";
    Must "C2.4-json" => each(json_object),
        "Discovery files hold a JSON object";
    Must "C2.4-port" => each(port),
        "`port` is a number from 1 to 65535";
    Must "C2.4-workspacePath" => each(workspace_path),
        "`workspacePath` is a string";
    Must "C2.4-authToken" => each(auth_token),
        "`authToken` is a non-empty string";
    Must "C2.4-ideInfo" => each(ide_info),
        "`ideInfo` is an object with the strings `name` and `displayName`";
    Should "C2.4-ideInfo-name" => each(ide_name),
        "`ideInfo.name` is a short lowercase identifier";
    Must "C2.4-ideName" => lock_ide_name,
        "The lock file's `ideName` is a non-empty string";
    Should "C2.4-lock-ideInfo" => lock_ide_info,
        "The lock file has an `ideInfo` as well: outside VS Code, Qwen Code still goes by it";
    Must "C2.5-absolute" => each(absolute_roots),
        "Every root in `workspacePath` is absolute";
    Should "C2.5-exists" => each(existing_roots),
        "Every root in `workspacePath` is a folder that exists";
    Must "C2.5-same" => same_roots,
        "Every discovery file lists the same roots";
    // No text speaks of permissions: C3.1 asks for a secret, not for how it is kept.
    Should "C3.1-file" => each(private_file),
        "Only this user can read the token in a discovery file";
    Should "C3.1-folder" => each(private_folder),
        "Only this user can replace a discovery file";
}

/// What a rule says of one file, or what is wrong with that.
pub(super) type OfFile = fn(&TargetFile) -> Result<Look, String>;

/// Every file that a rule applies to keeps it.
pub(super) async fn each(test: &TestContext, look: OfFile) -> Finding {
    let mut counter = Counter::default();
    for file in test.connection.target.discovery_files() {
        let look = look(file).or_else(|why| broken(format!("{}: {why}", file.path.display())))?;
        counter.add(look);
    }
    match counter.kept("this companion has no discovery file that the rule applies to")? {
        1 => Ok("1 file".to_owned()),
        kept => Ok(format!("{kept} files")),
    }
}

fn of_dialect(test: &TestContext, dialect: Dialect) -> Result<Vec<&TargetFile>, Problem> {
    let files = test.connection.target.discovery_files().iter();
    let files: Vec<_> = files.filter(|it| it.dialect == Some(dialect)).collect();
    if files.is_empty() {
        let name = dialect.display_name();
        return unchecked(format!("there is no file for {name}, so it cannot connect"));
    }
    Ok(files)
}

pub(super) fn regular_file(file: &TargetFile) -> Result<Look, String> {
    if file.facts.is_link {
        return Err("it is a symbolic link".to_owned());
    }
    if !file.facts.is_file {
        return Err("it is not a regular file".to_owned());
    }
    match (file.facts.unix, facts::own_uid()) {
        (Some(unix), Some(uid)) if unix.uid != uid => {
            Err(format!("it belongs to user id {}", unix.uid))
        }
        _ => Ok(Look::Kept),
    }
}

fn known_name(file: &TargetFile) -> Result<Look, String> {
    match file.dialect {
        Some(_) => Ok(Look::Kept),
        None => Err("no agent looks for a file of this name".to_owned()),
    }
}

async fn specified_place(test: &TestContext, dialect: Dialect) -> Finding {
    let files = of_dialect(test, dialect)?;
    let specified = dialect.places().first();
    let mut in_place = files.iter().filter(|file| file.place == specified);
    match in_place.next() {
        Some(file) => Ok(file.path.display().to_string()),
        None => broken(format!(
            "it is in {} only",
            files[0].path.parent().unwrap_or(Path::new("")).display()
        )),
    }
}

fn lock(test: &TestContext) -> Result<Option<&TargetFile>, Problem> {
    let files = of_dialect(test, Dialect::QwenCode)?;
    Ok(files
        .into_iter()
        .find(|it| it.is_lock() && it.place.is_some()))
}

async fn lock_file(test: &TestContext) -> Finding {
    match lock(test)? {
        Some(file) => Ok(file.path.display().to_string()),
        None => broken("there is none: neither a scan nor the port variable leads Qwen Code to it"),
    }
}

async fn lock_ppid(test: &TestContext) -> Finding {
    let Some(file) = lock(test)? else {
        return blocked(&["C2.2-lock"], "there is no lock file");
    };
    let ppid = file.field("ppid").and_then(Value::as_u64);
    match ppid.map(u32::try_from) {
        None => broken("`ppid` is missing or not a number"),
        Some(Ok(pid)) if process::is_alive(pid) => Ok(format!("process {pid}")),
        Some(_) => broken("`ppid` is not a running process"),
    }
}

async fn lock_ide_name(test: &TestContext) -> Finding {
    let Some(file) = lock(test)? else {
        return blocked(&["C2.2-lock"], "there is no lock file");
    };
    match file.field("ideName").and_then(Value::as_str) {
        Some(name) if !name.is_empty() => Ok(name.to_owned()),
        _ if file.content.is_err() => blocked(&["C2.4-json"], "the lock file is not a JSON object"),
        _ => broken("`ideName` is missing, empty or not a string"),
    }
}

async fn lock_ide_info(test: &TestContext) -> Finding {
    let Some(file) = lock(test)? else {
        return blocked(&["C2.2-lock"], "there is no lock file");
    };
    match file.field("ideInfo") {
        Some(info) => Ok(shown(info)),
        None if file.content.is_err() => {
            blocked(&["C2.4-json"], "the lock file is not a JSON object")
        }
        None => broken("`ideInfo` is missing"),
    }
}

fn living_pid(file: &TargetFile) -> Result<Look, String> {
    match file.pid() {
        None => Ok(Look::NotAbout),
        // The two numbers stand the wrong way round.
        Some(pid) if Some(pid) == file.port().map(u32::from) => Ok(Look::Blocked(&["C2.3-port"])),
        Some(pid) if process::is_alive(pid) => Ok(Look::Kept),
        Some(pid) => Err(format!("process {pid} is not running")),
    }
}

fn port_in_name(file: &TargetFile) -> Result<Look, String> {
    match (file.port_in_name(), file.port()) {
        (Some(name), Some(content)) if name == u32::from(content) => Ok(Look::Kept),
        (Some(name), Some(content)) => Err(format!("{name} in the name, {content} in the content")),
        (Some(_), None) => Ok(Look::Blocked(&["C2.4-port", "C2.4-json"])),
        (None, _) => Ok(Look::NotAbout),
    }
}

fn json_object(file: &TargetFile) -> Result<Look, String> {
    // What is not a file at all is another rule's matter.
    if !file.facts.is_file && !file.facts.is_link {
        return Ok(Look::Blocked(&["C2.1-file"]));
    }
    let content = file.content.as_ref();
    content.map(|_| Look::Kept).map_err(Clone::clone)
}

/// The rule is about what is in a file that is not an object at all.
const NO_OBJECT: Result<Look, String> = Ok(Look::Blocked(&["C2.4-json"]));

/// The value of a field, which must be there; nothing when the file is not an object at all.
fn field<'a>(file: &'a TargetFile, name: &str) -> Result<Option<&'a Value>, String> {
    match &file.content {
        Err(_) => Ok(None),
        Ok(content) => match content.get(name) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("`{name}` is missing")),
        },
    }
}

fn port(file: &TargetFile) -> Result<Look, String> {
    let Some(value) = field(file, "port")? else {
        return NO_OBJECT;
    };
    match file.port() {
        Some(_) => Ok(Look::Kept),
        None => Err(format!("`port` is {}", shown(value))),
    }
}

fn workspace_path(file: &TargetFile) -> Result<Look, String> {
    match field(file, "workspacePath")? {
        None => NO_OBJECT,
        Some(Value::String(_)) => Ok(Look::Kept),
        Some(other) => Err(format!("`workspacePath` is {}", shown(other))),
    }
}

fn auth_token(file: &TargetFile) -> Result<Look, String> {
    match field(file, "authToken")? {
        None => NO_OBJECT,
        Some(Value::String(token)) if !token.is_empty() => Ok(Look::Kept),
        Some(_) => Err("`authToken` is empty or not a string".to_owned()),
    }
}

fn ide_info(file: &TargetFile) -> Result<Look, String> {
    // Qwen Code's text asks for an `ideName` instead.
    if file.is_lock() && file.field("ideInfo").is_none() {
        return Ok(Look::NotAbout);
    }
    let Some(info) = field(file, "ideInfo")? else {
        return NO_OBJECT;
    };
    for name in ["name", "displayName"] {
        let text = info.get(name).and_then(Value::as_str);
        if text.is_none_or(str::is_empty) {
            return Err(format!(
                "`ideInfo.{name}` is missing, empty or not a string"
            ));
        }
    }
    Ok(Look::Kept)
}

fn ide_name(file: &TargetFile) -> Result<Look, String> {
    let name = file.field("ideInfo").and_then(|info| info.get("name"));
    let Some(name) = name.and_then(Value::as_str) else {
        return Ok(match file.is_lock() {
            true => Look::NotAbout,
            false => Look::Blocked(&["C2.4-ideInfo"]),
        });
    };
    let is_plain = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    if name.len() <= 32 && name.bytes().all(is_plain) {
        Ok(Look::Kept)
    } else {
        Err(format!("it is {name:?}"))
    }
}

/// The text that lists the roots, or what a rule says of a file without one.
fn listed(file: &TargetFile) -> Result<&str, Look> {
    match file.field("workspacePath") {
        Some(Value::String(listed)) if listed.is_empty() => Err(Look::NotAbout),
        Some(Value::String(listed)) => Ok(listed),
        _ => Err(Look::Blocked(&["C2.4-workspacePath"])),
    }
}

fn absolute_roots(file: &TargetFile) -> Result<Look, String> {
    let listed = match listed(file) {
        Ok(listed) => listed,
        Err(look) => return Ok(look),
    };
    match split_roots(listed).iter().find(|root| !root.is_absolute()) {
        None => Ok(Look::Kept),
        Some(root) => Err(format!("{root:?} is not absolute")),
    }
}

fn existing_roots(file: &TargetFile) -> Result<Look, String> {
    let listed = match listed(file) {
        Ok(listed) => listed,
        Err(look) => return Ok(look),
    };
    let roots = split_roots(listed);
    // A relative one, or one that is two, is another rule's matter.
    let mut roots = roots.iter().filter(|root| root.is_absolute());
    match roots.find(|root| !root.is_dir() && !root.to_string_lossy().contains([';', '\n'])) {
        None => Ok(Look::Kept),
        Some(root) => Err(format!("{root:?} is not a folder")),
    }
}

async fn same_roots(test: &TestContext) -> Finding {
    let mut first: Option<(&TargetFile, BTreeSet<PathBuf>)> = None;
    let mut others = 0;
    for file in test.connection.target.discovery_files() {
        let mut roots = listed(file).map_or_else(|_| Vec::new(), split_roots);
        // Other rules are about the rest.
        roots.retain(|root| root.is_absolute() && root.is_dir());
        let roots = BTreeSet::from_iter(roots);
        match &first {
            _ if roots.is_empty() => {}
            None => first = Some((file, roots)),
            Some((_, known)) if *known == roots => others += 1,
            Some((known, _)) => {
                let (known, other) = (known.path.display(), file.path.display());
                return broken(format!("{known} and {other} list different ones"));
            }
        }
    }
    match others {
        0 => unchecked("fewer than two files list roots"),
        others => Ok(format!("{} files", others + 1)),
    }
}

fn private_file(file: &TargetFile) -> Result<Look, String> {
    match file.facts.unix {
        _ if file.facts.is_link => Ok(Look::Blocked(&["C2.1-file"])),
        _ if file.token().is_none() => Ok(Look::Blocked(&["C2.4-authToken"])),
        _ => unshared(file),
    }
}

/// Whether other users can read it.
pub(super) fn unshared(file: &TargetFile) -> Result<Look, String> {
    match file.facts.unix {
        None => Ok(Look::NotAbout),
        Some(unix) if unix.mode & 0o077 == 0 => Ok(Look::Kept),
        Some(unix) => Err(format!("its mode is {:04o}, not 0600", unix.mode)),
    }
}

pub(super) fn private_folder(file: &TargetFile) -> Result<Look, String> {
    let folder = file.path.parent().and_then(|it| it.canonicalize().ok());
    let facts = folder.and_then(|folder| facts::of(&folder).ok());
    let Some(unix) = facts.and_then(|facts| facts.unix) else {
        return Ok(Look::NotAbout);
    };
    let is_sticky = unix.mode & 0o1000 != 0;
    if unix.mode & 0o022 == 0 || is_sticky {
        return Ok(Look::Kept);
    }
    Err(format!(
        "other users may write to its folder, mode {:04o}",
        unix.mode
    ))
}
