//! A person's Kakoune with the module, and agents that are connected to it.

use std::time::{Duration, SystemTime};

use pillion_protocol::Dialect;
use pillion_testkit::{Home, Kakoune, KakouneSetup, KakouneVersion, TestAgent, Tmux};

/// The command under test.
pub const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

/// Kakoune, the terminal, and the home that it runs in.
#[derive(Debug)]
pub struct World {
    pub kakoune: Kakoune,
    pub tmux: Tmux,
    // Last: Kakoune has files in it.
    pub home: Home,
}

impl World {
    /// Kakoune with these files of the workspace open and Pillion running, started as `change` says.
    pub fn with(
        version: KakouneVersion,
        home: Home,
        files: &[(&str, &str)],
        change: impl FnOnce(KakouneSetup) -> KakouneSetup,
    ) -> World {
        let mut setup = KakouneSetup::new(version, &home).pillion(PILLION);
        for (name, text) in files {
            setup = setup.arg(home.file(name, text));
        }
        let tmux = Tmux::start();
        let kakoune = change(setup).in_tmux(&tmux);
        let world = World {
            kakoune,
            tmux,
            home,
        };
        world.wait_running();
        world
    }

    /// The same with nothing special.
    pub fn open(version: KakouneVersion, files: &[(&str, &str)]) -> World {
        World::with(version, Home::new(), files, |setup| setup)
    }

    /// Waits until Pillion runs for this Kakoune.
    #[track_caller]
    pub fn wait_running(&self) {
        self.kakoune
            .wait_until("Pillion running", "%opt{pillion_port}", |port| {
                port != ["0"]
            });
    }

    /// Gemini CLI, connected.
    pub fn gemini(&self) -> TestAgent {
        TestAgent::find(&self.home, Dialect::GeminiCli)
    }

    /// Nothing was decided about what this agent proposed last.
    #[track_caller]
    pub fn is_pending(&self, agent: &mut TestAgent, why: &str) {
        self.kakoune.pane().wait_read();
        let pending = agent.check_pending(&self.home);
        assert_eq!(pending, Ok(()), "after {why}\n{}", self.kakoune.describe());
    }

    /// Waits until the proposal in the first client may be edited and decided.
    #[track_caller]
    pub fn look(&self) {
        self.kakoune.wait_until(
            "a proposal that may be accepted",
            "%opt{pillion_ready} %opt{readonly}",
            may_accept,
        );
    }
}

/// Returns true if a proposal may be edited and accepted whose `pillion_ready` and `readonly` these
/// are.
pub fn may_accept(ready: &[String]) -> bool {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let [ready, is_locked] = ready else {
        return false;
    };
    let ready = ready.parse().ok();
    is_locked == "false" && ready.is_some_and(|ready| Duration::from_millis(ready) < now)
}
