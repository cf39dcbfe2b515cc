//! A person's machine in a temporary folder: home, temporary folder, runtime folder, workspaces,
//! and the settings that make the real agents start without questions.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pillion_changes::Recorder;
use pillion_changes::recorder::Call;
use serde_json::json;
use tempfile::TempDir;

use crate::person::{Person, Said};
use crate::wait::pause;
use crate::{Env, SOON};

/// The time after which a person tries again what was too early: each try counts only after a look.
const AGAIN: Duration = Duration::from_millis(1500);

/// Makes a folder the top of a repository of git's that has no commit yet.
pub fn make_repository(top: &Path) {
    for folder in ["objects", "refs"] {
        fs::create_dir_all(top.join(".git").join(folder)).expect("the folder is ours");
    }
    fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").expect("it was just made");
}

/// A hermetic HOME, TMPDIR and XDG_RUNTIME_DIR with one workspace folder, gone on drop.
#[derive(Debug)]
pub struct Home {
    root: TempDir,
    /// `root` without symlinks: agents compare real paths.
    real: PathBuf,
    person: Person,
}

impl Home {
    /// A fresh one, with the agents' settings files and an empty workspace named `project`.
    pub fn new() -> Home {
        Home::below(&std::env::temp_dir())
    }

    /// The same, in this folder.
    pub fn below(folder: &Path) -> Home {
        let root = tempfile::Builder::new()
            .prefix("pillion-home-")
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir_in(folder)
            .expect("a temporary folder can be made");
        let real = root.path().canonicalize().expect("it was just made");
        let workspace = real.join("project");
        for folder in ["home", "tmp", "run", "project"] {
            private_folder(&real.join(folder));
        }
        let person = Person::new(&workspace);
        let home = Home { root, real, person };
        home.write_settings();
        home
    }

    /// Runs a program, and what follows it, as in another terminal of the person's: no process of a test is above it, and so no
    /// agent that a test plays.
    pub fn run_as_person<S: AsRef<OsStr>>(&self, words: &[S]) -> Said {
        self.person
            .run(&self.env(), &self.real.join("person"), words)
    }

    /// HOME.
    pub fn home(&self) -> PathBuf {
        self.real.join("home")
    }

    /// TMPDIR.
    pub fn tmp(&self) -> PathBuf {
        self.real.join("tmp")
    }

    /// XDG_RUNTIME_DIR.
    pub fn runtime(&self) -> PathBuf {
        self.real.join("run")
    }

    /// The workspace folder.
    pub fn workspace(&self) -> PathBuf {
        self.real.join("project")
    }

    /// Another workspace folder, empty, made if it is not there.
    pub fn other_workspace(&self, name: &str) -> PathBuf {
        let folder = self.real.join(name);
        if !folder.exists() {
            private_folder(&folder);
        }
        folder
    }

    /// A file in the workspace with this text; its absolute path.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.workspace().join(name);
        let parent = path.parent().expect("it lies in the workspace");
        fs::create_dir_all(parent).expect("the workspace is ours");
        fs::write(&path, text).expect("the workspace is ours");
        path
    }

    /// The store of what agents have changed.
    pub fn changes_store(&self) -> pillion_changes::Store {
        let home = self.home().into_os_string();
        let environment = pillion_discovery::Environment::from_pairs([("HOME", home)]);
        pillion_changes::Store::of(&environment).expect("there is a home")
    }

    /// The states of the changes of a turn, as lists have them.
    pub fn states_of(&self, turn: u64) -> Vec<&'static str> {
        let kept = pillion_changes::Kept::read(&self.changes_store(), turn).expect("it is kept");
        let changes = kept.turn.real_changes();
        changes.map(|it| kept.state(it).name()).collect()
    }

    /// Waits until the first change of a turn has this state.
    ///
    /// # Panics
    /// When it has another one.
    #[track_caller]
    pub fn wait_state(&self, turn: u64, state: &str) {
        self.wait_state_by(turn, state, || {});
    }

    /// The same of a person who does this, and once more if nothing comes of it.
    pub fn wait_state_by(&self, turn: u64, state: &str, again: impl Fn()) {
        let started = Instant::now();
        let mut tries = 0;
        while self.states_of(turn)[0] != state {
            assert!(started.elapsed() < SOON, "expected {state}");
            if started.elapsed() >= AGAIN * tries {
                again();
                tries += 1;
            }
            pause(started);
        }
    }

    /// The changes of a turn about which the person has said something to the agent, with all of it, the last first.
    pub fn said_of(&self, turn: u64) -> Vec<(String, String)> {
        let kept = pillion_changes::Kept::read(&self.changes_store(), turn).expect("it is kept");
        let said = kept.turn.real_changes().filter_map(|change| {
            let notes = kept.judged(change)?.all_notes();
            let notes: Vec<_> = notes.map(|it| it.text.as_str()).collect();
            let name = kept.name(change).to_string();
            (!notes.is_empty()).then(|| (name, notes.join(", ")))
        });
        said.collect()
    }

    /// A turn of Claude Code's that has ended, in which a shell command did this in the workspace. Its number.
    pub fn agents_turn(&self, prompt: &str, command: impl FnOnce(&Path)) -> u64 {
        let store = self.changes_store();
        let root = self.workspace();
        let mut recorder = Recorder::new(store.clone(), std::slice::from_ref(&root), Vec::new());
        let (id, tool, path) = ("call".to_owned(), "Bash".to_owned(), None);
        recorder.begin(1, "claude", prompt).expect("it is kept");
        recorder
            .before(
                1,
                "claude",
                Call {
                    id,
                    tool,
                    path,
                    subagent: None,
                },
            )
            .expect("it is kept");
        command(&root);
        recorder
            .after(1, "call", |_| Vec::new())
            .expect("it is kept");
        recorder.end(1).expect("it is kept");
        let numbers = store.numbers().expect("it can be read");
        *numbers.last().expect("something was changed")
    }

    /// The folder that holds all of the above.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The variables that every process of this person has: the folders, a plain PATH, a UTF-8 locale.
    pub fn env(&self) -> Env {
        Env::default()
            .with("HOME", self.home())
            .with("TMPDIR", self.tmp())
            .with("XDG_RUNTIME_DIR", self.runtime())
            // A tmux that is started without a socket of its own is a server for this person alone.
            .with("TMUX_TMPDIR", self.tmp())
            .with("PATH", "/usr/local/bin:/usr/bin:/bin")
            .with("LANG", "C.UTF-8")
            .with("SHELL", "/bin/sh")
    }

    fn write_settings(&self) {
        let shared = json!({
            "ide": { "enabled": true, "hasSeenNudge": true },
            "general": { "enableAutoUpdate": false },
            "privacy": { "usageStatisticsEnabled": false },
        });
        let mut gemini = shared.clone();
        gemini["security"] = json!({
            "auth": { "selectedType": "gemini-api-key" },
            "folderTrust": { "enabled": false },
        });
        let mut qwen = shared;
        qwen["security"] = json!({
            "auth": { "selectedType": "openai" },
            "folderTrust": { "enabled": false },
        });
        // Both would ask the model things of their own after each turn.
        qwen["ui"] = json!({ "enableFollowupSuggestions": false });
        qwen["memory"] = json!({
            "enableManagedAutoMemory": false,
            "enableManagedAutoDream": false,
        });
        for (folder, settings) in [(".gemini", gemini), (".qwen", qwen)] {
            let folder = self.home().join(folder);
            private_folder(&folder);
            fs::write(folder.join("settings.json"), settings.to_string())
                .expect("the home is ours");
        }
    }
}

impl Default for Home {
    fn default() -> Home {
        Home::new()
    }
}

fn private_folder(path: &Path) {
    fs::DirBuilder::new()
        .mode(0o700)
        .create(path)
        .unwrap_or_else(|error| panic!("{} could not be made: {error}", path.display()));
}
