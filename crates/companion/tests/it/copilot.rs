//! Copilot CLI's protocol over the companion's socket, as the program was seen to speak it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pillion_protocol::copilot::LockFile;
use pillion_protocol::{Dialect, Outcome};
use pillion_view::{CloseReason, Ruling, Tell};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::support::{SOON, TestCompanion};

/// A session, each of whose requests has a connection of its own.
struct Session {
    lock: LockFile,
    id: String,
}

/// Returns the bytes of a request, in chunks, as the program sends it.
fn written(lock: &LockFile, id: &str, method: &str, body: &Value, more: &str) -> String {
    let bearer = lock.headers.authorization.as_ref().unwrap().expose();
    let body = body.to_string();
    let (one, other) = body.split_at(body.len() / 2);
    let chunk = |part: &str| format!("{:x}\r\n{part}\r\n", part.len());
    let body = match method {
        "POST" => [chunk(one), chunk(other), "0\r\n\r\n".to_owned()].concat(),
        _ => String::new(),
    };
    let coding = match method {
        "POST" => "Transfer-Encoding: chunked\r\ncontent-type: application/json\r\n",
        _ => "",
    };
    let session = match id {
        "" => String::new(),
        id => format!("mcp-session-id: {id}\r\n"),
    };
    format!(
        "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: {bearer}\r\nConnection: close\r\n\
         accept: application/json, text/event-stream\r\n{coding}{session}{more}\r\n{body}"
    )
}

async fn send(lock: &LockFile, text: &str) -> String {
    let mut stream = UnixStream::connect(&lock.socket_path).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = timeout(SOON, stream.read_to_end(&mut answer))
        .await
        .unwrap();
    String::from_utf8(answer).unwrap()
}

fn lock(companion: &TestCompanion) -> LockFile {
    let port = companion.companion.port();
    let path = companion
        .folder
        .path()
        .join(format!("home/.copilot/ide/{port}.lock"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The message in an answer.
fn message(answer: &str) -> Value {
    let data = answer.split("data: ").nth(1);
    let data = data.unwrap_or_else(|| panic!("no message: {answer}"));
    serde_json::from_str(data.lines().next().unwrap()).unwrap()
}

/// The object in the text block of a tool's answer.
fn told(answer: &str) -> Value {
    let message = message(answer);
    let text = message["result"]["content"][0]["text"].as_str();
    serde_json::from_str(text.unwrap_or_else(|| panic!("no text: {message}"))).unwrap()
}

impl Session {
    async fn open(companion: &TestCompanion) -> Self {
        let lock = lock(companion);
        let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "copilot-cli", "version": "1.0.102"}}});
        let answer = send(&lock, &written(&lock, "", "POST", &initialize, "")).await;
        let id = answer
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        let id = id
            .unwrap_or_else(|| panic!("no session: {answer}"))
            .to_owned();
        Self { lock, id }
    }

    async fn request(&self, method: &str, params: Value) -> String {
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        send(
            &self.lock,
            &written(&self.lock, &self.id, "POST", &body, ""),
        )
        .await
    }

    async fn call(&self, tool: &str, arguments: Value) -> String {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// Proposes, and waits for the decision beside the test.
    fn propose(&self, path: &str, text: &str) -> JoinHandle<String> {
        let params = json!({"name": "open_diff", "arguments": {
            "original_file_path": path, "new_file_contents": text, "tab_name": "tab"}});
        let body = json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": params});
        let (lock, text) = (
            self.lock.clone(),
            written(&self.lock, &self.id, "POST", &body, ""),
        );
        tokio::spawn(async move { send(&lock, &text).await })
    }

    /// The connection of an event stream that is open.
    async fn stream(&self) -> UnixStream {
        let mut stream = UnixStream::connect(&self.lock.socket_path).await.unwrap();
        let text = written(&self.lock, &self.id, "GET", &Value::Null, "");
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }
}

async fn answered(waiting: JoinHandle<String>) -> Value {
    told(&timeout(SOON, waiting).await.unwrap().unwrap())
}

#[tokio::test]
async fn only_who_reads_the_lock_file_is_let_in_and_nothing_else_is_served() {
    let companion = TestCompanion::start();
    let lock = lock(&companion);
    let mode = fs::metadata(&lock.socket_path)
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let text = written(&lock, "", "POST", &ping, "");
    let bearer = lock.headers.authorization.as_ref().unwrap().expose();
    let gemini = format!("Bearer {}", companion.token(Dialect::GeminiCli).expose());
    for (wrong, status) in [
        (text.replace(bearer, "Bearer x"), 401),
        (
            text.replace(&format!("Authorization: {bearer}\r\n"), ""),
            401,
        ),
        (text.replace(bearer, &gemini), 401),
        (text.replace("Host: localhost", "Host: evil.example"), 403),
        (
            text.replace("Connection", "Origin: http://localhost\r\nConnection"),
            403,
        ),
        (text.replace("POST /mcp", "GET /"), 404),
    ] {
        let answer = send(&lock, &wrong).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
    }
    // Nor does its token open the port.
    let token = lock.headers.token().unwrap();
    let response = companion.request("POST", &ping.to_string()).bearer(&token);
    assert_eq!(response.send().await.status, 401);
    drop(companion);
    assert!(!lock.socket_path.exists());
}

/// It goes on with `initialize` only if this is no HTTP error.
#[tokio::test]
async fn a_newer_revision_is_unknown_and_two_connects_in_a_row_are_served() {
    let companion = TestCompanion::start();
    let lock = lock(&companion);
    let discover = json!({"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {}});
    for more in ["", "mcp-protocol-version: 2026-07-28\r\n"] {
        let answer = send(&lock, &written(&lock, "", "POST", &discover, more)).await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert_eq!(message(&answer)["error"]["code"], -32601);
    }
    let first = Session::open(&companion).await;
    let ended = written(&first.lock, &first.id, "DELETE", &Value::Null, "");
    assert!(send(&first.lock, &ended).await.starts_with("HTTP/1.1 202"));
    let second = Session::open(&companion).await;
    let tools = message(&second.request("tools/list", json!({})).await);
    let tools = tools["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 5);
    let named = second
        .call("update_session_name", json!({"name": "x"}))
        .await;
    assert_eq!(told(&named)["success"], true);
}

#[tokio::test]
async fn a_decision_is_the_answer_to_the_call() {
    let mut companion = TestCompanion::start();
    let path = companion.file("a.txt", "one\r\ntwo");
    let session = Session::open(&companion).await;
    let _stream = session.stream().await;
    for (outcome, result) in [
        (Outcome::accepted("one\r\nzwei"), "SAVED"),
        (Outcome::Rejected, "REJECTED"),
    ] {
        let waiting = session.propose(&path, "one\r\nzwei");
        let diff = companion.editor.show().await;
        assert_eq!(diff.proposer, Dialect::CopilotCli.into());
        assert!(
            diff.notes[0].contains("writes its own text"),
            "{:?}",
            diff.notes
        );
        companion.decide(&diff, outcome).await;
        let answer = answered(waiting).await;
        assert_eq!(
            (&answer["result"], &answer["tab_name"]),
            (&json!(result), &json!("tab"))
        );
    }
}

#[tokio::test]
async fn a_text_that_was_changed_is_not_accepted_by_whoever_decides() {
    let mut companion = TestCompanion::start();
    let path = companion.file("a.txt", "one\n");
    let session = Session::open(&companion).await;
    let waiting = session.propose(&path, "two\n");
    let diff = companion.editor.show().await;
    for text in ["three\n", "two", ""] {
        let ruling = companion.first_ruling(&diff, Outcome::accepted(text)).await;
        let Ruling::Refused(refusal) = ruling else {
            panic!("{text:?} was accepted");
        };
        assert_eq!((&*refusal.code, refusal.repeat), ("writesOwnText", false));
    }
    assert!(!waiting.is_finished());
    companion.decide(&diff, Outcome::accepted("two\n")).await;
    assert_eq!(answered(waiting).await["result"], "SAVED");
}

/// Its own question was answered: the other call is held open otherwise.
#[tokio::test]
async fn closing_a_view_answers_both_calls() {
    let mut companion = TestCompanion::start();
    let path = companion.file("a.txt", "one\n");
    let session = Session::open(&companion).await;
    let waiting = session.propose(&path, "two\n");
    companion.editor.show().await;
    let closing = session.call("close_diff", json!({"tab_name": "tab"}));
    let (closed, (_, reason)) = tokio::join!(closing, companion.editor.close("two\n"));
    assert_eq!(reason, CloseReason::ClosedByAgent);
    assert_eq!(told(&closed)["already_closed"], false);
    assert_eq!(answered(waiting).await["result"], "REJECTED");
    let again = session.call("close_diff", json!({"tab_name": "tab"})).await;
    assert_eq!(told(&again)["already_closed"], true);
}

/// A killed agent says nothing: its connection ends.
#[tokio::test]
async fn a_view_goes_when_nobody_waits_for_its_outcome() {
    let mut companion = TestCompanion::start();
    let path = companion.file("a.txt", "one\n");
    let session = Session::open(&companion).await;
    let waiting = session.propose(&path, "two\n");
    let diff = companion.editor.show().await;
    waiting.abort();
    let (id, _) = companion.editor.close("two\n").await;
    assert_eq!(id, diff.id);
    // The next one is shown as any other.
    let waiting = session.propose(&path, "three\n");
    let diff = companion.editor.show().await;
    companion.decide(&diff, Outcome::Rejected).await;
    assert_eq!(answered(waiting).await["result"], "REJECTED");
}

#[tokio::test]
async fn what_cannot_be_shown_is_an_error_that_the_agent_passes_over() {
    let companion = TestCompanion::start();
    let session = Session::open(&companion).await;
    for path in ["relative", "/dev/null", ""] {
        let answer = message(&session.propose(path, "x").await.unwrap());
        assert_eq!(answer["result"]["isError"], true, "{path}: {answer}");
    }
}

#[tokio::test]
async fn the_selection_is_pushed_and_told_on_demand() {
    let companion = TestCompanion::start();
    let path = companion.file("a b.txt", "one\ntwo\n");
    let session = Session::open(&companion).await;
    let mut stream = session.stream().await;
    let file = pillion_protocol::File {
        selected_text: Some("two\n".to_owned()),
        ..pillion_protocol::File::focused(path.as_str(), 5)
    };
    companion.handle.tell(Tell::context(vec![file], None));
    let mut heard = String::new();
    while !heard.contains(r#""text":"two""#) {
        let mut bytes = [0; 4096];
        let read = timeout(SOON, stream.read(&mut bytes))
            .await
            .unwrap()
            .unwrap();
        assert!(read > 0, "{heard}");
        heard.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    assert!(
        heard.contains("selection_changed") && heard.contains("a%20b.txt"),
        "{heard}"
    );
    let selection = told(&session.call("get_selection", json!({})).await);
    assert_eq!(
        (&selection["text"], &selection["filePath"]),
        (&json!("two"), &json!(path))
    );
}
