//! One process for the companions of all front ends, over a real socket.

mod codex;
mod guests;
mod many;
mod together;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pillion_companion::hub::{Hub, Stopper};
use pillion_companion::start_own;
use pillion_discovery::{Environment, socket, state, survey};
use pillion_protocol::{Dialect, File, IdeInfo, Outcome};
use pillion_testkit::client::{Client, Update, Updates};
use pillion_view::ask::Changes;
use pillion_view::ask::{ToolCall, Work, WorkStep};
use pillion_view::changes::ChangesList;
use pillion_view::{
    Attached, CloseReason, Decide, EditorEvent, Handle, Leaving, Options, Proposed, Reply, Ruling,
    Shows, Tell, attach_to_running,
};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::insisting::insist;
use crate::support::{SOON, STOPS, StandIn, environment, next_outcome, stand_in};

/// A machine with a hub.
struct World {
    folder: Arc<TempDir>,
    environment: Environment,
    stopper: Stopper,
    hub: JoinHandle<()>,
}

/// A front end.
struct Front {
    attached: Attached,
    handle: Handle,
    editor: StandIn,
}

fn serve(environment: &Environment) -> (Stopper, JoinHandle<()>) {
    let hub = Hub::listen(environment).unwrap().unwrap();
    let stopper = hub.stopper();
    (stopper, thread::spawn(|| hub.serve().unwrap()))
}

impl World {
    fn start() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let environment = environment(folder.path());
        let (stopper, hub) = serve(&environment);
        Self {
            folder,
            environment,
            stopper,
            hub,
        }
    }

    fn root(&self, name: &str) -> PathBuf {
        let path = self.folder.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    fn path(&self, name: &str) -> String {
        let path = self.root("").join(name);
        path.to_str().unwrap().to_owned()
    }

    async fn attach(&self, roots: &[&str]) -> Front {
        self.attach_as(Shows::default(), roots).await
    }

    async fn attach_as(&self, shows: Shows, roots: &[&str]) -> Front {
        let options = Options {
            environment: self.environment.clone(),
            editor_pid: std::process::id(),
            ide: IdeInfo::new("test", "Test"),
            roots: roots.iter().map(|root| self.root(root)).collect(),
            shows,
        };
        let (editor, stand_in) = stand_in();
        let attached =
            spawn_blocking(move || attach_to_running(options, editor, start_own).unwrap());
        let attached = timeout(SOON, attached).await.unwrap().unwrap();
        Front {
            handle: attached.handle(),
            attached,
            editor: stand_in,
        }
    }

    /// An agent of the companion at this port.
    async fn connect(&self, port: u16) -> (Client, Updates) {
        let mut running = survey(&self.environment).companions.into_iter();
        let found = running.find(|it| it.port == port).unwrap();
        let found = found.read(Dialect::GeminiCli);
        let token = found.token(Dialect::GeminiCli).cloned();
        Client::connect(port, token).await.unwrap()
    }

    /// An agent tells this by a hook that is a command, and goes on.
    async fn work(&self, port: u16, process: Option<u32>, step: WorkStep) {
        let mut running = state::list(&self.environment).into_iter();
        let companion = running.find(|it| it.port == port).unwrap();
        let client = pillion_view::Client::new(&companion).unwrap();
        let work = Work {
            agent: Dialect::CodexCli,
            session: "s".to_owned(),
            processes: Vec::new(),
            process,
            step,
            takes_context: false,
        };
        spawn_blocking(move || client.ask(work).unwrap())
            .await
            .unwrap();
    }

    /// The hub ends by itself, with all that belongs to it: one to which nobody has come, after a while.
    async fn ends(self) {
        let ended = spawn_blocking(move || self.hub.join().unwrap());
        timeout(SOON, ended).await.unwrap().unwrap();
        assert!(socket::connect_to_hub(&self.environment).is_none());
        assert!(state::list(&self.environment).is_empty());
    }
}

impl Front {
    /// The person decides, and it counts.
    async fn decide(&self, decide: Decide) {
        let (sender, ruling) = oneshot::channel();
        insist(&self.handle, decide, |ruling| drop(sender.send(ruling)));
        let ruling = timeout(SOON, ruling).await.unwrap().unwrap();
        assert!(ruling.is_settled(), "{ruling:?}");
    }

    async fn changes(&self) -> ChangesList {
        let (sender, list) = oneshot::channel();
        let reply = Reply::new(move |it: Result<ChangesList, _>| drop(sender.send(it)));
        self.handle.ask(Changes, reply);
        list.await.unwrap().unwrap()
    }

    /// It leaves, and everything is done.
    async fn leave(self) {
        let start = Instant::now();
        let attached = self.attached;
        spawn_blocking(move || drop(attached)).await.unwrap();
        assert!(start.elapsed() < STOPS);
    }
}

#[tokio::test]
async fn front_ends_of_one_folder_share_a_companion_and_others_do_not() {
    let world = World::start();
    let first = world.attach(&["one"]).await;
    let second = world.attach(&["one/below"]).await;
    let other = world.attach(&["other"]).await;
    let nowhere = world.attach(&[]).await;
    assert_eq!(first.attached.port(), second.attached.port());
    assert_ne!(first.attached.port(), other.attached.port());
    assert_ne!(other.attached.port(), nowhere.attached.port());
    assert_eq!(first.attached.version(), env!("CARGO_PKG_VERSION"));
    assert!(!second.attached.files().is_empty());
    for front in [first, other, nowhere, second] {
        front.leave().await;
    }
    world.ends().await;
}

#[tokio::test]
async fn a_proposal_goes_to_the_front_end_and_its_outcome_to_the_agent() {
    let world = World::start();
    let mut front = world.attach(&["w"]).await;
    let (client, mut updates) = world.connect(front.attached.port()).await;
    let path = world.path("w/file");
    // Neither is Unicode nor ends with a line break.
    std::fs::write(&path, b"a\r\n\xff").unwrap();
    let (opened, diff) = tokio::join!(client.open_diff(&path, "new\n"), front.editor.show());
    opened.unwrap();
    assert_eq!(diff.original.text.as_deref(), Some(&b"a\r\n\xff"[..]));
    // As its agent writes it over a file that has CRLF.
    assert_eq!(diff.proposed.as_str(), "new\r\n");
    assert!(diff.hunks.is_empty(), "it wants none");
    let decide = Decide::blind(diff.key(), Outcome::accepted("edited\n"));
    front.decide(decide.clone()).await;
    let Update::DiffAccepted { content, .. } = next_outcome(&mut updates).await else {
        panic!("it was accepted");
    };
    assert_eq!(content, "edited\n");
    // Once only.
    let (sender, ruling) = oneshot::channel();
    let reply = Reply::new(move |ruling: Result<Ruling, _>| drop(sender.send(ruling)));
    front.handle.ask(decide, reply);
    let ruling = timeout(SOON, ruling).await.unwrap().unwrap().unwrap();
    assert!(matches!(ruling, Ruling::Refused(refusal) if refusal.code == "notPending"));
    front.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn whoever_stays_goes_on_and_the_last_takes_everything_away() {
    let world = World::start();
    let mut first = world.attach(&["w"]).await;
    let mut second = world.attach(&["w"]).await;
    let files = second.attached.files().to_vec();
    let port = first.attached.port();
    first.handle.tell(Tell::Leave(Leaving::Closed));
    assert!(matches!(first.editor.next().await, EditorEvent::Stopped));
    first.leave().await;
    let (client, mut updates) = world.connect(port).await;
    let path = world.path("w/new");
    let (opened, _) = tokio::join!(client.open_diff(&path, "x"), second.editor.show());
    opened.unwrap();
    second.handle.tell(Tell::Leave(Leaving::Closed));
    let rejected = Update::DiffRejected { path };
    assert_eq!(next_outcome(&mut updates).await, rejected, "C5.7");
    second.leave().await;
    assert!(!files.is_empty() && files.iter().all(|file| !file.exists()));
    world.ends().await;
}

#[tokio::test]
async fn whoever_comes_while_the_last_leaves_gets_a_companion() {
    let world = World::start();
    let mut front = world.attach(&["w"]).await;
    for _ in 0..10 {
        front.handle.tell(Tell::Leave(Leaving::Closed));
        let next = world.attach(&["w"]).await;
        front.leave().await;
        front = next;
    }
    let (client, _updates) = world.connect(front.attached.port()).await;
    let path = world.path("w/new");
    let (opened, _) = tokio::join!(client.open_diff(&path, "x"), front.editor.show());
    opened.unwrap();
    front.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn a_front_end_whose_connection_is_cut_has_left() {
    let world = World::start();
    let attach = serde_json::json!({"attach": {
        "version": "0", "environment": world.environment, "editorPid": std::process::id(),
        "ide": IdeInfo::new("raw", "Raw"), "shows": "always",
        "roots": [{"Unix": world.path("w").as_bytes()}],
    }});
    let mut stream = socket::connect_to_hub(&world.environment).unwrap();
    writeln!(stream, "{attach}").unwrap();
    let mut attached = String::new();
    while !attached.contains("\"attached\":") {
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "{attached}");
        attached += &String::from_utf8_lossy(&bytes[..read]);
    }
    assert_eq!(state::list(&world.environment).len(), 1);
    // What is not understood does no harm.
    stream.write_all(b"{\"tomorrow\":1}\n\xff\n\n").unwrap();
    let other = world.attach(&["w"]).await;
    assert!(attached.contains(&other.attached.port().to_string()));
    drop(stream);
    other.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn who_says_nothing_sensible_is_refused_and_the_others_are_served() {
    let world = World::start();
    let front = world.attach(&["w"]).await;
    for garbage in [
        "GET / HTTP/1.1\r\n\r\n",
        "\n",
        "{\"tell\":\"leave\"}\n",
        "{\"attach\":{}}\n",
    ] {
        let mut stream = socket::connect_to_hub(&world.environment).unwrap();
        stream.write_all(garbage.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert!(answer.contains("refused"), "{garbage:?}: {answer:?}");
    }
    front.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn another_hub_goes_on_where_the_first_ended() {
    let world = World::start();
    let mut front = world.attach(&["w"]).await;
    let file = world.path("w/file");
    std::fs::write(&file, "").unwrap();
    front
        .handle
        .tell(Tell::context(vec![File::focused(&file, 1)], None));
    let (client, _updates) = world.connect(front.attached.port()).await;
    let path = world.path("w/new");
    let (opened, diff) = tokio::join!(client.open_diff(&path, "x"), front.editor.show());
    opened.unwrap();
    world.stopper.stop();
    let (id, _reason): (_, CloseReason) = front.editor.close("x").await;
    assert_eq!(id, diff.id, "it goes away");
    spawn_blocking(move || world.hub.join().unwrap())
        .await
        .unwrap();
    let (_stopper, hub) = serve(&world.environment);
    let world = World { hub, ..world };
    let start = Instant::now();
    while state::list(&world.environment).is_empty() {
        assert!(start.elapsed() < SOON);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let port = state::list(&world.environment)[0].port;
    let (client, mut updates) = world.connect(port).await;
    loop {
        let Update::Context(context) = crate::support::next(&mut updates).await else {
            panic!("nothing else happens");
        };
        if format!("{context:?}").contains(&file) {
            break;
        }
    }
    let (opened, next) = tokio::join!(client.open_diff(&path, "y"), front.editor.show());
    opened.unwrap();
    assert_ne!(next.id, diff.id, "the number was used");
    front
        .decide(Decide::blind(next.key(), Outcome::accepted("y")))
        .await;
    assert!(matches!(
        next_outcome(&mut updates).await,
        Update::DiffAccepted { .. }
    ));
    assert_eq!(front.attached.port(), port);
    front.leave().await;
    world.ends().await;
}

#[tokio::test]
async fn without_a_hub_the_companion_is_in_this_process() {
    let world = World::start();
    let stream: UnixStream = socket::connect_to_hub(&world.environment).unwrap();
    let environment = world.environment.clone().with("PILLION_HUB", Some("off"));
    let world = World {
        environment,
        ..world
    };
    let front = world.attach(&["w"]).await;
    let (_client, _updates) = world.connect(front.attached.port()).await;
    front.leave().await;
    drop(stream);
    world.ends().await;
}
