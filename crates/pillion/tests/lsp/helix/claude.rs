//! The real Claude Code and a person in Helix: how it connects, what its model is sent, and what is on the
//! disk after each decision.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use pillion_testkit::{
    Claude, ClaudeRelease, ClaudeStart, Helix, HelixVersion, Home, Model, ModelRequest, Pane, SOON,
    Size, Tmux, Turn, each_claude_in_helix, kill_tree, lock_files, pause, programs_below,
    set_up_claude,
};
use serde_json::Value;

use super::{BEFORE, accept, accept_title, close, reject, settings, start};
use crate::shared_encodings::{ENCODINGS, assert_bytes};

const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

const FILE: &str = "poem.rs";

#[each_claude_in_helix(all)]
fn claude_run_by_pillion_sends_its_model_what_the_person_in_helix_works_on(
    release: ClaudeRelease,
    version: HelixVersion,
) {
    let scene = Scene::start(release, version, &How::Run);
    let path = scene.path().display().to_string();
    scene.claude.wait_for("⧉ In poem.rs");
    let told = scene.ask("", "what is open");
    assert_sent(
        &told,
        &format!("The user opened the file {path} in the IDE"),
    );

    // Two whole lines. Helix sends where it is with a request for code actions.
    scene.helix.keys("jxx");
    scene.helix.wait_no_actions("Accept");
    scene.claude.wait_for("lines selected");
    let told = scene.ask("", "what is selected");
    assert_sent(&told, &format!("from {path}:\ntwo\nthree"));

    scene.pillion(&["mention", "poem.rs:2-3"]);
    scene.claude.wait_for("@poem.rs#L2-3");
    let told = scene.ask(" ", "what is mentioned");
    assert_sent(&told, "2\ttwo\n3\tthree");

    let new = scene.home.workspace().join("new.rs");
    scene.propose([Turn::write_file(&new, "eins\nzwei\n")], "it is new");
    scene.helix.wait_for("zwei");
    accept(&scene.helix, "new.rs");
    scene.claude.wait_for("it is new");
    assert_eq!(fs::read_to_string(&new).unwrap(), "eins\nzwei\n");
}

/// Of two changes one is taken out, and the other edited.
#[each_claude_in_helix(all)]
fn claude_writes_the_text_of_helix_in_the_encoding_of_the_file(
    release: ClaudeRelease,
    version: HelixVersion,
) {
    let before = "one\ntwo\nthree\nfour\nfive\n";
    let scene = Scene::start(release, version, &How::Ide);
    for (kind, encode) in ENCODINGS {
        let name = format!("{kind}.rs");
        let path = scene.home.file(&name, encode(before));
        let edit = Turn::replace(&path, "two\nthree\nfour", "TWO\nthree\nFOUR");
        let said = format!("{kind} is edited");
        scene.propose([Turn::read_file(&path), edit], &said);
        scene.helix.wait_for("FOUR");
        scene.helix.keys("ggjxd");
        scene.helix.insert("O", "two");
        scene.helix.keys("gg3j");
        scene.helix.insert("A", " edited");
        scene.helix.wait_for("FOUR edited");
        accept(&scene.helix, &name);
        scene.claude.wait_for(&said);
        let expected = before.replace("four", "FOUR edited");
        assert_bytes(&path, &encode(&expected));
        close(&scene.helix);
    }
}

/// A companion that comes later, chosen by `/ide`.
#[each_claude_in_helix]
fn claude_is_answered_in_helix_or_in_its_own_window(release: ClaudeRelease, version: HelixVersion) {
    let scene = Scene::start(release, version, &How::Command);
    scene.propose_change("two", "rejected", "no");
    reject(&scene.helix, FILE);
    scene.wait_refused();

    for (line, refuse) in [
        ("denied", Claude::deny as fn(&Claude)),
        ("cancelled", Claude::cancel),
    ] {
        scene.propose_change("two", line, "no");
        refuse(&scene.claude);
        scene.wait_withdrawn();
        scene.wait_refused();
    }

    scene.propose_change("two", "allowed", "it is allowed");
    scene.claude.allow();
    scene.wait_withdrawn();
    scene.claude.wait_for("it is allowed");
    assert_eq!(scene.text(), BEFORE.replace("two", "allowed"));
    close(&scene.helix);

    // One after the other: what is rejected takes the later ones with it, before they are shown.
    let edits = [("one", "ONE"), ("allowed", "TWO"), ("three", "THREE")];
    let edits = edits.map(|(old, new)| Turn::replace(scene.path(), old, new));
    let turns = [Turn::read_file(scene.path()), Turn::at_once(edits)];
    scene.propose(turns, "no");
    scene.helix.wait_for("ONE");
    accept(&scene.helix, FILE);
    close(&scene.helix);
    scene.helix.wait_for("TWO");
    reject(&scene.helix, FILE);
    scene.claude.wait_answered();
    scene.claude.wait_ready();
    assert_eq!(scene.text(), "ONE\nallowed\nthree\n");
}

#[each_claude_in_helix(all)]
fn either_of_claude_and_the_companion_of_helix_can_be_killed(
    release: ClaudeRelease,
    version: HelixVersion,
) {
    let mut scene = Scene::start(release, version, &How::Ide);
    scene.propose_change("two", "lost", "no");
    let next = How::Ide.start(release, &scene.tmux, &scene.home, &scene.model, "next");
    std::mem::replace(&mut scene.claude, next).kill();
    scene.wait_withdrawn();
    assert_eq!(scene.text(), BEFORE);
    close(&scene.helix);
    scene.model.clear();
    scene.wait_connected();

    // The question in Claude Code's own window stays, and works.
    scene.propose_change("two", "kept", "it is kept");
    let lock_file = scene.lock_file();
    let servers = programs_below(scene.helix.pane().pid(), "pillion");
    servers.into_iter().for_each(kill_tree);
    scene.helix.command("lsp-restart");
    scene.wait_connected();
    assert_eq!(scene.lock_file(), lock_file, "it is back where it was");
    scene.claude.allow();
    scene.claude.wait_for("it is kept");
    assert_eq!(scene.text(), BEFORE.replace("two", "kept"));
    close(&scene.helix);

    scene.propose_change("kept", "again", "it is back");
    accept(&scene.helix, FILE);
    scene.claude.wait_for("it is back");
    assert_eq!(scene.text(), BEFORE.replace("two", "again"));
}

/// The way in which Claude Code comes to its companion.
enum How {
    /// By `pillion run`.
    Run,
    /// By its flag.
    Ide,
    /// By its command.
    Command,
}

impl How {
    fn start(
        &self,
        release: ClaudeRelease,
        tmux: &Tmux,
        home: &Home,
        model: &Model,
        name: &str,
    ) -> Claude {
        let folder = home.workspace();
        let how = |arguments| ClaudeStart {
            name,
            arguments,
            ..ClaudeStart::default()
        };
        let start =
            |how: &ClaudeStart<'_>| Claude::start_with(release, tmux, home, model, &folder, how);
        match self {
            How::Run => Claude::attach(release, run_by_pillion(release, tmux, home, model, name)),
            How::Ide => start(&how(&["--ide"])),
            How::Command => {
                let claude = start(&how(&[]));
                claude.connect_by_command();
                claude
            }
        }
    }
}

fn run_by_pillion(
    release: ClaudeRelease,
    tmux: &Tmux,
    home: &Home,
    model: &Model,
    name: &str,
) -> Pane {
    let folder = home.workspace();
    set_up_claude(home, &folder);
    let command = [PILLION, "run", "--require", "claude"];
    let mode = ["--permission-mode", "default"];
    let command: Vec<_> = command.into_iter().chain(mode).collect();
    let env = release.env(home.env(), model);
    tmux.spawn(name, Size::new(110, 45), &env, &folder, &command)
}

/// Helix with [`FILE`] open, and Claude Code, which is connected to it.
struct Scene {
    claude: Claude,
    helix: Helix,
    model: Model,
    // After those that run in it.
    tmux: Tmux,
    // Last: the others have files in it.
    home: Home,
}

impl Scene {
    fn start(release: ClaudeRelease, version: HelixVersion, how: &How) -> Scene {
        let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
        let path = home.file(FILE, BEFORE);
        // Found by what it has there before it starts.
        set_up_claude(&home, &home.workspace());
        // `:lsp-restart` gives up at the first server that is not installed.
        let [languages, config] = settings();
        let languages = languages.replace("\"rust-analyzer\", ", "");
        let helix = start(version, &tmux, &home, &path, [&languages, config]);
        wait_published(&home);
        let scene = Scene {
            claude: how.start(release, &tmux, &home, &model, "agent"),
            helix,
            model,
            tmux,
            home,
        };
        scene.wait_connected();
        scene
    }

    fn path(&self) -> PathBuf {
        self.home.workspace().join(FILE)
    }

    /// The text of the file.
    fn text(&self) -> String {
        fs::read_to_string(self.path()).expect("it is there")
    }

    fn lock_file(&self) -> PathBuf {
        lock_files(&self.home).pop().expect("it is published")
    }

    /// Waits until Claude Code alone is connected to the companion that runs.
    fn wait_connected(&self) {
        let started = Instant::now();
        loop {
            let listed = self.pillion(&["list", "--json"]);
            let listed: Value = serde_json::from_slice(&listed).unwrap();
            let agents = listed[0]["agents"].as_array();
            if agents.is_some_and(|agents| agents.len() == 1) {
                return;
            }
            assert!(started.elapsed() < SOON, "{listed:#}");
            pause(started);
        }
    }

    /// Sends a prompt, after what stands there. The model's request with it, and all that is sent beside it.
    fn ask(&self, before: &str, prompt: &str) -> ModelRequest {
        let answer = format!("I heard {prompt}");
        self.model.script([Turn::say(&answer)]);
        self.claude.type_text(&format!("{before}{prompt}"));
        self.claude.enter();
        self.claude.wait_for(&answer);
        self.claude.wait_ready();
        let what = format!("with {prompt:?}");
        self.model.wait_for(&what, SOON, |request| {
            request.is_main && request.mentions(prompt)
        })
    }

    /// The output of a command.
    fn pillion(&self, args: &[&str]) -> Vec<u8> {
        let mut command = Command::new(PILLION);
        command
            .args(args)
            .env_clear()
            .envs(self.home.env().iter())
            .current_dir(self.home.workspace());
        command.output().unwrap().stdout
    }

    /// Lets the model propose and then say something, and waits until Claude Code asks in its own window.
    fn propose(&self, turns: impl IntoIterator<Item = Turn>, said: &str) {
        self.model.script(turns);
        self.model.script([Turn::say(said)]);
        self.claude.prompt("change it");
        self.claude.wait_question();
    }

    /// Lets it propose another line for [`FILE`], and waits until Helix shows it.
    fn propose_change(&self, old: &str, line: &str, said: &str) {
        let read = Turn::read_file(self.path());
        self.propose([read, Turn::replace(self.path(), old, line)], said);
        self.helix.wait_for(line);
    }

    /// Waits until the proposal can no longer be answered in Helix.
    fn wait_withdrawn(&self) {
        self.helix.wait_no_actions(&accept_title(FILE));
    }

    /// Waits until a change of [`FILE`] is refused on both sides, and nothing is written.
    fn wait_refused(&self) {
        self.claude.wait_answered();
        self.claude.wait_ready();
        assert_eq!(self.text(), BEFORE);
        self.model.clear();
        close(&self.helix);
    }
}

/// Waits until Claude Code can find the companion.
fn wait_published(home: &Home) {
    let started = Instant::now();
    while lock_files(home).is_empty() {
        assert!(started.elapsed() < SOON, "no companion was published");
        pause(started);
    }
}

/// That this is in what the model was sent.
#[track_caller]
fn assert_sent(request: &ModelRequest, text: &str) {
    assert!(
        request.mentions(text),
        "no {text:?} in {:#}",
        request.body["messages"]
    );
}
