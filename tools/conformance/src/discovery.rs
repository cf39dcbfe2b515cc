//! The discovery files: where they are, what their names say, what is in them, who can read them
//! (C2, C3.1).

use std::collections::BTreeSet;
use std::path::Path;

use pillion_protocol::Dialect;
use pillion_protocol::discovery::split_roots;
use serde_json::Value;

use crate::check::checks;
use crate::fields::{
    ANYTHING, Kind, STRING, TEXT, each, each_has, has, is_running, json_object, private_file,
    private_folder, regular_file,
};
use crate::rule::{Finding, Look, Problem, blocked, broken, kept, unchecked};
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
    Must "C2.2-lock-ppid" => of_lock(ppid),
        "The lock file's `ppid` is the number of a running process; otherwise Qwen Code deletes the file";
    Should "C2.2-qwen" => specified_place(Dialect::QwenCode),
        "Qwen Code's file for older releases is TMPDIR/qwen/ide/qwen-code-ide-server-PID-PORT.json";
    Must "C2.3-pid" => each(living_pid),
        "The process id in a file's name belongs to a running process";
    Must "C2.3-port" => each(port_in_name),
        "The port in a file's name is the port in its content";
    Must "C2.4-json" => each(json_object),
        "Discovery files hold a JSON object";
    Must "C2.4-port" => each_has("port", PORT),
        "`port` is a number from 1 to 65535";
    Must "C2.4-workspacePath" => each_has("workspacePath", STRING),
        "`workspacePath` is a string";
    Must "C2.4-authToken" => each_has("authToken", TEXT),
        "`authToken` is a non-empty string";
    Must "C2.4-ideInfo" => each(ide_info),
        "`ideInfo` is an object with the strings `name` and `displayName`";
    Should "C2.4-ideInfo-name" => each(ide_name),
        "`ideInfo.name` is a short lowercase identifier";
    Must "C2.4-ideName" => of_lock(|lock| has(lock, "ideName", TEXT)),
        "The lock file's `ideName` is a non-empty string";
    Should "C2.4-lock-ideInfo" => of_lock(|lock| has(lock, "ideInfo", ANYTHING)),
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

const PORT: Kind = ("a number from 1 to 65535", |value| {
    value
        .as_u64()
        .is_some_and(|port| (1..=65535).contains(&port))
});

fn of_dialect(test: &TestContext, dialect: Dialect) -> Result<Vec<&TargetFile>, Problem> {
    let files = test.target.discovery_files().iter();
    let files: Vec<_> = files.filter(|it| it.dialect == Some(dialect)).collect();
    if files.is_empty() {
        let name = dialect.display_name();
        return unchecked(format!("there is no file for {name}, so it cannot connect"));
    }
    Ok(files)
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

/// Looks at the lock file for a rule.
async fn of_lock(test: &TestContext, look: fn(&TargetFile) -> Result<Look, String>) -> Finding {
    let Some(file) = lock(test)? else {
        return blocked(&["C2.2-lock"], "there is no lock file");
    };
    kept([look(file).map_err(Problem::Broken)], "it is not about it")?;
    Ok(file.path.display().to_string())
}

fn ppid(file: &TargetFile) -> Result<Look, String> {
    match file.field("ppid").and_then(Value::as_u64) {
        None => Err("`ppid` is missing or not a number".to_owned()),
        Some(pid) => is_running(pid.try_into().unwrap_or(u32::MAX)),
    }
}

fn living_pid(file: &TargetFile) -> Result<Look, String> {
    match file.pid() {
        None => Ok(Look::NotAbout),
        // The two numbers stand the wrong way round.
        Some(pid) if Some(pid) == file.port().map(u32::from) => Ok(Look::Blocked(&["C2.3-port"])),
        Some(pid) => is_running(pid),
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

fn ide_info(file: &TargetFile) -> Result<Look, String> {
    // Qwen Code's text asks for an `ideName` instead.
    if file.is_lock() && file.field("ideInfo").is_none() {
        return Ok(Look::NotAbout);
    }
    has(file, "ideInfo.name", TEXT)?;
    has(file, "ideInfo.displayName", TEXT)
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

/// None of the roots that a file lists is odd.
fn no_root(file: &TargetFile, is_odd: impl Fn(&Path) -> bool, what: &str) -> Result<Look, String> {
    match file.field("workspacePath") {
        Some(Value::String(listed)) if listed.is_empty() => Ok(Look::NotAbout),
        Some(Value::String(listed)) => match split_roots(listed).iter().find(|it| is_odd(it)) {
            None => Ok(Look::Kept),
            Some(root) => Err(format!("{root:?} {what}")),
        },
        _ => Ok(Look::Blocked(&["C2.4-workspacePath"])),
    }
}

fn absolute_roots(file: &TargetFile) -> Result<Look, String> {
    no_root(file, |root| !root.is_absolute(), "is not absolute")
}

fn existing_roots(file: &TargetFile) -> Result<Look, String> {
    // A relative one, or one that is two, is another rule's matter.
    let is_one = |root: &Path| !root.to_string_lossy().contains([';', '\n']);
    let is_gone = |root: &Path| root.is_absolute() && !root.is_dir() && is_one(root);
    no_root(file, is_gone, "is not a folder")
}

async fn same_roots(test: &TestContext) -> Finding {
    let files = test.target.discovery_files().iter();
    let lists = files.map(|file| {
        let mut roots = file.roots();
        // Other rules are about the rest.
        roots.retain(|root| root.is_absolute() && root.is_dir());
        (file.path.display(), BTreeSet::from_iter(roots))
    });
    let lists: Vec<_> = lists.filter(|(_, roots)| !roots.is_empty()).collect();
    let [(path, known), _, ..] = &lists[..] else {
        return unchecked("fewer than two files list roots");
    };
    match lists.iter().find(|(_, roots)| roots != known) {
        Some((other, _)) => broken(format!("{path} and {other} list different ones")),
        None => Ok(format!("{} files", lists.len())),
    }
}
