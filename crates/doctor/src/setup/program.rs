//! The agent's program: where it is installed, which release it is, and what it needs to run.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use pillion_agent::find::{Release, Version};
use pillion_discovery::{Environment, canonicalize, regular_file};
use pillion_protocol::Dialect;
use pillion_system::SearchPath;
use pillion_system::child::{self, Group};
use serde_json::Value;

/// The number of folders between a program and its package's description, at most.
const MAX_DEPTH: usize = 6;

/// A package's description that is longer is none of an agent's.
const MAX_DESCRIPTION: u64 = 1 << 20;

/// A start script is short; a program that is longer is none.
const MAX_SCRIPT: u64 = 64 << 10;

/// The time limit for an agent to print its version. Node takes a second or two on a slow machine.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// The facts about the agent's program.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The path of its command; none if it is neither on PATH nor where Claude Code's installer puts it.
    pub path: Option<PathBuf>,
    /// Its release.
    pub version: Option<Version>,
    /// True if what runs it is there.
    pub has_node: bool,
    /// True if `ps` is there, by which agents see their process tree on Unix.
    pub has_ps: bool,
    /// True if it is the package that the agent's maker publishes.
    pub is_packaged: bool,
}

/// Returns true if the agent's command is there.
pub fn is_installed(agent: Dialect, environment: &Environment) -> bool {
    find(agent, environment).is_some()
}

/// The agent's command: on PATH, or where only an alias of the shell leads.
fn find(agent: Dialect, environment: &Environment) -> Option<PathBuf> {
    on_path(agent.name(), environment).or_else(|| behind_alias(agent, environment))
}

/// The program that Claude Code's own installer puts in place and writes an alias for. Other aliases are not looked for.
pub fn behind_alias(agent: Dialect, environment: &Environment) -> Option<PathBuf> {
    let path = environment.home()?.join(".claude/local").join(agent.name());
    (agent == Dialect::ClaudeCode && path.is_file()).then_some(path)
}

/// The release that this command starts, as far as its package shows: nothing is run. The newest
/// known one where that does not help.
pub fn release(agent: Dialect, command: &Path, environment: &Environment) -> Release {
    let path = match command.to_str() {
        Some(name) if is_bare(command) && name == agent.name() => find(agent, environment),
        Some(name) if is_bare(command) => on_path(name, environment),
        _ => Some(environment.current_dir().join(command)),
    };
    let version = path.and_then(|path| packaged_version(&path, agent));
    version.map_or_else(
        || Release::newest(agent),
        |version| Release { agent, version },
    )
}

/// The release that says what it is: where no package shows it, the command is run, with these variables too.
pub fn reported_release(
    agent: Dialect,
    command: &OsStr,
    variables: &[(&str, &OsStr)],
    environment: &Environment,
) -> Release {
    let shown = release(agent, Path::new(command), environment);
    let version = (!shown.is_known()).then(|| reported_version(Path::new(command), variables));
    let version = version.flatten().unwrap_or(shown.version);
    Release { agent, version }
}

/// The version that an agent's command prints: the only thing that the doctor runs, and only where no package has the release.
fn reported_version(command: &Path, variables: &[(&str, &OsStr)]) -> Option<Version> {
    // Nothing of what it started is to stay.
    let mut asked = Command::new(command);
    asked.envs(variables.iter().copied());
    let ended = child::run(asked.arg("--version"), Group::Own, VERSION_TIMEOUT).ok()?;
    let is_answer = ended.status.is_some_and(|status| status.success());
    is_answer.then(|| version_in(&String::from_utf8_lossy(&ended.out)))?
}

/// A line that is nothing but a version, or else the first word that is one.
fn version_in(text: &str) -> Option<Version> {
    let line = text.lines().find_map(|line| line.trim().parse().ok());
    line.or_else(|| {
        text.split_whitespace()
            .find_map(|word| word.trim_end_matches('.').parse().ok())
    })
}

/// Looks for the agent's command as a shell does.
pub fn look(agent: Dialect, environment: &Environment) -> Program {
    let path = find(agent, environment);
    let version = path
        .as_deref()
        .and_then(|path| packaged_version(path, agent).or_else(|| reported_version(path, &[])));
    let has = |name: &str| on_path(name, environment).is_some();
    let needs_node = path.as_deref().is_some_and(starts_with_node);
    Program {
        has_node: !needs_node || has("node"),
        has_ps: cfg!(windows) || has("ps"),
        is_packaged: path.as_deref().is_some_and(|path| is_packaged(path, agent)),
        path,
        version,
    }
}

/// Returns true if it is a name that is looked for on PATH, as a shell does.
pub fn is_bare(command: &Path) -> bool {
    command.file_name() == Some(command.as_os_str())
}

/// The first program of this name on PATH.
fn on_path(name: &str, environment: &Environment) -> Option<PathBuf> {
    search_path(environment).programs(name).next()
}

/// The folders in which a shell with these variables looks for programs.
pub fn search_path(environment: &Environment) -> SearchPath {
    SearchPath::of(|name| environment.filled(name))
}

/// Returns true if the command belongs to the package that the agent's maker publishes.
pub fn is_packaged(command: &Path, agent: Dialect) -> bool {
    packaged_version(command, agent).is_some()
}

/// The version in the description of the package that the command belongs to.
fn packaged_version(command: &Path, agent: Dialect) -> Option<Version> {
    let package = agent.package()?;
    let real = canonicalize(command).ok()?;
    let folders = real.ancestors().skip(1).take(MAX_DEPTH);
    let mut found = folders.filter_map(|folder| described_version(folder, package));
    found.next().or_else(|| {
        // Some package managers, and npm on Windows, put a short script there instead of a link.
        let script = script(&real)?;
        let folder = package_in(&script, package, real.parent()?)?;
        described_version(&folder, package)
    })
}

fn described_version(folder: &Path, package: &str) -> Option<Version> {
    let text = regular_file::read(&folder.join("package.json"), MAX_DESCRIPTION).ok()?;
    let description: Value = serde_json::from_slice(&text).ok()?;
    (description["name"] == package).then_some(())?;
    description["version"].as_str()?.parse().ok()
}

/// The folder of the package that a start script names.
fn package_in(script: &str, package: &str, folder: &Path) -> Option<PathBuf> {
    let windows = package.replace('/', "\\");
    let names = [
        format!("node_modules/{package}"),
        format!("node_modules\\{windows}"),
    ];
    let named = names.iter().find_map(|name| {
        let end = script.find(name.as_str())? + name.len();
        let begin = script[..end]
            .rfind(['"', '\'', ' ', '\n', '='])
            .map_or(0, |at| at + 1);
        Some(&script[begin..end])
    })?;
    let here = ["$basedir", "${basedir}", "%dp0%", "%~dp0"];
    let relative = here.iter().find_map(|here| named.strip_prefix(here));
    let relative = relative.unwrap_or(named).replace('\\', "/");
    let is_absolute = named == relative && Path::new(named).is_absolute();
    Some(if is_absolute {
        PathBuf::from(named)
    } else {
        folder.join(relative.trim_start_matches('/'))
    })
}

/// The text of a program that is a short script.
pub fn script(program: &Path) -> Option<String> {
    String::from_utf8(regular_file::read(program, MAX_SCRIPT).ok()?).ok()
}

/// Returns true if the program's first line leaves it to `env` to find Node.
fn starts_with_node(program: &Path) -> bool {
    let mut line = [0; 64];
    let read = fs::File::open(program).and_then(|mut file| file.read(&mut line));
    read.is_ok_and(|length| line[..length].starts_with(b"#!/usr/bin/env node"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_start_script_names_its_package() {
        let folder = Path::new("/p/bin");
        for (script, expected) in [
            (
                "#!/bin/sh\nexec node \"$basedir/../lib/node_modules/@q/c/cli.js\" \"$@\"",
                "/p/bin/../lib/node_modules/@q/c",
            ),
            (
                "@\"%dp0%\\node_modules\\@q\\c\\cli.js\" %*",
                "/p/bin/node_modules/@q/c",
            ),
            (
                "exec /opt/node_modules/@q/c/cli.js",
                "/opt/node_modules/@q/c",
            ),
            (
                "node ../x/node_modules/@q/c/x",
                "/p/bin/../x/node_modules/@q/c",
            ),
        ] {
            let found = package_in(script, "@q/c", folder);
            assert_eq!(found.as_deref(), Some(Path::new(expected)), "{script}");
        }
        assert_eq!(package_in("exec node /x/cli.js", "@q/c", folder), None);
    }

    #[test]
    fn a_warning_about_node_is_not_the_agents_version() {
        for (text, expected) in [
            ("0.44.0\n", Some(Version::new(0, 44, 0))),
            (
                "Node 18.0.0 is too old\n0.44.0\n",
                Some(Version::new(0, 44, 0)),
            ),
            ("Gemini CLI v0.44.0-nightly.1", Some(Version::new(0, 44, 0))),
            (
                "GitHub Copilot CLI 1.0.102.\nRun 'copilot update'",
                Some(Version::new(1, 0, 102)),
            ),
            ("no", None),
        ] {
            assert_eq!(version_in(text), expected, "{text}");
        }
    }
}
