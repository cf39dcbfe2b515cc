//! From the first file to the last (C2, C6).

use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_view::{EditorEvent, Leaving, Tell};

use crate::support::{SOON, STOPS, TestCompanion, next_outcome};

#[tokio::test]
async fn discovery_files_say_what_the_contract_wants() {
    let companion = TestCompanion::start();
    for dialect in Dialect::AGENTS {
        let file = companion.discovery_file(dialect);
        assert_eq!(file.port, companion.companion.port());
        assert_eq!(
            file.workspace_path,
            companion.path("").trim_end_matches('/')
        );
        assert_eq!(file.ide_info.unwrap().display_name, "Test");
        assert_eq!(file.ppid, Some(std::process::id()));
    }
    let tokens = Dialect::AGENTS.map(|dialect| companion.token(dialect).expose().to_owned());
    assert_ne!(tokens[0], tokens[1], "each dialect has a token of its own");
}

#[tokio::test]
async fn stopping_is_quick_with_streams_open_and_removes_every_file() {
    let companion = TestCompanion::start();
    let files = companion.companion.files().to_vec();
    assert!(files.iter().all(|file| file.exists()));
    let mut sessions = Vec::new();
    for _ in 0..20 {
        sessions.push(companion.connect(Dialect::GeminiCli).await);
    }
    let start = Instant::now();
    let running = companion.companion;
    tokio::task::spawn_blocking(move || drop(running))
        .await
        .unwrap();
    assert!(start.elapsed() < STOPS, "{:?}", start.elapsed());
    assert!(files.iter().all(|file| !file.exists()), "C6.2");
    for (_client, mut updates) in sessions {
        while updates.next().await.is_some() {}
    }
}

#[tokio::test]
async fn stopping_rejects_what_is_pending() {
    let mut companion = TestCompanion::start();
    let (client, mut updates) = companion.connect(Dialect::GeminiCli).await;
    let path = companion.path("new");
    let (opened, _) = tokio::join!(client.open_diff(&path, "x"), companion.editor.show());
    opened.unwrap();
    let files = companion.companion.files().to_vec();
    companion.handle.tell(Tell::Leave(Leaving::Closed));
    let rejected = Update::DiffRejected { path };
    assert_eq!(next_outcome(&mut updates).await, rejected, "C5.7");
    let is_gone = files.iter().all(|file| !file.exists());
    assert!(is_gone, "files go before anything else (C6.2)");
    assert!(matches!(
        companion.editor.next().await,
        EditorEvent::Stopped
    ));
}

#[tokio::test]
async fn deleted_files_are_put_back() {
    let companion = TestCompanion::start();
    let files = companion.companion.files().to_vec();
    files.iter().for_each(|file| fs::remove_file(file).unwrap());
    let start = Instant::now();
    while !files.iter().all(|file| file.exists()) {
        assert!(start.elapsed() < SOON, "not put back");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn other_roots_are_published() {
    let companion = TestCompanion::start();
    let (one, two) = (companion.path("one"), companion.path("two"));
    let roots = vec![one.clone().into(), two.clone().into()];
    // An editor without a folder has no workspace: agents then find nobody who fits.
    for (roots, expected) in [(roots, format!("{one}:{two}")), (Vec::new(), String::new())] {
        companion.handle.tell(Tell::Roots(roots));
        let start = Instant::now();
        while companion.discovery_file(Dialect::QwenCode).workspace_path != expected {
            assert!(start.elapsed() < SOON, "not rewritten");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_served_is_a_warning_and_the_others_are() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    fs::create_dir(folder.path().join("tmp")).unwrap();
    fs::write(folder.path().join("tmp/gemini"), "in the way").unwrap();
    let mut companion = TestCompanion::start_in(folder);
    let status = companion.editor.status.recv().await.unwrap();
    let warnings = status.warnings.join("\n");
    assert!(warnings.contains("tmp/gemini"), "{warnings}");
    assert!(
        companion
            .discovery_file(Dialect::QwenCode)
            .auth_token
            .is_some()
    );
}

/// A limit that is not used would be 23 hours in place of the person's five minutes.
#[tokio::test]
async fn a_limit_that_cannot_be_read_is_a_warning() {
    let (hooks, changes) = ("PILLION_LIMIT", "PILLION_CHANGES_LIMIT");
    for (variable, limit, expected) in [
        (hooks, "5m", None),
        (hooks, "90", None),
        (hooks, "0", Some("must be greater than zero")),
        (hooks, "5 minutes", Some("expected a duration such as")),
        (hooks, "-1", Some("expected a duration such as")),
        (changes, "500M", None),
        (changes, "abc", Some("expected a size such as")),
        (changes, "5 M", None),
        (changes, "-1", Some("expected a size such as")),
    ] {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let root = folder.path().canonicalize().unwrap();
        let more = [(variable, limit.into())];
        let mut companion = TestCompanion::start_with(folder, root, &more);
        let status = companion.editor.status.recv().await.unwrap();
        let warnings = status.warnings.join("\n");
        match expected {
            None => assert_eq!(warnings, ""),
            Some(why) => assert!(
                warnings.contains(&format!("{variable} is {limit:?}")) && warnings.contains(why),
                "{warnings}"
            ),
        }
    }
}

#[tokio::test]
async fn two_companions_on_one_workspace_live_side_by_side() {
    let first = TestCompanion::start();
    let second = TestCompanion::start_in(Arc::clone(&first.folder));
    assert_ne!(first.companion.port(), second.companion.port());
    for companion in [&first, &second] {
        companion.connect(Dialect::GeminiCli).await;
    }
    let files = first.companion.files().to_vec();
    drop(second);
    assert!(
        files.iter().all(|file| file.exists()),
        "the first one's stay"
    );
    first.connect(Dialect::GeminiCli).await;
}

#[tokio::test]
async fn the_next_companion_in_the_same_process_comes_back_where_the_last_one_was() {
    let last = TestCompanion::start();
    let (folder, port) = (Arc::clone(&last.folder), last.companion.port());
    let token = last.token(Dialect::ClaudeCode);
    drop(last);
    let next = TestCompanion::start_in(folder);
    assert_eq!(next.companion.port(), port);
    let kept = next.token(Dialect::ClaudeCode);
    assert!(kept.matches(token.expose().as_bytes()));
}

#[tokio::test]
async fn another_process_of_the_editor_is_in_the_files_and_in_the_state() {
    let companion = TestCompanion::start();
    assert_eq!(companion.state().editors(), [std::process::id()]);
    let parent = pillion_system::process::ancestors(std::process::id())[0];
    companion.handle.tell(Tell::Editor(parent));
    let start = Instant::now();
    while companion.state().editors() != [parent]
        || companion.discovery_file(Dialect::ClaudeCode).ppid != Some(parent)
    {
        assert!(start.elapsed() < SOON, "not rewritten");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
