//! Claude Code's protocol over real sockets: who comes in, what is answered and when.

use std::fs;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use pillion_companion::{CloseReason, EditorEvent};
use pillion_protocol::claude::{AUTHORIZATION_HEADER, LockFile};
use pillion_protocol::{Dialect, File, Outcome, Position, Range};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::support::{SOON, TestCompanion};

/// A client as Claude Code is one.
struct Claude {
    socket: WebSocketStream<TcpStream>,
    last_id: u64,
}

fn token(test: &TestCompanion) -> String {
    let place = Dialect::ClaudeCode.places()[0];
    let name = place.name.of(0, test.companion.port());
    let file = test.environment.directory(&place).join(name);
    let file: LockFile = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    file.auth_token.unwrap().expose().to_owned()
}

async fn dial(
    test: &TestCompanion,
    headers: &[(&'static str, &str)],
) -> Result<(WebSocketStream<TcpStream>, Option<String>), u16> {
    let port = test.companion.port();
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let url = format!("ws://127.0.0.1:{port}/");
    let mut request = url.into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    match client_async(request, stream).await {
        Ok((socket, response)) => {
            let subprotocol = response.headers().get("sec-websocket-protocol");
            let subprotocol = subprotocol.map(|name| name.to_str().unwrap().to_owned());
            Ok((socket, subprotocol))
        }
        Err(Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

impl Claude {
    async fn connect(test: &TestCompanion) -> Self {
        let mut claude = Self::dial(test).await;
        claude.initialize("claude-code", "2.1.330").await;
        claude
    }

    async fn dial(test: &TestCompanion) -> Self {
        let token = token(test);
        let headers = [
            (AUTHORIZATION_HEADER, token.as_str()),
            ("sec-websocket-protocol", "mcp"),
        ];
        let (socket, subprotocol) = dial(test, &headers).await.unwrap();
        assert_eq!(subprotocol.as_deref(), Some("mcp"));
        let last_id = 0;
        Self { socket, last_id }
    }

    async fn initialize(&mut self, name: &str, version: &str) -> Value {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": name, "version": version}
        });
        let id = self.request("initialize", params).await;
        let answer = self.answer(id).await;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        answer
    }

    async fn send(&mut self, message: Value) {
        let text = Message::Text(message.to_string().into());
        self.socket.send(text).await.unwrap();
    }

    async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    async fn call(&mut self, name: &str, arguments: Value) -> u64 {
        let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": 1}});
        self.request("tools/call", params).await
    }

    async fn open(&mut self, path: &str, text: &str, tab: &str) -> u64 {
        let arguments = json!({
            "old_file_path": path, "new_file_path": path, "new_file_contents": text, "tab_name": tab
        });
        self.call("openDiff", arguments).await
    }

    async fn next(&mut self) -> Value {
        loop {
            let frame = timeout(SOON, self.socket.next()).await.unwrap();
            match frame.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other}"),
            }
        }
    }

    /// The answer to a request; what is pushed before it is passed over.
    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id {
                return message;
            }
            assert!(message.get("id").is_none(), "{message}");
        }
    }

    async fn blocks(&mut self, id: u64) -> Vec<String> {
        let answer = self.answer(id).await;
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        let blocks = answer["result"]["content"].as_array().unwrap();
        let texts = blocks.iter().map(|block| block["text"].as_str().unwrap());
        texts.map(str::to_owned).collect()
    }

    /// The next notification of this method.
    async fn notification(&mut self, method: &str) -> Value {
        loop {
            let message = self.next().await;
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }
}

#[tokio::test]
async fn nobody_comes_in_without_the_token_of_the_lock_file() {
    let test = TestCompanion::start();
    let own = token(&test);
    let gemini = test.token(Dialect::GeminiCli).expose().to_owned();
    let control = test.control_token().expose().to_owned();
    for (wrong, status) in [
        (vec![], 401),
        (vec![(AUTHORIZATION_HEADER, "")], 401),
        (vec![(AUTHORIZATION_HEADER, &own[..own.len() - 1])], 401),
        (vec![(AUTHORIZATION_HEADER, gemini.as_str())], 401),
        (vec![(AUTHORIZATION_HEADER, control.as_str())], 401),
        (vec![("authorization", own.as_str())], 401),
        (
            vec![
                (AUTHORIZATION_HEADER, &own),
                ("origin", "https://evil.example"),
            ],
            403,
        ),
        (
            vec![(AUTHORIZATION_HEADER, &own), ("host", "evil.example")],
            403,
        ),
        (
            vec![(AUTHORIZATION_HEADER, &own), ("sec-websocket-version", "8")],
            426,
        ),
        (
            vec![(AUTHORIZATION_HEADER, &own), ("sec-websocket-key", "short")],
            400,
        ),
    ] {
        let refused = dial(&test, &wrong).await.map(drop);
        assert_eq!(refused, Err(status), "{wrong:?}");
    }
    let request = test
        .request("POST", "{}")
        .header("Authorization", &format!("Bearer {own}"));
    assert_eq!(request.send().await.status, 401, "it opens no other door");
    // opencode offers no subprotocol, and gets none.
    let (_, subprotocol) = dial(&test, &[(AUTHORIZATION_HEADER, &own)]).await.unwrap();
    assert_eq!(subprotocol, None);
    let offers = [
        (AUTHORIZATION_HEADER, own.as_str()),
        ("sec-websocket-protocol", "x, mcp"),
    ];
    let (_, subprotocol) = dial(&test, &offers).await.unwrap();
    assert_eq!(subprotocol.as_deref(), Some("mcp"));
}

#[tokio::test]
async fn the_handshake_is_what_the_agent_wants() {
    let test = TestCompanion::start();
    let mut claude = Claude::dial(&test).await;
    let early = claude.request("tools/list", json!({})).await;
    assert_eq!(claude.answer(early).await["error"]["code"], -32600);
    let answer = claude.initialize("claude-code", "2.1.330").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    let list = claude.request("tools/list", json!({})).await;
    let list = claude.answer(list).await;
    let names: Vec<_> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(
        names,
        [
            "openDiff",
            "close_tab",
            "closeAllDiffTabs",
            "getDiagnostics"
        ]
    );
    let ping = claude.request("ping", json!({})).await;
    assert_eq!(claude.answer(ping).await["result"], json!({}));
    let unknown = claude.request("resources/list", json!({})).await;
    assert_eq!(claude.answer(unknown).await["error"]["code"], -32601);
    let unknown = claude.call("openFile", json!({})).await;
    assert_eq!(claude.answer(unknown).await["error"]["code"], -32602);
    for garbage in ["{", "[]", "null", "\"x\"", "{\"id\":1}"] {
        claude
            .socket
            .send(Message::Text(garbage.into()))
            .await
            .unwrap();
        let answer = claude.next().await;
        assert!(
            answer["id"].is_null() && answer["error"]["code"].is_i64(),
            "{garbage}: {answer}"
        );
    }
}

#[tokio::test]
async fn a_proposal_is_answered_when_the_person_has_decided() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let (open, other) = (
        claude.open(&path, "two\n", "tab 1").await,
        claude.open(&path, "three\n", "tab 2").await,
    );
    let (first, second) = (test.editor.show().await, test.editor.show().await);
    assert_eq!((&*first.proposed, &*second.proposed), ("two\n", "three\n"));
    assert_eq!(first.agent, Dialect::ClaudeCode);
    assert_eq!(first.original.text.as_deref(), Some(&b"one\n"[..]));
    let ping = claude.request("ping", json!({})).await;
    claude.answer(ping).await;
    let edited = Outcome::accepted("two\r\nedited");
    test.handle.resolve_diff(first.id, first.revision, edited);
    assert_eq!(claude.blocks(open).await, ["FILE_SAVED", "two\r\nedited"]);
    test.handle
        .resolve_diff(second.id, second.revision, Outcome::Rejected);
    assert_eq!(claude.blocks(other).await, ["DIFF_REJECTED"]);
    // The agent closes what is settled, twice.
    for tab in ["tab 1", "tab 1", "tab 2", "never"] {
        let close = claude.call("close_tab", json!({"tab_name": tab})).await;
        assert_eq!(claude.blocks(close).await, ["TAB_CLOSED"]);
    }
    assert!(test.editor.is_idle());
}

#[tokio::test]
async fn the_agent_closes_its_own_views_and_no_others() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let mut other = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    for tab in ["1", "2", "3"] {
        claude.open(&path, tab, tab).await;
        test.editor.show().await;
    }
    let kept = other.open(&path, "kept", "1").await;
    let kept_diff = test.editor.show().await;
    let close = claude.call("close_tab", json!({"tab_name": "2"})).await;
    let (_, reason) = test.editor.close("2").await;
    assert_eq!(reason, CloseReason::ClosedByAgent);
    assert_eq!(claude.blocks(close).await, ["TAB_CLOSED"]);
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    for text in ["1", "3"] {
        test.editor.close(text).await;
    }
    assert_eq!(claude.blocks(all).await, ["CLOSED_2_DIFF_TABS"]);
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    assert_eq!(claude.blocks(all).await, ["CLOSED_0_DIFF_TABS"]);
    let accepted = Outcome::accepted("kept");
    test.handle
        .resolve_diff(kept_diff.id, kept_diff.revision, accepted);
    assert_eq!(other.blocks(kept).await, ["FILE_SAVED", "kept"]);
}

#[tokio::test]
async fn edits_that_the_agent_does_not_take_are_kept() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    claude.open(&path, "two\n", "tab").await;
    test.editor.show().await;
    claude.call("close_tab", json!({"tab_name": "tab"})).await;
    test.editor.close("my own\n").await;
    let EditorEvent::Lost(lost) = test.editor.next().await else {
        panic!("nothing is kept");
    };
    let text = lost.to_string();
    assert!(text.contains("does not use your edits of"), "{text}");
    let kept = text.strip_prefix("your text is kept in ").unwrap();
    let kept = kept.split_once(": Claude Code").unwrap().0;
    assert_eq!(fs::read_to_string(kept).unwrap(), "my own\n");
}

#[tokio::test]
async fn a_connection_that_ends_takes_its_views_along() {
    let mut test = TestCompanion::start();
    let path = test.file("a.txt", "one\n");
    for gently in [true, false] {
        let mut claude = Claude::connect(&test).await;
        claude.open(&path, "two\n", "tab").await;
        let diff = test.editor.show().await;
        if gently {
            claude.socket.close(None).await.unwrap();
        }
        drop(claude);
        let (id, reason) = test.editor.close("two\n").await;
        assert_eq!((id, reason), (diff.id, CloseReason::AgentGone));
    }
}

#[tokio::test]
async fn a_file_is_compared_as_the_agent_reads_it_and_written_as_it_is() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\r\ntwo\r\n");
    let open = claude.open(&path, "one\n2\n", "1").await;
    let diff = test.editor.show().await;
    assert_eq!(&*diff.proposed, "one\r\n2\r\n");
    let as_shown = Outcome::accepted("one\r\n2\r\n");
    test.handle.resolve_diff(diff.id, diff.revision, as_shown);
    // As the agent wrote it: it restores the line endings, and nobody changed anything.
    assert_eq!(claude.blocks(open).await, ["FILE_SAVED", "one\n2\n"]);
    let open = claude.open(&path, "one\n2\n", "2").await;
    let diff = test.editor.show().await;
    let edited = Outcome::accepted("one\r\nTWO\r\n");
    test.handle.resolve_diff(diff.id, diff.revision, edited);
    assert_eq!(claude.blocks(open).await, ["FILE_SAVED", "one\r\nTWO\r\n"]);
    let path = test.file("mixed.txt", "one\r\ntwo\n");
    claude.open(&path, "one\n2\n", "3").await;
    let diff = test.editor.show().await;
    assert_eq!(diff.original.text.as_deref(), Some(&b"one\ntwo\n"[..]));
    assert!(diff.notes[0].contains("line endings"), "{:?}", diff.notes);
}

#[tokio::test]
async fn a_release_that_drops_the_last_line_feed_gets_one_more() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::dial(&test).await;
    claude.initialize("claude-code", "2.1.112").await;
    for (name, original, accepted, answered) in [
        ("new", None, "x\n", "x\n\n"),
        ("new", None, "x", "x"),
        ("open ended", Some("x"), "y\n", "y\n\n"),
        ("ended", Some("x\n"), "y\n", "y\n"),
    ] {
        let path = match original {
            Some(text) => test.file(name, text),
            None => test.path(name),
        };
        let open = claude.open(&path, "proposed\n", name).await;
        let diff = test.editor.show().await;
        let accepted = Outcome::accepted(accepted);
        test.handle.resolve_diff(diff.id, diff.revision, accepted);
        assert_eq!(
            claude.blocks(open).await,
            ["FILE_SAVED", answered],
            "{name}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_shown_is_an_error_that_says_why() {
    let test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let folder = test.path("");
    for (path, why) in [
        ("a.txt", "not absolute"),
        (folder.as_str(), "is a folder"),
        ("", "empty"),
    ] {
        let open = claude.open(path, "x", "t").await;
        let answer = claude.answer(open).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(why), "{text}");
    }
    let differ = json!({"old_file_path": "/a", "new_file_path": "/b", "new_file_contents": "", "tab_name": "t"});
    for arguments in [json!({}), differ, json!({"tab_name": "t"})] {
        let open = claude.call("openDiff", arguments).await;
        assert_eq!(claude.answer(open).await["result"]["isError"], true);
    }
}

#[tokio::test]
async fn a_tab_name_that_comes_again_replaces_its_proposal() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let former = claude.open(&path, "two\n", "tab").await;
    let first = test.editor.show().await;
    let latter = claude.open(&path, "three\n", "tab").await;
    let second = test.editor.show().await;
    assert_eq!((second.id, second.revision), (first.id, 2));
    assert_eq!(claude.blocks(former).await, ["DIFF_REJECTED"]);
    test.handle
        .resolve_diff(second.id, 2, Outcome::accepted("three\n"));
    assert_eq!(claude.blocks(latter).await, ["FILE_SAVED", "three\n"]);
}

fn selected(test: &TestCompanion) -> File {
    let at = |line, character| Position { line, character };
    File {
        selected_text: Some("ne\ntw".into()),
        selection: Some(Range {
            start: at(0, 1),
            end: at(1, 2),
        }),
        ..File::focused(test.file("a b.txt", "one\ntwo\n"), 1)
    }
}

#[tokio::test]
async fn the_selection_comes_with_the_session_and_with_each_prompt() {
    let test = TestCompanion::start();
    let file = selected(&test);
    test.handle.report_context(vec![file.clone()], None);
    let mut claude = Claude::connect(&test).await;
    let told = loop {
        let told = claude.notification("selection_changed").await;
        if told.get("filePath").is_some() {
            break told;
        }
    };
    let range = json!({"start": {"line": 0, "character": 1}, "end": {"line": 1, "character": 2}, "isEmpty": false});
    let expected = json!({"text": "ne\ntw", "filePath": file.path, "selection": range});
    assert_eq!(told, expected);
    // A turn begins: the prompt has used it up.
    claude.call("closeAllDiffTabs", json!({})).await;
    assert_eq!(claude.notification("selection_changed").await, expected);
    test.handle.report_context(vec![], None);
    let told = claude.notification("selection_changed").await;
    assert!(
        told.get("filePath").is_none() && told["text"] == "",
        "{told}"
    );
    // Nothing to repeat.
    let all = claude.call("closeAllDiffTabs", json!({})).await;
    let ping = claude.request("ping", json!({})).await;
    claude.blocks(all).await;
    assert_eq!(claude.next().await["id"], ping);
}

#[tokio::test]
async fn opencode_counts_lines_from_one_and_needs_no_subprotocol() {
    let test = TestCompanion::start();
    let token = token(&test);
    let (socket, _) = dial(&test, &[(AUTHORIZATION_HEADER, &token)])
        .await
        .unwrap();
    let mut opencode = Claude { socket, last_id: 0 };
    opencode.initialize("opencode", "0.0.0").await;
    test.handle.report_context(vec![selected(&test)], None);
    loop {
        let told = opencode.notification("selection_changed").await;
        if told.get("filePath").is_some() {
            assert_eq!(
                told["selection"]["start"],
                json!({"line": 1, "character": 1})
            );
            break;
        }
    }
    let status = async {
        let mut test = test;
        loop {
            let status = test.editor.status.recv().await.unwrap();
            if status.agents == [Dialect::OpenCode] {
                break;
            }
        }
    };
    timeout(SOON, status).await.unwrap();
}

#[tokio::test]
async fn problems_are_those_that_were_asked_for() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let ask = claude
        .call("getDiagnostics", json!({"uri": "file:///a"}))
        .await;
    let EditorEvent::Diagnostics(Some(uri), found) = test.editor.next().await else {
        panic!("the editor is not asked");
    };
    let file = |uri: &str| json!({"uri": uri, "diagnostics": [{"message": "m", "severity": "Error", "range": Range::default(), "source": "tsc", "code": 2304}]});
    let known: Vec<_> = [&uri, "file:///b"].map(file).into();
    found.done(serde_json::from_value(json!(known)).unwrap());
    let blocks = claude.blocks(ask).await;
    let answered: Value = serde_json::from_str(&blocks[0]).unwrap();
    assert_eq!(answered, json!([file("file:///a")]));
    // An editor that does not answer keeps nobody from going on.
    let ask = claude.call("getDiagnostics", json!({})).await;
    let held = test.editor.next().await;
    assert_eq!(claude.blocks(ask).await, ["[]"]);
    drop(held);
}

#[tokio::test]
async fn a_mention_goes_to_the_agent_that_was_heard_of_last() {
    let test = TestCompanion::start();
    let (mut one, mut other) = (Claude::connect(&test).await, Claude::connect(&test).await);
    for (agent, lines) in [(1, Some((1, 2))), (2, None)] {
        let claude = if agent == 1 { &mut one } else { &mut other };
        let ping = claude.request("ping", json!({})).await;
        claude.answer(ping).await;
        let (told, answered) = std::sync::mpsc::channel();
        let told = pillion_companion::Reply::new(move |agent| told.send(agent).unwrap());
        test.handle.mention("/w/a.txt".into(), lines, told);
        let mentioned = claude.notification("at_mentioned").await;
        assert_eq!(mentioned["filePath"], "/w/a.txt");
        assert_eq!(mentioned.get("lineStart"), lines.map(|_| json!(1)).as_ref());
        assert_eq!(answered.recv().unwrap(), Ok(Some(Dialect::ClaudeCode)));
    }
}

#[tokio::test]
async fn frames_that_break_the_rules_end_their_own_connection_only() {
    let test = TestCompanion::start();
    let mut fine = Claude::connect(&test).await;
    let mut claude = Claude::connect(&test).await;
    claude
        .socket
        .send(Message::Binary(b"{}".as_slice().into()))
        .await
        .unwrap();
    assert_eq!(close_code(&mut claude).await, Some(1003));
    for (frame, code) in [
        (&b"\x81\x02{}"[..], 1002),                    // not masked
        (b"\x81\x81\0\0\0\0\xff", 1007),               // not UTF-8
        (b"\xc1\x82\0\0\0\0{}", 1002),                 // compressed
        (b"\x80\x82\0\0\0\0{}", 1002),                 // a continuation of nothing
        (b"\x81\xff\0\0\0\x01\0\0\0\0\0\0\0\0", 1009), // 4 GiB
    ] {
        let mut claude = Claude::connect(&test).await;
        let raw = claude.socket.get_mut();
        raw.write_all(frame).await.unwrap();
        assert_eq!(close_code(&mut claude).await, Some(code), "{frame:?}");
    }
    let ping = fine.request("ping", json!({})).await;
    fine.answer(ping).await;
}

async fn close_code(claude: &mut Claude) -> Option<u16> {
    loop {
        let frame = timeout(SOON, claude.socket.next()).await.unwrap()?;
        match frame.ok()? {
            Message::Close(frame) => return frame.map(|frame| frame.code.into()),
            _ => continue,
        }
    }
}

#[tokio::test]
async fn a_message_may_come_in_pieces_and_be_as_long_as_a_file() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let raw = claude.socket.get_mut();
    let message = br#"{"jsonrpc":"2.0","id":77,"method":"ping"}"#;
    for (at, byte) in message.iter().enumerate() {
        let first = u8::from(at == 0);
        let last = if at + 1 == message.len() { 0x80 } else { 0 };
        raw.write_all(&[last | first, 0x81, 0, 0, 0, 0, *byte])
            .await
            .unwrap();
        // A ping may come in between.
        raw.write_all(&[0x89, 0x80, 0, 0, 0, 0]).await.unwrap();
    }
    claude.answer(77).await;
    let path = test.file("a.txt", "");
    let text = "0123456789\n".repeat(500_000);
    let open = claude.open(&path, &text, "t").await;
    let diff = test.editor.show().await;
    assert!(*diff.proposed == *text);
    let accepted = Outcome::accepted(text.clone());
    test.handle.resolve_diff(diff.id, diff.revision, accepted);
    let blocks = claude.blocks(open).await;
    assert!(blocks[1] == text);
}

#[tokio::test]
async fn a_client_that_never_reads_holds_up_nobody() {
    let mut test = TestCompanion::start();
    let mut silent = Claude::connect(&test).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    // Until its answers, and then its requests, have nowhere to go.
    let flood = async {
        loop {
            silent
                .socket
                .feed(Message::Text(call.as_str().into()))
                .await
                .unwrap();
        }
    };
    assert!(timeout(Duration::from_secs(3), flood).await.is_err());
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let open = claude.open(&path, "two\n", "t").await;
    let diff = test.editor.show().await;
    let accepted = Outcome::accepted("two\n");
    test.handle.resolve_diff(diff.id, diff.revision, accepted);
    claude.blocks(open).await;
}

#[tokio::test]
async fn a_companion_that_stops_rejects_and_says_goodbye() {
    let mut test = TestCompanion::start();
    let mut claude = Claude::connect(&test).await;
    let path = test.file("a.txt", "one\n");
    let open = claude.open(&path, "two\n", "t").await;
    test.editor.show().await;
    test.handle.stop();
    assert_eq!(claude.blocks(open).await, ["DIFF_REJECTED"]);
    assert_eq!(close_code(&mut claude).await, Some(1001));
    let mut rest = Vec::new();
    let ended = claude.socket.get_mut().read_to_end(&mut rest);
    let _ = timeout(SOON, ended).await.unwrap();
}
