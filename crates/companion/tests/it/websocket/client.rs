//! A client as Claude Code is one, and as bad as a test wants it.

use std::fs;

use futures_util::{SinkExt, StreamExt};
use pillion_protocol::Dialect;
use pillion_protocol::claude::{AUTHORIZATION_HEADER, LockFile};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::support::{SOON, TestCompanion};

/// A client as Claude Code is one.
pub struct Claude {
    pub socket: WebSocketStream<TcpStream>,
    pub last_id: u64,
}

pub fn token(test: &TestCompanion) -> String {
    let place = Dialect::ClaudeCode.places()[0];
    let name = place.name.of(0, test.companion.port());
    let file = test.environment.directory(&place).join(name);
    let file: LockFile = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    file.auth_token.unwrap().expose().to_owned()
}

pub async fn dial(
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
    pub async fn connect(test: &TestCompanion) -> Self {
        let mut claude = Self::dial(test).await;
        claude.initialize("claude-code", "2.1.332").await;
        claude
    }

    /// The person sends a prompt.
    pub async fn begin_turn(&mut self) {
        let all = self.call("closeAllDiffTabs", json!({})).await;
        assert_eq!(self.blocks(all).await, ["CLOSED_0_DIFF_TABS"]);
    }

    pub async fn dial(test: &TestCompanion) -> Self {
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

    pub async fn initialize(&mut self, name: &str, version: &str) -> Value {
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

    pub async fn send(&mut self, message: Value) {
        let text = Message::Text(message.to_string().into());
        self.socket.send(text).await.unwrap();
    }

    pub async fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    pub async fn call(&mut self, name: &str, arguments: Value) -> u64 {
        let params = json!({"name": name, "arguments": arguments, "_meta": {"progressToken": 1}});
        self.request("tools/call", params).await
    }

    pub async fn open(&mut self, path: &str, text: &str, tab: &str) -> u64 {
        let arguments = json!({
            "old_file_path": path, "new_file_path": path, "new_file_contents": text, "tab_name": tab
        });
        self.call("openDiff", arguments).await
    }

    pub async fn next(&mut self) -> Value {
        loop {
            let frame = timeout(SOON, self.socket.next()).await.unwrap();
            match frame.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other}"),
            }
        }
    }

    /// The answer to a request; what is pushed before it is passed over, and so are answers to earlier ones that nobody read.
    pub async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await;
            if message["id"] == id {
                return message;
            }
            let other = message.get("id").map(|it| it.as_u64());
            assert!(
                other.is_none_or(|it| it.is_some_and(|it| it < id)),
                "{message}"
            );
        }
    }

    pub async fn blocks(&mut self, id: u64) -> Vec<String> {
        texts(&self.answer(id).await)
    }

    /// Returns the answers to two calls, in whichever order they come.
    pub async fn both(&mut self, first: u64, second: u64) -> [Vec<String>; 2] {
        let mut answers = [const { Vec::new() }; 2];
        while answers.iter().any(Vec::is_empty) {
            let message = self.next().await;
            let Some(at) = [first, second].iter().position(|id| message["id"] == *id) else {
                assert!(message.get("id").is_none(), "{message}");
                continue;
            };
            answers[at] = texts(&message);
        }
        answers
    }

    /// The next notification of this method.
    pub async fn notification(&mut self, method: &str) -> Value {
        loop {
            let message = self.next().await;
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }
}

fn texts(answer: &Value) -> Vec<String> {
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    let blocks = answer["result"]["content"].as_array().unwrap();
    let texts = blocks.iter().map(|block| block["text"].as_str().unwrap());
    texts.map(str::to_owned).collect()
}

pub async fn close_code(claude: &mut Claude) -> Option<u16> {
    loop {
        let frame = timeout(SOON, claude.socket.next()).await.unwrap()?;
        match frame.ok()? {
            Message::Close(frame) => return frame.map(|frame| frame.code.into()),
            _ => continue,
        }
    }
}
