//! A relay between an editor and owners that exist in these tests only.

use super::*;

const OWN: u32 = 7;

const URI: &str = "file:///t/pillion/proposals/12/1-1/a.proposed.rs";

const OTHER: &str = "file:///t/pillion/proposals/13/1-1/b.proposed.rs";

struct World {
    relay: Relay,
    now: Instant,
    said: Vec<Action>,
}

impl World {
    fn new() -> Self {
        Self {
            relay: Relay::new(OWN, json!({"processId": 1})),
            now: Instant::now(),
            said: Vec::new(),
        }
    }

    fn tell(&mut self, method: &str, uri: &str) -> Vec<String> {
        let params = json!({"textDocument": {"uri": uri}});
        let path = self.relay.document(method, &params);
        let actions =
            self.relay
                .notification(path.expect("it is about a file"), method, params, self.now);
        self.shown(actions)
    }

    fn ask(&mut self, id: i32, uri: &str) -> Vec<String> {
        let path = uri::to_path(uri).expect("it names a file");
        let method = "textDocument/codeAction".to_owned();
        let params = json!({"textDocument": {"uri": uri}});
        let request = Request {
            id: id.into(),
            method,
            params,
        };
        let actions = self.relay.request(&path, request, self.now);
        self.shown(actions)
    }

    fn command(&mut self, arguments: Value, is_own_pending: bool) -> Option<Vec<String>> {
        let method = "workspace/executeCommand".to_owned();
        let params = json!({"command": "pillion.accept", "arguments": arguments});
        let request = Request {
            id: 50.into(),
            method,
            params,
        };
        let actions = self.relay.command(request, is_own_pending, self.now).ok()?;
        Some(self.shown(actions))
    }

    fn event(&mut self, number: u32, event: Event) -> Vec<String> {
        let actions = self.relay.event(number, event);
        self.shown(actions)
    }

    fn opened(&mut self, number: u32) -> Vec<String> {
        let (sender, _) = crossbeam_channel::bounded(1);
        self.event(number, Event::Opened(sender))
    }

    fn said(&mut self, number: u32, method: &str, params: Value) -> Vec<String> {
        self.event(
            number,
            Event::Message(message::notification(method, params)),
        )
    }

    fn answered(&mut self, number: u32, id: i32) -> Vec<String> {
        let response = Response {
            id: id.into(),
            response_result: Ok(json!([1])),
        };
        self.event(number, Event::Message(response.into()))
    }

    fn later(&mut self, time: Duration) -> Vec<String> {
        self.now += time;
        let actions = self.relay.elapse(self.now);
        self.shown(actions)
    }

    fn shown(&mut self, actions: Vec<Action>) -> Vec<String> {
        let shown = actions.iter().map(show).collect();
        self.said.extend(actions);
        shown
    }
}

fn show(action: &Action) -> String {
    let message = |message: &Message| match message {
        Message::Request(it) => format!("{} {}", it.id, it.method),
        Message::Notification(it) => it.method.clone(),
        Message::Response(it) => format!("{} answered", it.id),
    };
    match action {
        Action::Dial { number, owner } => format!("dial {number} {}", owner.pid),
        Action::Link {
            end: End::Owner(number),
            message: it,
        } => format!("{number}: {}", message(it)),
        Action::HangUp(End::Owner(number)) => format!("hang up {number}"),
        Action::Send(Message::Response(it)) => match &it.response_result {
            Ok(result) => format!("{} = {result}", it.id),
            Err(error) => format!("{} ! {}", it.id, error.message),
        },
        Action::Send(it) => format!("editor: {}", message(it)),
        other => panic!("{other:?}"),
    }
}

const OPEN: &str = "textDocument/didOpen";
const CHANGE: &str = "textDocument/didChange";
const CLOSE: &str = "textDocument/didClose";

#[test]
fn messages_of_the_editor_wait_until_the_owner_is_reached_and_keep_their_order() {
    let mut world = World::new();
    assert_eq!(world.tell(OPEN, URI), ["dial 1 12"]);
    assert!(world.tell(CHANGE, URI).is_empty());
    assert!(world.ask(4, URI).is_empty());
    assert_eq!(
        world.opened(1),
        [
            "1: \"hello\" initialize",
            "1: textDocument/didOpen",
            "1: textDocument/didChange",
            "1: 4 textDocument/codeAction"
        ]
    );
    assert_eq!(world.tell(CHANGE, URI), ["1: textDocument/didChange"]);
    assert_eq!(world.answered(1, 4), ["4 = [1]"]);
    assert!(world.answered(1, 4).is_empty(), "an answer counts once");
    assert!(world.answered(1, 99).is_empty(), "nobody asked");
}

#[test]
fn only_others_proposals_are_relayed() {
    let world = World::new();
    let about = |uri: &str| json!({"textDocument": {"uri": uri}});
    for own in [
        "file:///t/pillion/proposals/7/1-1/a.proposed.rs",
        "file:///w/a.rs",
        "file:///t/pillion/proposals/12/1-1",
        "untitled:a",
    ] {
        assert_eq!(world.relay.document(OPEN, &about(own)), None, "{own}");
    }
    assert!(world.relay.document(OPEN, &about(URI)).is_some());
    assert_eq!(world.relay.document("workspace/x", &about(URI)), None);
    for wrong in [json!(null), json!({"textDocument": 1}), json!([])] {
        assert_eq!(world.relay.document(OPEN, &wrong), None);
    }
}

#[test]
fn proposals_of_one_owner_share_a_connection_which_ends_with_the_last() {
    let mut world = World::new();
    let second = URI.replace("1-1", "2-1");
    world.tell(OPEN, URI);
    world.opened(1);
    assert_eq!(world.tell(OPEN, &second), ["1: textDocument/didOpen"]);
    assert_eq!(world.tell(OPEN, OTHER), ["dial 2 13"]);
    assert_eq!(world.tell(CLOSE, URI), ["1: textDocument/didClose"]);
    let settled = world.said(1, DID_SETTLE, json!({"uri": second}));
    assert_eq!(settled, ["hang up 1"]);
    assert!(
        world.tell(CHANGE, &second).is_empty(),
        "nobody wants to know"
    );
    assert_eq!(world.ask(1, &second), ["1 = []"]);
    assert!(world.relay.is_in_use());
    assert_eq!(world.tell(OPEN, URI), ["dial 3 12"]);
}

#[test]
fn a_decision_is_answered_before_its_connection_ends() {
    let mut world = World::new();
    world.tell(OPEN, URI);
    world.opened(1);
    assert_eq!(
        world.command(json!([1, 1, 12]), false).unwrap(),
        ["1: 50 workspace/executeCommand"]
    );
    assert!(world.said(1, DID_SETTLE, json!({"uri": URI})).is_empty());
    assert_eq!(world.answered(1, 50), ["50 = [1]", "hang up 1"]);
}

#[test]
fn an_owner_that_dies_is_reported_once_and_answers_what_was_asked() {
    let mut world = World::new();
    world.tell(OPEN, URI);
    world.opened(1);
    world.ask(4, URI);
    let ended = world.event(1, Event::Closed("gone".to_owned()));
    assert_eq!(
        ended,
        [
            "hang up 1".to_owned(),
            format!("4 ! {GONE}"),
            "editor: textDocument/publishDiagnostics".to_owned(),
            "editor: window/showMessage".to_owned(),
        ]
    );
    assert!(world.event(1, Event::Closed("gone".to_owned())).is_empty());
    assert_eq!(world.ask(5, URI), ["5 = []"]);
    assert_eq!(
        world.command(json!([1, 1, 12]), false).unwrap(),
        [format!("50 ! {GONE}")]
    );
    assert_eq!(
        world.command(json!([]), false),
        None,
        "nothing of others is open"
    );
    assert!(world.tell(CLOSE, URI).is_empty());
    assert!(!world.relay.is_in_use());
}

#[test]
fn an_owner_that_ends_after_the_decision_is_no_news() {
    let mut world = World::new();
    world.tell(OPEN, URI);
    world.opened(1);
    world.said(1, DID_SETTLE, json!({"uri": URI}));
    assert!(world.event(1, Event::Closed("gone".to_owned())).is_empty());
}

#[test]
fn one_that_hangs_costs_no_answer_and_no_memory() {
    let mut world = World::new();
    world.tell(OPEN, URI);
    world.ask(4, URI);
    assert!(
        world
            .later(DIAL_TIMEOUT - Duration::from_millis(1))
            .is_empty()
    );
    let late = world.later(Duration::from_millis(1));
    assert_eq!(late[..2], ["hang up 1".to_owned(), format!("4 ! {GONE}")]);
    assert_eq!(world.opened(1), ["hang up 1"], "too late");

    world.tell(OPEN, URI);
    world.opened(2);
    world.ask(5, URI);
    assert_eq!(world.later(ANSWER_TIMEOUT), [format!("5 ! {SILENT}")]);
    assert!(world.answered(2, 5).is_empty(), "too late");
    assert_eq!(world.relay.due(), None);

    let mut world = World::new();
    world.tell(OPEN, URI);
    for _ in 0..2 * MAX_WAITING {
        world.tell(CHANGE, URI);
    }
    assert!(world.said.iter().any(|action| show(action) == "hang up 1"));
    let mut world = World::new();
    world.tell(OPEN, URI);
    world.opened(1);
    for id in 0..2 * i32::try_from(MAX_WAITING).unwrap() {
        world.ask(id, URI);
    }
    assert_eq!(world.relay.links[&1].waiting.len(), MAX_WAITING);
}

#[test]
fn commands_go_to_the_owner_they_are_about() {
    let mut world = World::new();
    assert_eq!(world.command(json!([]), false), None);
    assert_eq!(world.command(json!([1, 1]), true), None);
    assert_eq!(world.command(json!([1, 1, OWN]), true), None);
    for hostile in [
        json!([1, 1, -1]),
        json!([1, 1, "12"]),
        json!([1, 1, {}]),
        json!([1, 1, 12]),
    ] {
        assert_eq!(
            world.command(hostile, false).unwrap(),
            [format!("50 ! {GONE}")]
        );
    }
    world.tell(OPEN, URI);
    world.opened(1);
    world.tell(OPEN, OTHER);
    world.opened(2);
    world.tell(CHANGE, URI);
    let sent = "1: 50 workspace/executeCommand";
    assert_eq!(world.command(json!([]), false).unwrap(), [sent]);
    assert!(world.command(json!([]), true).unwrap()[0].contains("two editors"));
    world.ask(3, OTHER);
    assert_eq!(
        world.command(json!([]), false).unwrap(),
        [sent.replace('1', "2")]
    );
}

#[test]
fn an_owner_speaks_of_its_own_proposals_only() {
    let mut world = World::new();
    world.tell(OPEN, URI);
    world.opened(1);
    let publish = "textDocument/publishDiagnostics";
    let about = |uri: &str| json!({"uri": uri, "diagnostics": []});
    assert_eq!(
        world.said(1, publish, about(URI)),
        ["editor: textDocument/publishDiagnostics"]
    );
    assert!(world.said(1, publish, about("file:///w/a.rs")).is_empty());
    assert!(world.said(1, publish, about(OTHER)).is_empty());
    assert!(world.said(1, publish, json!(5)).is_empty());
    assert!(world.said(1, "workspace/anything", json!({})).is_empty());
    let said = json!({"type": 1, "message": "a\u{1b}[2J"});
    assert_eq!(
        world.said(1, "window/showMessage", said),
        ["editor: window/showMessage"]
    );
    let Some(Action::Send(Message::Notification(shown))) = world.said.last() else {
        panic!("{:?}", world.said);
    };
    assert_eq!(shown.params["message"], "a␛[2J");
    let request = Request {
        id: 1.into(),
        method: "workspace/applyEdit".to_owned(),
        params: json!({}),
    };
    assert_eq!(
        world.event(1, Event::Message(request.into())),
        ["1: 1 answered"]
    );
}
