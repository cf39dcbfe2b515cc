//! A companion of Claude Code's protocol that does what a test wants with each message.

use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use pillion_agent::Address;
use pillion_http::{HeaderValue, StatusCode};
use pillion_protocol::Token;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::protocol::{Message, WebSocketConfig};

pub const TOKEN: &str = "the token";

/// Its reaction to a message.
pub enum Act {
    /// Sends these texts.
    Send(Vec<String>),
    /// Cuts the connection.
    Cut,
    /// Sends these bytes past the WebSocket, and keeps the connection open.
    Raw(Vec<u8>),
}

pub struct StandIn {
    pub port: u16,
    heard: Arc<Mutex<Vec<Value>>>,
    task: JoinHandle<()>,
}

impl StandIn {
    /// Upgrades clients with the token, and answers the subprotocol if `names_subprotocol`.
    pub async fn start(
        names_subprotocol: bool,
        act: impl Fn(&Value) -> Act + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (act, log) = (Arc::new(act), Arc::clone(&heard));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (act, log) = (Arc::clone(&act), Arc::clone(&log));
                tokio::spawn(async move {
                    if let Some(socket) = upgrade(stream, names_subprotocol).await {
                        serve(socket, &*act, &log).await;
                    }
                });
            }
        });
        Self { port, heard, task }
    }

    pub fn address(&self) -> Address {
        Address::new(self.port).with_token(Token::from(TOKEN.to_owned()))
    }

    /// The messages of this method, as they came.
    pub fn heard(&self, method: &str) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        let fits = |message: &&Value| message["method"] == method;
        heard.iter().filter(fits).cloned().collect()
    }

    /// The client's answers to requests.
    pub fn answers(&self) -> Vec<Value> {
        let heard = self.heard.lock().unwrap();
        let fits = |message: &&Value| message.get("method").is_none();
        heard.iter().filter(fits).cloned().collect()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[allow(clippy::result_large_err, reason = "the library's type")]
async fn upgrade(stream: TcpStream, names: bool) -> Option<WebSocketStream<TcpStream>> {
    let check = move |request: &Request, mut response: Response| {
        let header = |name: &str| request.headers().get(name).cloned();
        assert_eq!(header("sec-websocket-protocol").unwrap(), "mcp");
        assert_eq!(request.uri().path(), "/");
        assert!(header("origin").is_none());
        if header("x-claude-code-ide-authorization") != Some(HeaderValue::from_static(TOKEN)) {
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = StatusCode::UNAUTHORIZED;
            return Err(refusal);
        }
        if names {
            let name = HeaderValue::from_static("mcp");
            response
                .headers_mut()
                .insert("sec-websocket-protocol", name);
        }
        Ok(response)
    };
    let config = WebSocketConfig::default()
        .max_message_size(None)
        .max_frame_size(None);
    let upgraded =
        tokio_tungstenite::accept_hdr_async_with_config(stream, check, Some(config)).await;
    upgraded.ok()
}

async fn serve(
    mut socket: WebSocketStream<TcpStream>,
    act: &(dyn Fn(&Value) -> Act + Send + Sync),
    log: &Mutex<Vec<Value>>,
) {
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else {
            continue;
        };
        let message: Value = serde_json::from_str(&text).unwrap();
        log.lock().unwrap().push(message.clone());
        match act(&message) {
            Act::Send(texts) => {
                for text in texts {
                    if socket.send(Message::text(text)).await.is_err() {
                        return;
                    }
                }
            }
            Act::Cut => return,
            Act::Raw(bytes) => {
                let stream = socket.get_mut();
                if tokio::io::AsyncWriteExt::write_all(stream, &bytes)
                    .await
                    .is_err()
                {
                    return;
                }
            }
        }
    }
}

/// The reactions of a companion that works: a tool's texts come from `call`.
pub fn usual(message: &Value, call: impl Fn(&str, &Value) -> Vec<String>) -> Act {
    let info = json!({"name": "stand-in", "version": "1"});
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => {
            json!({"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": info})
        }
        "tools/list" => json!({"tools": [{"name": "openDiff"}]}),
        "tools/call" => {
            let params = &message["params"];
            let texts = call(params["name"].as_str().unwrap(), &params["arguments"]);
            if texts.is_empty() {
                return Act::Send(Vec::new());
            }
            let block = |text: &String| json!({"type": "text", "text": text});
            json!({"content": texts.iter().map(block).collect::<Vec<_>>()})
        }
        _ => return Act::Send(Vec::new()),
    };
    Act::Send(vec![answer(message, &result)])
}

/// The answer to a request.
pub fn answer(request: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string()
}

pub fn notification(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}
