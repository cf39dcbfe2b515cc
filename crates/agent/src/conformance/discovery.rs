//! The discovery files: where they are, what their names say, what is in them, who can read them
//! (C2, C3.1).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pillion_discovery::process;
use pillion_protocol::Dialect;
use pillion_protocol::discovery::{WORKSPACE_SEPARATOR, split_roots};
use serde_json::Value;

use super::bench::Bench;
use super::check::{Check, check};
use super::facts;
use super::rule::Group::Discovery;
use super::rule::Level::{Must, Should};
use super::rule::{Finding, Problem, broken, shown, unchecked};
use super::target::TargetFile;

pub(super) const CHECKS: &[Check] = &[
    check(
        Discovery,
        Must,
        "C2.1-file",
        "Discovery files are regular files of this user, not links",
        |b| Box::pin(async { each(b, regular_file) }),
    ),
    check(
        Discovery,
        Must,
        "C2.2-name",
        "Every discovery file has a name that agents look for",
        |b| Box::pin(async { each(b, known_name) }),
    ),
    check(
        Discovery,
        Must,
        "C2.2-gemini",
        "Gemini CLI's file is TMPDIR/gemini/ide/gemini-ide-server-PID-PORT.json",
        |b| Box::pin(async { specified_place(b, Dialect::GeminiCli) }),
    ),
    check(
        Discovery,
        Must,
        "C2.2-qwen",
        "Qwen Code's file is TMPDIR/qwen/ide/qwen-code-ide-server-PID-PORT.json",
        |b| Box::pin(async { specified_place(b, Dialect::QwenCode) }),
    ),
    check(
        Discovery,
        Should,
        "C2.2-lock",
        "There is the lock file PORT.lock, which Qwen Code 0.12 and later read",
        |b| Box::pin(async { lock_file(b) }),
    ),
    check(
        Discovery,
        Should,
        "C2.2-lock-ppid",
        "The lock file's `ppid` is a living process, or Qwen Code deletes it",
        |b| Box::pin(async { lock_ppid(b) }),
    ),
    check(
        Discovery,
        Must,
        "C2.3-pid",
        "The process id in a file's name is a living process",
        |b| Box::pin(async { each(b, living_pid) }),
    ),
    check(
        Discovery,
        Must,
        "C2.3-port",
        "The port in a file's name is the port in its content",
        |b| Box::pin(async { each(b, port_in_name) }),
    ),
    check(
        Discovery,
        Must,
        "C2.4-json",
        "Discovery files hold a JSON object",
        |b| Box::pin(async { each(b, json_object) }),
    ),
    check(
        Discovery,
        Must,
        "C2.4-port",
        "`port` is a number from 1 to 65535",
        |b| Box::pin(async { each(b, port) }),
    ),
    check(
        Discovery,
        Must,
        "C2.4-workspacePath",
        "`workspacePath` is a string",
        |b| Box::pin(async { each(b, workspace_path) }),
    ),
    check(
        Discovery,
        Must,
        "C2.4-authToken",
        "`authToken` is a string and not empty",
        |b| Box::pin(async { each(b, auth_token) }),
    ),
    check(
        Discovery,
        Must,
        "C2.4-ideInfo",
        "`ideInfo` is an object with the strings `name` and `displayName`",
        |b| Box::pin(async { each(b, ide_info) }),
    ),
    check(
        Discovery,
        Should,
        "C2.4-ideInfo-name",
        "`ideInfo.name` is a short lowercase identifier",
        |b| Box::pin(async { each(b, ide_name) }),
    ),
    check(
        Discovery,
        Must,
        "C2.5-separator",
        "`workspacePath` joins the roots by the system's path-list separator",
        |b| Box::pin(async { each(b, separator) }),
    ),
    check(
        Discovery,
        Must,
        "C2.5-absolute",
        "Every root in `workspacePath` is absolute",
        |b| Box::pin(async { each(b, absolute_roots) }),
    ),
    check(
        Discovery,
        Should,
        "C2.5-exists",
        "Every root in `workspacePath` is a folder that exists",
        |b| Box::pin(async { each(b, existing_roots) }),
    ),
    check(
        Discovery,
        Must,
        "C2.5-same",
        "Every discovery file lists the same roots",
        |b| Box::pin(async { same_roots(b) }),
    ),
    check(
        Discovery,
        Must,
        "C3.1-file",
        "Nobody but this user can read the token in a discovery file",
        |b| Box::pin(async { each(b, private_file) }),
    ),
    check(
        Discovery,
        Should,
        "C3.1-folder",
        "Nobody but this user can replace a discovery file",
        |b| Box::pin(async { each(b, private_folder) }),
    ),
];

/// What a rule says of one file: that it does not apply, or what is wrong.
type Look = fn(&TargetFile) -> Result<bool, String>;

/// Every file that a rule applies to keeps it.
fn each(bench: &Bench, look: Look) -> Finding {
    let mut kept = 0;
    for file in bench.line.target.discovery_files() {
        match look(file) {
            Ok(true) => kept += 1,
            Ok(false) => {}
            Err(why) => return broken(format!("{}: {why}", file.path.display())),
        }
    }
    match kept {
        0 => unchecked("this companion has no discovery file to which it applies"),
        1 => Ok("1 file".to_owned()),
        _ => Ok(format!("{kept} files")),
    }
}

fn of_dialect(bench: &Bench, dialect: Dialect) -> Result<Vec<&TargetFile>, Problem> {
    let files = bench.line.target.discovery_files().iter();
    let files: Vec<_> = files.filter(|it| it.dialect == Some(dialect)).collect();
    if files.is_empty() {
        let name = dialect.display_name();
        return unchecked(format!("there is no file for {name}: it cannot connect"));
    }
    Ok(files)
}

fn regular_file(file: &TargetFile) -> Result<bool, String> {
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
        _ => Ok(true),
    }
}

fn known_name(file: &TargetFile) -> Result<bool, String> {
    match file.dialect {
        Some(_) => Ok(true),
        None => Err("no agent looks for a file of this name".to_owned()),
    }
}

fn specified_place(bench: &Bench, dialect: Dialect) -> Finding {
    let files = of_dialect(bench, dialect)?;
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

fn lock(bench: &Bench) -> Result<Option<&TargetFile>, Problem> {
    let files = of_dialect(bench, Dialect::QwenCode)?;
    Ok(files
        .into_iter()
        .find(|it| it.is_lock() && it.place.is_some()))
}

fn lock_file(bench: &Bench) -> Finding {
    match lock(bench)? {
        Some(file) => Ok(file.path.display().to_string()),
        None => broken("there is none: Qwen Code finds this companion only by its port variable"),
    }
}

fn lock_ppid(bench: &Bench) -> Finding {
    let Some(file) = lock(bench)? else {
        return unchecked("there is no lock file; see C2.2-lock");
    };
    let ppid = file.field("ppid").and_then(Value::as_u64);
    match ppid.map(u32::try_from) {
        None => broken("`ppid` is not there"),
        Some(Ok(pid)) if process::is_alive(pid) => Ok(format!("process {pid}")),
        Some(_) => broken("`ppid` is no living process"),
    }
}

fn living_pid(file: &TargetFile) -> Result<bool, String> {
    match file.pid() {
        None => Ok(false),
        Some(pid) if process::is_alive(pid) => Ok(true),
        Some(pid) => Err(format!("there is no process {pid}")),
    }
}

fn port_in_name(file: &TargetFile) -> Result<bool, String> {
    match (file.port_in_name(), file.port()) {
        (Some(name), Some(content)) if name == content => Ok(true),
        (Some(name), Some(content)) => Err(format!("{name} in the name, {content} in the content")),
        _ => Ok(false),
    }
}

fn json_object(file: &TargetFile) -> Result<bool, String> {
    // What is no file at all is another rule's matter.
    if !file.facts.is_file && !file.facts.is_link {
        return Ok(false);
    }
    file.content.as_ref().map(|_| true).map_err(Clone::clone)
}

/// The value of a field, which must be there; nothing when the file is no object at all.
fn field<'a>(file: &'a TargetFile, name: &str) -> Result<Option<&'a Value>, String> {
    match &file.content {
        Err(_) => Ok(None),
        Ok(content) => match content.get(name) {
            Some(value) => Ok(Some(value)),
            None => Err(format!("`{name}` is missing")),
        },
    }
}

fn port(file: &TargetFile) -> Result<bool, String> {
    let Some(value) = field(file, "port")? else {
        return Ok(false);
    };
    match file.port() {
        Some(_) => Ok(true),
        None => Err(format!("`port` is {}", shown(value))),
    }
}

fn workspace_path(file: &TargetFile) -> Result<bool, String> {
    match field(file, "workspacePath")? {
        None => Ok(false),
        Some(Value::String(_)) => Ok(true),
        Some(other) => Err(format!("`workspacePath` is {}", shown(other))),
    }
}

fn auth_token(file: &TargetFile) -> Result<bool, String> {
    match field(file, "authToken")? {
        None => Ok(false),
        Some(Value::String(token)) if !token.is_empty() => Ok(true),
        Some(_) => Err("`authToken` is empty or no string".to_owned()),
    }
}

fn ide_info(file: &TargetFile) -> Result<bool, String> {
    // No published text speaks of lock files, and Qwen Code's own have an `ideName` instead.
    if file.is_lock() && file.field("ideInfo").is_none() {
        return Ok(false);
    }
    let Some(info) = field(file, "ideInfo")? else {
        return Ok(false);
    };
    for name in ["name", "displayName"] {
        let text = info.get(name).and_then(Value::as_str);
        if text.is_none_or(str::is_empty) {
            return Err(format!("`ideInfo.{name}` is missing, empty or no string"));
        }
    }
    Ok(true)
}

fn ide_name(file: &TargetFile) -> Result<bool, String> {
    let name = file.field("ideInfo").and_then(|info| info.get("name"));
    let Some(name) = name.and_then(Value::as_str) else {
        return Ok(false);
    };
    let is_plain = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    if name.len() <= 32 && name.bytes().all(is_plain) {
        Ok(true)
    } else {
        Err(format!("it is {name:?}"))
    }
}

/// The text that lists the roots, if it lists any.
fn listed(file: &TargetFile) -> Option<&str> {
    let listed = file.field("workspacePath")?.as_str()?;
    (!listed.is_empty()).then_some(listed)
}

fn separator(file: &TargetFile) -> Result<bool, String> {
    let Some(listed) = listed(file) else {
        return Ok(false);
    };
    if listed.trim_start().starts_with('[') {
        return Err("it is a JSON array".to_owned());
    }
    if cfg!(unix) && listed.contains([';', '\n']) && !Path::new(listed).exists() {
        return Err(format!("it is not joined by {WORKSPACE_SEPARATOR:?}"));
    }
    Ok(true)
}

fn absolute_roots(file: &TargetFile) -> Result<bool, String> {
    let Some(listed) = listed(file) else {
        return Ok(false);
    };
    match split_roots(listed).iter().find(|root| !root.is_absolute()) {
        None => Ok(true),
        Some(root) => Err(format!("{root:?} is not absolute")),
    }
}

fn existing_roots(file: &TargetFile) -> Result<bool, String> {
    let Some(listed) = listed(file) else {
        return Ok(false);
    };
    let roots = split_roots(listed);
    // A relative one, or one that is two, is another rule's matter.
    let mut roots = roots.iter().filter(|root| root.is_absolute());
    match roots.find(|root| !root.is_dir() && !root.to_string_lossy().contains([';', '\n'])) {
        None => Ok(true),
        Some(root) => Err(format!("{root:?} is no folder")),
    }
}

fn same_roots(bench: &Bench) -> Finding {
    let mut first: Option<(&TargetFile, BTreeSet<PathBuf>)> = None;
    let mut others = 0;
    for file in bench.line.target.discovery_files() {
        let mut roots = listed(file).map(split_roots).unwrap_or_default();
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
        0 => unchecked("there are no two files that list roots"),
        others => Ok(format!("{} files", others + 1)),
    }
}

fn private_file(file: &TargetFile) -> Result<bool, String> {
    match file.facts.unix {
        _ if file.facts.is_link || file.token().is_none() => Ok(false),
        None => Ok(false),
        Some(unix) if unix.mode & 0o077 == 0 => Ok(true),
        Some(unix) => Err(format!("its mode is {:04o}, not 0600", unix.mode)),
    }
}

fn private_folder(file: &TargetFile) -> Result<bool, String> {
    let folder = file.path.parent().and_then(|it| it.canonicalize().ok());
    let facts = folder.and_then(|folder| facts::of(&folder).ok());
    let Some(unix) = facts.and_then(|facts| facts.unix) else {
        return Ok(false);
    };
    let is_sticky = unix.mode & 0o1000 != 0;
    if unix.mode & 0o022 == 0 || is_sticky {
        return Ok(true);
    }
    Err(format!(
        "others may write in its folder, mode {:04o}",
        unix.mode
    ))
}
