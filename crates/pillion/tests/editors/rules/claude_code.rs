//! The real Claude Code in a terminal beside the editor, with a stand-in for its model: what it is sent, and
//! what is on the disk after each decision.

use std::fs;
use std::path::PathBuf;

use pillion_protocol::Dialect;
use pillion_testkit::{
    Claude, ClaudeRelease, Home, Model, SOON, Size, Tmux, Turn, each_editor, lock_files,
    set_up_claude,
};

use crate::driver::{Editor, Habit, Kind, PILLION, Start};
use crate::person::{wait, wait_for};

/// Claude Code shows companions LF, and writes CRLF again.
const BEFORE: &str = "one\r\ntwo\r\nthree\r\n";

/// The mode that shows diffs.
const MODE: [&str; 2] = ["--permission-mode", "default"];

/// All in one run: both take longer to start than to do any of this.
#[each_editor(claude_code)]
fn claude_code_is_told_what_is_selected_and_does_what_is_decided_on_either_side(kind: Kind) {
    let scene = Scene::start(kind);
    is_told_what_is_selected(&scene);
    scene.propose("two", "rejected");
    scene.wait_view();
    scene.editor.reject();
    scene.wait_refused();

    scene.propose("two", "denied");
    scene.claude.deny();
    scene.wait_refused();

    scene.propose("two", "allowed");
    scene.claude.allow();
    scene.claude.wait_for("that is done");
    scene.wait_no_view();
    assert_eq!(scene.text(), BEFORE.replace("two", "allowed"));

    let edited = writes_what_was_edited(&scene);
    scene.propose("TWO", "lost");
    scene.claude.pane().kill();
    // Who is in it leaves it.
    scene.wait("what has become of it", |editor| {
        editor.sees("no longer waits for poem.txt")
    });
    scene.editor.close();
    scene.wait_no_view();
    assert_eq!(scene.text(), edited);
    scene.editor.assert_no_errors();
}

fn is_told_what_is_selected(scene: &Scene) {
    scene.editor.select(2, 3);
    scene.claude.wait_for("⧉ 1 line selected");
    scene.model.script([Turn::say("I see it")]);
    scene.claude.prompt("look at the selection");
    scene.claude.wait_for("I see it");
    let asked = scene.model.wait_for("with the prompt", SOON, |request| {
        request.is_main && request.mentions("look at the selection")
    });
    assert!(asked.mentions("The user selected the lines"), "{asked:?}");
    scene.editor.go_to(1);
}

/// Returns what is in the file then.
fn writes_what_was_edited(scene: &Scene) -> &'static str {
    scene.propose("allowed", "TWO");
    scene.wait_view();
    scene.editor.append("mine");
    scene.editor.accept();
    scene.wait_no_view();
    scene.wait("what the agent wrote", |editor| {
        editor.text().replace('\r', "") == "one\nTWO\nthree\nmine\n"
    });
    scene.claude.wait_ready();
    let expected = "one\r\nTWO\r\nthree\r\nmine\r\n";
    assert_eq!(scene.text(), expected);
    expected
}

struct Scene {
    claude: Claude,
    editor: Box<dyn Editor>,
    model: Model,
    // After those that run in it.
    _tmux: Tmux,
    // Last: the others have files in it.
    home: Home,
}

impl Scene {
    fn start(kind: Kind) -> Scene {
        let (tmux, home, model) = (Tmux::start(), Home::new(), Model::start());
        set_up_claude(&home, &home.workspace());
        let editor = kind.start(&Start {
            home: &home,
            tmux: &tmux,
            cwd: home.workspace(),
            files: vec![home.file("poem.txt", BEFORE)],
            habit: Habit::None,
        });
        wait(&*editor, "Pillion running", |editor| editor.is_running());
        wait_for("a lock file", || lock_files(&home).pop());
        let release = ClaudeRelease::Native;
        let command = [PILLION, "run", "--require", "claude"];
        let command: Vec<_> = command.into_iter().chain(MODE).collect();
        let env = release.env(home.env(), &model);
        let size = Size::new(110, 45);
        let pane = tmux.spawn("agent", size, &env, &home.workspace(), &command);
        let claude = Claude::attach(release, pane);
        wait(&*editor, "Claude Code connected", |editor| {
            editor.knows(Dialect::ClaudeCode.name())
        });
        Scene {
            claude,
            editor,
            model,
            _tmux: tmux,
            home,
        }
    }

    fn path(&self) -> PathBuf {
        self.home.workspace().join("poem.txt")
    }

    /// The text of the file.
    fn text(&self) -> String {
        fs::read_to_string(self.path()).unwrap()
    }

    /// The agent proposes another line, and its question stands in its own window, too.
    fn propose(&self, line: &str, other: &str) {
        self.claude.wait_ready();
        self.model.script([
            Turn::read_file(self.path()),
            Turn::replace(self.path(), line, other),
            Turn::say("that is done"),
        ]);
        self.claude.prompt("change it");
        self.wait("a proposal", |editor| editor.is_in_proposal());
        self.claude.wait_question();
    }

    /// Waits until the proposal may be accepted.
    fn wait_view(&self) {
        self.wait("a proposal that may be accepted", |editor| {
            editor.may_accept()
        });
    }

    fn wait_no_view(&self) {
        self.wait("no view left", |editor| !editor.has_views());
    }

    /// Waits until a change is refused on both sides, and nothing is written.
    fn wait_refused(&self) {
        self.wait_no_view();
        self.claude.wait_answered();
        self.claude.wait_ready();
        assert_eq!(self.text(), BEFORE);
        self.model.clear();
    }

    #[track_caller]
    fn wait(&self, what: &str, condition: impl Fn(&dyn Editor) -> bool) {
        wait(&*self.editor, what, condition);
    }
}
