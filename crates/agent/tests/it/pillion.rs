//! Against Pillion's own companion, with a stand-in editor that the test answers for.

use std::path::Path;
use std::sync::mpsc as std_mpsc;
use std::time::Duration;

use pillion_agent::{Address, ClientError, Decision, Session, Status};
use pillion_companion::{CloseReason, Companion, Diff, DiffId, Editor, Options, Proposed, Reply};
use pillion_discovery::{Environment, state};
use pillion_protocol::context::TRUNCATION_MARK;
use pillion_protocol::{File, IdeInfo, Outcome};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::server::SOON;

/// What the editor was asked.
#[derive(Debug)]
enum Asked {
    Open(Diff),
    Close(CloseReason),
}

struct StandIn(std_mpsc::Sender<Asked>);

impl Editor for StandIn {
    fn open_diff(&mut self, diff: Diff, shown: Reply<()>) {
        shown.done(());
        let _ = self.0.send(Asked::Open(diff));
    }

    fn close_diff(&mut self, _id: DiffId, reason: CloseReason, closed: Reply<String>) {
        closed.done("in the view".to_owned());
        let _ = self.0.send(Asked::Close(reason));
    }
}

struct World {
    companion: Option<Companion>,
    asked: std_mpsc::Receiver<Asked>,
    environment: Environment,
    folder: TempDir,
}

impl World {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let environment = Environment::from_pairs([("TMPDIR", &here), ("HOME", &here)]);
        let (companion, asked) = companion(&environment, &here);
        let companion = Some(companion);
        Self {
            companion,
            asked,
            environment,
            folder,
        }
    }

    /// As after a restart of the editor: another port, other tokens.
    fn restart(&mut self) {
        self.companion = None;
        let here = self.folder.path().canonicalize().unwrap();
        let (companion, asked) = companion(&self.environment, &here);
        (self.companion, self.asked) = (Some(companion), asked);
    }

    fn companion(&self) -> &Companion {
        self.companion.as_ref().unwrap()
    }

    /// Finds the companion as Pillion's commands do, however often it is started again.
    fn find(&self) -> impl FnMut() -> Option<Address> + Send + 'static {
        let environment = self.environment.clone();
        move || {
            let found = state::list(&environment).pop()?;
            Some(Address::new(found.port).with_token(found.script_token))
        }
    }

    async fn session(&self) -> Session {
        Session::connect(self.find()).await.unwrap()
    }

    fn path(&self, name: &str) -> String {
        let path = self.folder.path().canonicalize().unwrap().join(name);
        path.to_str().unwrap().to_owned()
    }

    /// The next thing that the editor is asked. Not from within the runtime of a test that needs it.
    fn next(&self) -> Asked {
        self.asked.recv_timeout(SOON).expect("the editor is asked")
    }

    fn shown(&self) -> Diff {
        match self.next() {
            Asked::Open(diff) => diff,
            other => panic!("expected a proposal, not {other:?}"),
        }
    }

    fn focus(&self, name: &str, time: u64) {
        let path = self.path(name);
        std::fs::write(&path, "").unwrap();
        self.companion().handle().focus(File::focused(path, time));
    }
}

fn companion(environment: &Environment, here: &Path) -> (Companion, std_mpsc::Receiver<Asked>) {
    let (sender, asked) = std_mpsc::channel();
    let options = Options {
        environment: environment.clone(),
        editor_pid: std::process::id(),
        ide: IdeInfo::new("test", "Test"),
        roots: vec![here.to_owned()],
    };
    (Companion::start(options, StandIn(sender)).unwrap(), asked)
}

async fn wait_for(session: &Session, wanted: impl FnMut(&Status) -> bool) {
    let mut status = session.follow_status();
    let waiting = timeout(SOON, status.wait_for(wanted)).await;
    waiting.expect("the status changes").unwrap();
}

#[tokio::test]
async fn a_proposal_is_accepted_rejected_or_closed() {
    let world = World::start();
    let session = world.session().await;
    let handle = world.companion().handle();
    let path = world.path("a.txt");

    let mut proposal = session.open_diff(&path, "x").await.unwrap();
    let busy = session.open_diff(&path, "y").await.unwrap_err();
    assert!(matches!(busy, ClientError::Busy(_)), "{busy:?}");
    let diff = world.shown();
    assert_eq!(
        (&*diff.proposed, diff.agent),
        ("x", pillion_protocol::Dialect::Script)
    );
    let content = "edited\r\n\u{feff}".to_owned();
    handle.resolve_diff(diff.key(), Outcome::accepted(content.clone()));
    let decision = timeout(SOON, proposal.decision()).await.unwrap();
    assert_eq!(decision.unwrap(), Decision::accepted(content));

    let mut proposal = session.open_diff(&path, "x").await.unwrap();
    let diff = world.shown();
    handle.resolve_diff(diff.key(), Outcome::Rejected);
    let decision = timeout(SOON, proposal.decision()).await.unwrap();
    assert_eq!(decision.unwrap(), Decision::Rejected);

    let proposal = session.open_diff(&path, "x").await.unwrap();
    let closed = proposal.withdraw().await.unwrap();
    assert_eq!(closed, Decision::Closed("in the view".to_owned()));
    world.shown();
    assert!(matches!(
        world.next(),
        Asked::Close(CloseReason::ClosedByAgent)
    ));
}

#[tokio::test]
async fn a_decision_just_before_the_withdrawal_counts() {
    let world = World::start();
    let session = world.session().await;
    let path = world.path("a.txt");
    let proposal = session.open_diff(&path, "x").await.unwrap();
    let diff = world.shown();
    let content = "in time".to_owned();
    world
        .companion()
        .handle()
        .resolve_diff(diff.key(), Outcome::accepted(content));
    let decision = proposal.withdraw().await.unwrap();
    assert_eq!(decision, Decision::accepted("in time"));
}

#[tokio::test]
async fn giving_up_closes_the_view() {
    let world = World::start();
    let session = world.session().await;
    let path = world.path("a.txt");
    let proposing = session.propose(&path, "x");
    assert!(
        timeout(Duration::from_millis(200), proposing)
            .await
            .is_err()
    );
    world.shown();
    let close = async {
        loop {
            match world.asked.try_recv() {
                Ok(asked) => return asked,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    let asked = timeout(SOON, close).await.unwrap();
    assert!(
        matches!(asked, Asked::Close(CloseReason::ClosedByAgent)),
        "{asked:?}"
    );
    let _open = session
        .open_diff(&path, "y")
        .await
        .expect("it is free again");
}

#[tokio::test]
async fn a_decision_that_nobody_looks_at_leaves_the_next_view_open() {
    let world = World::start();
    let session = world.session().await;
    let path = world.path("a.txt");
    let decided = session.open_diff(&path, "x").await.unwrap();
    let diff = world.shown();
    let handle = world.companion().handle();
    handle.resolve_diff(diff.key(), Outcome::Rejected);
    let next = timeout(SOON, async {
        loop {
            match session.open_diff(&path, "y").await {
                Err(ClientError::Busy(_)) => tokio::time::sleep(Duration::from_millis(5)).await,
                opened => return opened.unwrap(),
            }
        }
    });
    let mut next = next.await.unwrap();
    let diff = world.shown();
    drop(decided);
    let content = "y".to_owned();
    // What would be closed by mistake would be closed by then.
    tokio::time::sleep(Duration::from_millis(200)).await;
    handle.resolve_diff(diff.key(), Outcome::accepted(content));
    let decision = timeout(SOON, next.decision()).await.unwrap();
    assert_eq!(decision.unwrap(), Decision::accepted("y"));
}

#[tokio::test]
async fn the_end_of_a_session_closes_its_views() {
    let world = World::start();
    let session = world.session().await;
    let path = world.path("a.txt");
    let mut proposal = session.open_diff(&path, "x").await.unwrap();
    world.shown();
    session.end().await;
    assert!(matches!(
        world.next(),
        Asked::Close(CloseReason::ClosedByAgent)
    ));
    let closed = Decision::Closed("in the view".to_owned());
    assert_eq!(proposal.decision().await.unwrap(), closed);
}

#[tokio::test]
async fn contexts_are_as_agents_see_them() {
    let world = World::start();
    let session = world.session().await;
    let mut contexts = session.follow_context();
    let path = world.path("long.txt");
    std::fs::write(&path, "").unwrap();
    let file = File {
        selected_text: Some("x".repeat(20_000)),
        cursor: Some(pillion_protocol::Cursor {
            line: 3,
            character: 4,
        }),
        ..File::focused(&path, 5)
    };
    world.companion().handle().focus(file);
    let context = loop {
        let context = timeout(SOON, contexts.next()).await.unwrap().unwrap();
        if context.active_file().is_some() {
            break context;
        }
    };
    let file = context.active_file().unwrap();
    assert_eq!((&file.path, file.cursor.unwrap().line), (&path, 3));
    assert!(
        !file
            .selected_text
            .as_ref()
            .unwrap()
            .contains(TRUNCATION_MARK),
        "cut by the companion"
    );
    assert_eq!(contexts.current(), context);
    let mut late = session.follow_context();
    assert_eq!(timeout(SOON, late.next()).await.unwrap(), Some(context));
}

#[tokio::test]
async fn a_session_comes_back_when_its_companion_does() {
    let mut world = World::start();
    let session = world.session().await;
    let mut contexts = session.follow_context();
    world.focus("before.txt", 5);
    while contexts.next().await.unwrap().active_file().is_none() {}
    let path = world.path("a.txt");
    let mut proposal = session.open_diff(&path, "x").await.unwrap();

    let stopping = world.companion.take();
    tokio::task::spawn_blocking(move || drop(stopping))
        .await
        .unwrap();
    // A companion rejects what is open when it stops (C5.7).
    let decision = timeout(SOON, proposal.decision()).await.unwrap();
    assert_eq!(decision.unwrap(), Decision::Rejected);
    wait_for(&session, |status| {
        matches!(status, Status::Disconnected { .. })
    })
    .await;
    assert_eq!(contexts.current().files(), [], "it is empty while away");
    let error = session.propose(&path, "x").await.unwrap_err();
    assert!(matches!(error, ClientError::NotConnected), "{error:?}");

    world.restart();
    wait_for(&session, |status| matches!(status, Status::Connected(_))).await;
    world.focus("after.txt", 6);
    loop {
        let context = timeout(SOON, contexts.next()).await.unwrap().unwrap();
        if context
            .active_file()
            .is_some_and(|file| file.path.ends_with("after.txt"))
        {
            break;
        }
    }
    let mut proposal = session.open_diff(&path, "again").await.unwrap();
    let diff = world.shown();
    world
        .companion()
        .handle()
        .resolve_diff(diff.key(), Outcome::Rejected);
    assert_eq!(
        timeout(SOON, proposal.decision()).await.unwrap().unwrap(),
        Decision::Rejected
    );
}

#[tokio::test]
async fn a_session_waits_for_a_companion_that_is_not_there_yet() {
    let mut world = World::start();
    world.companion = None;
    assert!(Session::connect(world.find()).await.is_err());
    let session = Session::start(world.find());
    wait_for(&session, |status| {
        matches!(status, Status::Disconnected { .. })
    })
    .await;
    world.restart();
    wait_for(&session, |status| matches!(status, Status::Connected(_))).await;
}

#[tokio::test]
async fn texts_come_back_byte_for_byte() {
    let world = World::start();
    let session = world.session().await;
    let path = world.path("a.txt");
    let line = "long ".repeat(1 << 20);
    for text in [
        "",
        "no end",
        "a\r\nb\r\n",
        "\u{feff}a\n",
        "a\u{2028}b",
        "a\0b",
        "😀\u{1b}\u{9b}",
        &line,
    ] {
        let mut proposal = session.open_diff(&path, text).await.unwrap();
        let diff = world.shown();
        assert_eq!(&*diff.proposed, text);
        let content = diff.proposed.to_string();
        world
            .companion()
            .handle()
            .resolve_diff(diff.key(), Outcome::accepted(content));
        let decision = timeout(SOON, proposal.decision()).await.unwrap().unwrap();
        assert!(decision == Decision::accepted(text));
    }
}
