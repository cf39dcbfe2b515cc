//! Notes that a person sends at once: to the process that waits beside the agent, and once.

use std::thread::{self, JoinHandle};

use pillion_protocol::{Dialect, Verdict, remarks};
use pillion_view::ask::{AwaitNotes, SendNotes};
use pillion_view::{Chosen, Client, Reply, Woken};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::asking::{
    AFTER_TURN, AFTER_WRITE, BEFORE_TURN, ask, change, context_of, decide_because, status,
};
use super::client::Claude;
use crate::support::{Other, SOON, TestCompanion};

const NOW: &str = "your notes were sent to Claude Code";
const LATER: &str = "Claude Code cannot be woken now: it gets your notes with your next prompt";

/// A companion with an agent that runs hooks of ours, in a process of its own.
pub(super) struct World {
    pub(super) test: TestCompanion,
    pub(super) claude: Claude,
    pub(super) process: Other,
    pub(super) path: String,
}

impl World {
    pub(super) async fn start() -> Self {
        let mut test = TestCompanion::start();
        let (claude, process) = connect(&mut test).await;
        let path = test.file("a.txt", "one\n");
        Self {
            test,
            claude,
            process,
            path,
        }
    }

    /// A process waits beside the agent. It has been heard of when this is over.
    async fn wait(&mut self) -> Waiting {
        let waiting = Waiting::start(&self.test, self.process.0.id());
        let is_known = |told: &str| told.ends_with("or when you send it");
        loop {
            let told = self.reject("is one there?").await;
            self.prompt().await;
            if is_known(&told) {
                return waiting;
            }
        }
    }

    /// The person rejects a change about which the agent does not ask.
    pub(super) async fn reject(&mut self, note: &str) -> String {
        let open = self.claude.open(&self.path, "two\n", note).await;
        let diff = self.test.editor.show().await;
        let told = decide_because(&self.test, &diff, Verdict::reject(), note).await;
        assert_eq!(self.claude.blocks(open).await, ["DIFF_REJECTED"]);
        told
    }

    pub(super) fn said(&self, note: &str) -> String {
        format!(
            "The user rejected your change to {} and says: {note}",
            self.path
        )
    }

    /// The person sends what waits.
    pub(super) fn send(&self) -> oneshot::Receiver<Chosen> {
        let (sender, chosen) = oneshot::channel();
        let reply = Reply::new(move |chosen: Result<_, _>| drop(sender.send(chosen.unwrap())));
        self.test.handle.ask(SendNotes::default(), reply);
        chosen
    }

    /// Returns the context that the next prompt carries.
    pub(super) async fn prompt(&mut self) -> Option<String> {
        prompt(&mut self.claude).await
    }
}

/// Returns the context that the next prompt of this agent carries, whose turn ends.
pub(super) async fn prompt(claude: &mut Claude) -> Option<String> {
    let carried = aborted_prompt(claude).await;
    ask(claude, AFTER_TURN, begins()).await;
    carried
}

/// The same, but the person aborts the prompt.
pub(super) async fn aborted_prompt(claude: &mut Claude) -> Option<String> {
    let answer = ask(claude, BEFORE_TURN, begins()).await;
    (answer != json!({})).then(|| context_of(&answer, "UserPromptSubmit"))
}

/// An agent connects, and says which process it is.
pub(super) async fn comes(test: &TestCompanion, process: &Other) -> Claude {
    let mut claude = Claude::connect(test).await;
    let params = json!({"pid": process.0.id()});
    let connected = json!({"jsonrpc": "2.0", "method": "ide_connected", "params": params});
    claude.send(connected).await;
    claude
}

fn begins() -> Value {
    change("always", "", "")
}

async fn connect(test: &mut TestCompanion) -> (Claude, Other) {
    let process = Other::start();
    let mut claude = comes(test, &process).await;
    ask(&mut claude, BEFORE_TURN, begins()).await;
    status(test, |status| !status.agents.is_empty()).await;
    (claude, process)
}

pub(super) async fn answer(chosen: oneshot::Receiver<Chosen>) -> (bool, String) {
    let chosen = timeout(SOON, chosen).await.unwrap().unwrap();
    (chosen.done, chosen.message)
}

/// A process that waits: here, a thread.
struct Waiting(JoinHandle<Option<Woken>>);

impl Waiting {
    fn start(test: &TestCompanion, pid: u32) -> Self {
        let client = client(test);
        let processes = vec![pid];
        Self(thread::spawn(move || {
            client.woken(AwaitNotes { processes }).unwrap()
        }))
    }

    /// Returns what it got; none if it is to end.
    async fn woken(self) -> Option<Woken> {
        let woken = spawn_blocking(|| self.0.join().unwrap());
        timeout(SOON, woken).await.unwrap().unwrap()
    }
}

fn client(test: &TestCompanion) -> Client {
    Client::new(&test.state()).unwrap()
}

#[tokio::test]
async fn what_is_sent_arrives_at_once_and_does_not_come_with_the_prompt() {
    let mut world = World::start().await;
    for notes in [&["one"][..], &["two", "three"], &["four"]] {
        let waiting = world.wait().await;
        for note in notes {
            world.reject(note).await;
        }
        let sent = world.send();
        let woken = waiting.woken().await.unwrap();
        let expected: Vec<_> = notes.iter().map(|note| world.said(note)).collect();
        assert_eq!(woken.text, remarks::sent(&expected.join("\n")));
        // Until it says so, nobody knows that the agent gets it; meanwhile nothing else carries it.
        assert_eq!(world.prompt().await, None);
        let nothing = ask(&mut world.claude, AFTER_WRITE, begins()).await;
        assert_eq!(nothing, json!({}));
        woken.passed_on().unwrap();
        assert_eq!(answer(sent).await, (true, NOW.to_owned()));
        assert_eq!(world.prompt().await, None);
        let again = answer(world.send()).await;
        assert_eq!(
            again,
            (false, "no notes are waiting for an agent".to_owned())
        );
    }
}

#[tokio::test]
async fn what_was_not_passed_on_comes_with_the_prompt() {
    let mut world = World::start().await;
    // Nobody waits, or who has got it is gone, which may be the second one that waits.
    for waiters in 0..3 {
        let mut waiting = None;
        if waiters > 0 {
            waiting = Some(world.wait().await);
        }
        if waiters > 1 {
            let next = Waiting::start(&world.test, world.process.0.id());
            let former = waiting.replace(next).unwrap();
            assert!(former.woken().await.is_none());
        }
        let note = format!("with {waiters}");
        world.reject(&note).await;
        let sent = world.send();
        if let Some(waiting) = waiting {
            drop(waiting.woken().await.unwrap());
        }
        assert_eq!(answer(sent).await, (false, LATER.to_owned()));
        assert_eq!(world.prompt().await, Some(world.said(&note)));
        assert_eq!(world.prompt().await, None);
    }
}

#[tokio::test]
async fn a_process_waits_for_its_own_agent_until_that_goes_or_the_next_one_comes() {
    let mut world = World::start().await;
    let (mut other, process) = connect(&mut world.test).await;
    let stranger = Waiting::start(&world.test, std::process::id());
    assert!(stranger.woken().await.is_none(), "it is no agent");
    let others = Waiting::start(&world.test, process.0.id());
    let first = world.wait().await;
    let second = world.wait().await;
    assert!(first.woken().await.is_none(), "one is enough");
    world.reject("mine").await;
    let sent = world.send();
    let woken = second.woken().await.unwrap();
    assert_eq!(woken.text, remarks::sent(&world.said("mine")));
    woken.passed_on().unwrap();
    let said = "your notes were sent to Claude Code 1".to_owned();
    assert_eq!(answer(sent).await, (true, said));
    assert!(!others.0.is_finished());
    let third = world.wait().await;
    other.socket.close(None).await.unwrap();
    assert!(others.woken().await.is_none(), "its agent is gone");
    assert!(!third.0.is_finished());
    drop(world.test);
    assert!(third.woken().await.is_none(), "the companion is gone");
}

#[tokio::test]
async fn a_person_is_told_when_an_agent_gets_what_cannot_be_sent() {
    let mut test = TestCompanion::start();
    let client = client(&test);
    let send = async |agent, number| {
        let client = client.clone();
        let asked = spawn_blocking(move || client.ask(SendNotes { agent, number }));
        let sent = timeout(SOON, asked).await.unwrap().unwrap().unwrap();
        assert!(!sent.done);
        sent.message
    };
    assert_eq!(send(None, None).await, "no agent is connected");
    // One without hooks: the note takes the place of the selection.
    let mut claude = Claude::connect(&test).await;
    status(&mut test, |status| !status.agents.is_empty()).await;
    let claude_code = Some(Dialect::ClaudeCode);
    for (agent, number, expected) in [
        (claude_code, None, "no notes are waiting for Claude Code"),
        (None, Some(1), "no notes are waiting for an agent"),
        (
            claude_code,
            Some(2),
            "no agent with the number 2 is connected",
        ),
        (
            Some(Dialect::GeminiCli),
            None,
            "Gemini CLI is not connected",
        ),
    ] {
        assert_eq!(send(agent, number).await, expected);
    }
    let path = test.file("a.txt", "one\n");
    let open = claude.open(&path, "two\n", "tab").await;
    let diff = test.editor.show().await;
    decide_because(&test, &diff, Verdict::reject(), "no").await;
    assert_eq!(claude.blocks(open).await, ["DIFF_REJECTED"]);
    for number in [None, Some(1)] {
        assert_eq!(
            send(claude_code, number).await,
            "Claude Code gets your note with your next prompt, unless you select something before"
        );
    }
}
