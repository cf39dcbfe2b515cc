//! Against Pillion's own companion, with a stand-in editor that the test answers for.

use std::path::Path;

use crossbeam_channel::{Receiver, Sender, unbounded};
use pillion_agent::{Address, Client, Updates};
use pillion_companion::Companion;
use pillion_discovery::{Environment, survey};
use pillion_protocol::context::TRUNCATION_MARK;
use pillion_protocol::{Dialect, File, IdeInfo, Outcome};
use pillion_view::{CloseReason, Decide, Diff, EditorEvent, Options, Proposed, Tell};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::accepting::insist;
use crate::server::SOON;

/// A request to the editor.
#[derive(Debug)]
enum Asked {
    Open(Box<Diff>),
    Close(CloseReason),
}

fn answer(event: EditorEvent, asked: &Sender<Asked>) {
    match event {
        EditorEvent::Open(diff, shown) => {
            shown.done(());
            let _ = asked.send(Asked::Open(Box::new(diff)));
        }
        EditorEvent::Close(_, reason, closed) => {
            closed.done("in the view".to_owned());
            let _ = asked.send(Asked::Close(reason));
        }
        _ => {}
    }
}

struct World {
    companion: Companion,
    asked: Receiver<Asked>,
    environment: Environment,
    folder: TempDir,
}

impl World {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let environment = Environment::from_pairs([("TMPDIR", &here), ("HOME", &here)]);
        let (companion, asked) = companion(&environment, &here);
        Self {
            companion,
            asked,
            environment,
            folder,
        }
    }

    /// A session as an agent opens one.
    async fn session(&self) -> (Client, Updates) {
        let found = survey(&self.environment).companions.pop().unwrap();
        let token = found.token(Dialect::GeminiCli).cloned();
        let address = Address::new(found.port).with_token(token);
        Client::connect_to(address).await.unwrap()
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
            Asked::Open(diff) => *diff,
            other => panic!("expected a proposal, not {other:?}"),
        }
    }
}

fn companion(environment: &Environment, here: &Path) -> (Companion, Receiver<Asked>) {
    let (sender, asked) = unbounded();
    let options = Options {
        environment: environment.clone(),
        editor_pid: std::process::id(),
        ide: IdeInfo::new("test", "Test"),
        roots: vec![here.to_owned()],
        shows: Default::default(),
    };
    let editor = move |event: EditorEvent| answer(event, &sender);
    (Companion::start(options, editor).unwrap(), asked)
}

#[tokio::test]
async fn a_proposal_is_accepted_rejected_or_closed() {
    let world = World::start();
    let (client, mut updates) = world.session().await;
    let handle = world.companion.handle();
    let path = world.path("a.txt");

    client.open_diff(&path, "x").await.unwrap();
    let diff = world.shown();
    assert_eq!(
        (diff.proposed.as_str(), diff.proposer),
        ("x", Dialect::GeminiCli.into())
    );
    let content = "edited\r\n\u{feff}".to_owned();
    insist(
        &handle,
        Decide::blind(diff.key(), Outcome::accepted(content.clone())),
        drop,
    );
    let decision = timeout(SOON, updates.decision(&path)).await.unwrap();
    assert_eq!(decision.unwrap(), Outcome::accepted(&content));

    client.open_diff(&path, "x").await.unwrap();
    let diff = world.shown();
    insist(&handle, Decide::blind(diff.key(), Outcome::Rejected), drop);
    let decision = timeout(SOON, updates.decision(&path)).await.unwrap();
    assert_eq!(decision.unwrap(), Outcome::Rejected);

    client.open_diff(&path, "x").await.unwrap();
    assert_eq!(client.close_diff(&path).await.unwrap(), "in the view");
    world.shown();
    assert!(matches!(
        world.next(),
        Asked::Close(CloseReason::ClosedByAgent)
    ));
}

#[tokio::test]
async fn contexts_are_as_agents_see_them() {
    let world = World::start();
    let (_client, mut updates) = world.session().await;
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
    world.companion.handle().tell(Tell::Saved(file.into()));
    let context = loop {
        let context = timeout(SOON, updates.context()).await.unwrap().unwrap();
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
}

#[tokio::test]
async fn texts_come_back_byte_for_byte() {
    let world = World::start();
    let (client, mut updates) = world.session().await;
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
        client.open_diff(&path, text).await.unwrap();
        let diff = world.shown();
        assert_eq!(&*diff.proposed, text);
        let content = diff.proposed.to_string();
        insist(
            &world.companion.handle(),
            Decide::blind(diff.key(), Outcome::accepted(content)),
            drop,
        );
        let decision = timeout(SOON, updates.decision(&path)).await.unwrap();
        assert!(decision.unwrap() == Outcome::accepted(text));
    }
}
