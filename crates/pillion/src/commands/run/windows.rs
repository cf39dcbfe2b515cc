//! Becoming another program, where the system cannot: start it, wait, and end as it did. Ctrl-C goes
//! to every process of a console; the agent is the one that decides what it means.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use pillion_system::SearchPath;

/// Runs the command to its end and ends with its exit code. Returns only if that failed.
pub fn become_process(command: Command) -> io::Error {
    match run(command) {
        Ok(code) => std::process::exit(code),
        Err(error) => error,
    }
}

fn run(command: Command) -> io::Result<i32> {
    let mut command = with_program(command)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let _entered = runtime.enter();
    // A process that handles it is not ended by it.
    let _heard = tokio::signal::windows::ctrl_c()?;
    let status = command.spawn()?.wait()?;
    Ok(status.code().unwrap_or(1))
}

/// npm installs commands as `.cmd` files, which are found by PATHEXT and by nothing else.
fn with_program(command: Command) -> io::Result<Command> {
    let Some(program) = find(command.get_program()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let mut found = Command::new(program);
    found.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => found.env(name, value),
            None => found.env_remove(name),
        };
    }
    Ok(found)
}

fn find(program: &OsStr) -> Option<PathBuf> {
    let named = Path::new(program);
    let is_bare = named.file_name() == Some(program);
    if !is_bare && named.extension().is_some() && named.is_file() {
        return Some(named.to_owned());
    }
    // Its place is known; its name, perhaps not wholly.
    let path = SearchPath::of(|name| std::env::var_os(name));
    let path = if is_bare { path } else { path.with_folder(".") };
    path.programs(program).next()
}
