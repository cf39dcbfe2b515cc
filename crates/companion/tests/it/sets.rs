//! The proposals that belong together, over the wire.

use pillion_protocol::{Dialect, Token};
use pillion_view::SetPlace;
use serde_json::{Value, json};

use crate::support::{INITIALIZE, Request, Response, TestCompanion};

/// A session by hand, so that a call can be as wrong as a test wants.
pub struct Session<'a> {
    companion: &'a TestCompanion,
    token: Token,
    id: String,
}

impl<'a> Session<'a> {
    pub async fn open(companion: &'a TestCompanion, agent: Dialect) -> Self {
        let token = companion.token(agent);
        let request = companion.request("POST", INITIALIZE).bearer(&token);
        let response = request.send().await;
        Self {
            companion,
            token,
            id: response.header("mcp-session-id").unwrap().to_owned(),
        }
    }

    fn call(&self, path: &str, set: &Value) -> impl Future<Output = Response> + use<> {
        let mut arguments = json!({"filePath": path, "newContent": "x"});
        if !set.is_null() {
            arguments["set"] = set.clone();
        }
        self.call_with(&arguments)
    }

    /// Calls `openDiff` with these arguments.
    pub fn call_with(&self, arguments: &Value) -> impl Future<Output = Response> + use<> {
        let params = json!({"name": "openDiff", "arguments": arguments});
        let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let request: Request = self.companion.request("POST", &call.to_string());
        let request = request.bearer(&self.token);
        request.header("Mcp-Session-Id", &self.id).send()
    }
}

fn wrong() -> [Value; 4] {
    [
        json!("x"),
        json!({"name": "x", "place": 4, "of": 3}),
        json!({"name": "x", "place": 1, "of": 101}),
        json!({"name": 7, "place": 1, "of": 3}),
    ]
}

#[tokio::test]
async fn a_script_names_a_set_and_hears_what_is_wrong_with_it() {
    let mut companion = TestCompanion::start();
    let mut editor = std::mem::replace(&mut companion.editor, crate::support::stand_in().1);
    let session = Session::open(&companion, Dialect::Script).await;
    for wrong in wrong() {
        let answer = session.call(&companion.path("a"), &wrong).await.text;
        assert!(answer.contains("openDiff: set"), "{wrong}: {answer}");
        assert!(editor.is_idle(), "{wrong}");
    }
    let mut shown = Vec::new();
    for (name, place) in [("a", 1), ("b", 3)] {
        let set = json!({"name": "x", "place": place, "of": 3});
        let (answer, diff) = tokio::join!(session.call(&companion.path(name), &set), editor.show());
        assert!(!answer.text.contains("isError\":true"), "{answer:?}");
        shown.push(diff.set);
    }
    let place = |place| SetPlace {
        id: 1,
        place,
        of: 3,
    };
    assert_eq!(shown, [Some(place(1)), Some(place(3))]);
    let set = json!({"name": "x", "place": 2, "of": 3});
    let answer = session.call(&companion.path("a"), &set).await.text;
    assert!(
        answer.contains("is file 1 of 3 of this set already"),
        "{answer}"
    );
}

#[tokio::test]
async fn what_an_agent_says_of_sets_is_ignored_whatever_it_is() {
    let mut companion = TestCompanion::start();
    let mut editor = std::mem::replace(&mut companion.editor, crate::support::stand_in().1);
    for agent in [Dialect::GeminiCli, Dialect::QwenCode] {
        let session = Session::open(&companion, agent).await;
        let right = json!({"name": "x", "place": 2, "of": 3});
        for (at, set) in wrong().into_iter().chain([right]).enumerate() {
            let path = companion.path(&format!("{at}"));
            let (answer, diff) = tokio::join!(session.call(&path, &set), editor.show());
            assert!(!answer.text.contains("isError\":true"), "{set}: {answer:?}");
            assert_eq!(diff.set, None, "{set}");
        }
    }
}
