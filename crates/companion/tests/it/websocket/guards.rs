//! The processes that stand beside the hooks before calls: whether a call goes on, or the agent asks.

use std::thread::{self, JoinHandle};

use pillion_protocol::{Outcome, ReviewChoice};
use pillion_view::Client;
use pillion_view::ask::{Guard, Guarded};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::asking::{BEFORE_TURN, BEFORE_WRITE, NOTEBOOK, ask, change, choose, new_source, status};
use super::client::Claude;
use crate::support::{Other, SOON, TestCompanion};

/// A companion with an agent in a process of its own.
struct World {
    test: TestCompanion,
    claude: Claude,
    process: Other,
    notebook: String,
}

impl World {
    async fn start() -> Self {
        let mut test = TestCompanion::start();
        let (mut claude, process) = (Claude::connect(&test).await, Other::start());
        let params = json!({"pid": process.0.id()});
        let connected = json!({"jsonrpc": "2.0", "method": "ide_connected", "params": params});
        claude.send(connected).await;
        ask(&mut claude, BEFORE_TURN, change("always", "", "")).await;
        status(&mut test, |status| !status.agents.is_empty()).await;
        let notebook = test.file("n.ipynb", NOTEBOOK);
        Self {
            test,
            claude,
            process,
            notebook,
        }
    }

    /// A process stands beside this call.
    fn guard(&self, call: &str) -> Beside {
        Beside::start(&self.test, self.process.0.id(), call)
    }

    /// Returns what the hook says of a change of a cell, in the call of this name.
    fn cell(&self, call: &str) -> Value {
        let input = new_source(&self.notebook, "a1");
        json!({
            "review": "always", "mode": "bypassPermissions", "agent": "", "tool": "NotebookEdit",
            "id": call, "guarded": "yes", "input": input.to_string(),
        })
    }
}

/// A process that stands beside a hook: here, a thread.
struct Beside(JoinHandle<Option<Guarded>>);

impl Beside {
    fn start(test: &TestCompanion, pid: u32, call: &str) -> Self {
        let client = Client::new(&test.state()).unwrap();
        let (processes, call) = (vec![pid], call.to_owned());
        Self(thread::spawn(move || {
            client
                .connect()
                .ok()?
                .wait_for(Guard { processes, call })
                .ok()
        }))
    }

    /// Returns the outcome of the hook; none if the companion is gone.
    async fn told(self) -> Option<Guarded> {
        let told = spawn_blocking(|| self.0.join().unwrap());
        timeout(SOON, told).await.unwrap().unwrap()
    }

    fn waits(&self) -> bool {
        !self.0.is_finished()
    }
}

#[tokio::test]
async fn a_call_goes_on_when_its_hook_is_answered() {
    let mut world = World::start().await;
    // At once, whichever comes first.
    let file = world.test.file("a.txt", "one\n");
    for (number, review) in ["always", "asked", "always"].into_iter().enumerate() {
        let call = format!("call {number}");
        let mut arguments = change(review, "", &file);
        arguments["id"] = call.as_str().into();
        let early = (number > 0).then(|| world.guard(&call));
        ask(&mut world.claude, BEFORE_WRITE, arguments).await;
        if let Some(early) = early {
            assert_eq!(early.told().await, Some(Guarded::Answered));
        }
        assert_eq!(world.guard(&call).told().await, Some(Guarded::Answered));
    }
    // When the person has decided.
    for outcome in [
        Outcome::accepted("x = 2\ny = 2"),
        Outcome::accepted("x"),
        Outcome::Rejected,
    ] {
        let name = format!("{outcome:?}");
        let (beside, other) = (world.guard(&name), world.guard("another call"));
        let arguments = world.cell(&name);
        let call = world.claude.call(BEFORE_WRITE, arguments).await;
        let diff = world.test.editor.show().await;
        assert!(beside.waits());
        world.test.decide(&diff, outcome).await;
        assert_eq!(beside.told().await, Some(Guarded::Answered));
        world.claude.blocks(call).await;
        assert!(other.waits());
    }
    // It is shown when the process is there, and not before.
    let arguments = world.cell("early");
    let call = world.claude.call(BEFORE_WRITE, arguments).await;
    ask(&mut world.claude, BEFORE_TURN, change("always", "", "")).await;
    assert!(world.test.editor.is_idle());
    let beside = world.guard("early");
    let diff = world.test.editor.show().await;
    world.test.decide(&diff, Outcome::Rejected).await;
    assert_eq!(beside.told().await, Some(Guarded::Answered));
    world.claude.blocks(call).await;
    // A shell command, too.
    choose(&world.test, Some(ReviewChoice::Commands)).await;
    let command = json!({
        "review": "always", "mode": "auto", "tool": "Bash", "folder": "/", "id": "shell",
        "input": json!({"command": "ls"}).to_string(),
    });
    let beside = world.guard("shell");
    world.claude.call(BEFORE_WRITE, command).await;
    let diff = world.test.editor.show().await;
    assert!(beside.waits());
    world.test.decide(&diff, Outcome::accepted("ls")).await;
    assert_eq!(beside.told().await, Some(Guarded::Answered));
}

#[tokio::test]
async fn the_agent_asks_if_the_hook_gets_no_answer() {
    let mut world = World::start().await;
    let stranger = Beside::start(&world.test, std::process::id(), "x");
    assert_eq!(stranger.told().await, Some(Guarded::Elsewhere));
    // The agent gives the hook up.
    let beside = world.guard("given up");
    let arguments = world.cell("given up");
    let request = world.claude.call(BEFORE_WRITE, arguments).await;
    world.test.editor.show().await;
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request},
    });
    world.claude.send(cancelled).await;
    assert_eq!(beside.told().await, Some(Guarded::Unanswered));
    world.test.editor.close("").await;
    // Its connection breaks.
    let beside = world.guard("broken");
    let arguments = world.cell("broken");
    world.claude.call(BEFORE_WRITE, arguments).await;
    world.test.editor.show().await;
    assert!(beside.waits());
    let World {
        test,
        claude,
        process,
        notebook: _,
    } = world;
    drop(claude);
    assert_eq!(beside.told().await, Some(Guarded::Unanswered));
    drop((test, process));
}
