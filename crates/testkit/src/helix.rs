//! Helix in a terminal: started with the settings that a page of the documents gives, and steered by keys.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Editors, Env, HelixVersion, Home, Pane, SOON, Size, Tmux};

/// The message that it shows when it offers code actions, and there are none.
const NO_ACTIONS: &str = "No code actions available";

/// The interval at which it is asked for code actions that are not there yet.
const ASK_INTERVAL: Duration = Duration::from_millis(500);

/// A running Helix. It ends with its terminal.
#[derive(Debug)]
pub struct Helix {
    pane: Pane,
}

impl Helix {
    /// Opens this file of the home's workspace, with `settings` as its `languages.toml` and `config.toml`.
    ///
    /// # Panics
    /// If it is not installed, or does not show the file.
    pub fn start(
        version: HelixVersion,
        tmux: &Tmux,
        home: &Home,
        env: &Env,
        settings: [&str; 2],
        file: &Path,
    ) -> Helix {
        let folder = home.home().join(".config/helix");
        fs::create_dir_all(&folder).expect("the home is ours");
        for (name, text) in ["languages.toml", "config.toml"].into_iter().zip(settings) {
            fs::write(folder.join(name), text).expect("the home is ours");
        }
        let command = [
            Editors::from_env().helix(version).into_os_string(),
            file.into(),
        ];
        let size = Size::new(120, 40);
        // A person may have several windows.
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let name = format!("helix-{}", STARTED.fetch_add(1, Ordering::Relaxed));
        let pane = tmux.spawn(&name, size, env, &home.workspace(), &command);
        let helix = Helix { pane };
        helix.wait_for("NOR");
        helix
    }

    /// Its terminal.
    pub fn pane(&self) -> &Pane {
        &self.pane
    }

    /// Types in Normal mode, key by key.
    pub fn keys(&self, keys: &str) {
        self.pane.type_text(keys);
    }

    /// Types into Insert mode by this key, and goes back.
    pub fn insert(&self, key: &str, text: &str) {
        self.keys(key);
        self.wait_for("INS");
        self.keys(text);
        self.pane.send_keys(["Escape"]);
        self.wait_for("NOR");
    }

    /// Gives a command, without its colon.
    pub fn command(&self, command: &str) {
        self.keys(&format!(":{command}"));
        self.wait_for(&format!(":{command}"));
        self.pane.send_keys(["Enter"]);
    }

    /// Chooses a code action at the cursor. `down` is its place in the list, and `title` stands there.
    ///
    /// # Panics
    /// If it is not offered in time.
    pub fn choose(&self, title: &str, down: usize) {
        self.ask_actions(title, title);
        for _ in 0..down {
            self.pane.send_keys(["Down"]);
        }
        self.pane.send_keys(["Enter"]);
        self.pane.wait_gone(title, SOON);
    }

    /// Waits until this code action is offered at the cursor.
    ///
    /// # Panics
    /// If it is not offered in time.
    pub fn wait_action(&self, title: &str) {
        self.ask_actions(title, title);
        self.pane.send_keys(["Escape"]);
        self.pane.wait_gone(title, SOON);
    }

    /// Waits until there is no code action at the cursor, while `title` may still be one.
    ///
    /// # Panics
    /// If it is still offered in the end.
    pub fn wait_no_actions(&self, title: &str) {
        self.ask_actions(title, NO_ACTIONS);
        self.pane.send_keys(["Escape"]);
        self.pane.wait_gone(NO_ACTIONS, SOON);
    }

    /// Asks for code actions until it shows what is wanted: the one of this title, or that there is none.
    fn ask_actions(&self, title: &str, wanted: &str) {
        let started = Instant::now();
        loop {
            self.keys(" a");
            let screen = self.pane.wait_until("code actions", SOON, |screen| {
                screen.contains(title) || screen.contains(NO_ACTIONS)
            });
            if screen.contains(wanted) {
                return;
            }
            assert!(started.elapsed() < SOON, "expected {wanted:?}:\n{screen}");
            // List and message go with a key.
            self.pane.send_keys(["Escape"]);
            let is_gone = |screen: &str| !screen.contains(title) && !screen.contains(NO_ACTIONS);
            self.pane.wait_until("no code actions", SOON, is_gone);
            sleep(ASK_INTERVAL);
        }
    }

    /// Waits until this stands on its screen.
    pub fn wait_for(&self, text: &str) -> String {
        self.pane.wait_for(text, SOON)
    }
}
