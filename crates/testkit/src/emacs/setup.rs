//! The setup for starting an Emacs.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Channel, Emacs};
use crate::{Editors, EmacsPlace, EmacsVersion, Env, Home, Pane, SOON, Size, Tmux};

/// The package in the repository.
const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/emacs");

/// The code that answers the test.
const CHANNEL: &str = include_str!("channel.el");

/// Nothing is compiled to machine code: a home that is gone with its test would keep none of it. Nothing is collected
/// as garbage before there are 100 MB of it: that takes two fifths of the time of an Emacs that runs for seconds.
const SPARING: &str = "(setq native-comp-jit-compilation nil native-comp-enable-subr-trampolines nil \
    gc-cons-threshold 100000000)";

/// Names one thing of each Emacs of this process.
static COUNT: AtomicU32 = AtomicU32::new(1);

/// An Emacs that is not started yet: with the repository's package, in a home's workspace, and with nothing of the
/// machine's own Emacs.
#[derive(Debug, Clone)]
pub struct EmacsSetup {
    version: EmacsVersion,
    place: EmacsPlace,
    /// Holds what this one Emacs needs: its settings, its socket.
    folder: PathBuf,
    has_package: bool,
    is_daemon: bool,
    /// The folders that the load path has beside Emacs's own.
    load_path: Vec<PathBuf>,
    /// The files by which Debian's packages say where their modules are, and where they are here.
    modules: Vec<(String, PathBuf)>,
    init: String,
    arguments: Vec<OsString>,
    env: Env,
    cwd: PathBuf,
    size: Size,
}

impl EmacsSetup {
    /// Of this version, for the person of this home.
    ///
    /// # Panics
    /// If it is not installed.
    pub fn new(version: EmacsVersion, home: &Home) -> EmacsSetup {
        let place = Editors::from_env().emacs(version);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let variables = place.variables().into_iter();
        let env = variables.fold(home.env(), |env, (name, value)| env.with(name, value));
        EmacsSetup {
            version,
            folder: home.root().join(format!("emacs-{number}")),
            has_package: true,
            is_daemon: false,
            load_path: Vec::new(),
            modules: Vec::new(),
            init: String::new(),
            arguments: Vec::new(),
            env,
            cwd: home.workspace(),
            size: Size::new(120, 30),
            place,
        }
    }

    /// Puts this `pillion` where the package finds it: in front of PATH.
    #[must_use]
    pub fn pillion(mut self, program: impl AsRef<Path>) -> EmacsSetup {
        let folder = program.as_ref().parent().expect("it lies in a folder");
        self.env.prepend_path(folder);
        self
    }

    /// Adds to the init file: what people write for the package, which can be loaded but is not.
    #[must_use]
    pub fn init(mut self, text: &str) -> EmacsSetup {
        self.init.push_str(text);
        self.init.push('\n');
        self
    }

    /// Adds Debian's packages, such as `evil`, with those that they need: they can be loaded, but are not.
    ///
    /// # Panics
    /// If its release does not have them.
    #[must_use]
    pub fn packages(mut self, names: &[&str]) -> EmacsSetup {
        let editors = Editors::from_env();
        for name in names {
            let (lisp, module) = editors.emacs_package(self.version, name);
            self.load_path.push(lisp);
            self.modules
                .extend(module.map(|folder| (format!("{name}-load-path.el"), folder)));
        }
        self
    }

    /// Adds an argument, such as a file.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> EmacsSetup {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> EmacsSetup {
        self.env.set(name, value);
        self
    }

    /// Starts it in this folder and not in the workspace.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> EmacsSetup {
        self.cwd = folder.as_ref().to_owned();
        self
    }

    /// Gives its terminal this size.
    #[must_use]
    pub fn size(mut self, size: Size) -> EmacsSetup {
        self.size = size;
        self
    }

    /// Only what is installed in the home, which Emacs sets up by itself.
    #[must_use]
    pub fn without_package(mut self) -> EmacsSetup {
        self.has_package = false;
        self
    }

    /// With lsp-mode. To be called before its settings are added.
    #[must_use]
    pub fn with_lsp_mode(self) -> EmacsSetup {
        let packages = Editors::from_env().emacs_packages(self.version);
        self.init(&format!(
            // It would take Flycheck for Flymake.
            "(setq package-directory-list '({packages:?}) package-load-list '(all (flycheck nil)))\n(package-activate-all)"
        ))
    }

    /// Without a terminal: people connect with `emacsclient`.
    #[must_use]
    pub fn daemon(mut self) -> EmacsSetup {
        self.is_daemon = true;
        self
    }

    /// Starts it in a terminal of its own, and waits until it has started up.
    ///
    /// # Panics
    /// With its screen, if it does not start.
    #[track_caller]
    pub fn in_tmux(self, tmux: &Tmux) -> Emacs {
        // A server refuses a folder that others can enter.
        let mut folder = fs::DirBuilder::new();
        folder
            .mode(0o700)
            .create(&self.folder)
            .expect("the home is ours");
        let socket = self.folder.join("socket");
        let listener = UnixListener::bind(&socket).expect("the folder is ours");
        let init = self.folder.join("init.el");
        fs::write(&init, self.settings(&socket)).expect("the folder is ours");
        for (file, module) in &self.modules {
            let text = format!(
                "(add-to-list 'load-path {:?})",
                module.display().to_string()
            );
            fs::write(self.folder.join(file), text).expect("the folder is ours");
        }
        let mut command = vec![
            self.place.program.clone().into_os_string(),
            self.place.dump_option(),
        ];
        if self.is_daemon {
            command.push(format!("--fg-daemon={}", self.server().display()).into());
        }
        command.push(match self.has_package {
            true => "-Q".into(),
            // Packages of the person are set up.
            false => "--no-site-file".into(),
        });
        command.extend(["--eval".into(), SPARING.into(), "--load".into()]);
        command.push(init.into_os_string());
        command.extend(self.arguments);
        let name = self.folder.file_name().expect("it has a name");
        let name = name.to_str().expect("it is a word and a number");
        let pane = tmux.spawn(name, self.size, &self.env, &self.cwd, &command);
        match Channel::accept(&listener, SOON) {
            Ok(channel) => Emacs::attach(pane, channel),
            Err(error) => panic!("Emacs did not start: {error}\n{}", pane.screen()),
        }
    }

    /// Connects to the daemon from a terminal, which shows this file.
    pub fn client_in_tmux(&self, tmux: &Tmux, file: &Path) -> Pane {
        let (_, command) = self.client(file);
        let name = format!("client-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        tmux.spawn(&name, self.size, &self.env, &self.cwd, &command)
    }

    /// What opens a file in a frame of the daemon's on the terminal: its variables, and the command.
    pub fn client(&self, file: &Path) -> (&Env, [OsString; 5]) {
        let client = self.place.client.clone().into_os_string();
        let [tty, name] = ["--tty", "--socket-name"].map(OsString::from);
        (
            &self.env,
            [client, tty, name, self.server().into(), file.into()],
        )
    }

    /// Evaluates expressions without a terminal. Returns the output, on both streams, if it succeeded.
    ///
    /// # Errors
    /// The output, if it failed.
    pub fn batch(&self, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(&self.place.program)
            .arg(self.place.dump_option())
            .args(["--batch", "-Q"])
            .args(["--eval", SPARING])
            .args(
                self.load_path
                    .iter()
                    .flat_map(|it| [OsStr::new("-L"), it.as_os_str()]),
            )
            .args(arguments)
            .env_clear()
            .envs(self.env.iter())
            .current_dir(&self.cwd)
            .output()
            .expect("it is installed");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        match output.status.success() {
            true => Ok(text),
            false => Err(text),
        }
    }

    /// Writes a program that is this Emacs, for others to run.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write_program(&self, path: &Path) {
        let variables = self.place.variables();
        let variables = variables.map(|(name, value)| format!("export {name}={value:?}\n"));
        let (program, dump) = (&self.place.program, self.place.dump_option());
        let script = format!(
            "#!/bin/sh\n{}exec {program:?} {dump:?} \"$@\"\n",
            variables.concat()
        );
        fs::write(path, script).expect("the folder is there");
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("it is ours");
    }

    /// The folder of the package.
    pub fn package() -> &'static Path {
        Path::new(PACKAGE)
    }

    /// Has the daemon evaluate an expression, as programs do. Returns the output, on both streams.
    pub fn eval_by_client(&self, expression: &str) -> String {
        let output = Command::new(&self.place.client)
            .arg("--socket-name")
            .arg(self.server())
            .args(["--eval", expression])
            .env_clear()
            .envs(self.env.iter())
            .output()
            .expect("it is installed");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    fn server(&self) -> PathBuf {
        self.folder.join("server")
    }

    fn settings(&self, socket: &Path) -> String {
        let mut package: String = self
            .load_path
            .iter()
            // In front of the others: the last.
            .chain([&self.folder])
            .map(|folder| {
                format!(
                    "(add-to-list 'load-path {:?})\n",
                    folder.display().to_string()
                )
            })
            .collect();
        if self.has_package {
            let _ = writeln!(
                package,
                "(add-to-list 'load-path {PACKAGE:?})\n(require 'pillion)"
            );
        }
        format!(
            "{CHANNEL}\n(setq inhibit-startup-screen t make-backup-files nil ring-bell-function #'ignore)\n{package}{}\n(test-channel-open {:?})\n",
            self.init,
            socket.display().to_string()
        )
    }
}
