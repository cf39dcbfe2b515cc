//! Claude Code as `pillion run` starts it, in modes in which it asks nobody by itself: what its hooks ask in place of a diff of its
//! own, and what becomes of a call about which nobody has decided when the hub is killed.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::thread::spawn;

use pillion_testkit::{Claude, ClaudeRelease, Env, Home, Model, Tmux, Turn, all_of, kill_hub};
use serde_json::json;

use super::run::{SETTINGS, first_cell, notebook, propose_cell, run_in, start};
use super::{NAME, Scene, read, wait_connected};
use crate::companion::{self, SOON};
use crate::review::Review;

/// A notebook's cell: accepted, rejected with a reason, stopped with Esc.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_about_cells_and_writes_nothing_without_a_hub_in_auto_mode() {
    let mut scene = run_in("auto");
    let book = scene.home.file("n.ipynb", notebook("x = 1"));
    propose_cell(&scene, &book, "x = 2");
    scene.review.accept("n.ipynb");
    scene.claude.wait_for("n.ipynb is done");
    assert_eq!(first_cell(&book), "x = 2");
    scene.claude.wait_ready();
    propose_cell(&scene, &book, "x = 3");
    scene.review.reject_because("n.ipynb", "Two is enough.");
    scene.wait_asked("and says: Two is enough.");
    scene.claude.wait_ready();
    propose_cell(&scene, &book, "x = 4");
    scene.claude.pane().send_keys(["Escape"]);
    scene.wait_closed("n.ipynb");
    scene.claude.wait_ready();
    assert_eq!(first_cell(&book), "x = 2");
    scene.model.clear();
    writes_nothing_without_a_hub(&scene, "auto");

    // Nobody decides in time.
    let env = Env::default().with("PILLION_LIMIT", "2");
    scene.review.pane().kill();
    wait_no_hub(&scene.home);
    scene.review = Review::start_with(&scene.tmux, &scene.home, "limited", &env);
    wait_connected(&scene.review);
    let made = scene.home.workspace().join("too-late");
    companion::run(&scene.home, ["review-mode", "commands"]);
    let input = json!({"command": "touch too-late", "description": "makes a file"});
    let bash = Turn::CallTool {
        name: "Bash",
        input,
    };
    let cell = json!({"notebook_path": book, "cell_id": "a1", "new_source": "x = 5"});
    let cell = Turn::CallTool {
        name: "NotebookEdit",
        input: cell,
    };
    scene
        .model
        .script([Turn::read_file(&book), cell, bash, Turn::say("it is over")]);
    scene.claude.prompt("do both");
    scene.claude.wait_for("it is over");
    let request = scene.model.last_main().expect("it asked its model");
    let told = request.body["messages"].to_string();
    assert_eq!(told.matches("nobody decided in time").count(), 2, "{told}");
    assert_eq!(first_cell(&book), "x = 2");
    assert!(!made.exists());
    companion::wait_none_pending(&scene.home);
    scene.review.wait_idle();
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_writes_nothing_without_a_hub_in_bypass_mode() {
    let mode = "bypassPermissions";
    writes_nothing_without_a_hub(&run_in(mode), mode);
}

fn wait_no_hub(home: &Home) {
    companion::wait_until("no hub", || {
        let is_hub = |pid: &u32| {
            let command = fs::read(format!("/proc/{pid}/cmdline"));
            command.is_ok_and(|it| it.ends_with(b"pillion\0hub\0"))
        };
        (!all_of(home).iter().any(is_hub)).then_some(())
    });
}

/// A review is open that Claude Code does not come back to, as one that is started after it has given up dialling: here, at another
/// port. It asks in its own window about what nobody is shown.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn claude_that_is_run_asks_if_it_does_not_come_back_to_an_open_review() {
    let mut scene = run_in("bypassPermissions");
    let locks = fs::read_dir(scene.home.home().join(".claude/ide")).expect("a review runs");
    let mut ports = locks.filter_map(|it| it.ok()?.path().file_stem()?.to_str()?.parse().ok());
    let port: u16 = ports.next().expect("it has left its file");
    scene.review.pane().kill();
    wait_no_hub(&scene.home);
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("nobody listens any more");
    spawn(move || taken.incoming().for_each(drop));
    scene.review = Review::start_with(&scene.tmux, &scene.home, "later", &Env::default());

    let book = scene.home.file("later.ipynb", notebook("x = 1"));
    let input = json!({"notebook_path": book, "cell_id": "a1", "new_source": "x = 2"});
    let name = "NotebookEdit";
    let cell = Turn::CallTool { name, input };
    scene.model.script([Turn::read_file(&book), cell]);
    scene.claude.prompt("change it");
    scene.claude.wait_question();
    scene.claude.deny();
    scene.claude.wait_ready();
    assert_eq!(first_cell(&book), "x = 1");

    let made = scene.home.workspace().join("made");
    let input = json!({"command": "touch made", "description": "makes a file"});
    scene.model.clear();
    scene.model.script([Turn::CallTool {
        name: "Bash",
        input,
    }]);
    scene.claude.prompt("run it");
    scene.claude.wait_question();
    assert!(!made.exists());
}

/// Nobody is shown what it changes once the person has closed the last window, nor before there is one: it asks in its own.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_that_is_run_asks_before_there_is_a_review_and_when_the_last_one_is_closed() {
    let home = Home::new();
    let (tmux, model) = (Tmux::start(), Model::start());
    let words = ["claude", "--permission-mode", "bypassPermissions"];
    let claude = start(
        ClaudeRelease::Native,
        &home,
        &tmux,
        &model,
        &words,
        SETTINGS,
    );
    let asks = |claude: &Claude, name: &str| {
        let path = home.workspace().join(name);
        let said = format!("{name} is done");
        model.script([Turn::write_file(&path, "one\n"), Turn::say(said.as_str())]);
        claude.prompt("change it");
        let screen = claude.wait_question();
        assert!(screen.contains("neither shown nor recorded"), "{screen}");
        assert!(!path.exists(), "it is written only if it is allowed here");
        claude.allow();
        claude.wait_for(&said);
        claude.wait_ready();
        model.clear();
    };
    asks(&claude, "before.txt");
    let review = Review::start_with(&tmux, &home, "review", &Env::default());
    let said = "runs in this folder and is not connected: type /ide in it";
    let pane = review.pane();
    let connected = format!("● {NAME}");
    let screen = pane.wait_until("Claude Code", SOON, |screen| {
        screen.contains(said) || screen.contains(&connected)
    });
    if screen.contains(said) {
        claude.connect_by_command();
    }
    wait_connected(&review);
    pane.wait_gone(said, SOON);
    let path = home.workspace().join("shown.txt");
    model.script([
        Turn::write_file(&path, "one\n"),
        Turn::say("shown.txt is done"),
    ]);
    claude.prompt("change it");
    pane.wait_for("Claude Code proposes shown.txt", SOON);
    review.accept("shown.txt");
    claude.wait_for("shown.txt is done");
    claude.wait_ready();
    review.wait_idle();
    model.clear();
    pane.send_keys(["q"]);
    pane.wait_for("asks about each change in its own window", SOON);
    pane.send_keys(["y"]);
    pane.wait_exit(SOON);
    asks(&claude, "after.txt");
}

/// Returns true if a process stands beside a hook that could tell that its companion was killed before it reached that.
fn is_guarded(home: &Home) -> bool {
    let read = |pid: &u32, name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let is_guard = |pid: &u32| read(pid, "cmdline").ends_with(b"hook\0guard\0claude\0");
    let mut guards = all_of(home).into_iter().filter(is_guard);
    guards.any(|pid| {
        let environment = read(&pid, "environ");
        let mut variables = environment.split(|byte| *byte == 0);
        variables.any(|it| it.starts_with(b"CLAUDE_CODE_SSE_PORT="))
    })
}

/// The hub is killed (SIGKILL) while a person is to decide about a cell, a shell command, an edit and a subagent's: each time Claude Code asks
/// in its own window, also where it asks nobody otherwise, and makes the call only if it is allowed there.
fn writes_nothing_without_a_hub(scene: &Scene, mode: &str) {
    let pane = scene.review.pane();
    let killed = || {
        kill_hub(&scene.home);
        scene.claude.wait_question();
    };
    let refused = || {
        scene.claude.deny();
        scene.claude.wait_ready();
        wait_connected(&scene.review);
        scene.review.wait_idle();
        scene.model.clear();
    };
    let book = scene.home.file("killed.ipynb", notebook("x = 1"));
    for is_allowed in [false, true] {
        let input = json!({"notebook_path": book, "cell_id": "a1", "new_source": "x = 2"});
        let name = "NotebookEdit";
        let edit = Turn::CallTool { name, input };
        scene
            .model
            .script([Turn::read_file(&book), edit, Turn::say("the cell is done")]);
        scene.claude.prompt("change it");
        pane.wait_for("Claude Code proposes killed.ipynb", SOON);
        assert!(is_guarded(&scene.home), "it knows which companion is meant");
        killed();
        assert_eq!(first_cell(&book), "x = 1");
        if is_allowed {
            scene.claude.allow();
            scene.claude.wait_for("the cell is done");
            scene.claude.wait_ready();
            wait_connected(&scene.review);
            assert_eq!(first_cell(&book), "x = 2");
        } else {
            refused();
            assert_eq!(first_cell(&book), "x = 1");
        }
    }

    let made = scene.home.workspace().join("made");
    companion::run(&scene.home, ["review-mode", "commands"]);
    let input = json!({"command": "touch made", "description": "makes a file"});
    let bash = Turn::CallTool {
        name: "Bash",
        input,
    };
    scene.model.script([bash]);
    scene.claude.prompt("run it");
    pane.wait_for("Claude Code proposes shell-command.sh", SOON);
    killed();
    assert!(!made.exists());
    refused();
    assert!(!made.exists());

    let path = scene.home.file("old.txt", "one\ntwo\n");
    let edit = Turn::replace(&path, "two", "zwei");
    scene.propose([Turn::read_file(&path), edit], "never", "old.txt");
    killed();
    refused();
    assert_eq!(read(&path), "one\ntwo\n");

    // In auto mode it would ask whether it may start one.
    if mode == "auto" {
        return;
    }
    let edit = Turn::replace(&path, "two", "drei");
    scene
        .model
        .script([Turn::subagent(), Turn::say("it is started")]);
    scene.model.script_subagent([Turn::read_file(&path), edit]);
    scene.claude.prompt("change it");
    pane.wait_for("Claude Code proposes old.txt", SOON);
    killed();
    scene.claude.deny();
    wait_connected(&scene.review);
    scene.review.wait_idle();
    assert_eq!(read(&path), "one\ntwo\n");
}
