//! A person's Vim with the plugin, and agents that are connected to it.

use std::path::Path;

use pillion_protocol::{Dialect, File};
use pillion_testkit::{Home, TestAgent, Tmux, Vim, VimSetup, VimVersion};

/// The command under test.
pub const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

/// Vim, the terminal, and the home that it runs in.
#[derive(Debug)]
pub struct World {
    pub vim: Vim,
    _tmux: Tmux,
    // Last: Vim has files in it.
    pub home: Home,
}

impl World {
    /// Vim with these files of the workspace open and Pillion running.
    pub fn open(version: VimVersion, files: &[(&str, &str)]) -> World {
        World::with(version, Home::new(), files, |setup| setup)
    }

    /// The same in this home, started as `change` says.
    pub fn with(
        version: VimVersion,
        home: Home,
        files: &[(&str, &str)],
        change: impl FnOnce(VimSetup) -> VimSetup,
    ) -> World {
        let mut setup = setup(version, &home);
        for (name, text) in files {
            setup = setup.arg(home.file(name, text));
        }
        let tmux = Tmux::start();
        let vim = change(setup).in_tmux(&tmux);
        let world = World {
            vim,
            _tmux: tmux,
            home,
        };
        if !files.is_empty() {
            world.wait_running();
        }
        world
    }

    /// Waits until Pillion runs for this Vim.
    #[track_caller]
    pub fn wait_running(&self) {
        self.vim.wait_until(
            "Pillion running",
            "pillion#Status().running && pillion#Status().port isnot '?'",
        );
    }

    /// An agent that is connected, as Vim knows.
    pub fn agent(&self, dialect: Dialect) -> TestAgent {
        let agent = TestAgent::find(&self.home, dialect);
        let connected = format!(
            "index(mapnew(pillion#Status().agents, 'v:val.name'), '{}') >= 0",
            dialect.name()
        );
        self.vim.wait_until("the agent known", &connected);
        agent
    }

    /// Gemini CLI, connected.
    pub fn gemini(&self) -> TestAgent {
        self.agent(Dialect::GeminiCli)
    }

    /// Waits until agents are shown a context in which `wanted` holds for the active file.
    pub fn active(&self, agent: &mut TestAgent, wanted: impl Fn(&File) -> bool) -> File {
        let context = agent.context(|context| context.active_file().is_some_and(&wanted));
        context.active_file().expect("it was wanted").clone()
    }
}

/// A Vim with the plugin and the command under test, still to be started.
pub fn setup(version: VimVersion, home: &Home) -> VimSetup {
    VimSetup::new(version, home).pillion(Path::new(PILLION))
}
