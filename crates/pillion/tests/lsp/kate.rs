//! A person in Kate, set up as `docs/editors.md` says: what agents hear, and what becomes of what they propose.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_testkit::client::claude::Answer;
use pillion_testkit::{
    Claude, ClaudeRelease, Env, Home, Kate, KateVersion, Model, SOON, TestAgent, TestClaude, Tmux,
    Turn, each_kate, lock_files, make_repository,
};
use pillion_view::LOOK;
use serde_json::{Value, json};

const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

const PAGE: &str = include_str!("../../../../docs/editors.md");

const BEFORE: &str = "one\ntwo\nthree\n";

/// The title that the window has then.
const PROPOSAL: &str = "poem.proposed.py";

/// Their places in the menu.
const ACCEPT: usize = 1;
const REJECT: usize = 2;

#[each_kate(smoke)]
fn a_proposal_is_decided_in_the_menu_of_code_actions_or_by_closing_it(version: KateVersion) {
    let scene = Scene::start(version, BEFORE);
    let Scene {
        kate, path, home, ..
    } = &scene;
    let mut gemini = TestAgent::find(home, Dialect::GeminiCli);
    kate.keys(["Down", "End"]);
    gemini.context(|context| {
        let file = context.active_file();
        let cursor = file.and_then(|file| file.cursor);
        cursor.is_some_and(|cursor| (cursor.line, cursor.character) == (2, 4))
    });
    let accepted = |text: &str| Update::accepted(path.display().to_string(), text);
    let rejected = Update::DiffRejected {
        path: path.display().to_string(),
    };

    scene.shows(PROPOSAL, || gemini.propose(path, "one\n2\nthree\n"));
    kate.keys(["ctrl+End"]);
    kate.type_text("mine");
    kate.choose(ACCEPT);
    assert_eq!(gemini.outcome(), accepted("one\n2\nthree\nmine"));
    scene.close();

    scene.shows(PROPOSAL, || gemini.propose(path, "one\nthree\n"));
    kate.choose(REJECT);
    assert_eq!(gemini.outcome(), rejected);
    scene.close();

    scene.shows(PROPOSAL, || gemini.propose(path, "one\n"));
    scene.close();
    assert_eq!(gemini.outcome(), rejected);
    assert_eq!(fs::read_to_string(path).unwrap(), BEFORE);

    // Saving decides nothing: the rejection is the first outcome.
    scene.shows(PROPOSAL, || gemini.propose(path, "one\nfour\n"));
    kate.keys(["ctrl+End"]);
    kate.type_text("mine");
    kate.keys(["ctrl+s"]);
    kate.choose(REJECT);
    assert_eq!(gemini.outcome(), rejected);
    scene.close();

    scene.shows(PROPOSAL, || gemini.propose(path, "one\nfive\n"));
    kate.kill();
    assert_eq!(gemini.outcome(), rejected);
}

#[each_kate]
fn two_agents_with_hostile_names_get_an_outcome_each(version: KateVersion) {
    let scene = Scene::start(version, BEFORE);
    let Scene { kate, home, .. } = &scene;
    let mut gemini = TestAgent::find(home, Dialect::GeminiCli);
    let claude = TestClaude::find(home);
    for name in ["$(touch PWNED).py", "-x.py", "a b'\"#%?:3.py", "ünï 👩‍👩.py"] {
        let path = home.workspace().join(name);
        let title = name.replace(".py", ".proposed.py");
        scene.shows(&title, || gemini.propose(&path, "gemini's\n"));
        kate.choose(ACCEPT);
        let accepted = Update::accepted(path.display().to_string(), "gemini's\n");
        assert_eq!(gemini.outcome(), accepted);
        scene.close();
        // Of a new file, a release that names no version loses the last line feed.
        fs::write(&path, "old\n").unwrap();
        let call = scene.shows(&title, || claude.proposing(&path, "claude's\n", name));
        kate.choose(ACCEPT);
        assert_eq!(call.end(), Ok(Answer::Saved("claude's\n".to_owned())));
        scene.close();
    }
    assert!(!home.workspace().join("PWNED").exists());
    let companions = lock_files(home);
    assert_eq!(companions.len(), 1, "{companions:?}");
}

#[each_kate(all, claude_code)]
fn the_real_claude_code_writes_what_is_accepted_in_kate(version: KateVersion) {
    let scene = Scene::start(version, &BEFORE.replace('\n', "\r\n"));
    let Scene {
        kate, path, home, ..
    } = &scene;
    let (tmux, model) = (Tmux::start(), Model::start());
    let folder = home.workspace();
    let claude = Claude::start(ClaudeRelease::Native, &tmux, home, &model, &folder);
    claude.wait_for("⧉ In poem.py");
    model.script([
        Turn::read_file(path),
        Turn::replace(path, "two", "TWO"),
        Turn::say("that is done"),
    ]);
    scene.shows(PROPOSAL, || claude.prompt("change it"));
    claude.wait_question();
    kate.keys(["ctrl+End"]);
    kate.type_text("mine");
    kate.choose(ACCEPT);
    claude.wait_for("that is done");
    let edited = "one\r\nTWO\r\nthree\r\nmine";
    assert_eq!(fs::read_to_string(path).unwrap(), edited);
    model.wait_for("with the open file", SOON, |request| {
        let opened = format!("The user opened the file {} in the IDE", path.display());
        request.is_main && request.mentions(&opened)
    });
}

#[each_kate]
fn after_installing_a_proposal_in_any_language_can_be_decided(version: KateVersion) {
    let scene = Scene::with(version, BEFORE, installed);
    let Scene { kate, home, .. } = &scene;
    let mut gemini = TestAgent::find(home, Dialect::GeminiCli);
    // A server of Kate's own that is not here, one that it has none for, plain text, and no name for it at all.
    for name in [
        "a.rs",
        "a.lua",
        "a.ada",
        "a.f90",
        "CMakeLists.txt",
        "notes.txt",
        "a.qqq",
        "Makefile",
    ] {
        let path = home.workspace().join(name);
        let title = match name.rsplit_once('.') {
            Some((stem, extension)) => format!("{stem}.proposed.{extension}"),
            None => format!("{name}.proposed"),
        };
        scene.shows(&title, || gemini.propose(&path, "one\n"));
        kate.choose(ACCEPT);
        let accepted = Update::accepted(path.display().to_string(), "one\n");
        assert_eq!(gemini.outcome(), accepted, "{name}");
        scene.close();
    }
    assert_eq!(scene.logged("initialize"), 1);
    assert_eq!(lock_files(home).len(), 1);
}

/// If Kate looks for the root itself, a proposal is outside of it, and Kate starts another server for that.
#[each_kate]
fn a_second_server_for_a_proposal_decides_it_and_is_no_companion(version: KateVersion) {
    let scene = Scene::with(version, BEFORE, |_| {
        let mut settings = of_the_page();
        let server = &mut settings["servers"]["~pillion"];
        server["rootIndicationFileNames"] = json!([".git"]);
        server["useWorkspace"] = json!(false);
        settings
    });
    let Scene {
        kate, path, home, ..
    } = &scene;
    let mut gemini = TestAgent::find(home, Dialect::GeminiCli);
    scene.shows(PROPOSAL, || gemini.propose(path, "one\n2\nthree\n"));
    kate.keys(["ctrl+End"]);
    kate.type_text("mine");
    kate.choose(ACCEPT);
    let accepted = Update::accepted(path.display().to_string(), "one\n2\nthree\nmine");
    assert_eq!(gemini.outcome(), accepted);
    assert_eq!(scene.logged("initialize"), 2);
    assert_eq!(lock_files(home).len(), 1);
    scene.close();

    let rejected = Update::DiffRejected {
        path: path.display().to_string(),
    };
    scene.shows(PROPOSAL, || gemini.propose(path, "one\n"));
    kate.choose(REJECT);
    assert_eq!(gemini.outcome(), rejected);
    scene.close();
    scene.shows(PROPOSAL, || gemini.propose(path, "two\n"));
    scene.close();
    assert_eq!(gemini.outcome(), rejected);
    assert_eq!(lock_files(home).len(), 1);
}

#[each_kate]
fn cannot_tell_agents_what_is_selected(version: KateVersion) {
    let scene = Scene::start(version, BEFORE);
    let mut gemini = TestAgent::find(&scene.home, Dialect::GeminiCli);
    scene.kate.keys(["Home", "shift+End", "shift+Down"]);
    // Nor later, once the cursor is somewhere else.
    scene.kate.keys(["ctrl+End"]);
    let selected = Cell::new(false);
    gemini.context(|context| {
        let file = context.active_file();
        if file.is_some_and(|file| file.selected_text.is_some()) {
            selected.set(true);
        }
        let cursor = file.and_then(|file| file.cursor);
        cursor.is_some_and(|cursor| cursor.line == 4)
    });
    assert!(!selected.get());
}

/// Kate with `poem.py` open.
struct Scene {
    kate: Kate,
    path: PathBuf,
    /// Of the language server.
    log: PathBuf,
    // Last: the editor has files in it.
    home: Home,
}

impl Scene {
    fn start(version: KateVersion, text: &str) -> Scene {
        Self::with(version, text, |_| of_the_page())
    }

    /// With the settings that `set_up` finds for a home.
    fn with(version: KateVersion, text: &str, set_up: impl FnOnce(&Home) -> Value) -> Scene {
        let home = Home::new();
        let path = home.file("poem.py", text);
        let log = home.root().join("log");
        let config = home.home().join(".config");
        fs::create_dir_all(config.join("kate/lspclient")).unwrap();
        let settings = with_log(set_up(&home), &log);
        let allowed = allowed(&settings);
        let file = config.join("kate/lspclient/settings.json");
        fs::write(file, settings.to_string()).unwrap();
        fs::write(config.join("katerc"), allowed).unwrap();
        // A project, whose folder is the root.
        make_repository(&home.workspace());
        let kate = Kate::start(version, &home, &env(&home), &[&path]);
        Scene {
            kate,
            path,
            log,
            home,
        }
    }

    /// The proposal that `propose` begins is shown under this title, and its server knows. Returns what that gave.
    fn shows<T>(&self, title: &str, propose: impl FnOnce() -> T) -> T {
        let before = self.opened();
        let proposed = propose();
        self.kate.wait_title(title);
        let started = Instant::now();
        while self.opened() == before {
            assert!(started.elapsed() < SOON, "{title} was not opened");
            sleep(Duration::from_millis(20));
        }
        // Nothing counts before that.
        sleep(LOOK);
        proposed
    }

    /// The number of files that Kate has opened.
    fn opened(&self) -> usize {
        self.logged("textDocument/didOpen")
    }

    /// The number of messages of this name.
    fn logged(&self, method: &str) -> usize {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.matches(&format!("\"{method}\"")).count()
    }

    /// Closes the proposal that has the focus.
    fn close(&self) {
        self.kate.close("poem.py");
    }
}

/// With `pillion` on PATH.
fn env(home: &Home) -> Env {
    let mut env = home.env();
    env.prepend_path(Path::new(PILLION).parent().unwrap());
    env
}

/// The settings of the page.
fn of_the_page() -> Value {
    let section = PAGE.split("\n## ").find(|it| it.starts_with("Kate\n"));
    let settings = section.expect("the page has it").split("```json\n").nth(1);
    let settings = settings.and_then(|rest| rest.split("```").next());
    serde_json::from_str(settings.expect("the page has settings")).unwrap()
}

/// Those that Pillion writes.
fn installed(home: &Home) -> Value {
    let file = home.home().join(".config/kate/lspclient/settings.json");
    let mut install = Command::new(PILLION);
    install.args(["install", "kate"]).env_clear();
    let output = install.envs(env(home).iter()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}

fn with_log(mut settings: Value, log: &Path) -> Value {
    let command = settings["servers"]["~pillion"]["command"].as_array_mut();
    command.unwrap().extend([json!("--log"), json!(log)]);
    settings
}

/// The answer to Kate's question whether the servers of these settings may start.
fn allowed(settings: &Value) -> String {
    let command = settings["servers"]["~pillion"]["command"].as_array();
    let words = command.unwrap().iter().map(|word| word.as_str().unwrap());
    let mut words: Vec<_> = words.collect();
    words[0] = PILLION;
    let line = words.join(" ");
    format!("[lspclient]\nAllowedServerCommandLines={line}\n")
}
