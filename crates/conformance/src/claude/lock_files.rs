//! The lock file: where it is, what it is called, what is in it, who can read it.

use std::path::{Path, PathBuf};

use pillion_protocol::Dialect;
use pillion_system::process;
use serde_json::Value;

use crate::check::checks;
use crate::discovery::{each, private_folder, regular_file, unshared};
use crate::rule::{Finding, Look, blocked, broken, shown};
use crate::target::TargetFile;
use crate::test_context::TestContext;

checks! {
    Discovery:
    Must "K1-file" => each(regular_file),
        "Lock files are regular files of this user, not links",
        "The owner of a link's target decides where the agent sends its proposals.";
    Must "K1-name" => each(known_name),
        "A lock file is called PORT.lock",
        "The agent takes the port from the name, and does not connect if it has another form.";
    Must "K1-folder" => in_place,
        "The lock file is in $CLAUDE_CONFIG_DIR/ide, by default ~/.claude/ide",
        "Older releases look nowhere else.";
    Must "K1-one" => one,
        "There is one lock file, not one in each of these folders",
        "Newer releases look in both, count two files as two companions, and connect to neither.";
    Must "K1-json" => each(json_object),
        "Lock files hold a JSON object",
        "The agent reads any other text as a list of folders, and uses another transport without a token.";
    Must "K1-pid" => each(living_pid),
        "`pid` is the number of a running process",
        "The agent deletes the file of a process that is gone.";
    Should "K1-pid-present" => each(pid_present),
        "A lock file has a `pid`",
        "In a terminal of VS Code the agent connects only to a companion whose process is its ancestor.";
    Must "K1-folders" => each(folders),
        "`workspaceFolders` is a list of at least one path",
        "Without a folder the agent never connects.";
    Must "K1-resolved" => each(resolved),
        "Every workspace folder exists and is absolute, with links resolved",
        "The agent compares its own folder, with links resolved, and finds no companion in a linked one.";
    Must "K1-transport" => each(transport),
        "`transport` is `ws`",
        "Without it the agent asks for an event stream, and presents no token.";
    Must "K1-token" => each(token),
        "`authToken` is a non-empty string",
        "Without it the agent dials without a token, as any other program on this machine could.";
    Should "K1-ideName" => each(ide_name),
        "`ideName` is a non-empty string",
        "The agent has no name to show for the companion, at its prompt and in /ide.";
    Should "K1-private-file" => each(private_file),
        "Only this user can read the token in a lock file",
        "Other users of this machine could read every proposal, and answer it.";
    Should "K1-private-folder" => each(private_folder),
        "Only this user can replace a lock file",
        "Other users of this machine could direct the agent to their own companion.";
}

pub(super) fn known_name(file: &TargetFile) -> Result<Look, String> {
    let digits = file.name().strip_suffix(".lock").unwrap_or_default();
    match digits.parse::<u16>() {
        // The agent would dial the same port for `+80` and `080`, but others would not.
        Ok(port) if port > 0 && port.to_string() == digits => Ok(Look::Kept),
        _ => Err("its name is not PORT.lock".to_owned()),
    }
}

async fn in_place(test: &TestContext) -> Finding {
    let target = &test.connection.target;
    let Some(place) = Dialect::ClaudeCode.places().first() else {
        return broken("there is no such place");
    };
    let folder = target.environment().directory(place);
    let real = |folder: &Path| folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let is_there = |file: &&TargetFile| {
        let parent = file.path.parent();
        known_name(file).is_ok() && parent.is_some_and(|parent| real(parent) == real(&folder))
    };
    if let Some(file) = target.discovery_files().iter().find(is_there) {
        return Ok(file.path.display().to_string());
    }
    if !target
        .discovery_files()
        .iter()
        .any(|file| known_name(file).is_ok())
    {
        return blocked(&["K1-name"], "there is no file of that name");
    }
    broken(format!("there is none in {}", folder.display()))
}

fn json_object(file: &TargetFile) -> Result<Look, String> {
    if !file.facts.is_file && !file.facts.is_link {
        return Ok(Look::Blocked(&["K1-file"]));
    }
    let content = file.content.as_ref();
    content.map(|_| Look::Kept).map_err(Clone::clone)
}

/// The rule is about what is in a file that is not an object at all.
const NO_OBJECT: Result<Look, String> = Ok(Look::Blocked(&["K1-json"]));

fn living_pid(file: &TargetFile) -> Result<Look, String> {
    if file.content.is_err() {
        return NO_OBJECT;
    }
    match (file.field("pid"), file.pid()) {
        (None, _) => Ok(Look::NotAbout),
        (Some(_), Some(pid)) if process::is_alive(pid) => Ok(Look::Kept),
        (Some(_), Some(pid)) => Err(format!("process {pid} is not running")),
        (Some(other), None) => Err(format!("`pid` is {}", shown(other))),
    }
}

fn pid_present(file: &TargetFile) -> Result<Look, String> {
    match (&file.content, file.field("pid")) {
        (Err(_), _) => NO_OBJECT,
        (Ok(_), Some(_)) => Ok(Look::Kept),
        (Ok(_), None) => Err("`pid` is missing".to_owned()),
    }
}

fn folders(file: &TargetFile) -> Result<Look, String> {
    if file.content.is_err() {
        return NO_OBJECT;
    }
    match file.field("workspaceFolders") {
        Some(Value::Array(list)) if list.is_empty() => Err("it is empty".to_owned()),
        Some(Value::Array(list)) => match list.iter().find(|it| !it.is_string()) {
            None => Ok(Look::Kept),
            Some(other) => Err(format!("it contains {}", shown(other))),
        },
        Some(other) => Err(format!("`workspaceFolders` is {}", shown(other))),
        None => Err("`workspaceFolders` is missing".to_owned()),
    }
}

fn resolved(file: &TargetFile) -> Result<Look, String> {
    let folders = file.folders();
    if folders.is_empty() {
        return Ok(Look::Blocked(&["K1-folders", "K1-json"]));
    }
    for folder in folders {
        if !folder.is_absolute() {
            return Err(format!("{folder:?} is not absolute"));
        }
        match folder.canonicalize() {
            Ok(real) if is_spelt_alike(&real, &folder) => {}
            Ok(real) => return Err(format!("{folder:?} is {real:?}")),
            Err(error) => return Err(format!("{folder:?}: {error}")),
        }
    }
    Ok(Look::Kept)
}

/// A separator at the end is no difference, and Windows has two ways to spell what is resolved.
fn is_spelt_alike(real: &Path, folder: &PathBuf) -> bool {
    let verbatim = format!(r"\\?\{}", folder.display());
    real == folder || cfg!(windows) && real == Path::new(&verbatim)
}

fn transport(file: &TargetFile) -> Result<Look, String> {
    if file.content.is_err() {
        return NO_OBJECT;
    }
    match file.field("transport") {
        Some(Value::String(word)) if word == "ws" => Ok(Look::Kept),
        Some(other) => Err(format!("`transport` is {}", shown(other))),
        None => Err("`transport` is missing".to_owned()),
    }
}

fn token(file: &TargetFile) -> Result<Look, String> {
    match (&file.content, file.token()) {
        (Err(_), _) => NO_OBJECT,
        (Ok(_), Some(_)) => Ok(Look::Kept),
        (Ok(_), None) => Err("`authToken` is missing, empty or not a string".to_owned()),
    }
}

fn ide_name(file: &TargetFile) -> Result<Look, String> {
    if file.content.is_err() {
        return NO_OBJECT;
    }
    match file.field("ideName").and_then(Value::as_str) {
        Some(name) if !name.trim().is_empty() => Ok(Look::Kept),
        _ => Err("`ideName` is missing, empty or not a string".to_owned()),
    }
}

async fn one(test: &TestContext) -> Finding {
    let files = test.connection.target.discovery_files();
    let named = files.iter().filter(|file| known_name(file).is_ok());
    let paths: Vec<_> = named.map(|file| file.path.display().to_string()).collect();
    match &paths[..] {
        [] => blocked(&["K1-name"], "there is no file of that name"),
        [one] => Ok(one.clone()),
        _ => broken(paths.join(" and ")),
    }
}

fn private_file(file: &TargetFile) -> Result<Look, String> {
    match file.token() {
        _ if file.facts.is_link => Ok(Look::Blocked(&["K1-file"])),
        None => Ok(Look::Blocked(&["K1-token", "K1-json"])),
        Some(_) => unshared(file),
    }
}
