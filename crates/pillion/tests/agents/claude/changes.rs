//! The changes that Claude Code makes without asking: known with the texts before, shown by commands, and taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pillion_testkit::{Claude, ClaudeRelease, Model, SOON, Size, Turn};
use serde_json::{Value, json};

use super::run::{SETTINGS, run};
use super::{NAME, Scene};
use crate::companion::{self, PILLION, files};

/// One that asks about nothing.
fn scene() -> Scene {
    let options = ["--review", "asked"];
    let own = ["--permission-mode", "bypassPermissions"];
    run(ClaudeRelease::Native, &options, &own, SETTINGS)
}

fn shell(command: &str) -> Turn {
    Turn::CallTool {
        name: "Bash",
        input: json!({"command": command, "description": "x"}),
    }
}

fn changes(scene: &Scene) -> Vec<Value> {
    let folder = scene.home.workspace();
    let mut command = companion::command(&scene.home, ["changes", "--json"]);
    let output = command.current_dir(folder).output().expect("pillion runs");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

pub(super) fn pillion(scene: &Scene, args: &[&str]) -> String {
    let mut command = companion::command(&scene.home, args);
    let output = command.current_dir(scene.home.workspace()).output();
    let output = output.expect("pillion runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{args:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn what_claude_writes_without_asking_is_known_and_taken_back() {
    let scene = scene();
    let folder = scene.home.workspace();
    let edited = scene.home.file("edited.txt", "one\r\ntwo\r\n");
    scene.home.file("streamed.txt", "\u{feff}old\nlines\n");
    scene.home.file("gone.txt", "here\n");
    scene.home.file("moved.txt", "the same\n");
    fs::write(folder.join("binary"), b"\0\xff\xfe").expect("the workspace is ours");
    let before = files(&folder);
    scene.model.script([
        Turn::read_file(&edited),
        Turn::replace(&edited, "two", "zwei"),
        Turn::write_file(folder.join("written.txt"), "new\n"),
        shell("sed -i s/old/new/ streamed.txt; printf x >> binary"),
        shell("for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $n > many-$n; done; rm gone.txt; mkdir in; mv moved.txt in/moved.txt"),
        shell("echo failed > failed.txt; exit 3"),
        Turn::say("all is done"),
    ]);
    scene.claude.prompt("change it");
    scene.claude.wait_for("all is done");
    scene.claude.wait_ready();
    let all = companion::wait_until("a turn that has ended", || {
        let turns: Vec<Value> =
            serde_json::from_str(&pillion(&scene, &["turns", "--json"])).ok()?;
        (turns.first()?["ended"].is_u64()).then(|| changes(&scene))
    });
    let after = files(&folder);
    let mut names: Vec<_> = all
        .iter()
        .map(|it| it["path"].as_str().expect("a path"))
        .collect();
    names.sort_unstable();
    let mut expected: Vec<_> = before
        .keys()
        .chain(after.keys())
        .filter(|it| before.get(*it) != after.get(*it))
        .collect();
    expected.sort_unstable();
    expected.dedup();
    assert_eq!(
        names,
        expected
            .iter()
            .map(|it| it.to_str().expect("UTF-8"))
            .collect::<Vec<_>>(),
        "{all:#?}"
    );
    let of = |name: &str| {
        let path = folder.join(name);
        let found = all
            .iter()
            .find(|it| it["path"] == path.to_str().expect("UTF-8"));
        found.unwrap_or_else(|| panic!("{name} is known"))
    };
    assert_eq!(
        (&of("edited.txt")["by"], &of("edited.txt")["added"]),
        (&json!("Edit"), &json!(1))
    );
    assert_eq!(of("written.txt")["by"], "Write");
    assert_eq!(
        (&of("failed.txt")["by"], &of("failed.txt")["state"]),
        (&json!("Bash"), &json!("unseen"))
    );
    assert_eq!(
        of("in/moved.txt")["movedFrom"],
        folder.join("moved.txt").to_str().expect("UTF-8")
    );
    let id = of("streamed.txt")["id"].as_str().expect("an id");
    let shown = pillion(&scene, &["show", id]);
    assert!(shown.contains("-\u{feff}old\n+\u{feff}new\n"), "{shown}");
    // What a person writes elsewhere since stays, when the agent's lines go.
    let turn = id.split_once('.').expect("it has two parts").0;
    pillion(&scene, &["revert", turn]);
    assert_eq!(files(&folder), before, "all of it is taken back");
    assert!(changes(&scene).is_empty());
    pillion(&scene, &["undo", turn]);
    assert_eq!(files(&folder), after, "and is there again");
    pillion(&scene, &["keep", turn]);
    assert!(changes(&scene).is_empty());
    // The agent goes on in a file of which something was taken back.
    let id = of("edited.txt")["id"].as_str().expect("an id");
    pillion(&scene, &["revert", id, "--because", "two is right"]);
    scene.model.script([
        Turn::read_file(&edited),
        Turn::replace(&edited, "one", "eins"),
        Turn::say("the other one is done"),
    ]);
    scene.claude.prompt("the other one, then");
    scene.claude.wait_for("the other one is done");
    scene.claude.wait_ready();
    let text = fs::read_to_string(&edited).expect("it is there");
    assert_eq!(text, "eins\r\ntwo\r\n");
    let all = changes(&scene);
    assert_eq!(all.len(), 1, "{all:#?}");
    let id = all[0]["id"].as_str().expect("an id");
    pillion(&scene, &["revert", id]);
    let text = fs::read_to_string(&edited).expect("it is there");
    assert_eq!(text, "one\r\ntwo\r\n");
}

/// The person chooses it with the review's key; the agent would ask in its default mode.
#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn claude_asks_nothing_where_the_person_looks_after_the_write() {
    let own = ["--permission-mode", "default"];
    let scene = run(ClaudeRelease::Native, &[], &own, SETTINGS);
    let folder = scene.home.workspace();
    let edited = scene.home.file("edited.txt", "one\r\ntwo\r\n");
    let replaced = scene.home.file("replaced.txt", "old\n");
    let before = files(&folder);
    let pane = scene.review.pane();
    scene.model.script([Turn::say("hello")]);
    scene.claude.prompt("hello");
    scene.claude.wait_for("hello");
    scene.claude.wait_ready();
    pane.wait_for("review: always", SOON);
    scene.review.press("m", "y has agents ask");
    scene.review.confirm("review: asked");
    pane.wait_for("y: agents write first", SOON);
    scene.review.confirm("after the write");
    scene.model.script([
        Turn::read_file(&edited),
        Turn::replace(&edited, "two", "zwei"),
        Turn::read_file(&replaced),
        Turn::write_file(&replaced, "new\n"),
        Turn::write_file(folder.join("in/made.txt"), "made\n"),
        Turn::say("all is done"),
    ]);
    scene.claude.prompt("change it");
    scene.claude.wait_for("all is done");
    scene.claude.wait_ready();
    pane.wait_for("after the write: 3 files to look at", SOON);
    let screen = pane.wait_for("3 changed files that you have not seen", SOON);
    assert!(!screen.contains("without showing"), "{screen}");
    let all = changes(&scene);
    assert_eq!(all.len(), 3, "{all:#?}");
    let turn = all[0]["turn"].to_string();
    pillion(&scene, &["revert", &turn]);
    assert_eq!(files(&folder), before, "all of it is taken back");
    // What runs as code is asked about, and so is a shell command.
    scene.model.clear();
    scene
        .model
        .script([Turn::write_file(folder.join(".envrc"), "true\n")]);
    scene.claude.prompt("write it");
    pane.wait_for("proposes .envrc", SOON);
    assert!(!folder.join(".envrc").exists());
    scene.review.reject(".envrc");
}

/// Starts `pillion look`, and waits until the review shows the file.
fn look(scene: &Scene, change: &str, file_name: &str) -> Child {
    let mut command = companion::command(&scene.home, ["look", change]);
    let command = command.current_dir(scene.home.workspace());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("pillion starts");
    scene
        .review
        .pane()
        .wait_for(&format!("has written {file_name}"), SOON);
    child
}

fn printed(child: Child) -> String {
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!(
        "{:?} {}{}",
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr)
    )
}

#[test]
#[ignore = "needs the real agents and Claude Code: cargo xtask test"]
fn what_claude_has_written_is_looked_at_in_the_review() {
    let scene = scene();
    let lines: String = (1..=30).map(|line| format!("line {line}\n")).collect();
    let path = scene.home.file("a.txt", &lines);
    let both = lines
        .replace("line 2\n", "second\n")
        .replace("line 29\n", "last but one\n");
    scene.model.script([
        Turn::read_file(&path),
        Turn::replace(&path, "line 2\n", "second\n"),
        Turn::replace(&path, "line 29\n", "last but one\n"),
        Turn::say("all is done"),
    ]);
    scene.claude.prompt("change it");
    scene.claude.wait_for("all is done");
    scene.claude.wait_ready();
    assert_eq!(super::read(&path), both);
    let turn = changes(&scene)[0]["turn"].to_string();
    let change = &format!("{turn}.1");
    // Nothing happens to what is rejected, nor to what nobody decides about.
    let child = look(&scene, change, "a.txt");
    scene.review.reject("a.txt");
    assert!(printed(child).starts_with("Some(0) "));
    assert_eq!(super::read(&path), both);
    let mut child = look(&scene, &turn, "a.txt");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let pane = scene.review.pane();
    pane.wait_gone("has written a.txt", SOON);
    assert_eq!(super::read(&path), both);
    assert_eq!(changes(&scene).len(), 1, "nobody has seen it");
    // One hunk out.
    let child = look(&scene, change, "a.txt");
    scene.review.take_hunk_out();
    scene.review.accept("a.txt");
    let said = printed(child);
    assert!(
        said.starts_with(&format!("Some(0) {change} a.txt: edited")),
        "{said}"
    );
    assert!(said.contains("is told with your next prompt"), "{said}");
    let one = both.replace("second\n", "line 2\n");
    assert_eq!(super::read(&path), one);
    assert!(changes(&scene).is_empty());
    // What a person writes stays.
    fs::write(&path, one.replace("line 15\n", "mine\n")).expect("the workspace is ours");
    pillion(&scene, &["undo"]);
    let mine = both.replace("line 15\n", "mine\n");
    assert_eq!(super::read(&path), mine);
    let child = look(&scene, change, "a.txt");
    scene.review.accept_shown("has written a.txt");
    let said = printed(child);
    assert!(
        said.starts_with(&format!("Some(0) {change} a.txt: kept")),
        "{said}"
    );
    assert_eq!(super::read(&path), mine);
    let args = [
        "revert",
        change,
        "--because",
        "use the table",
        "--note",
        "a.txt:2",
        "say 2nd",
    ];
    let said = pillion(&scene, &args);
    assert!(said.contains("is told with your next prompt"), "{said}");
    assert_eq!(super::read(&path), lines.replace("line 15\n", "mine\n"));
    scene.model.clear();
    scene.model.script([Turn::say("heard")]);
    scene.claude.prompt("go on");
    let request = scene.wait_asked("The user has taken back your change in");
    assert!(request.mentions("-second"));
    let said = "The user says of this:\n- use the table\n- line 2 (`second`): say 2nd";
    assert!(request.mentions(said));
    scene.claude.wait_ready();
    // What is kept is commented on like what was taken back, and so is a turn.
    scene.model.clear();
    scene.model.script([
        Turn::write_file(scene.home.workspace().join("b.txt"), "b\n"),
        Turn::write_file(scene.home.workspace().join("c.txt"), "c\n"),
        Turn::say("two files"),
    ]);
    scene.claude.prompt("two more");
    scene.claude.wait_for("two files");
    scene.claude.wait_ready();
    let turn = companion::wait_until("both files", || {
        let all = changes(&scene);
        (all.len() == 2).then(|| all[0]["turn"].to_string())
    });
    pillion(&scene, &["keep", &turn, "--because", "short is good"]);
    scene.model.clear();
    scene.model.script([Turn::say("heard that")]);
    scene.claude.prompt("go on");
    let request = scene.wait_asked("The user has kept your changes to");
    assert!(request.mentions("c.txt and says: short is good"));
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn the_review_counts_what_nobody_has_seen_and_shows_it() {
    let scene = scene();
    let [first, second] = ["first.txt", "second.txt"].map(|name| scene.home.workspace().join(name));
    let pane = scene.review.pane();
    scene.review.press("v", "there are no unseen changes here");
    scene.model.script([
        Turn::write_file(&first, "one\n"),
        shell("echo two > second.txt"),
        Turn::say("all is done"),
    ]);
    scene.claude.prompt("change it");
    scene.claude.wait_for("all is done");
    scene.claude.wait_ready();
    pane.wait_for("2 changed files that you have not seen", SOON);
    pane.send_keys(["v"]);
    pane.wait_for("has written first.txt (1 of 2)", SOON);
    scene.review.accept("first.txt");
    pane.wait_for("has written second.txt (2 of 2)", SOON);
    // It is kept, whatever becomes of the other one.
    companion::wait_until("one left", || (changes(&scene).len() == 1).then_some(()));
    // All of it out: the file goes.
    scene.review.take_hunk_out();
    scene.review.press("a", "y accepts anyway");
    scene.review.confirm("accepted second.txt");
    companion::wait_until("a file that is gone", || (!second.exists()).then_some(()));
    assert_eq!(super::read(&first), "one\n");
    pane.wait_until("nothing left to look at", SOON, |screen| {
        !screen.contains("that you have not seen")
    });
    let all: Vec<Value> =
        serde_json::from_str(&pillion(&scene, &["changes", "--all", "--json"])).expect("JSON");
    let states: Vec<_> = all
        .iter()
        .map(|it| it["state"].as_str().expect("a state"))
        .collect();
    assert_eq!(states, ["kept", "taken back"]);
}

/// The turns, once all have ended.
fn ended_turns(scene: &Scene, count: usize) -> Vec<Value> {
    companion::wait_until("turns that have ended", || {
        let turns: Vec<Value> = serde_json::from_str(&pillion(scene, &["turns", "--json"])).ok()?;
        let have_ended = turns.iter().all(|turn| turn["ended"].is_u64());
        (turns.len() == count && have_ended).then_some(turns)
    })
}

/// The names of the files that were changed, each with the tool that changed it; none if that is unclear.
fn who(changes: &[Value]) -> BTreeMap<String, Option<String>> {
    let name = |change: &Value| {
        let path = Path::new(change["path"].as_str().expect("a path"));
        path.file_name()
            .expect("it has a name")
            .to_string_lossy()
            .into_owned()
    };
    let by = |change: &Value| change["by"].as_str().map(str::to_owned);
    changes
        .iter()
        .map(|change| (name(change), by(change)))
        .collect()
}

fn by(tool: &str) -> Option<String> {
    Some(tool.to_owned())
}

/// The subagent works on when the turn of the agent that started it has ended.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn what_a_background_subagent_of_claude_writes_is_known() {
    let scene = scene();
    let folder = scene.home.workspace();
    let edited = scene.home.file("edited.txt", "one\ntwo\n");
    scene.home.file("streamed.txt", "old\n");
    let before = files(&folder);
    scene
        .model
        .script([Turn::subagent(), Turn::say("it is started")]);
    scene.model.script_subagent([
        shell("touch begun; until [ -e go ]; do sleep 0.05; done; sed -i s/old/new/ streamed.txt"),
        Turn::read_file(&edited),
        Turn::replace(&edited, "two", "zwei"),
        Turn::write_file(folder.join("written.txt"), "new\n"),
        Turn::say("the subagent is done"),
    ]);
    scene.claude.prompt("change it");
    scene.claude.wait_for("it is started");
    // The turn of the agent itself has ended by now.
    companion::wait_until("a subagent's command that runs", || {
        folder.join("begun").exists().then_some(())
    });
    scene.model.script([Turn::say("all is done")]);
    scene.home.file("go", "");
    scene.claude.wait_for("all is done");
    scene.claude.wait_ready();
    let known = companion::wait_until("all changes", || {
        let known = who(&changes(&scene));
        (known.len() == 5).then_some(known)
    });
    let expected = [
        ("begun", by("Bash")),
        ("edited.txt", by("Edit")),
        ("go", by("Bash")),
        ("streamed.txt", by("Bash")),
        ("written.txt", by("Write")),
    ];
    let expected = expected.map(|(name, by)| (name.to_owned(), by));
    assert_eq!(known, BTreeMap::from(expected));
    fs::remove_file(folder.join("go")).expect("the workspace is ours");
    let is_go = |change: &Value| {
        change["path"]
            .as_str()
            .is_some_and(|it| it.ends_with("/go"))
    };
    for change in changes(&scene) {
        if !is_go(&change) {
            pillion(&scene, &["revert", change["id"].as_str().expect("an id")]);
        }
    }
    assert_eq!(files(&folder), before);
}

/// Two in one folder, whose commands run at the same time: each has a turn of its own, and none is blamed for what the other
/// one may have changed.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn of_two_claudes_at_once_none_is_blamed_for_the_others_changes() {
    let first = scene();
    let folder = first.home.workspace();
    let release = ClaudeRelease::Native;
    let model = Model::start();
    let env = release
        .env(first.home.env(), &model)
        .with("IS_SANDBOX", "1");
    let command = [
        PILLION,
        "run",
        "--review",
        "asked",
        "claude",
        "--permission-mode",
        "bypassPermissions",
    ];
    let pane = first
        .tmux
        .spawn("second", Size::new(110, 45), &env, &folder, &command);
    let second = Claude::attach(release, pane);
    first.review.pane().wait_for(&format!("{NAME} ×2"), SOON);
    first.model.script([
        shell("touch started; until [ -e go ]; do sleep 0.05; done; echo a > a.txt"),
        Turn::say("the first is done"),
    ]);
    first.claude.prompt("the first prompt");
    companion::wait_until("a command that runs", || {
        folder.join("started").exists().then_some(())
    });
    model.script([
        shell("echo b > b.txt"),
        Turn::write_file(folder.join("c.txt"), "c\n"),
        Turn::say("the second is done"),
    ]);
    second.prompt("the second prompt");
    second.wait_for("the second is done");
    second.wait_ready();
    first.home.file("go", "");
    first.claude.wait_for("the first is done");
    first.claude.wait_ready();
    let turns = ended_turns(&first, 2);
    let prompt = |turn: &Value| turn["prompt"].as_str().expect("a prompt").to_owned();
    let prompts: Vec<_> = turns.iter().map(prompt).collect();
    assert!(
        prompts.contains(&"the first prompt".to_owned()),
        "{prompts:?}"
    );
    assert!(
        prompts.contains(&"the second prompt".to_owned()),
        "{prompts:?}"
    );
    let known = who(&changes(&first));
    let expected = [
        ("a.txt", by("Bash")),
        ("b.txt", None),
        ("c.txt", by("Write")),
        ("go", by("Bash")),
        ("started", by("Bash")),
    ];
    let expected = expected.map(|(name, by)| (name.to_owned(), by));
    assert_eq!(known, BTreeMap::from(expected));
    let of = |words: &str| {
        let turn = turns.iter().find(|turn| prompt(turn) == words);
        let number = turn.expect("it is there")["turn"].to_string();
        let all = pillion(&first, &["changes", &number, "--json"]);
        who(&serde_json::from_str::<Vec<Value>>(&all).expect("JSON"))
    };
    assert!(of("the first prompt").contains_key("a.txt"));
    assert!(of("the second prompt").contains_key("c.txt"));
}

/// A checkout, a formatter, a new folder with files in it, and a script that writes twelve.
#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn what_claudes_commands_write_is_known_and_taken_back() {
    let scene = scene();
    let folder = scene.home.workspace();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let mut git = Command::new("git");
        git.args(identity).args(arguments).current_dir(&folder);
        let output = git.env("HOME", scene.home.home()).output();
        assert!(output.expect("git runs").status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    scene.home.file("code.c", "int a;\n");
    scene.home.file("old.c", "int old;\n");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    scene.home.file("code.c", "int a;\n\tint b;\r\n");
    fs::remove_file(folder.join("old.c")).expect("the workspace is ours");
    scene.home.file("new.c", "\tint new;\n");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "second"]);
    scene.home.file("untracked.c", "\tint c;\n");
    let without_git = || {
        let mut all = files(&folder);
        all.retain(|path, _| !path.starts_with(folder.join(".git")));
        all
    };
    let before = without_git();
    scene.model.script([
        shell("for file in *.c; do expand -t4 $file > $file.new && mv $file.new $file; done"),
        shell("git stash -q && git checkout -q HEAD~1"),
        shell("mkdir -p in/deep && cp code.c in/deep/copy.c && echo x > in/x"),
        shell("sh <<'EOF'\nfor n in 1 2 3 4 5 6 7 8 9 10 11 12; do cat > doc-$n <<END\nline $n\nEND\ndone\nEOF"),
        Turn::say("all is done"),
    ]);
    scene.claude.prompt("change it");
    scene.claude.wait_for("all is done");
    scene.claude.wait_ready();
    ended_turns(&scene, 1);
    let after = without_git();
    let changed = before.keys().chain(after.keys());
    let changed = changed.filter(|path| before.get(*path) != after.get(*path));
    let changed: BTreeSet<_> = changed.map(|path| path.to_str().expect("UTF-8")).collect();
    let known = changes(&scene);
    let paths = known.iter().map(|it| it["path"].as_str().expect("a path"));
    assert_eq!(paths.collect::<BTreeSet<_>>(), changed, "{known:#?}");
    assert!(known.iter().all(|it| it["by"] == "Bash"), "{known:#?}");
    let turn = known[0]["turn"].to_string();
    // What came with the checkout is left out otherwise.
    pillion(&scene, &["revert", "--all", &turn]);
    assert_eq!(without_git(), before, "all of it is taken back");
}

#[test]
#[ignore = "in --all: needs the real agents and Claude Code: cargo xtask test --all"]
fn what_was_proposed_and_decided_in_a_turn_is_listed_with_it() {
    let own = ["--permission-mode", "acceptEdits"];
    let scene = run(ClaudeRelease::Native, &[], &own, SETTINGS);
    let path = scene.home.file("a.txt", "one\n");
    let new = scene.home.workspace().join("b.txt");
    scene.model.script([
        Turn::read_file(&path),
        Turn::replace(&path, "one", "uno"),
        Turn::write_file(&new, "new"),
        Turn::say("all is done"),
    ]);
    scene.claude.prompt("change it");
    let pane = scene.review.pane();
    pane.wait_for("proposes a.txt", SOON);
    scene.review.reject_because("a.txt", "in English");
    pane.wait_for("proposes b.txt", SOON);
    scene.review.accept("b.txt");
    scene.claude.wait_for("all is done");
    scene.claude.wait_ready();
    let turn = companion::wait_until("a turn that has ended", || {
        let turns: Vec<Value> =
            serde_json::from_str(&pillion(&scene, &["turns", "--json"])).ok()?;
        let turn = turns.first()?.clone();
        (turn["ended"].is_u64()).then_some(turn)
    });
    assert_eq!(
        (&turn["rejected"], &turn["changes"]),
        (&json!(1), &json!(1))
    );
    let number = turn["turn"].to_string();
    let all = pillion(&scene, &["changes", &number, "--json"]);
    let all: Vec<Value> = serde_json::from_str(&all).expect("it is JSON");
    let row = |it: &Value| json!([it["id"], it["state"], it["reason"]]);
    let rows: Vec<Value> = all.iter().map(row).collect();
    let name = format!("{number}.1");
    let expected = [
        json!([name, "accepted", null]),
        json!(["d1", "rejected", "in English"]),
    ];
    assert_eq!(rows, expected);
    let shown = pillion(&scene, &["show", &number]);
    assert!(shown.contains("# d1 rejected, Claude Code"), "{shown}");
    assert!(
        shown.contains("# in English\ndiff --git a/a.txt b/a.txt\n--- a/a.txt\n"),
        "{shown}"
    );
    pillion(&scene, &["forget", &number]);
    let log: Vec<Value> =
        serde_json::from_str(&pillion(&scene, &["log", "--json"])).expect("it is JSON");
    let ids: Vec<&Value> = log.iter().map(|it| &it["id"]).collect();
    assert!(ids.is_empty(), "{ids:?}");
}
