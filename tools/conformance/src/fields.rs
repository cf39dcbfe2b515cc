//! Looks at one discovery file, whatever the protocol: what it is, and what its fields hold.

use pillion_discovery::canonicalize;
use pillion_system::process;
use serde_json::Value;

use crate::facts;
use crate::rule::{Finding, Look, Otherwise, kept, shown};
use crate::target::TargetFile;
use crate::test_context::TestContext;

/// The condition on a field: in words, and as a test of a value.
pub(super) type Kind = (&'static str, fn(&Value) -> bool);

pub(super) const ANYTHING: Kind = ("anything", |_| true);
pub(super) const STRING: Kind = ("a string", Value::is_string);
pub(super) const TEXT: Kind = ("a non-empty string", |value| {
    value.as_str().is_some_and(|text| !text.trim().is_empty())
});

pub(super) const PATHS: Kind = ("a list of at least one path", |value| {
    let list = value.as_array();
    list.is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_string))
});

/// Every file that a rule applies to keeps it.
pub(super) async fn each(
    test: &TestContext,
    look: impl Fn(&TargetFile) -> Result<Look, String>,
) -> Finding {
    let files = test.target.discovery_files().iter();
    let looks = files.map(|file| look(file).or_broken(file.path.display()));
    match kept(
        looks,
        "this companion has no discovery file that the rule applies to",
    )? {
        1 => Ok("1 file".to_owned()),
        kept => Ok(format!("{kept} files")),
    }
}

/// Every file has a field, such as `ideInfo.name`, with a value of this kind.
pub(super) async fn each_has(test: &TestContext, field: &str, kind: Kind) -> Finding {
    each(test, |file| has(file, field, kind)).await
}

/// Checks that a file has such a field.
pub(super) fn has(file: &TargetFile, field: &str, (kind, fits): Kind) -> Result<Look, String> {
    let Ok(content) = &file.content else {
        return Ok(Look::Blocked(file.rows().json));
    };
    let pointer = format!("/{}", field.replace('.', "/"));
    match content.pointer(&pointer) {
        None => Err(format!("`{field}` is missing")),
        Some(value) if fits(value) => Ok(Look::Kept),
        // Nobody is to read it.
        Some(_) if matches!(field, "authToken" | "headers") => {
            Err(format!("`{field}` is not {kind}"))
        }
        Some(value) => Err(format!("`{field}` is {}, not {kind}", shown(value))),
    }
}

pub(super) fn regular_file(file: &TargetFile) -> Result<Look, String> {
    if file.metadata.is_symlink() {
        return Err("it is a symbolic link".to_owned());
    }
    if !file.metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    match facts::unix(&file.metadata) {
        Some(unix) if !unix.is_own => Err(format!("it belongs to user id {}", unix.uid)),
        _ => Ok(Look::Kept),
    }
}

pub(super) fn json_object(file: &TargetFile) -> Result<Look, String> {
    // What is not a file at all is another rule's matter.
    if !file.metadata.is_file() && !file.metadata.is_symlink() {
        return Ok(Look::Blocked(file.rows().file));
    }
    let content = file.content.as_ref();
    content.map(|_| Look::Kept).map_err(Clone::clone)
}

/// Checks that a process that a file names is running.
pub(super) fn is_running(pid: u32) -> Result<Look, String> {
    match process::is_alive(pid) {
        true => Ok(Look::Kept),
        false => Err(format!("process {pid} is not running")),
    }
}

/// Checks that nobody else can read the token.
pub(super) fn private_file(file: &TargetFile) -> Result<Look, String> {
    match facts::unix(&file.metadata) {
        _ if file.metadata.is_symlink() => Ok(Look::Blocked(file.rows().file)),
        _ if file.token().is_none() => Ok(Look::Blocked(file.rows().token)),
        None => Ok(Look::NotAbout),
        Some(unix) if unix.mode & 0o077 == 0 => Ok(Look::Kept),
        Some(unix) => Err(format!("its mode is {:04o}, not 0600", unix.mode)),
    }
}

/// Checks that nobody else can replace the file.
pub(super) fn private_folder(file: &TargetFile) -> Result<Look, String> {
    let folder = file.path.parent().and_then(|it| it.metadata().ok());
    let Some(unix) = folder.and_then(|folder| facts::unix(&folder)) else {
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

/// Checks that every workspace folder is spelt as agents that resolve links spell their own; `row` is about whether there is
/// one.
pub(super) fn resolved(file: &TargetFile, row: &'static [&'static str]) -> Result<Look, String> {
    let folders = file.roots();
    if folders.is_empty() {
        return Ok(Look::Blocked(row));
    }
    for folder in folders {
        if !folder.is_absolute() {
            return Err(format!("{folder:?} is not absolute"));
        }
        match canonicalize(&folder) {
            // A separator at the end is no difference.
            Ok(real) if real == folder => {}
            Ok(real) => return Err(format!("{folder:?} is {real:?}")),
            Err(error) => return Err(format!("{folder:?}: {error}")),
        }
    }
    Ok(Look::Kept)
}
