//! The setup for starting a Neovim.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Body, Nvim};
use crate::{Editors, Env, Home, NvimVersion, Size, Tmux};

/// The plugin in the repository.
const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/nvim");

/// Names one thing of each Neovim of this process.
static COUNT: AtomicU32 = AtomicU32::new(1);

/// A Neovim that is not started yet: with the repository's plugin, in a home's workspace, and with
/// nothing of the machine's own Neovim.
#[derive(Debug, Clone)]
pub struct NvimSetup {
    program: PathBuf,
    /// Holds what this one Neovim needs: its settings, its socket.
    folder: PathBuf,
    plugin: PathBuf,
    init: String,
    has_own_init: bool,
    arguments: Vec<OsString>,
    env: Env,
    cwd: PathBuf,
}

impl NvimSetup {
    /// Of this version, for the person of this home.
    ///
    /// # Panics
    /// If it is not installed.
    pub fn new(version: NvimVersion, home: &Home) -> NvimSetup {
        let program = Editors::other_nvim().unwrap_or_else(|| Editors::from_env().nvim(version));
        NvimSetup::of(program, home)
    }

    /// Of this program, for the person of this home.
    pub fn of(program: PathBuf, home: &Home) -> NvimSetup {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let nothing = home.root().join("nothing");
        NvimSetup {
            program,
            folder: home.root().join(format!("nvim-{number}")),
            plugin: PLUGIN.into(),
            init: String::new(),
            has_own_init: false,
            arguments: Vec::new(),
            // Both have a value of their own if they are unset, which is the machine's.
            env: home
                .env()
                .with("XDG_CONFIG_DIRS", &nothing)
                .with("XDG_DATA_DIRS", &nothing),
            cwd: home.workspace(),
        }
    }

    /// Puts this `pillion` where the plugin finds it: in front of PATH.
    #[must_use]
    pub fn pillion(mut self, program: impl AsRef<Path>) -> NvimSetup {
        let folder = program.as_ref().parent().expect("it lies in a folder");
        self.env.prepend_path(folder);
        self
    }

    /// Adds Lua to `init.lua`: what people write for the plugin, which is on the runtime path but
    /// not loaded yet.
    #[must_use]
    pub fn init(mut self, lua: &str) -> NvimSetup {
        self.init.push_str(lua);
        self.init.push('\n');
        self
    }

    /// Leaves out all of the above: what the home has in `.config/nvim` counts, if anything, and the plugins that are
    /// installed there.
    #[must_use]
    pub fn own_init(mut self) -> NvimSetup {
        self.has_own_init = true;
        self
    }

    /// Adds an argument, such as a file.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> NvimSetup {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> NvimSetup {
        self.env.set(name, value);
        self
    }

    /// Starts it in this folder and not in the workspace.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> NvimSetup {
        self.cwd = folder.as_ref().to_owned();
        self
    }

    /// Loads another plugin than the repository's.
    #[must_use]
    pub fn plugin(mut self, folder: impl AsRef<Path>) -> NvimSetup {
        self.plugin = folder.as_ref().to_owned();
        self
    }

    /// Starts it without a screen, and waits until it has started up.
    ///
    /// # Panics
    /// With what it says, if it does not start or has errors while it does.
    #[track_caller]
    pub fn headless(self) -> Nvim {
        let command = self.prepare();
        let says = self.folder.join("output");
        let output = File::create(&says).expect("the folder is ours");
        let errors = output.try_clone().expect("a file has as many handles");
        let child = Command::new(&command[0])
            .arg("--headless")
            .args(&command[1..])
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.env.iter())
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .unwrap_or_else(|error| panic!("{} did not start: {error}", self.program.display()));
        Nvim::attach(Body::Headless { child, says }, &self.socket())
    }

    /// Starts it in a terminal of its own, and waits until it has started up. Its keys and its
    /// screen are those of [`Nvim::pane`].
    ///
    /// # Panics
    /// With its screen, if it does not start or has errors while it does.
    #[track_caller]
    pub fn in_tmux(self, tmux: &Tmux, size: Size) -> Nvim {
        let command = self.prepare();
        let name = self.folder.file_name().expect("it has a name");
        let name = name.to_str().expect("it is a word and a number");
        let pane = tmux.spawn(name, size, &self.env, &self.cwd, &command);
        let pid = pane.pid();
        Nvim::attach(Body::Pane { pane, pid }, &self.socket())
    }

    /// What opens a user interface of the one that listens: its variables, and the command.
    pub fn window(&self) -> (&Env, [OsString; 4]) {
        let program = self.program.clone().into_os_string();
        let [server, ui] = ["--server", "--remote-ui"].map(OsString::from);
        (&self.env, [program, server, self.socket().into(), ui])
    }

    /// Writes its settings. Its command line.
    fn prepare(&self) -> Vec<OsString> {
        fs::create_dir(&self.folder).expect("the home is ours");
        let init = self.folder.join("init.lua");
        // Neovim sources the plugin's `plugin/` after this, as it does for package managers.
        let text = format!(
            "vim.o.swapfile = false\nvim.opt.runtimepath:prepend([[{}]])\n{}",
            self.plugin.display(),
            self.init
        );
        fs::write(&init, text).expect("the folder is ours");
        let mut command = vec![self.program.clone().into_os_string()];
        if !self.has_own_init {
            command.extend(["-u".into(), init.into_os_string()]);
        }
        command.extend(["--listen".into(), self.socket().into()]);
        command.extend(self.arguments.iter().cloned());
        command
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }
}
