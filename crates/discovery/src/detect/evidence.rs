//! The signs of an IDE: a process above, or a variable that is not known to be dead.

use std::ffi::OsStr;
use std::path::Path;

use super::table::{Kind, ROWS, Row, Sign, WEAK_VIM};
use crate::environment::Environment;
use pillion_system::process::Process;

/// The shells that Gemini CLI looks for.
const SHELLS: [&str; 8] = ["zsh", "bash", "sh", "tcsh", "csh", "ksh", "fish", "dash"];

/// A row that a variable speaks for.
#[derive(Debug)]
pub(super) struct Indication {
    pub row: &'static Row,
    pub variable: &'static str,
    /// The IDE's process, if the variable names it.
    pub process: Option<Process>,
}

impl Indication {
    pub(super) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.pid)
    }
}

/// The nearest editor above, and its process.
///
/// A window's program starts its terminals from a helper of the same program: the first of them is
/// the editor, whose pid names the discovery file. In a terminal the nearest is: Neovim's screen is
/// a process above Neovim.
pub(super) fn nearest_editor(above: &[Process]) -> Option<(&'static Row, &Process)> {
    let row_of = |process| ROWS.iter().find(|row| is_program_of(row, process));
    let (nearest, row) = above
        .iter()
        .enumerate()
        .find_map(|(at, process)| Some((at, row_of(process)?)))?;
    let helpers = above[nearest..]
        .iter()
        .take_while(|process| row.kind != Kind::Terminal && is_program_of(row, process));
    Some((row, helpers.last().unwrap_or(&above[nearest])))
}

/// The first row of the table that a variable speaks for. `living` gives a process that is not above,
/// if it lives.
pub(super) fn by_variable(
    environment: &Environment,
    above: &[Process],
    living: impl Fn(u32) -> Option<Process>,
) -> Option<Indication> {
    let living = |pid| {
        let found = above.iter().find(|process| process.pid == pid);
        found.cloned().or_else(|| living(pid))
    };
    let found = ROWS.iter().find_map(|row| {
        let mut found = row.signs.iter();
        found.find_map(|sign| read(sign, row, environment, above, &living))
    });
    found.or_else(|| weak_vim(environment))
}

/// The process that Gemini CLI takes for the IDE's (on Unix): two above the nearest shell, or the
/// topmost one. Process 1 is no IDE.
pub(super) fn ide_process(above: &[Process]) -> Option<&Process> {
    let above = match above {
        [rest @ .., last] if last.pid == 1 => rest,
        all => all,
    };
    let shell = above
        .iter()
        .position(|process| SHELLS.contains(&process.name()));
    let Some(shell) = shell else {
        return above.last();
    };
    above.get(shell + 2).or(above.get(shell + 1))
}

/// Returns true if a terminal multiplexer is between this process and where its terminal is shown:
/// its server has the variables of the time it was started in.
pub(super) fn is_multiplexed(environment: &Environment, above: &[Process]) -> bool {
    let is_server = |process: &Process| {
        let program = program(&process.command);
        matches!(program.as_str(), "tmux" | "tmux:" | "screen" | "zellij")
    };
    above.iter().any(is_server)
        || ["TMUX", "STY", "ZELLIJ"]
            .iter()
            .any(|name| environment.filled(name).is_some())
}

fn is_program_of(row: &Row, process: &Process) -> bool {
    let program = program(&process.command);
    // Not an argument: VS Code starts shells with a script of its bundle.
    let is_in_bundle = |bundle| {
        let inside = process.command.split_once(&format!("/{bundle}/Contents/"));
        inside.is_some_and(|(before, _)| !before.contains(" /") && !before.contains(" -"))
    };
    row.programs.contains(&program.as_str()) || row.bundle.is_some_and(is_in_bundle)
}

/// The name of the program that a command line starts, in lowercase, without `.exe`. A Windows path
/// may hold blanks; a script is named by its own path behind its shell's.
fn program(command: &str) -> String {
    let command = command.trim_start_matches('"').to_lowercase();
    let is_windows = command.get(1..3) == Some(":\\");
    let (path, rest) = match command.find(".exe") {
        Some(end) if is_windows => (&command[..end], None),
        _ => {
            let mut words = command.split(' ');
            (words.next().unwrap_or_default(), words.next())
        }
    };
    let name = last(path);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    // `emacs-30.1`
    let name = match name.rsplit_once('-') {
        Some((name, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => name,
        _ => name,
    };
    match rest {
        // `/bin/sh /opt/idea/bin/idea.sh`
        Some(script) if SHELLS.contains(&name) && script.starts_with('/') => last(script),
        _ => name,
    }
    .to_owned()
}

fn last(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// The indication of a sign, if there is one.
fn read(
    sign: &Sign,
    row: &'static Row,
    environment: &Environment,
    above: &[Process],
    living: &impl Fn(u32) -> Option<Process>,
) -> Option<Indication> {
    let value = |name: &'static str| environment.filled(name);
    let is_above = |pid| above.iter().any(|process| process.pid == pid);
    let found = |variable, process| Indication {
        row,
        variable,
        process,
    };
    match *sign {
        Sign::Set(name) => value(name).map(|_| found(name, None)),
        Sign::Is(name, wanted) => (value(name)? == wanted).then(|| found(name, None)),
        Sign::Holds(name, wanted) => {
            let held = value(name)?.to_string_lossy().to_lowercase();
            held.contains(wanted).then(|| found(name, None))
        }
        Sign::Socket(name) => {
            let socket = value(name)?;
            let process = match socket.to_str().and_then(socket_pid) {
                // Its number alone may be another process's by now, unless it is above.
                Some(pid) => Some(living(pid).filter(|_| is_above(pid) || is_open(socket))?),
                None if is_open(socket) => None,
                None => return None,
            };
            Some(found(name, process))
        }
        Sign::Pid(name) => {
            let pid = value(name)?.to_str()?.parse().ok()?;
            let process = living(pid).filter(|process| is_program_of(row, process))?;
            Some(found(name, Some(process)))
        }
    }
}

/// The pid in the name that Neovim gives its socket by itself: `…/nvim.PID.N`.
fn socket_pid(socket: &str) -> Option<u32> {
    let name = last(socket).strip_prefix("nvim.")?;
    let (pid, _) = name.split_once('.')?;
    pid.parse().ok()
}

/// Returns true if a socket may be there: an address on the network always may, and a pipe of
/// Windows.
fn is_open(socket: &OsStr) -> bool {
    let path = Path::new(socket);
    cfg!(windows) || !path.is_absolute() || path.exists()
}

fn weak_vim(environment: &Environment) -> Option<Indication> {
    let is_filled = |name: &str| environment.filled(name).is_some();
    let runtime = environment.filled("VIMRUNTIME")?.to_string_lossy();
    let name = if runtime.contains("nvim") {
        "neovim"
    } else {
        "vim"
    };
    let row = ROWS.iter().find(|row| row.ide.name == name)?;
    WEAK_VIM.into_iter().all(is_filled).then_some(Indication {
        row,
        variable: "VIMRUNTIME",
        process: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_on_every_system() {
        for (command, name) in [
            ("nvim --embed", "nvim"),
            ("/usr/bin/nvim", "nvim"),
            ("/tmp/.mount_nvimAb/usr/bin/nvim x", "nvim"),
            (
                r"C:\Program Files\Microsoft VS Code\Code.exe --type=x",
                "code",
            ),
            (r#""C:\Program Files\Neovim\bin\nvim.exe" a.txt"#, "nvim"),
            ("/bin/sh /opt/idea/bin/idea.sh", "idea.sh"),
            ("/bin/sh -c nvim", "sh"),
            ("-zsh", "-zsh"),
            ("/usr/bin/emacs-30.1 x", "emacs"),
            ("gtk-4-demo", "gtk-4-demo"),
            ("less /home/me/notes.exe", "less"),
            ("", ""),
        ] {
            assert_eq!(program(command), name, "{command}");
        }
    }

    #[test]
    fn a_socket_of_neovims_own_name_holds_its_pid() {
        for (socket, pid) in [
            ("/run/user/1000/nvim.812.0", Some(812)),
            (r"\\.\pipe\nvim.812.0", Some(812)),
            ("/tmp/nvim.sock", None),
            ("/tmp/nvimAbC/0", None),
            ("127.0.0.1:7000", None),
        ] {
            assert_eq!(socket_pid(socket), pid, "{socket}");
        }
    }
}
