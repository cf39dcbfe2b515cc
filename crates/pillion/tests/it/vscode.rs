//! A stand-in for the companion of VS Code: its discovery file, and its server as the official SDK
//! makes it (sessions, answers as event streams, a token). It knows nothing of Pillion.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use pillion_testkit::Home;
use serde_json::{Value, json};

/// Its token in every test: it must show nowhere.
pub const TOKEN: &str = "vscode-secret-token";

/// The person's answer to every diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Person {
    /// Adds a line and accepts.
    EditsAndAccepts,
    /// Is away.
    Waits,
}

pub struct VsCode {
    port: u16,
    calls: Arc<Mutex<Vec<Value>>>,
    sessions: Arc<AtomicUsize>,
    pub file: PathBuf,
}

#[derive(Clone)]
struct Server {
    person: Person,
    context: Value,
    calls: Arc<Mutex<Vec<Value>>>,
    sessions: Arc<AtomicUsize>,
    stream: Arc<Mutex<Option<TcpStream>>>,
}

impl VsCode {
    pub fn start(home: &Home, person: Person) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let path = home.file("shown.ts", "");
        let cursor = json!({"line": 2, "character": 5});
        let shown = json!({"path": path, "timestamp": 1.7e12, "isActive": true, "cursor": cursor,
            "selectedText": "let x\nlet y"});
        let other =
            json!({"path": home.workspace().join("z"), "timestamp": 1.6e12, "isActive": true});
        let state = json!({"openFiles": [other, shown], "isTrusted": true});
        let server = Server {
            person,
            context: json!({"workspaceState": state}),
            calls: Arc::default(),
            sessions: Arc::default(),
            stream: Arc::default(),
        };
        let calls = Arc::clone(&server.calls);
        let sessions = Arc::clone(&server.sessions);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                thread::spawn(move || drop(server.answer(stream)));
            }
        });
        let file = discovery_file(home, port, &home.workspace(), "vscode", "VS Code");
        Self {
            port,
            calls,
            sessions,
            file,
        }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The number of sessions that were opened. VS Code's companion bears one at a time.
    pub fn sessions(&self) -> usize {
        self.sessions.load(Ordering::SeqCst)
    }

    /// The tools that were called.
    pub fn calls(&self) -> Vec<Value> {
        self.calls.lock().unwrap().clone()
    }
}

/// Writes a discovery file as companions of others do: without a mark.
pub fn discovery_file(home: &Home, port: u16, root: &Path, name: &str, display: &str) -> PathBuf {
    let folder = home.tmp().join("gemini/ide");
    fs::create_dir_all(&folder).unwrap();
    let pid = std::process::id();
    let file = folder.join(format!("gemini-ide-server-{pid}-{port}.json"));
    let info = json!({"name": name, "displayName": display});
    let content = json!({"port": port, "workspacePath": root, "ppid": pid, "authToken": TOKEN,
        "ideInfo": info});
    fs::write(&file, content.to_string()).unwrap();
    file
}

impl Server {
    fn answer(&self, stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head)? == 0 {
                return Ok(());
            }
        }
        let head = head.to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1);
        let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
        let mut body = vec![0; length.unwrap_or_default()];
        reader.read_exact(&mut body)?;
        let mut stream = reader.into_inner();
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let is_known = message["method"] == "initialize" || head.contains("mcp-session-id: s1");
        if !head.contains(&format!("authorization: bearer {TOKEN}")) {
            return stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
        }
        if !is_known {
            return stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
        if head.starts_with("delete") {
            return stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
        if head.starts_with("get") {
            // Held before the client can go on: what it asks then may be answered here at once.
            let mut held = self.stream.lock().unwrap();
            start_events(&mut stream)?;
            send(
                &mut stream,
                &json!({"method": "ide/contextUpdate", "params": self.context}),
            )?;
            *held = Some(stream);
            return Ok(());
        }
        if message["id"].is_null() {
            return stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        }
        start_events(&mut stream)?;
        let result = self.result(&message);
        send(&mut stream, &json!({"id": message["id"], "result": result}))?;
        self.decide(&message)
    }

    fn result(&self, message: &Value) -> Value {
        match message["method"].as_str().unwrap() {
            "initialize" => {
                self.sessions.fetch_add(1, Ordering::SeqCst);
                json!({"protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": true}, "logging": {}},
                "serverInfo": {"name": "gemini-cli-companion-mcp-server", "version": "1.0.0"}})
            }
            "tools/list" => json!({"tools": [{"name": "openDiff"}, {"name": "closeDiff"}]}),
            "tools/call" => {
                self.calls.lock().unwrap().push(message["params"].clone());
                if message["params"]["name"] == "openDiff" {
                    return json!({"content": []});
                }
                let text = json!({"content": "in the tab"}).to_string();
                json!({"content": [{"type": "text", "text": text}]})
            }
            _ => json!({}),
        }
    }

    fn decide(&self, message: &Value) -> io::Result<()> {
        let arguments = &message["params"]["arguments"];
        if message["params"]["name"] != "openDiff" {
            return Ok(());
        }
        let path = &arguments["filePath"];
        let content = arguments["newContent"].as_str().unwrap();
        let outcome = match self.person {
            Person::Waits => return Ok(()),
            Person::EditsAndAccepts => json!({"method": "ide/diffAccepted",
                "params": {"filePath": path, "content": format!("{content}edited\n")}}),
        };
        let mut stream = self.stream.lock().unwrap();
        send(
            stream.as_mut().expect("the stream is open before the diff"),
            &outcome,
        )
    }
}

fn start_events(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n\
          Connection: close\r\nmcp-session-id: s1\r\n\r\n",
    )
}

fn send(stream: &mut TcpStream, message: &Value) -> io::Result<()> {
    let mut message = message.clone();
    message["jsonrpc"] = "2.0".into();
    stream.write_all(format!("event: message\ndata: {message}\n\n").as_bytes())?;
    stream.flush()
}
