//! One connection to the small companion: the upgrade, and frames until it ends.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::companion::{Client, Shared};
use super::frames::{self, BINARY, CLOSE, CONTINUATION, Frame, PING, PONG, TEXT};
use crate::lock_files::takes;

/// More is too much for a companion that takes no large messages.
const MEGABYTE: usize = 1 << 20;

/// An HTTP request, its header names as they were sent.
struct Request {
    target: String,
    headers: Vec<(String, String)>,
}

impl Request {
    fn read(stream: &TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let target = line.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                return Ok(Self { target, headers });
            };
            headers.push((name.to_owned(), value.trim().to_owned()));
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let header = headers.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(&header.1)
    }

    fn exact_header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

const AUTHORIZATION: &str = "x-claude-code-ide-authorization";

impl Shared {
    /// Serves a connection to its end.
    pub fn connected(&self, mut stream: TcpStream) -> io::Result<()> {
        let request = Request::read(&stream)?;
        if let Err((status, body)) = self.checked(&request) {
            if self.breaks("none/hangs-up") {
                return Ok(());
            }
            let length = body.len();
            return write!(
                stream,
                "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n\r\n{body}"
            );
        }
        stream.write_all(self.agreement(&request).as_bytes())?;
        if self.breaks("K3-none/late") && request.header(AUTHORIZATION).is_none() {
            return frames::write(&mut stream, CLOSE, &1008_u16.to_be_bytes());
        }
        let client = {
            let mut state = self.state();
            state.last_client += 1;
            let id = state.last_client;
            let writer = Arc::new(Mutex::new(stream.try_clone()?));
            let is_initialized = false;
            state.clients.insert(
                id,
                Client {
                    writer,
                    is_initialized,
                },
            );
            id
        };
        let ended = self.frames(client, &mut stream);
        self.gone(client);
        let _ = stream.shutdown(Shutdown::Both);
        ended
    }

    /// Checks that a request is let in.
    fn checked(&self, request: &Request) -> Result<(), (u16, String)> {
        let refuse = |status: u16| Err((status, String::new()));
        let path = request.target.split('?').next().unwrap_or_default();
        if path != "/" && !(self.breaks("K2-path") && path == "/ide") {
            return refuse(404);
        }
        let origin = match request.header("Origin") {
            Some("null") if self.breaks("K3-origin/null") => None,
            Some(origin)
                if self.breaks("K3-origin/prefix") && origin.starts_with("http://localhost") =>
            {
                None
            }
            Some(_) if self.breaks("K3-origin") => None,
            other => other,
        };
        let host = request.header("Host").unwrap_or_default();
        let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
        let is_host_known = match host {
            "127.0.0.1" => true,
            "localhost" => !self.breaks("K3-localhost"),
            other => {
                self.breaks("K3-host")
                    || self.breaks("K3-host/prefix") && other.starts_with("localhost")
            }
        };
        if origin.is_some() || !is_host_known {
            return refuse(403);
        }
        if !self.has_token(request) {
            let is_bare = request.header(AUTHORIZATION).is_none()
                && request.header("Authorization").is_none()
                && !request.target.contains('?');
            let body = match self.flaw {
                "K3-none/tells" if is_bare => self.token.clone(),
                _ => String::new(),
            };
            return Err((401, body));
        }
        if request.header("Sec-WebSocket-Version") != Some("13") && !self.breaks("K2-version") {
            return refuse(426);
        }
        let is_bare = request.header("Sec-WebSocket-Protocol").is_none();
        let is_deflating = request.header("Sec-WebSocket-Extensions").is_some();
        let is_refused = is_bare && self.breaks("K2-no-protocol/refused")
            || is_deflating && self.breaks("K2-deflate/refused")
            || self.breaks("K2-upgrade/refused")
            || self.breaks("K8-two") && !self.state().clients.is_empty();
        if is_refused { refuse(400) } else { Ok(()) }
    }

    fn has_token(&self, request: &Request) -> bool {
        let token = self.token.as_str();
        let sent = match self.flaw {
            "K3-header" => request.exact_header(AUTHORIZATION),
            "K3-elsewhere/header" => request
                .header(AUTHORIZATION)
                .or_else(|| request.header("Authorization")?.strip_prefix("Bearer ")),
            "K3-elsewhere/bearer" => request
                .header(AUTHORIZATION)
                .map(|sent| sent.trim_start_matches("Bearer ")),
            _ => request.header(AUTHORIZATION),
        };
        let Some(sent) = sent.filter(|sent| !sent.is_empty()) else {
            return match self.flaw {
                "K3-elsewhere" => request.target.contains(&format!("={token}")),
                "K3-none" | "K3-none/late" | "K1-token" | "K1-token/empty" | "K1-json"
                | "K1-json/lines" => {
                    !request.target.contains('?') && request.header("Authorization").is_none()
                }
                _ => false,
            };
        };
        let way = self.flaw.strip_prefix("K3-").unwrap_or_default();
        // The word before it is another rule's matter.
        takes(token, sent, way) && (sent == token || !sent.starts_with("Bearer"))
    }

    /// The answer that makes it a WebSocket.
    fn agreement(&self, request: &Request) -> String {
        let key = request.header("Sec-WebSocket-Key").unwrap_or_default();
        let accept = match self.flaw {
            "K2-upgrade" => derive_accept_key(b"another"),
            _ => derive_accept_key(key.as_bytes()),
        };
        let mut head = format!(
            "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n"
        );
        let offered = request.header("Sec-WebSocket-Protocol");
        let named = match (offered, self.flaw) {
            (None, "K2-no-protocol") => Some("mcp"),
            (Some(_), "K2-protocol") => None,
            (Some(_), "K2-protocol/other") => Some("chat"),
            (offered, _) => offered,
        };
        if let Some(named) = named {
            head += &format!("Sec-WebSocket-Protocol: {named}\r\n");
        }
        if request.header("Sec-WebSocket-Extensions").is_some() {
            head += match self.flaw {
                "K2-deflate" => "Sec-WebSocket-Extensions: x-webkit-deflate-frame\r\n",
                "none/deflate" => {
                    "Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=12\r\n"
                }
                _ => "",
            };
        }
        head + "\r\n"
    }

    /// Takes frames until the connection ends.
    fn frames(&self, client: u64, stream: &mut TcpStream) -> io::Result<()> {
        let mut message = Vec::new();
        loop {
            let frame = Frame::read(stream)?;
            if !frame.is_masked && !self.breaks("K2-unmasked") {
                let code: u16 = if self.breaks("K2-unmasked/code") {
                    1000
                } else {
                    1002
                };
                self.write(client, CLOSE, &code.to_be_bytes());
                return Ok(());
            }
            match frame.opcode {
                PING => match self.flaw {
                    "K2-ping" => {}
                    "K2-ping/empty" => self.write(client, PONG, b""),
                    _ => self.write(client, PONG, &frame.payload),
                },
                CLOSE => {
                    self.write(client, CLOSE, &frame.payload);
                    return Ok(());
                }
                BINARY if self.breaks("K2-binary") => self.cut_all(),
                BINARY if self.breaks("none/binary-ignored") => {}
                BINARY => {
                    self.write(client, CLOSE, &1003_u16.to_be_bytes());
                    return Ok(());
                }
                CONTINUATION if self.breaks("K2-fragments") => {}
                TEXT | CONTINUATION => {
                    message.extend(frame.payload);
                    if message.len() > MEGABYTE && self.breaks("K2-large") {
                        return Ok(());
                    }
                    if !frame.is_last && !self.breaks("K2-fragments") {
                        continue;
                    }
                    let text = std::mem::take(&mut message);
                    if !self.take(client, &text) {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes a message; false when that ends the connection.
    fn take(&self, client: u64, text: &[u8]) -> bool {
        let Ok(message) = serde_json::from_slice::<Value>(text) else {
            let error = json!({"code": -32700, "message": "no JSON"});
            self.send(
                client,
                &json!({"jsonrpc": "2.0", "id": null, "error": error}),
            );
            return !self.breaks("K4-garbage");
        };
        if let Value::Array(batch) = &message {
            if self.breaks("K4-batch/closes") && !batch.is_empty() {
                return false;
            }
            if !self.breaks("K4-batch") || batch.is_empty() {
                let error = json!({"code": -32600, "message": "no batches"});
                self.send(
                    client,
                    &json!({"jsonrpc": "2.0", "id": null, "error": error}),
                );
            }
            return true;
        }
        let is_request = message
            .get("id")
            .is_some_and(|id| id.is_string() || id.is_number());
        if !is_request {
            self.notified(client, &message);
            return true;
        }
        self.asked(client, &message)
    }
}
