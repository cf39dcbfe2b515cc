//! A text that was accepted when its agent is not there to take it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pillion_changes::{EntryState, Store};
use pillion_protocol::{Dialect, Note, Outcome};
use pillion_view::{Decide, Diff, EditorEvent, Leaving, LostText, Proposed, Tell};
use serde_json::json;

use crate::support::{RawStream, Request, TestCompanion, initialize};

/// Longer than an agent is waited for that does not come back.
const GONE: Duration = Duration::from_secs(60);

/// A companion, and a session with an event stream that reads nothing unless it is asked to.
struct Scene {
    companion: TestCompanion,
    session: String,
    path: String,
}

impl Scene {
    async fn start() -> (Self, RawStream) {
        let companion = TestCompanion::start();
        let session = initialize(&companion).await;
        let stream = RawStream::open(&companion, &session).await;
        let path = companion.file("a.txt", "old\n");
        let scene = Self {
            companion,
            session,
            path,
        };
        (scene, stream)
    }

    async fn propose(&mut self, text: &str) -> Diff {
        let open = self.open(text).send();
        let (opened, diff) = tokio::join!(open, self.companion.editor.show());
        assert_eq!(opened.status, 200, "{opened:?}");
        diff
    }

    fn open(&self, text: &str) -> Request {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
            {"name": "openDiff", "arguments": {"filePath": self.path, "newContent": text}}});
        let open = self.companion.request("POST", &call.to_string());
        open.header("Mcp-Session-Id", &self.session)
    }

    async fn accept(&self, diff: &Diff, text: &str) {
        let content = text.to_owned();
        let outcome = Outcome::accepted(content);
        self.companion.decide(diff, outcome).await;
    }

    /// Waits until the companion knows of no agent any more.
    async fn wait_away(&mut self) {
        let status = &mut self.companion.editor.status;
        while !status.recv().await.unwrap().agents.is_empty() {}
    }

    async fn wait_connected(&mut self) {
        let status = &mut self.companion.editor.status;
        while status.recv().await.unwrap().agents.is_empty() {}
    }

    async fn end_session(&self) {
        let end = self.companion.request("DELETE", "");
        let end = end.header("Mcp-Session-Id", &self.session);
        end.header("Content-Length", "0").send().await;
    }

    async fn lost(&mut self) -> LostText {
        let editor = &mut self.companion.editor;
        loop {
            match editor.next_in(GONE).await {
                EditorEvent::Lost(lost) => {
                    assert_eq!(lost.proposer, Dialect::GeminiCli.into());
                    assert_eq!(lost.path, Path::new(&self.path));
                    return lost.text;
                }
                EditorEvent::Stopped => {}
                other => panic!("expected a loss, not {other:?}"),
            }
        }
    }

    async fn kept(&mut self) -> PathBuf {
        match self.lost().await {
            LostText::Kept(file) => file,
            other => panic!("not kept: {other:?}"),
        }
    }

    /// Nothing was reported, nor kept.
    async fn nothing_is_lost(mut self) {
        let running = self.companion.companion;
        let stop = tokio::task::spawn_blocking(move || drop(running));
        stop.await.unwrap();
        assert!(matches!(
            self.companion.editor.next().await,
            EditorEvent::Stopped
        ));
        assert!(self.companion.editor.is_idle());
        let tmp = fs::read_dir(self.companion.folder.path().join("tmp")).unwrap();
        let names = tmp.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let kept: Vec<_> = names.filter(|name| name.contains("kept")).collect();
        assert!(kept.is_empty(), "{kept:?}");
    }
}

#[tokio::test]
async fn what_was_edited_and_accepted_for_an_agent_that_died_is_in_a_private_file() {
    let (mut scene, stream) = Scene::start().await;
    let diff = scene.propose("new\n").await;
    scene.wait_connected().await;
    drop(stream);
    scene.wait_away().await;
    scene.accept(&diff, "mine\r\n").await;
    let file = scene.kept().await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\r\n");
    assert_eq!(file.file_name(), Some("a.txt".as_ref()));
    assert!(file.starts_with(scene.companion.folder.path().join("tmp")));
    assert_eq!(fs::read_to_string(&scene.path).unwrap(), "old\n", "C5.9");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(file.parent().unwrap()), 0o700);
    }
}

#[tokio::test]
async fn what_an_agent_had_not_read_when_it_was_killed_is_kept() {
    let (mut scene, stream) = Scene::start().await;
    let diff = scene.propose("new\n").await;
    scene.wait_connected().await;
    scene.accept(&diff, "mine\n").await;
    // It is with the agent's system, but the agent does not read any more.
    let mut byte = [0];
    while stream.connection.peek(&mut byte).await.unwrap() == 0 {}
    drop(stream);
    scene.wait_away().await;
    let file = scene.kept().await;
    assert_eq!(fs::read_to_string(file).unwrap(), "mine\n");
}

#[tokio::test]
async fn of_a_text_as_proposed_it_is_said_that_it_was_not_written() {
    let (mut scene, stream) = Scene::start().await;
    let diff = scene.propose("new\n").await;
    scene.wait_connected().await;
    drop(stream);
    scene.wait_away().await;
    scene.accept(&diff, "new\n").await;
    scene.end_session().await;
    let text = scene.lost().await;
    assert!(matches!(text, LostText::AsProposed), "{text:?}");
}

#[tokio::test]
async fn nothing_is_said_of_what_the_agent_took_when_it_came_back() {
    let (mut scene, stream) = Scene::start().await;
    let diff = scene.propose("new\n").await;
    scene.wait_connected().await;
    drop(stream);
    scene.wait_away().await;
    scene.accept(&diff, "mine\n").await;
    let mut stream = RawStream::open(&scene.companion, &scene.session).await;
    stream.read_until("ide/diffAccepted").await;
    drop(stream);
    scene.wait_connected().await;
    scene.wait_away().await;
    scene.end_session().await;
    scene.nothing_is_lost().await;
}

#[tokio::test]
async fn nothing_is_said_of_what_is_in_the_file_already() {
    let (mut scene, stream) = Scene::start().await;
    let diff = scene.propose("new\n").await;
    scene.wait_connected().await;
    drop(stream);
    scene.wait_away().await;
    scene.accept(&diff, "mine\n").await;
    fs::write(&scene.path, "mine\n").unwrap();
    scene.end_session().await;
    scene.nothing_is_lost().await;
}

#[tokio::test]
async fn what_waits_for_an_agent_when_the_companion_stops_is_kept() {
    let (mut scene, stream) = Scene::start().await;
    let diff = scene.propose("new\n").await;
    scene.wait_connected().await;
    drop(stream);
    scene.wait_away().await;
    scene.accept(&diff, "mine\n").await;
    scene.companion.handle.tell(Tell::Leave(Leaving::Closed));
    let file = scene.kept().await;
    assert_eq!(fs::read_to_string(file).unwrap(), "mine\n");
}

#[tokio::test]
async fn an_edited_text_that_a_newer_proposal_overtakes_is_kept() {
    let (mut scene, stream) = Scene::start().await;
    let diff = scene.propose("new\n").await;
    scene.wait_connected().await;
    drop(stream);
    scene.wait_away().await;
    scene.accept(&diff, "mine\n").await;
    // What is lost is kept while the newer proposal is opened: either is done first.
    let open = tokio::spawn(scene.open("newer\n").send());
    let (mut newer, mut kept) = (None, None);
    while newer.is_none() || kept.is_none() {
        match scene.companion.editor.next().await {
            EditorEvent::Open(diff, shown) => {
                shown.done(());
                newer = Some(diff);
            }
            EditorEvent::Lost(lost) => kept = Some(lost.text),
            other => panic!("neither a newer proposal nor a loss: {other:?}"),
        }
    }
    assert_ne!(newer.unwrap().id, diff.id);
    assert_eq!(open.await.unwrap().status, 200);
    let Some(LostText::Kept(file)) = kept else {
        panic!("not kept: {kept:?}");
    };
    assert_eq!(fs::read_to_string(file).unwrap(), "mine\n");
}

#[tokio::test]
async fn what_an_agent_wrote_is_compared_with_what_was_accepted() {
    for (accepted, written) in [
        ("new\n", "new"),
        ("one\r\ntwo\r\n", "one\r\ntwo\r"),
        ("mine\n", "new\n"),
    ] {
        let (mut scene, mut stream) = Scene::start().await;
        let diff = scene.propose("new\n").await;
        scene.wait_connected().await;
        scene.accept(&diff, accepted).await;
        stream.read_until("ide/diffAccepted").await;
        fs::write(&scene.path, written).unwrap();
        let file = scene.kept().await;
        assert_eq!(fs::read_to_string(file).unwrap(), accepted);
        assert_eq!(fs::read_to_string(&scene.path).unwrap(), written, "C5.9");
    }
}

/// Also where somebody else has written before the decision: that is not what the agent made of it.
#[tokio::test]
async fn an_agent_that_writes_nothing_after_an_acceptance_is_named() {
    let named = |newer: Option<&'static str>| async move {
        let (mut scene, mut stream) = Scene::start().await;
        let diff = scene.propose("new\n").await;
        scene.wait_connected().await;
        newer.inspect(|text| fs::write(&scene.path, text).unwrap());
        scene.accept(&diff, "new\n").await;
        stream.read_until("ide/diffAccepted").await;
        assert!(matches!(scene.lost().await, LostText::AsProposed));
    };
    tokio::join!(named(None), named(Some("old\nand newer\n")));
}

/// Whoever decides in a view has nothing of it any more once they are answered, and the companion may be killed then.
#[tokio::test]
async fn what_a_person_wrote_is_in_the_log_when_they_are_answered() {
    let (mut scene, _stream) = Scene::start().await;
    let store = Store::of(&scene.companion.environment).unwrap();
    for number in 0..5 {
        let text = format!("mine {number}\n");
        let diff = scene.propose("new\n").await;
        scene.accept(&diff, &text).await;
        let entries = store.entries().unwrap();
        let edited = entries.iter().filter(|it| it.state == EntryState::Edited);
        let texts: Vec<_> = edited
            .filter_map(|it| store.text_of(it.after()).unwrap())
            .collect();
        assert!(texts.contains(&text.into_bytes()), "{number}: {entries:?}");

        let diff = scene.propose("newer\n").await;
        let mut decide = Decide::blind(diff.key(), Outcome::Rejected);
        let words = format!("why {number}");
        decide.verdict.notes.push(Note::on_all(words.as_str()));
        scene.companion.rule(decide).await;
        let entries = store.entries().unwrap();
        let mut notes = entries.iter().flat_map(|it| &it.notes);
        assert!(notes.any(|it| it.text == words), "{number}: {entries:?}");
    }
}
