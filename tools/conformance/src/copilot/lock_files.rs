//! The lock file: where it is, what is in it, who can read it; and the socket that it names.

use std::fs::Metadata;
use std::path::Path;

use pillion_discovery::is_same;
use pillion_protocol::Dialect;
use serde_json::Value;

use crate::check::checks;
use crate::facts;
use crate::fields::{
    Kind, PATHS, TEXT, each, each_has, is_running, json_object, private_file, private_folder,
    regular_file, resolved,
};
use crate::rule::{Finding, Look, broken, shown, unchecked};
use crate::target::TargetFile;
use crate::test_context::TestContext;

checks! {
    Discovery:
    Must "P1-file" => each(regular_file),
        "Lock files are regular files of this user, not links",
        "The owner of a link's target decides where the agent sends its proposals.";
    Must "P1-folder" => in_place,
        "A lock file is in $COPILOT_HOME/ide, by default ~/.copilot/ide",
        "The agent looks nowhere else.";
    Must "P1-json" => each(json_object),
        "Lock files hold a JSON object",
        "The agent ignores the file.";
    Must "P1-socket" => each(socket),
        "`socketPath` is the absolute path of a socket",
        "The agent reaches no companion.";
    Must "P1-headers" => each_has("headers", HEADERS),
        "`headers` is an object with strings",
        "The agent ignores a file without it, and sends what it holds with every request.";
    Must "P1-token" => each(token),
        "`headers` has an `Authorization` with a token behind the scheme",
        "Any program that can connect to the socket could pose as the agent.";
    Must "P1-ideName" => each_has("ideName", TEXT),
        "`ideName` is a non-empty string",
        "The agent ignores the file.";
    Must "P1-timestamp" => each_has("timestamp", NUMBER),
        "`timestamp` is a number",
        "The agent ignores a file without it; of two files for a folder it takes the one with the higher number.";
    Must "P1-pid" => each(living_pid),
        "`pid` is the number of a running process",
        "The agent ignores the file.";
    Must "P1-folders" => each_has("workspaceFolders", PATHS),
        "`workspaceFolders` is a list of at least one path",
        "The agent never connects by itself.";
    Must "P1-resolved" => each(|file| resolved(file, &["P1-folders", "P1-json"])),
        "Every workspace folder exists and is absolute, with links resolved",
        "The agent compares its own folder, with links resolved, and finds no companion in a linked one.";
    Should "P1-private-file" => each(private_file),
        "Only this user can read the token in a lock file",
        "Other users of this machine could read every proposal, and answer it.";
    Should "P1-private-folder" => each(private_folder),
        "Only this user can replace a lock file",
        "Other users of this machine could direct the agent to their own companion.";
    Should "P1-private-socket" => each(private_socket),
        "Only this user can connect to the socket",
        "Other users of this machine could try tokens, and occupy the companion.";
}

const NUMBER: Kind = ("a number", Value::is_number);
const HEADERS: Kind = ("an object with strings", |value| {
    let headers = value.as_object();
    headers.is_some_and(|all| !all.is_empty() && all.values().all(Value::is_string))
});

async fn in_place(test: &TestContext) -> Finding {
    let [place] = Dialect::CopilotCli.places() else {
        return unchecked("the agent looks for no files on this system");
    };
    let folder = test.target.environment.directory(place);
    let is_there = |path: &&Path| path.parent().is_some_and(|it| is_same(it, &folder));
    match test.target.files().find(is_there) {
        Some(path) => Ok(path.display().to_string()),
        None => broken(format!("there is none in {}", folder.display())),
    }
}

/// The file at the path of the socket.
fn at_path(file: &TargetFile) -> Result<(&Path, Metadata), String> {
    let path = match file.field("socketPath") {
        None => return Err("`socketPath` is missing".to_owned()),
        Some(Value::String(path)) => Path::new(path),
        Some(other) => return Err(format!("`socketPath` is {}", shown(other))),
    };
    if !path.is_absolute() {
        return Err(format!("{path:?} is not absolute"));
    }
    let metadata = path
        .metadata()
        .map_err(|error| format!("{path:?}: {error}"))?;
    Ok((path, metadata))
}

fn socket(file: &TargetFile) -> Result<Look, String> {
    if file.content.is_err() {
        return Ok(Look::Blocked(file.rows().json));
    }
    let (path, metadata) = at_path(file)?;
    match is_socket(&metadata) {
        true => Ok(Look::Kept),
        false => Err(format!("{path:?} is not a socket")),
    }
}

#[cfg(unix)]
fn is_socket(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_socket()
}

#[cfg(not(unix))]
fn is_socket(_: &Metadata) -> bool {
    false
}

fn private_socket(file: &TargetFile) -> Result<Look, String> {
    let Ok((path, metadata)) = at_path(file) else {
        return Ok(Look::Blocked(&["P1-socket", "P1-json"]));
    };
    let folder = path.parent().and_then(|it| it.metadata().ok());
    let folder = folder.and_then(|folder| facts::unix(&folder));
    let (Some(socket), Some(folder)) = (facts::unix(&metadata), folder) else {
        return Ok(Look::NotAbout);
    };
    // To connect takes the right to write to the socket, and to pass through its folder.
    if socket.mode & 0o022 == 0 || folder.mode & 0o011 == 0 {
        return Ok(Look::Kept);
    }
    Err(format!(
        "its mode is {:04o}, that of its folder {:04o}",
        socket.mode, folder.mode
    ))
}

fn token(file: &TargetFile) -> Result<Look, String> {
    match (file.field("headers"), file.token()) {
        _ if file.content.is_err() => Ok(Look::Blocked(file.rows().json)),
        (_, Some(_)) => Ok(Look::Kept),
        (Some(headers), None) if HEADERS.1(headers) => Err("it has none".to_owned()),
        (_, None) => Ok(Look::Blocked(&["P1-headers"])),
    }
}

fn living_pid(file: &TargetFile) -> Result<Look, String> {
    match file.field("pid") {
        _ if file.content.is_err() => Ok(Look::Blocked(file.rows().json)),
        None => Err("`pid` is missing".to_owned()),
        Some(pid) => match pid.as_u64().and_then(|pid| pid.try_into().ok()) {
            Some(pid) => is_running(pid),
            None => Err(format!("`pid` is {}", shown(pid))),
        },
    }
}
