//! The notes that a person sends to an agent with a decision by command, and when its model reads them.

use std::fs;
use std::time::Instant;

use pillion_discovery::state;
use pillion_protocol::IdeContext;
use pillion_testkit::{SOON, TestAgent, pause};

use crate::sandbox::{Sandbox, Serve, signal_to};

const GETS_IT: &str =
    "note: Gemini CLI gets your note with your next prompt, unless you select something before.\n";

const GETS_IT_LATER: &str = "note: Gemini CLI gets your note with your next prompt but one (it adds nothing to the prompt right after a rejection), unless you select something before.\n";

struct World {
    sandbox: Sandbox,
    serve: Serve,
    agent: TestAgent,
    path: String,
}

impl World {
    /// A proposal that is pending.
    fn new() -> Self {
        Self::with(|sandbox| sandbox.serve::<&str>([]))
    }

    fn with(serve: impl Fn(&Sandbox) -> Serve) -> Self {
        let sandbox = Sandbox::new();
        let serve = serve(&sandbox);
        let path = sandbox.home.workspace().join("a.txt");
        fs::write(&path, "old\n").unwrap();
        let agent = serve.connect();
        agent.propose(&path, "one\ntwo\n");
        Self {
            agent,
            sandbox,
            serve,
            path: path.to_str().unwrap().to_owned(),
        }
    }

    /// Waits until this is selected, as the agent sees it.
    #[track_caller]
    fn selects(&mut self, text: Option<&str>) {
        let selected = |context: &IdeContext| {
            let file = context.active_file()?;
            file.selected_text.clone()
        };
        self.agent
            .context(|context| selected(context).as_deref() == text);
    }

    fn select(&self, text: &str) {
        let args = ["focus", "a.txt:1", "--selection", text];
        self.sandbox.run(args).expect(0);
    }
}

#[test]
fn a_reason_takes_the_place_of_the_selection_until_the_next_one() {
    let mut world = World::new();
    world.select("old");
    world.selects(Some("old"));
    let args = [
        "--because",
        " use the table\n",
        "--note",
        "a.txt:2",
        "why \u{1b}[31m\"two\"?",
    ];
    let rejected = world
        .sandbox
        .run([&["reject", "1.1"], args.as_slice()].concat());
    assert_eq!(rejected.expect(0).stderr, GETS_IT_LATER);
    let note = format!(
        "The user rejected your change to {} and says:\n- use the table\n- line 2 (`two`): why \u{1b}[31m\"two\"?",
        world.path
    );
    world.selects(Some(&note));
    world.select("ol");
    world.selects(Some("ol"));
}

#[test]
fn an_acceptance_may_have_a_note() {
    let mut world = World::new();
    let path = world.path.clone();
    let args = ["accept", "1.1", "--note", &path, "no place"];
    world
        .sandbox
        .run(args)
        .expect_error(1, "is not a file with lines", "Lines count from 1");
    let place = format!("{path}:1-2");
    let accepted = world
        .sandbox
        .run(["accept", "1.1", "--note", &place, "fine"]);
    assert_eq!(accepted.expect(0).stderr, GETS_IT);
    world.selects(Some(&format!(
        "The user accepted your change to {path} and says:\n- lines 1 to 2 (`one`): fine"
    )));
}

#[test]
fn notes_that_cannot_be_meant_decide_nothing() {
    let world = World::new();
    let long = "x".repeat(10_001);
    for (args, why) in [
        (
            ["--note", "b.txt:2", "no"].as_slice(),
            "--note: b.txt is not the file of diff 1, which is",
        ),
        (
            &["--note", "a.txt", "no"],
            "--note: a.txt is not a file with lines",
        ),
        (
            &["--note", "a.txt:0", "no"],
            "--note: a.txt:0 is not a file with lines",
        ),
        (
            &["--because", &long],
            "your notes have 10001 bytes, and the limit is 10000",
        ),
    ] {
        for command in ["reject", "accept"] {
            let ran = world
                .sandbox
                .run([&[command, "1.1"], args].concat())
                .expect(1);
            assert!(ran.stderr.contains(why), "{}", ran.stderr);
        }
    }
    assert!(world.sandbox.run(["diffs"]).stdout.contains("a.txt"));
}

#[test]
fn what_is_too_long_for_an_agent_is_printed() {
    let world = World::new();
    let long = "é".repeat(2_000);
    let rejected = world
        .sandbox
        .run(["reject", "1.1", "--because", &long])
        .expect(0);
    let text = "note: the agent cannot be told this; paste it into its prompt:\nThe user rejected";
    assert!(rejected.stderr.starts_with(text) && rejected.stderr.contains(&long));
}

/// Waits until this is so.
fn eventually(is_so: impl Fn() -> bool, what: &str) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < SOON, "{what}");
        pause(start);
    }
}

/// The editor ends, the hub ends with it or is killed: what was said waits in the store.
#[test]
fn what_was_said_waits_for_the_agent_whatever_ends() {
    let own = |sandbox: &Sandbox| sandbox.serve::<&str>([]);
    let hub = |sandbox: &Sandbox| sandbox.serve_in_hub::<&str>([]);
    type Starts = fn(&Sandbox) -> Serve;
    for (case, start, is_killed) in [
        ("without a hub", own as Starts, false),
        ("with the hub", hub, false),
        ("a hub that is killed", hub, true),
    ] {
        let mut world = World::with(start);
        let rejected = world.sandbox.run(["reject", "1.1", "--because", "no"]);
        rejected.expect(0);
        let said = format!(
            "The user rejected your change to {} and says: no",
            world.path
        );
        world.selects(Some(&said));
        let listed = format!("Gemini CLI has yet to read:\n  {said}\n");
        let World {
            sandbox,
            mut serve,
            agent,
            path,
        } = world;
        let is_listed = || sandbox.run(["notes"]).expect(0).stdout == listed;
        eventually(is_listed, case);
        drop(agent);
        if is_killed {
            let hub = sandbox.companion_pid();
            signal_to(hub, "KILL");
            // Its view starts another one.
            let is_next = || {
                let running = state::list(&sandbox.environment());
                running.first().is_some_and(|it| it.pid != hub)
            };
            eventually(is_next, case);
        } else {
            serve.signal("TERM");
            serve.said("1 note waits for its agent, and is kept until it reads it");
            serve.ended();
            assert!(is_listed(), "{case}");
            serve = start(&sandbox);
        }
        let agent = serve.connect();
        let mut world = World {
            sandbox,
            serve,
            agent,
            path,
        };
        world.selects(Some(&said));
        let json = world.sandbox.run(["notes", "--json"]).expect(0).stdout;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(
            (&json[0]["agent"], &json[0]["text"]),
            (&"gemini".into(), &said.into())
        );
        // What the person selects takes its place, and it is over.
        world.select("ol");
        world.selects(Some("ol"));
        let none = "nothing that you said waits for an agent here\n";
        let is_over = || world.sandbox.run(["notes"]).expect(0).stdout == none;
        eventually(is_over, case);
    }
}
