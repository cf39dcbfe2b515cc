//! A server that does what a test wants, down to the bytes.

use std::sync::{Arc, Mutex};

use pillion_agent::{Address, Client, ClientError, Updates};
use pillion_protocol::Outcome;
pub use pillion_testkit::SOON;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request, as it came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub verb: String,
    pub headers: Vec<(String, String)>,
    pub message: Value,
}

/// The server's treatment of a connection.
#[derive(Debug, Clone)]
pub enum Act {
    /// Sends this and closes.
    Send(Vec<u8>),
    /// Sends this and keeps the connection open.
    Hold(Vec<u8>),
    /// Sends the first, and the second without an end.
    Flood(Vec<u8>, Vec<u8>),
}

pub struct Server {
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    task: JoinHandle<()>,
}

impl Server {
    pub async fn start(act: impl Fn(&Asked) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (act, log) = (Arc::new(act), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (act, log) = (Arc::clone(&act), Arc::clone(&log));
                // A client that goes away breaks its connection only.
                tokio::spawn(async move { drop(answer(stream, &*act, &log).await) });
            }
        });
        Self { port, asked, task }
    }

    /// Usual waits: however busy the machine is, they do not end.
    pub fn address(&self) -> Address {
        Address::new(self.port)
    }

    /// A session with it.
    pub async fn session(&self) -> (Client, Updates) {
        Client::connect_to(self.address()).await.unwrap()
    }

    /// Proposes a text for `/a` in a session of its own, and returns the decision.
    pub async fn propose(&self, text: &str) -> Result<Outcome, ClientError> {
        let (client, mut updates) = self.session().await;
        client.open_diff("/a", text).await?;
        let decision = tokio::time::timeout(SOON, updates.decision("/a")).await;
        decision.expect("it is decided")
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The requests of this verb and JSON-RPC method.
    pub fn count(&self, verb: &str, method: &str) -> usize {
        let asked = self.asked();
        let fits = |asked: &&Asked| asked.verb == verb && asked.method() == method;
        asked.iter().filter(fits).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Asked {
    pub fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    pub fn tool(&self) -> &str {
        self.message["params"]["name"].as_str().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

async fn answer(
    stream: TcpStream,
    act: &(dyn Fn(&Asked) -> Act + Send + Sync),
    log: &Mutex<Vec<Asked>>,
) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    let verb = line.split(' ').next().unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let mut asked = Asked {
        verb,
        headers,
        message: Value::Null,
    };
    let length = asked
        .header("content-length")
        .and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or_default()];
    stream.read_exact(&mut body).await?;
    asked.message = serde_json::from_slice(&body).unwrap_or_default();
    log.lock().unwrap().push(asked.clone());
    let mut byte = [0];
    match act(&asked) {
        Act::Send(bytes) => stream.write_all(&bytes).await?,
        Act::Hold(bytes) => {
            stream.write_all(&bytes).await?;
            stream.flush().await?;
            // Until the client goes.
            stream.read_exact(&mut byte).await?;
        }
        Act::Flood(bytes, more) => {
            stream.write_all(&bytes).await?;
            loop {
                stream.write_all(&more).await?;
            }
        }
    }
    stream.shutdown().await
}

pub fn head(status: &str, media_type: &str) -> Vec<u8> {
    let text =
        format!("HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nConnection: close\r\n\r\n");
    text.into_bytes()
}

/// A whole JSON answer.
pub fn reply(message: &Value) -> Act {
    let mut bytes = head("200 OK", "application/json; charset=utf-8");
    bytes.extend(message.to_string().bytes());
    Act::Send(bytes)
}

/// The answer to a request with this result.
pub fn result(asked: &Asked, result: &Value) -> Act {
    reply(&json!({"jsonrpc": "2.0", "id": asked.message["id"], "result": result}))
}

/// An event stream that begins with these messages.
pub fn events(messages: &[Value]) -> Vec<u8> {
    let mut bytes = head("200 OK", "text/event-stream");
    for message in messages {
        bytes.extend(format!("event: message\ndata: {message}\n\n").bytes());
    }
    bytes
}

pub fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// The reactions of a companion that does its work, but answers in JSON and knows no sessions.
pub fn usual(asked: &Asked) -> Act {
    match (asked.verb.as_str(), asked.method()) {
        ("GET", _) => Act::Hold(events(&[])),
        ("POST", "initialize") => {
            let info = json!({"name": "plain", "version": "1"});
            let version = "2025-06-18";
            result(
                asked,
                &json!({"protocolVersion": version, "capabilities": {}, "serverInfo": info}),
            )
        }
        ("POST", "tools/list") => result(
            asked,
            &json!({"tools": [{"name": "openDiff"}, {"name": "closeDiff"}]}),
        ),
        ("POST", "tools/call") if asked.tool() == "closeDiff" => {
            let text = json!({"content": "in the view"}).to_string();
            result(asked, &json!({"content": [{"type": "text", "text": text}]}))
        }
        ("POST", "tools/call") => result(asked, &json!({"content": []})),
        ("POST", _) => Act::Send(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".to_vec()),
        _ => Act::Send(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n".to_vec()),
    }
}
