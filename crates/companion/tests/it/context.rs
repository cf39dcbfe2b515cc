//! The context that agents are shown (C4), over the wire.

use pillion_view::Tell;
use pillion_view::ask::Recount;
use std::fs;
use std::time::{Duration, Instant};

use pillion_protocol::{Cursor, Dialect, File, IdeContext};
use pillion_testkit::client::{Update, Updates};

use crate::support::{SOON, TestCompanion, next};

async fn next_context(updates: &mut Updates) -> IdeContext {
    match next(updates).await {
        Update::Context(context) => context,
        other => panic!("expected a context, not {other:?}"),
    }
}

#[tokio::test]
async fn a_session_gets_the_context_when_its_stream_opens_and_when_it_changes() {
    let companion = TestCompanion::start();
    let (one, two) = (companion.file("one", ""), companion.file("two", ""));
    companion
        .handle
        .tell(Tell::context(vec![File::focused(&one, 5)], None));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (_client, mut updates) = companion.connect(Dialect::GeminiCli).await;
    let context = next_context(&mut updates).await;
    assert_eq!(context.active_file().unwrap().path, one);
    let files = vec![File::open(&one, 5), File::focused(&two, 6)];
    companion.handle.tell(Tell::context(files, Some(false)));
    let context = next_context(&mut updates).await;
    assert_eq!(context.active_file().unwrap().path, two);
    assert_eq!(context.workspace_state.unwrap().is_trusted, Some(false));
}

#[tokio::test]
async fn every_session_hears_of_a_change_and_an_unchanged_context_is_not_sent() {
    let companion = TestCompanion::start();
    let path = companion.file("f", "");
    let (_a, mut first) = companion.connect(Dialect::GeminiCli).await;
    let (_b, mut second) = companion.connect(Dialect::QwenCode).await;
    next_context(&mut first).await;
    next_context(&mut second).await;
    let at = |line| File {
        cursor: Some(Cursor { line, character: 1 }),
        ..File::focused(&path, 1)
    };
    for line in [1, 1, 2] {
        companion.handle.tell(Tell::context(vec![at(line)], None));
        tokio::time::sleep(Duration::from_millis(120)).await;
    }
    for updates in [&mut first, &mut second] {
        for line in [1, 2] {
            let context = next_context(updates).await;
            assert_eq!(context.active_file().unwrap().cursor.unwrap().line, line);
        }
    }
}

#[tokio::test]
async fn a_burst_of_changes_is_sent_once() {
    let companion = TestCompanion::start();
    let path = companion.file("f", "");
    let (_client, mut updates) = companion.connect(Dialect::GeminiCli).await;
    next_context(&mut updates).await;
    let start = Instant::now();
    for line in 1..=500 {
        let file = File {
            cursor: Some(Cursor { line, character: 1 }),
            ..File::focused(&path, 1)
        };
        companion.handle.tell(Tell::context(vec![file], None));
    }
    let context = next_context(&mut updates).await;
    assert_eq!(context.active_file().unwrap().cursor.unwrap().line, 500);
    assert!(start.elapsed() >= Duration::from_millis(50), "C4.2");
}

#[tokio::test]
async fn files_that_are_not_on_disk_are_not_sent() {
    let companion = TestCompanion::start();
    let there = companion.file("there", "");
    let scratch = companion.path("scratch");
    let folder = companion.path("");
    let (_client, mut updates) = companion.connect(Dialect::GeminiCli).await;
    next_context(&mut updates).await;
    let files = vec![
        File::focused(&scratch, 3),
        File::open(&there, 2),
        File::open(&folder, 1),
    ];
    companion.handle.tell(Tell::context(files, None));
    let context = next_context(&mut updates).await;
    assert_eq!(context.files(), [File::open(&there, 2)], "C4.4");
}

#[tokio::test]
async fn a_file_that_vanishes_leaves_the_context() {
    let companion = TestCompanion::start();
    let path = companion.file("f", "");
    let (_client, mut updates) = companion.connect(Dialect::GeminiCli).await;
    next_context(&mut updates).await;
    companion
        .handle
        .tell(Tell::Saved(File::focused(&path, 1).into()));
    assert_eq!(next_context(&mut updates).await.files().len(), 1);
    fs::remove_file(&path).unwrap();
    let update = tokio::time::timeout(SOON, updates.next()).await;
    let Ok(Some(Update::Context(context))) = update else {
        panic!("{update:?}");
    };
    assert_eq!(context.files(), []);
}

/// So that no agent is told of a file that was taken back: otherwise it would be looked for once in a minute.
#[tokio::test]
async fn a_file_that_a_person_takes_back_leaves_the_context_at_once() {
    let companion = TestCompanion::start();
    let path = companion.path("f");
    let (_client, mut updates) = companion.connect(Dialect::GeminiCli).await;
    next_context(&mut updates).await;
    let start = Instant::now();
    for _ in 0..3 {
        fs::write(&path, "").unwrap();
        companion
            .handle
            .tell(Tell::Saved(File::focused(&path, 1).into()));
        assert_eq!(next_context(&mut updates).await.files().len(), 1);
        fs::remove_file(&path).unwrap();
        companion.commands().ask(Recount).await.unwrap();
        assert_eq!(next_context(&mut updates).await.files(), []);
    }
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn a_command_focuses_a_file() {
    let mut companion = TestCompanion::start();
    let path = companion.file("f", "");
    let (_client, mut updates) = companion.connect(Dialect::GeminiCli).await;
    next_context(&mut updates).await;
    let commands = companion.commands();
    let file = File {
        selected_text: Some("sel".into()),
        ..File::focused(&path, 1)
    };
    commands.focus(&file.clone().into()).await.unwrap();
    assert_eq!(next_context(&mut updates).await.files(), [file]);
    while let Some(status) = companion.editor.status.recv().await {
        if status.context.active_file().is_some() {
            assert_eq!(status.agents, [Dialect::GeminiCli]);
            break;
        }
    }
}

#[tokio::test]
async fn whoever_connects_after_a_command_has_focused_a_file_sees_that_file_first() {
    let companion = TestCompanion::start();
    let paths = [companion.file("one", ""), companion.file("two", "")];
    let commands = companion.commands();
    for turn in 0..100 {
        let path = &paths[turn % 2];
        commands
            .focus(&File::focused(path, 1 + turn as u64).into())
            .await
            .unwrap();
        let (_client, mut updates) = companion.connect(Dialect::GeminiCli).await;
        let context = next_context(&mut updates).await;
        assert_eq!(&context.active_file().unwrap().path, path, "turn {turn}");
    }
}

#[tokio::test]
async fn a_command_that_focuses_what_agents_know_already_or_cannot_be_told_of_is_answered() {
    let companion = TestCompanion::start();
    let there = companion.file("there", "");
    let commands = companion.commands();
    let file = File::focused(&there, 1);
    commands.focus(&file.clone().into()).await.unwrap();
    commands.focus(&file.clone().into()).await.unwrap();
    let scratch = companion.path("scratch");
    commands
        .focus(&File::focused(scratch, 2).into())
        .await
        .unwrap();
    // Also while the editor is never quiet.
    let moves = async {
        for line in 1.. {
            let file = File {
                cursor: Some(Cursor { line, character: 1 }),
                ..File::focused(&there, 3)
            };
            companion.handle.tell(Tell::context(vec![file], None));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let file = File::focused(&there, 4);
    let focus = file.clone().into();
    tokio::select! {
        () = moves => {}
        focused = commands.focus(&focus) => focused.unwrap(),
    }
}
