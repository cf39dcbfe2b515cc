//! The outbox as its session and its streams use it.

use pillion_protocol::Dialect;

use super::*;

fn rejected(path: &str) -> Option<Push> {
    Some(Push::Outcome(rejection(path)))
}

fn rejection(path: &str) -> Delivery {
    Delivery {
        id: None,
        proposer: Dialect::GeminiCli.into(),
        tab: None,
        file_path: path.into(),
        outcome: Outcome::Rejected,
        is_edited: false,
        notes: Vec::new(),
        stand_in: None,
        words: None,
    }
}

fn accepted(path: &str, is_edited: bool) -> Delivery {
    Delivery {
        id: None,
        proposer: Dialect::GeminiCli.into(),
        tab: None,
        file_path: path.into(),
        outcome: Outcome::accepted("x"),
        is_edited,
        notes: Vec::new(),
        stand_in: None,
        words: None,
    }
}

#[tokio::test]
async fn only_the_newest_context_is_pushed() {
    let outbox = Arc::new(Outbox::default());
    let newest = Arc::new(IdeContext {
        workspace_state: Some(Default::default()),
    });
    outbox.push_context(Arc::default());
    outbox.push_context(Arc::clone(&newest));
    let mut stream = outbox.stream(None);
    assert_eq!(stream.next().await, Some(Push::Context(newest)));
    assert_eq!(stream.take(), None);
}

/// A stream, and what it writes to.
fn wired(outbox: &Arc<Outbox>) -> (Stream, Arc<Wire>) {
    let wire = Arc::new(Wire::default());
    (outbox.stream(Some(Arc::clone(&wire))), wire)
}

#[test]
fn outcomes_wait_for_a_stream_and_are_delivered_once() {
    let outbox = Arc::new(Outbox::default());
    outbox.push_outcome(rejection("/a"));
    outbox.push_outcome(rejection("/b"));
    let (first, wire) = wired(&outbox);
    assert_eq!(first.take(), rejected("/a"));
    wire.sent(10);
    wire.flushed();
    drop(first);
    wire.end(0, false);
    let (second, wire) = wired(&outbox);
    assert_eq!(second.take(), rejected("/b"));
    assert!(!outbox.is_delivered(), "it is not sent");
    wire.sent(10);
    wire.flushed();
    assert!(outbox.is_delivered());
    assert_eq!(second.take(), None);
}

#[test]
fn an_outcome_that_its_connection_lost_goes_to_the_next_stream_first() {
    let outbox = Arc::new(Outbox::default());
    for path in ["/a", "/b", "/c"] {
        outbox.push_outcome(rejection(path));
    }
    let (first, wire) = wired(&outbox);
    for path in ["/a", "/b"] {
        assert_eq!(first.take(), rejected(path));
        wire.sent(10);
        wire.flushed();
    }
    drop(first);
    let (second, _wire) = wired(&outbox);
    wire.end(10, false);
    for path in ["/b", "/c"] {
        assert_eq!(second.take(), rejected(path));
    }
    assert_eq!(second.take(), None);
}

#[test]
fn what_an_agent_may_not_have_read_comes_again_unless_it_spoke_since() {
    let outbox = Arc::new(Outbox::default());
    for path in ["/a", "/b"] {
        outbox.push_outcome(rejection(path));
    }
    let (stream, wire) = wired(&outbox);
    assert_eq!(stream.take(), rejected("/a"));
    outbox.note_activity();
    wire.sent(10);
    wire.flushed();
    assert!(!outbox.lock().in_flight[0].is_answered, "it was not sent");
    outbox.note_activity();
    assert_eq!(stream.take(), rejected("/b"));
    wire.sent(10);
    wire.flushed();
    drop(stream);
    wire.end(0, true);
    let next = outbox.stream(None);
    assert_eq!(next.take(), rejected("/b"));
    assert_eq!(next.take(), None);
}

#[test]
fn what_was_withdrawn_in_flight_does_not_come_back() {
    let outbox = Arc::new(Outbox::default());
    outbox.push_outcome(rejection("/a"));
    let (stream, wire) = wired(&outbox);
    assert_eq!(stream.take(), rejected("/a"));
    assert_eq!(outbox.withdraw("/a"), None);
    drop(stream);
    wire.end(0, true);
    assert_eq!(outbox.stream(None).take(), None);
}

#[test]
fn what_a_stream_has_outlived_is_not_sent_again() {
    let outbox = Arc::new(Outbox::default());
    outbox.push_outcome(rejection("/a"));
    let (stream, wire) = wired(&outbox);
    assert_eq!(stream.take(), rejected("/a"));
    let now = Instant::now();
    outbox.forget_outlived(now + DELIVERY_GRACE * 2);
    wire.sent(10);
    wire.flushed();
    assert_eq!(outbox.lock().in_flight.len(), 1, "it was not sent");
    outbox.forget_outlived(Instant::now() + DELIVERY_GRACE);
    drop(stream);
    wire.end(0, true);
    assert_eq!(outbox.stream(None).take(), None);
}

#[tokio::test]
async fn the_newest_stream_takes_and_the_older_one_takes_over_when_it_closes() {
    let outbox = Arc::new(Outbox::default());
    let mut older = outbox.stream(None);
    let newer = outbox.stream(None);
    outbox.push_outcome(rejection("/a"));
    assert_eq!(older.take(), None);
    let waiting = tokio::spawn(async move { older.next().await });
    tokio::task::yield_now().await;
    drop(newer);
    assert_eq!(waiting.await.unwrap(), rejected("/a"));
}

#[test]
fn a_withdrawn_outcome_is_not_delivered() {
    let outbox = Arc::new(Outbox::default());
    outbox.push_outcome(rejection("/a"));
    outbox.push_outcome(rejection("/b"));
    outbox.push_outcome(accepted("/a", true));
    assert_eq!(outbox.withdraw("/a"), Some(accepted("/a", true)));
    assert_eq!(outbox.withdraw("/a"), None);
    assert_eq!(outbox.stream(None).take(), rejected("/b"));
}

#[tokio::test]
async fn streams_end_with_their_session_after_what_waited() {
    let outbox = Arc::new(Outbox::default());
    let mut stream = outbox.stream(None);
    outbox.push_outcome(rejection("/a"));
    outbox.close();
    assert_eq!(stream.next().await, rejected("/a"));
    assert_eq!(stream.next().await, None);
}

#[test]
fn what_was_accepted_and_never_arrived_is_undelivered() {
    let outbox = Arc::new(Outbox::default());
    for path in ["/a", "/b", "/c", "/d"] {
        outbox.push_outcome(accepted(path, path != "/d"));
    }
    outbox.push_outcome(rejection("/e"));
    let (stream, wire) = wired(&outbox);
    for _ in ["/a", "/b"] {
        assert!(stream.take().is_some());
        wire.sent(10);
        wire.flushed();
    }
    drop(stream);
    wire.end(10, false);
    let left = [
        accepted("/b", true),
        accepted("/c", true),
        accepted("/d", false),
    ];
    assert_eq!(outbox.take_undelivered(), left);
    assert_eq!(outbox.take_undelivered(), []);
}

#[test]
fn what_is_sent_on_an_open_stream_is_delivered() {
    let outbox = Arc::new(Outbox::default());
    outbox.push_outcome(accepted("/a", true));
    let (stream, wire) = wired(&outbox);
    assert!(stream.take().is_some());
    wire.sent(10);
    wire.flushed();
    assert_eq!(outbox.take_undelivered(), []);
}

#[tokio::test]
async fn whoever_waits_for_delivery_waits_until_the_system_has_it() {
    let outbox = Arc::new(Outbox::default());
    outbox.delivered().await;
    outbox.push_outcome(rejection("/a"));
    let waiting = tokio::spawn({
        let outbox = Arc::clone(&outbox);
        async move { outbox.delivered().await }
    });
    let (stream, wire) = wired(&outbox);
    assert!(stream.take().is_some());
    wire.sent(10);
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished(), "it is not flushed");
    wire.flushed();
    waiting.await.unwrap();
}

#[test]
fn an_edited_text_outlives_an_agent_that_is_stopped_and_killed() {
    let outbox = Arc::new(Outbox::default());
    for (path, is_edited) in [("/mine", true), ("/its", false)] {
        outbox.push_outcome(accepted(path, is_edited));
    }
    let (stream, wire) = wired(&outbox);
    for _ in 0..2 {
        assert!(stream.take().is_some());
        wire.sent(10);
        wire.flushed();
    }
    outbox.forget_outlived(Instant::now() + DELIVERY_GRACE * 100);
    drop(stream);
    wire.end(0, true);
    assert_eq!(outbox.take_undelivered(), [accepted("/mine", true)]);
}

#[test]
fn an_edited_text_is_forgotten_once_the_agent_has_spoken() {
    let outbox = Arc::new(Outbox::default());
    outbox.push_outcome(accepted("/a", true));
    let (stream, wire) = wired(&outbox);
    assert!(stream.take().is_some());
    wire.sent(10);
    wire.flushed();
    outbox.note_activity();
    outbox.forget_outlived(Instant::now() + DELIVERY_GRACE);
    assert!(outbox.lock().in_flight.is_empty());
}
