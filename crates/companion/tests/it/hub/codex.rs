//! Codex CLI asks the hub what the editor of its folder shows, over one socket that all programs of a user share.

use pillion_view::Tell;
use std::os::unix::net::UnixListener;
use std::path::Path;

use pillion_protocol::codex;
use serde_json::{Value, json};

use super::*;

/// Asks what is open in this folder; none if nobody listens or answers.
fn ask(socket: &Path, folder: &Path) -> Option<Value> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(SOON)).unwrap();
    let question = json!({
        "type": "request", "requestId": "q", "sourceClientId": "codex-tui", "version": 0, "method": "ide-context",
        "params": {"workspaceRoot": folder},
    });
    let question = question.to_string();
    let length = u32::try_from(question.len()).unwrap();
    stream.write_all(&length.to_le_bytes()).ok()?;
    stream.write_all(question.as_bytes()).ok()?;
    let mut start = [0; 4];
    stream.read_exact(&mut start).ok()?;
    let mut answer = vec![0; codex::length(start).unwrap()];
    stream.read_exact(&mut answer).unwrap();
    Some(serde_json::from_slice(&answer).unwrap())
}

/// Asks until this is answered.
async fn ask_until(socket: &Path, folder: &Path, is_answer: impl Fn(&Value) -> bool) {
    let start = Instant::now();
    loop {
        let (socket, folder) = (socket.to_owned(), folder.to_owned());
        let answer = spawn_blocking(move || ask(&socket, &folder)).await.unwrap();
        if answer.as_ref().is_some_and(&is_answer) {
            return;
        }
        assert!(start.elapsed() < SOON, "{answer:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn shows(path: &str) -> impl Fn(&Value) -> bool {
    move |answer| answer["result"]["ideContext"]["activeFile"]["path"] == path
}

fn is_nobodys(answer: &Value) -> bool {
    answer["error"] == "no-client-found"
}

/// A hub where Codex has run before.
fn world() -> (World, PathBuf) {
    let world = World::start();
    let home = world.environment.codex_home();
    std::fs::create_dir(&home).unwrap();
    (world, home.join("ipc/ipc.sock"))
}

#[tokio::test]
async fn codex_is_told_what_the_editor_of_its_folder_shows() {
    let (world, socket) = world();
    let (outer, other) = (world.attach(&["w"]).await, world.attach(&["other"]).await);
    for (front, name) in [(&outer, "w/a.rs"), (&other, "other/b.rs")] {
        let path = world.path(name);
        std::fs::write(&path, "x").unwrap();
        let file = File::focused(&path, 1);
        front.handle.tell(Tell::context(vec![file], None));
    }
    let root = |name: &str| world.root(name);
    ask_until(&socket, &root("w"), shows("a.rs")).await;
    ask_until(&socket, &root("other"), shows("b.rs")).await;
    let outside = world.path("w/a.rs");
    ask_until(&socket, &root("w/below"), shows(&outside)).await;
    ask_until(&socket, &root("third"), is_nobodys).await;
    // A folder by another name.
    let link = world.root("").join("link");
    std::os::unix::fs::symlink(root("w"), &link).unwrap();
    ask_until(&socket, &link, shows(&outside)).await;
    for front in [outer, other] {
        front.leave().await;
    }
    world.ends().await;
    assert!(!socket.exists());
}

fn is_success(answer: &Value) -> bool {
    answer["resultType"] == "success"
}

#[tokio::test]
async fn every_codex_is_answered_that_a_view_or_a_command_knows_of() {
    let (mut world, socket) = world();
    let own = world.attach(&["w"]).await;
    let root = world.root("w");
    ask_until(&socket, &root, is_success).await;
    // One whose directory nobody knows of, as long as the temporary one is this user's alone.
    let uid = rustix::process::geteuid().as_raw();
    let tmpdir = world.environment.tmpdir();
    let shared = tmpdir.join(format!("codex-ipc/ipc-{uid}.sock"));
    ask_until(&shared, &root, is_success).await;
    // A view that has another directory in its environment.
    let outer = world.environment.clone();
    let home = world.root("another-home");
    world.environment = outer.clone().with("CODEX_HOME", Some(&home));
    let view = world.attach(&["w"]).await;
    let others = home.join("ipc/ipc.sock");
    ask_until(&others, &root, is_success).await;
    view.leave().await;
    let start = Instant::now();
    while others.exists() {
        assert!(start.elapsed() < SOON);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    ask_until(&socket, &root, is_success).await;
    // One that a command starts with yet another.
    world.environment = outer;
    let home = world.root("started-home");
    let (environment, own_home) = (world.environment.clone(), home.clone());
    let port = own.attached.port();
    let told = spawn_blocking(move || {
        let mut states = state::list(&environment).into_iter();
        let state = states.find(|it| it.port == port).unwrap();
        let client = pillion_view::Client::new(&state).unwrap();
        client.ask(pillion_view::ask::ContextAsker {
            home: own_home,
            tmpdir,
        })
    });
    told.await.unwrap().unwrap();
    let started = home.join("ipc/ipc.sock");
    ask_until(&started, &root, is_success).await;
    own.leave().await;
    world.ends().await;
    assert!(![&socket, &shared, &started].iter().any(|it| it.exists()));
}

#[tokio::test]
async fn a_companion_without_a_hub_answers_codex_itself() {
    let (world, socket) = world();
    let stream = socket::connect_to_hub(&world.environment).unwrap();
    let home = world.root("another-home");
    let environment = world.environment.clone().with("PILLION_HUB", Some("off"));
    let world = World {
        environment: environment.with("CODEX_HOME", Some(&home)),
        ..world
    };
    let front = world.attach(&["w"]).await;
    let root = world.root("w");
    let others = home.join("ipc/ipc.sock");
    ask_until(&others, &root, is_success).await;
    ask_until(&others, &world.root("third"), is_nobodys).await;
    // The hub knows no companion of this folder.
    ask_until(&socket, &root, is_nobodys).await;
    front.leave().await;
    assert!(!others.exists());
    drop(stream);
    world.ends().await;
}

#[tokio::test]
async fn codexs_socket_is_left_to_others_and_put_back() {
    let (world, socket) = world();
    let front = world.attach(&["w"]).await;
    let root = world.root("w");
    ask_until(&socket, &root, is_success).await;
    // Deleted, with its folder.
    std::fs::remove_dir_all(socket.parent().unwrap()).unwrap();
    ask_until(&socket, &root, is_success).await;
    // Another program's: as long as it is there.
    std::fs::remove_file(&socket).unwrap();
    let others = UnixListener::bind(&socket).unwrap();
    others.set_nonblocking(true).unwrap();
    let start = Instant::now();
    // This one looks whether somebody listens.
    while others.accept().is_err() {
        assert!(start.elapsed() < SOON);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(others);
    ask_until(&socket, &root, is_success).await;
    front.leave().await;
    world.ends().await;
    assert!(!socket.exists());
}

#[tokio::test]
async fn bad_questions_of_codex_are_survived() {
    let (world, socket) = world();
    let front = world.attach(&["w"]).await;
    let root = world.root("w");
    ask_until(&socket, &root, is_success).await;
    for bytes in [
        &b""[..],
        b"\0",
        b"\xff\xff\xff\xff",
        b"\x02\0\0\0{}",
        b"\x02\0\0\0\xff\xff",
    ] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        stream.set_read_timeout(Some(SOON)).unwrap();
        let mut answer = Vec::new();
        // It hangs up, perhaps before it has read everything.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty(), "{bytes:?}: {answer:?}");
    }
    ask_until(&socket, &root, is_success).await;
    front.leave().await;
    world.ends().await;
}
