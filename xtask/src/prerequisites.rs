//! The programs that the tests with real parts need on the machine besides Rust, the npm packages and the
//! editors, and how they get there: on Debian, from its packages.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, thread};

use anyhow::{Result, anyhow, ensure};

/// The keys with which the Debian archive signs its lists. On Debian itself they are always there.
pub const DEBIAN_KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// A program that tests run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Program {
    /// Its command, or the absolute path of a file.
    pub name: &'static str,
    /// The Debian package that brings it.
    pub package: &'static str,
    pub user: User,
}

/// The user of a program: one whose program is missing is skipped, and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// All tests with real parts.
    Tests,
    /// Those with editors.
    Editors,
    /// The checks of the Lua sources.
    Lua,
    /// Those with a browser, which need a screen in memory, too.
    Browser,
    /// Those through `ssh`. In CI only is it installed: Debian's server listens from then on.
    Ssh,
}

const PROGRAMS: [Program; 21] = [
    program("tmux", "tmux"),
    // A terminal that answers no questions.
    program("script", "bsdutils"),
    // What `pillion env` prints is read by them.
    program("fish", "fish"),
    program("zsh", "zsh"),
    // The agents look for the companion along their process ancestry, and read that with `ps`.
    program("ps", "procps"),
    // A repository of its own, which is to be whole after a turn is taken back.
    program("hg", "mercurial"),
    // Only to install the pinned Node: Debian's own, version 18, is good enough for that.
    program("node", "nodejs"),
    program("npm", "npm"),
    // Only to install Mistral Vibe, if it is new enough.
    program("python3", "python3-venv"),
    for_editors("apt-get", "apt"),
    for_editors("dpkg-deb", "dpkg"),
    for_editors("patchelf", "patchelf"),
    // Kate has windows: a screen in memory, who gives them the focus, the bus by which a second Kate reaches the
    // first, and who presses keys.
    for_editors("Xvfb", "xvfb"),
    for_editors("openbox", "openbox"),
    for_editors("dbus-run-session", "dbus-daemon"),
    for_editors("xdotool", "xdotool"),
    for_editors(DEBIAN_KEYRING, "debian-archive-keyring"),
    Program {
        user: User::Lua,
        ..program("luacheck", "lua-check")
    },
    Program {
        user: User::Browser,
        ..program("chromium", "chromium")
    },
    Program {
        user: User::Ssh,
        ..program("ssh", "openssh-client")
    },
    Program {
        user: User::Ssh,
        ..program("/usr/sbin/sshd", "openssh-server")
    },
];

/// The programs that only the tests of the distribution need, and only they install.
const FOR_DISTRIBUTION: [Program; 4] = [
    program("debootstrap", "debootstrap"),
    program("unshare", "util-linux"),
    program("shellcheck", "shellcheck"),
    program("ruby", "ruby"),
];

/// Debian's, which is on nobody's PATH.
pub const WINE: &str = "/usr/lib/wine/wine64";

/// The programs that only the checks of other platforms need.
const FOR_PLATFORMS: [Program; 2] = [
    program("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64-win32"),
    program(WINE, "wine64"),
];

const fn program(name: &'static str, package: &'static str) -> Program {
    Program {
        name,
        package,
        user: User::Tests,
    }
}

const fn for_editors(name: &'static str, package: &'static str) -> Program {
    Program {
        user: User::Editors,
        ..program(name, package)
    }
}

/// Installs what is missing, where that may be done without a question: on Debian and its
/// relatives, as root, or on a CI machine through sudo. Returns what is still missing then.
pub fn ensure() -> Vec<Program> {
    install(&PROGRAMS)
}

/// The same for the tests of what is distributed, which need all of it, and to be root.
pub fn ensure_for_distribution() -> Result<()> {
    ensure!(is_root(), "it takes root");
    let missing = install(&FOR_DISTRIBUTION);
    none_missing(&missing, User::Tests).map_err(|what| anyhow!(what))
}

/// The same for the checks of other platforms: what is missing then, in words.
pub fn ensure_for_platforms() -> Result<(), String> {
    none_missing(&install(&FOR_PLATFORMS), User::Tests)
}

fn install(programs: &[Program]) -> Vec<Program> {
    let missing = missing(programs);
    if missing.is_empty() {
        return missing;
    }
    let Some(apt) = Apt::usable() else {
        return missing;
    };
    let is_wanted = |program: &&Program| program.user != User::Ssh || env::var_os("CI").is_some();
    let packages = missing.iter().filter(is_wanted);
    let packages: Vec<&str> = packages.map(|program| program.package).collect();
    if packages.is_empty() {
        return missing;
    }
    if !apt.knows(&packages) {
        apt.update();
    }
    let install = ["install", "--yes", "--no-install-recommends"];
    apt.run(&[&install, &packages[..]].concat());
    self::missing(programs)
}

fn missing(programs: &[Program]) -> Vec<Program> {
    let is_missing = |program: &&Program| !is_on_path(program.name);
    programs.iter().filter(is_missing).copied().collect()
}

/// Of those that are missing, what this user misses, in words.
pub fn none_missing(missing: &[Program], user: User) -> Result<(), String> {
    let missing = missing.iter().filter(|program| program.user == user);
    let named: Vec<String> = missing
        .map(|program| format!("{} (Debian: {})", program.name, program.package))
        .collect();
    if named.is_empty() {
        return Ok(());
    }
    Err(format!("needs {}", named.join(", ")))
}

/// True of an absolute path that is there, too: what it is joined to does not count.
fn is_on_path(name: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// In seconds: how long to wait until others have installed their packages.
const LOCK_TIMEOUT: u32 = 600;

/// Debian's package manager, with the right to use it.
struct Apt {
    sudo: bool,
}

impl Apt {
    fn usable() -> Option<Apt> {
        if !Path::new("/etc/debian_version").exists() || !is_on_path("apt-get") {
            return None;
        }
        if is_root() {
            return Some(Apt { sudo: false });
        }
        // On a person's machine, nothing is installed without being asked for.
        (env::var_os("CI").is_some() && is_on_path("sudo")).then_some(Apt { sudo: true })
    }

    /// Returns true if its lists are there and hold these packages. A fresh container has none.
    fn knows(&self, packages: &[&str]) -> bool {
        let mut command = self.command(&["install", "--simulate"]);
        command.args(packages).stderr(Stdio::null());
        command.output().is_ok_and(|output| output.status.success())
    }

    /// Reads the lists anew. Their lock is one that apt does not wait for itself.
    fn update(&self) {
        for _ in 0..LOCK_TIMEOUT {
            let output = self.command(&["update"]).output();
            let stderr = output.map_or_else(
                |error| error.to_string(),
                |output| String::from_utf8_lossy(&output.stderr).into_owned(),
            );
            if !stderr.contains("Could not get lock") {
                // What is missing afterwards is looked at, and named.
                let _ = std::io::stderr().write_all(stderr.as_bytes());
                return;
            }
            thread::sleep(Duration::from_secs(1));
        }
    }

    /// Does it; what it says, and why it fails, goes to standard error.
    fn run(&self, arguments: &[&str]) {
        // What is missing afterwards is looked at, and named.
        let _ = self.command(arguments).stdout(std::io::stderr()).status();
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = if self.sudo {
            let mut sudo = Command::new("sudo");
            sudo.args(["-n", "env"]);
            sudo
        } else {
            Command::new("env")
        };
        command
            .args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"])
            // A machine that has just started often installs its own updates.
            .args(["-o", &format!("DPkg::Lock::Timeout={LOCK_TIMEOUT}")])
            .args(arguments)
            .stdin(Stdio::null());
        command
    }
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
