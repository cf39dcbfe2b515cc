//! `pillion log`, and what `show` and `forget` do with its entries.

use std::fs;
use std::time::Instant;

use pillion_testkit::{SOON, TestAgent, pause};
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, Serve};

struct World {
    sandbox: Sandbox,
    serve: Serve,
    agent: TestAgent,
}

impl World {
    /// With this text in the file before the agent is connected: what is written there later may be its own.
    fn new(before: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.home.file("a.txt", before);
        let serve = sandbox.serve_in_hub::<&str>([]);
        Self {
            agent: serve.connect(),
            sandbox,
            serve,
        }
    }

    /// Proposes a change of a file, and decides about it with this command.
    fn decide(&mut self, file: &str, proposed: &str, args: &[&str], input: &str) {
        let path = self.sandbox.home.workspace().join(file);
        let known = self.log().len();
        self.agent.propose(path, proposed);
        let listed = self.run(&["diffs", "--json"]).stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let (id, revision) = (&listed[0]["id"], &listed[0]["revision"]);
        let name = format!("{id}.{revision}");
        let args: Vec<&str> = args
            .iter()
            .map(|arg| if *arg == "ID" { &name } else { *arg })
            .collect();
        let ran = self.sandbox.run_with_input(args, input.as_bytes());
        ran.expect(0);
        self.agent.outcome();
        let started = Instant::now();
        while self.log().len() == known {
            assert!(started.elapsed() < SOON, "the decision is kept");
        }
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.sandbox.run(args).expect(0)
    }

    fn log(&self) -> Vec<Value> {
        serde_json::from_str(&self.run(&["log", "--json"]).stdout).unwrap()
    }
}

#[test]
fn each_decision_is_listed_and_shown_as_it_was_decided() {
    let mut world = World::new("1\n2\n");
    world.decide("a.txt", "one\n2\n", &["accept", "ID"], "");
    let edited = ["accept", "ID", "--content-file", "-"];
    world.decide("a.txt", "one\n2\n", &edited, "one\nmine");
    let because = ["reject", "ID", "--because", "not \u{1b}[31mthis\nbut that"];
    world.decide("new.txt", "new\n", &because, "");
    let log = world.log();
    let row = |it: &Value| {
        json!([
            it["id"],
            it["state"],
            it["added"],
            it["removed"],
            it["reason"]
        ])
    };
    let rows: Vec<Value> = log.iter().map(row).collect();
    let reason = log[0]["reason"].as_str().unwrap();
    assert!(!reason.contains('\u{1b}') && reason.starts_with("not "));
    assert_eq!(
        rows,
        [
            json!(["d3", "rejected", 1, 0, reason]),
            json!(["d2", "edited", 2, 2, null]),
            json!(["d1", "accepted", 1, 1, null]),
        ]
    );
    assert!(
        log.iter()
            .all(|it| it["agent"] == "gemini" && it["turn"].is_null())
    );
    let printed = world.run(&["log", "2"]).stdout;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 2, "{printed}");
    for (line, parts) in [
        (
            lines[0],
            ["d3", "just now", "Gemini CLI", "rejected", "new.txt: not "],
        ),
        (
            lines[1],
            ["d2", "just now", "Gemini CLI", "edited", "a.txt"],
        ),
    ] {
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
    let show = |args: &[&str]| world.run(args).stdout;
    let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-1\n-2\n+one\n+mine\n\\ No newline at end of file\n";
    assert!(
        show(&["show", "d2"]).ends_with(diff),
        "{}",
        show(&["show", "d2"])
    );
    assert_eq!(show(&["show", "d2", "--text"]), "one\nmine");
    let rejected = show(&["show", "d3"]);
    assert!(
        rejected.contains(
            "# but that\ndiff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n"
        ),
        "{rejected}"
    );
    assert_eq!(show(&["show", "d3", "--text"]), "new\n");
    let elsewhere = world.sandbox.home.other_workspace("elsewhere");
    let other = world.sandbox.run_in(&elsewhere, ["log"]).expect(0).stdout;
    assert_eq!(other, "nothing has been decided here\n");
}

/// What is listed of a file: its state, what came of it, and the whole line. Waits until that is known.
pub fn came_of(sandbox: &Sandbox, file: &str) -> (String, String, String) {
    let started = Instant::now();
    loop {
        let log = sandbox.run(["log", "--json"]).expect(0).stdout;
        let log: Vec<Value> = serde_json::from_str(&log).unwrap();
        let is_its = |it: &&Value| it["path"].as_str().unwrap().ends_with(file);
        let entry = log.iter().find(is_its).unwrap();
        if let Some(outcome) = entry["outcome"].as_str() {
            let lines = sandbox.run(["log"]).expect(0).stdout;
            let line = lines.lines().find(|it| it.contains(file)).unwrap();
            let state = entry["state"].as_str().unwrap();
            return (state.to_owned(), outcome.to_owned(), line.to_owned());
        }
        assert!(started.elapsed() < SOON, "{file}: {log:?}");
        pause(started);
    }
}

/// An agent that writes, one that writes the person's text, one that writes something else, and one that writes nothing: what
/// came of it stands in the entry of the decision.
#[test]
fn what_was_accepted_is_not_written_before_the_file_has_it() {
    let mut world = World::new("1\n");
    let path = |file: &str| world.sandbox.home.workspace().join(file);
    let (done, mine, other, nothing) = (path("done"), path("mine"), path("other"), path("nothing"));
    let edited = ["accept", "ID", "--content-file", "-"];
    world.decide("nothing", "2\n", &["accept", "ID"], "");
    let listed = world.run(&["log"]).stdout;
    assert!(
        listed.contains(" accepted ") && listed.ends_with("  nothing\n"),
        "{listed}"
    );
    world.decide("done", "2\n", &["accept", "ID"], "");
    fs::write(&done, "2\n").unwrap();
    world.decide("mine", "2\n", &edited, "mine\n");
    fs::write(&mine, "mine\n").unwrap();
    world.decide("other", "2\n", &["accept", "ID"], "");
    fs::write(&other, "3\n").unwrap();
    for (file, state, outcome, shown, end) in [
        (
            "done",
            "accepted",
            "written",
            " accepted ",
            "  done, written",
        ),
        ("mine", "edited", "written", " edited ", "  mine, written"),
        (
            "other",
            "accepted",
            "written differently",
            " accepted ",
            "  other, written differently",
        ),
        (
            "nothing",
            "accepted",
            "not written",
            " not written ",
            "  nothing, Gemini CLI did not write it",
        ),
    ] {
        let (its_state, its_outcome, line) = came_of(&world.sandbox, file);
        assert_eq!((&*its_state, &*its_outcome), (state, outcome), "{line}");
        assert!(line.contains(shown) && line.ends_with(end), "{line}");
    }
    assert!(!nothing.exists());
    assert_eq!(world.log().len(), 4, "no entry is added");
    let shown = world.run(&["show", "d1"]).stdout;
    assert!(shown.starts_with("# d1 not written, Gemini CLI"), "{shown}");
    assert!(
        shown.contains("\n# Gemini CLI did not write it\n"),
        "{shown}"
    );
}

#[test]
fn entries_are_forgotten_one_by_one_or_all() {
    let mut world = World::new("1\n");
    for proposed in ["2\n", "3\n", "4\n"] {
        world.decide("a.txt", proposed, &["reject", "ID"], "");
    }
    world.run(&["forget", "d2"]);
    let ids =
        |world: &World| -> Vec<Value> { world.log().iter().map(|it| it["id"].clone()).collect() };
    assert_eq!(ids(&world), ["d3", "d1"]);
    for (args, why, hint) in [
        (&["show", "d2"][..], "there is no entry d2", "pillion log"),
        (&["forget", "d2"], "there is no entry d2", "pillion log"),
        (
            &["forget", "1.2"],
            "one change of a turn",
            "pillion forget 1",
        ),
    ] {
        let ran = world.sandbox.run(args);
        let code = ran.code.unwrap();
        ran.expect_error(code, why, hint);
        assert_ne!(code, 0);
    }
    assert_eq!(world.sandbox.run(["show", "dx"]).code, Some(2));
    let said = world.run(&["forget", "--all"]).stdout;
    assert!(said.starts_with("2 decisions are forgotten"), "{said}");
    assert_eq!(ids(&world), [""; 0]);
}

#[test]
fn what_nobody_decided_is_no_decision() {
    let mut world = World::new("1\n");
    world.decide("a.txt", "2\n", &["reject", "ID"], "");
    let path = world.sandbox.home.workspace().join("a.txt");
    world.agent.propose(&path, "3\n");
    world.agent.close(&path).unwrap();
    world.agent.propose(&path, "4\n");
    world.serve.signal("TERM");
    world.serve.ended();
    assert_eq!(world.log().len(), 1, "nor is the end of the program one");
    let folder = world
        .sandbox
        .home
        .home()
        .join(".local/state/pillion/changes");
    assert!(
        fs::read_dir(folder.join("turns")).is_err(),
        "no turn is recorded"
    );
}
