//! The setup for starting a Vim.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Channel, Vim};
use crate::{Editors, Env, Home, SOON, Size, Tmux, VimVersion};

/// The plugin in the repository.
const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/vim");

/// Names one thing of each Vim of this process.
static COUNT: AtomicU32 = AtomicU32::new(1);

/// A Vim that is not started yet: with the repository's plugin, in a home's workspace, and with nothing of the
/// machine's own Vim.
#[derive(Debug, Clone)]
pub struct VimSetup {
    program: PathBuf,
    /// Holds what this one Vim needs: its settings, its socket.
    folder: PathBuf,
    plugin: Option<PathBuf>,
    /// Nothing is set but what `vimrc` sets.
    is_plain: bool,
    vimrc: String,
    arguments: Vec<OsString>,
    env: Env,
    cwd: PathBuf,
    size: Size,
    has_screen: bool,
}

impl VimSetup {
    /// Of this version, for the person of this home.
    ///
    /// # Panics
    /// If it is not installed.
    pub fn new(version: VimVersion, home: &Home) -> VimSetup {
        let (program, runtime) = Editors::from_env().vim(version);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        VimSetup {
            program,
            folder: home.root().join(format!("vim-{number}")),
            plugin: Some(PLUGIN.into()),
            is_plain: false,
            vimrc: String::new(),
            arguments: Vec::new(),
            env: home
                .env()
                .with("VIM", runtime.parent().expect("it lies in a folder"))
                .with("VIMRUNTIME", &runtime),
            cwd: home.workspace(),
            size: Size::new(120, 30),
            has_screen: true,
        }
    }

    /// Puts this `pillion` where the plugin finds it: in front of PATH.
    #[must_use]
    pub fn pillion(mut self, program: impl AsRef<Path>) -> VimSetup {
        let folder = program.as_ref().parent().expect("it lies in a folder");
        self.env.prepend_path(folder);
        self
    }

    /// Adds to the `vimrc`: what people write for the plugin, which is on the runtime path but not loaded yet.
    #[must_use]
    pub fn vimrc(mut self, text: &str) -> VimSetup {
        self.vimrc.push_str(text);
        self.vimrc.push('\n');
        self
    }

    /// Adds an argument, such as a file.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> VimSetup {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> VimSetup {
        self.env.set(name, value);
        self
    }

    /// Starts it in this folder and not in the workspace.
    #[must_use]
    pub fn cwd(mut self, folder: impl AsRef<Path>) -> VimSetup {
        self.cwd = folder.as_ref().to_owned();
        self
    }

    /// Gives its terminal this size.
    #[must_use]
    pub fn size(mut self, size: Size) -> VimSetup {
        self.size = size;
        self
    }

    /// Has it listen to other programs.
    #[must_use]
    pub fn server(mut self) -> VimSetup {
        self.arguments.extend(self.server_arguments());
        self
    }

    /// Has the one that listens do what these arguments say, such as `--remote-send`, and waits until it has.
    pub fn by_client(&self, arguments: &[&str]) {
        let status = Command::new(&self.program)
            .args(self.server_arguments())
            .args(arguments)
            .env_clear()
            .envs(self.env.iter())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .expect("it is installed");
        assert!(status.success(), "{arguments:?}: {status}");
    }

    fn server_arguments(&self) -> [OsString; 4] {
        [
            "--clientserver".into(),
            "socket".into(),
            "--servername".into(),
            self.folder.join("server").into_os_string(),
        ]
    }

    /// Has it take keys from its terminal, and draw for nobody.
    #[must_use]
    pub fn without_screen(mut self) -> VimSetup {
        self.has_screen = false;
        self
    }

    /// With this `vimrc` and with what is installed in the home, as people have it. `$VIM` in it is the folder of
    /// Vim's scripts.
    #[must_use]
    pub fn plain(self, vimrc: &str) -> VimSetup {
        let plain = VimSetup {
            is_plain: true,
            ..self
        };
        plain.without_plugin().vimrc(vimrc)
    }

    /// Only what is installed in the home.
    #[must_use]
    pub fn without_plugin(mut self) -> VimSetup {
        self.plugin = None;
        self
    }

    /// Starts it in a terminal of its own, and waits until it has started up.
    ///
    /// # Panics
    /// With its screen, if it does not start.
    #[track_caller]
    pub fn in_tmux(self, tmux: &Tmux) -> Vim {
        fs::create_dir(&self.folder).expect("the home is ours");
        let socket = self.folder.join("socket");
        let listener = UnixListener::bind(&socket).expect("the folder is ours");
        let vimrc = self.folder.join("vimrc");
        fs::write(&vimrc, self.settings(&socket)).expect("the folder is ours");
        let mut command: Vec<OsString> = Vec::new();
        if !self.has_screen {
            command.extend(["sh", "-c", "exec \"$0\" \"$@\" >/dev/null"].map(OsString::from));
        }
        command.extend([
            self.program.into_os_string(),
            "-u".into(),
            vimrc.into_os_string(),
        ]);
        command.extend(self.arguments);
        let name = self.folder.file_name().expect("it has a name");
        let name = name.to_str().expect("it is a word and a number");
        let pane = tmux.spawn(name, self.size, &self.env, &self.cwd, &command);
        match Channel::accept(&listener, SOON) {
            Ok(channel) => Vim::attach(pane, channel),
            Err(error) => panic!("Vim did not start: {error}\n{}", pane.screen()),
        }
    }

    /// Vim sources the plugin's `plugin/` after this, as it does for package managers.
    fn settings(&self, socket: &Path) -> String {
        let plugin = self.plugin.as_ref().map_or(String::new(), |plugin| {
            format!("set runtimepath^={}\n", plugin.display())
        });
        let channel = format!(
            "let g:test_channel = ch_open('unix:{}')\n",
            socket.display()
        );
        if self.is_plain {
            // As it is where Vim finds a `vimrc` itself.
            return format!("set nocompatible\n{channel}{}", self.vimrc);
        }
        format!(
            "set nocompatible noswapfile viminfofile=NONE ttimeout ttimeoutlen=5\nfiletype plugin on\nsyntax on\n\
             {channel}{plugin}{}",
            self.vimrc
        )
    }
}
