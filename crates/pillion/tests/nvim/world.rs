//! A person's Neovim with the plugin, and agents that are connected to it.

use std::path::Path;

use pillion_protocol::{Dialect, File};
use pillion_testkit::{Home, MAY_DECIDE, Nvim, NvimSetup, NvimVersion, TestAgent};
use pillion_view::LOOK;
use serde_json::json;

/// The command under test.
pub const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

/// Neovim, and the home that it runs in.
#[derive(Debug)]
pub struct World {
    pub nvim: Nvim,
    // Last: Neovim has files in it.
    pub home: Home,
}

impl World {
    /// Neovim without a screen, with these files of the workspace open and Pillion running.
    pub fn open(version: NvimVersion, files: &[(&str, &str)]) -> World {
        World::with(version, Home::new(), files, |setup| setup)
    }

    /// The same in this home, started as `change` says.
    pub fn with(
        version: NvimVersion,
        home: Home,
        files: &[(&str, &str)],
        change: impl FnOnce(NvimSetup) -> NvimSetup,
    ) -> World {
        let mut setup = setup(version, &home);
        for (name, text) in files {
            setup = setup.arg(home.file(name, text));
        }
        let nvim = change(setup).headless();
        let world = World { nvim, home };
        if !files.is_empty() {
            world.wait_running();
        }
        world
    }

    /// Waits until Pillion runs for this Neovim.
    pub fn wait_running(&self) {
        self.nvim.wait_until(
            "Pillion running",
            "require('pillion.client').is_running() \
             and require('pillion.client').state.port ~= nil",
        );
    }

    /// An agent that is connected, as Neovim knows.
    pub fn agent(&self, dialect: Dialect) -> TestAgent {
        let agent = TestAgent::find(&self.home, dialect);
        let connected = format!(
            "vim.tbl_contains(vim.tbl_map(function(agent) return agent.name end, \
             require('pillion.client').state.agents), '{}')",
            dialect.name()
        );
        self.nvim.wait_until("the agent known", &connected);
        agent
    }

    /// Gemini CLI, connected.
    pub fn gemini(&self) -> TestAgent {
        self.agent(Dialect::GeminiCli)
    }

    /// Waits until the diff that the person sees has been on the screen so long that they may edit and accept it.
    #[track_caller]
    pub fn look(&self) {
        look(&self.nvim);
    }

    /// Types `:w`, and again once its question, if there is one, may be answered.
    pub fn accept_whatever_is_asked(&self) {
        self.nvim.input(":w<CR>");
        let diff = "require('pillion.diff.pending').sorted()[1]";
        let answered = format!("{diff} == nil or {diff}.is_refused == true");
        self.nvim.wait_until("an answer", &answered);
        let code = format!("return {diff} ~= nil");
        if self.nvim.lua(&code, json!([])) {
            std::thread::sleep(2 * LOOK);
            self.nvim.input(":w<CR>");
        }
    }

    /// From now on Neovim tells that every proposal has been on the screen for so long.
    pub fn looked_for(&self, milliseconds: u64) {
        let code = "local seen, milliseconds = require('pillion.diff.seen'), ...
            seen.real = seen.real or seen.sight
            seen.sight = function(diff)
              local sight = seen.real(diff)
              return sight and { revision = sight.revision, drawn_ms = milliseconds }
            end";
        self.nvim.lua::<()>(code, json!([milliseconds]));
    }

    /// From now on, a proposal has been looked at for as long as it really was.
    pub fn looked_as_long_as_it_was(&self) {
        let code = "local seen = require('pillion.diff.seen') seen.sight = seen.real";
        self.nvim.lua::<()>(code, json!([]));
    }

    /// Waits until agents are shown a context in which `wanted` holds for the active file.
    pub fn active(&self, agent: &mut TestAgent, wanted: impl Fn(&File) -> bool) -> File {
        let context = agent.context(|context| context.active_file().is_some_and(&wanted));
        context.active_file().expect("it was wanted").clone()
    }
}

/// See [`World::look`].
#[track_caller]
pub fn look(nvim: &Nvim) {
    nvim.wait_until("a proposal that was looked at", MAY_DECIDE);
}

/// A Neovim with the plugin and the command under test, still to be started.
pub fn setup(version: NvimVersion, home: &Home) -> NvimSetup {
    NvimSetup::new(version, home).pillion(Path::new(PILLION))
}
