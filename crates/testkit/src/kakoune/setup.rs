//! The setup for starting a Kakoune.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::Kakoune;
use crate::{Editors, Env, Home, KakouneVersion, SOON, Size, Tmux};

/// The module in the repository.
const MODULE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../editors/kakoune/pillion.kak"
);

/// Finds the pane of a session, which is `$0`, and then becomes the program.
const WITH_PANE: &str = r##"
TMUX_PANE=$(tmux -S "${TMUX%%,*}" list-panes -t "=$0:" -F '#{pane_id}')
export TMUX_PANE
exec "$@""##;

/// Runs a program, and stays.
const STAYING: &str = r#""$0" "$@"; exec cat"#;

/// Names one thing of each Kakoune of this process.
static COUNT: AtomicU32 = AtomicU32::new(1);

/// A Kakoune that is not started yet: with the repository's module, in a home's workspace, and with nothing of the
/// machine's own Kakoune.
#[derive(Debug, Clone)]
pub struct KakouneSetup {
    program: PathBuf,
    /// Holds what this one needs: its settings, its answers.
    folder: PathBuf,
    session: String,
    with_module: bool,
    knows_tmux: bool,
    has_shell: bool,
    kakrc: String,
    arguments: Vec<OsString>,
    env: Env,
    /// The variables that terminals have that it opens.
    terminals: Env,
    cwd: PathBuf,
    size: Size,
}

impl KakouneSetup {
    /// Of this version, for the person of this home.
    ///
    /// # Panics
    /// If it is not installed.
    pub fn new(version: KakouneVersion, home: &Home) -> KakouneSetup {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("kak-{number}");
        let program = Editors::from_env().kakoune(version);
        let folder = home.root().join(&name);
        // As it is where people have it: for those who talk to it. Alone: what lies beside it is of another Debian.
        let commands = folder.join("bin");
        fs::create_dir_all(&commands).expect("the home is ours");
        symlink(&program, commands.join("kak")).expect("the folder is ours");
        let mut env = home.env();
        env.prepend_path(commands);
        KakouneSetup {
            program,
            folder,
            session: name,
            with_module: true,
            knows_tmux: false,
            has_shell: false,
            kakrc: String::new(),
            arguments: Vec::new(),
            env,
            terminals: home.env(),
            cwd: home.workspace(),
            size: Size::new(120, 30),
        }
    }

    /// Puts this `pillion` where the module finds it: in front of PATH.
    #[must_use]
    pub fn pillion(mut self, program: impl AsRef<Path>) -> KakouneSetup {
        let folder = program.as_ref().parent().expect("it lies in a folder");
        self.env.prepend_path(folder);
        self
    }

    /// Adds to the `kakrc`, after the module is loaded.
    #[must_use]
    pub fn kakrc(mut self, text: &str) -> KakouneSetup {
        self.kakrc.push_str(text);
        self.kakrc.push('\n');
        self
    }

    /// Adds an argument, such as a file.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> KakouneSetup {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> KakouneSetup {
        self.env.set(name, value);
        self
    }

    /// Puts a folder in front of PATH.
    #[must_use]
    pub fn path(mut self, folder: impl AsRef<OsStr>) -> KakouneSetup {
        self.env.prepend_path(folder);
        self
    }

    /// Sets a variable for terminals that it opens.
    #[must_use]
    pub fn terminal_env(
        mut self,
        name: impl AsRef<OsStr>,
        value: impl AsRef<OsStr>,
    ) -> KakouneSetup {
        self.terminals.set(name, value);
        self
    }

    /// Starts it in this folder and not in the workspace.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> KakouneSetup {
        self.cwd = folder.as_ref().to_owned();
        self
    }

    /// Gives its terminal this size.
    #[must_use]
    pub fn size(mut self, size: Size) -> KakouneSetup {
        self.size = size;
        self
    }

    /// Only what is installed in the home, with the settings there.
    #[must_use]
    pub fn without_module(mut self) -> KakouneSetup {
        self.with_module = false;
        self
    }

    /// Starts it from a shell, which stays when it quits: its terminal is not gone then.
    #[must_use]
    pub fn from_a_shell(mut self) -> KakouneSetup {
        self.has_shell = true;
        self
    }

    /// Lets it know that it runs in tmux.
    #[must_use]
    pub fn knowing_tmux(mut self) -> KakouneSetup {
        self.knows_tmux = true;
        self
    }

    /// Starts it in a terminal of its own, and waits until it has started up.
    ///
    /// # Panics
    /// With its screen, if it does not start.
    #[track_caller]
    pub fn in_tmux(mut self, tmux: &Tmux) -> Kakoune {
        if self.with_module {
            let settings = self.folder.join("config");
            fs::create_dir(&settings).expect("the folder is ours");
            let kakrc = format!("source '{MODULE}'\n{}", self.kakrc);
            fs::write(settings.join("kakrc"), kakrc).expect("the folder is ours");
            self.env.set("KAKOUNE_CONFIG_DIR", settings);
        }
        let mut command: Vec<OsString> = Vec::new();
        if self.knows_tmux {
            self.env.set("TMUX", tmux.variable());
            command = ["sh", "-c", WITH_PANE, &self.session]
                .map(OsString::from)
                .to_vec();
        }
        if self.has_shell {
            command = ["sh", "-c", STAYING].map(OsString::from).to_vec();
        }
        command.extend([
            self.program.clone().into_os_string(),
            "-s".into(),
            self.session.clone().into(),
        ]);
        command.extend(self.arguments);
        let mut pane = tmux.spawn(&self.session, self.size, &self.env, &self.cwd, &command);
        if self.knows_tmux {
            pane.share(&self.terminals);
            pane = pane.alone();
        }
        pane.wait_for("client0@", SOON);
        let pid = pane.pid();
        let mut kakoune = Kakoune {
            pane,
            program: self.program,
            env: self.env,
            session: self.session,
            folder: self.folder,
            asked: Cell::new(0),
            pid,
        };
        if self.has_shell {
            let pid = kakoune.get("%val{client_pid}");
            kakoune.pid = pid.parse().expect("Kakoune tells processes");
        }
        kakoune
    }
}
