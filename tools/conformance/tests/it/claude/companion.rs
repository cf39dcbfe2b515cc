//! A small companion that keeps every rule, with one switch per rule to break it. The switch is the
//! rule's id.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{frames, lock_files};
use crate::companion::{fill, left};
use crate::editor::Cursor;

pub const TOKEN: &str = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";

pub struct Companion {
    pub shared: Arc<Shared>,
    home: TempDir,
}

pub struct Shared {
    pub flaw: &'static str,
    pub port: u16,
    pub token: String,
    pub home: PathBuf,
    pub workspace: PathBuf,
    pub files: Mutex<Vec<PathBuf>>,
    state: Mutex<State>,
    pub cursor: Cursor,
    pub is_stopped: AtomicBool,
}

#[derive(Default)]
pub struct State {
    pub clients: BTreeMap<u64, Client>,
    pub views: Vec<View>,
    pub last_client: u64,
}

pub struct Client {
    pub writer: Arc<Mutex<TcpStream>>,
    pub is_initialized: bool,
}

#[derive(Clone)]
pub struct View {
    pub client: u64,
    pub id: Value,
    pub tab: String,
    pub path: String,
    pub text: String,
}

/// The reviewer's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Accept,
    Reject,
    Close,
}

impl Companion {
    /// A companion that breaks this one rule; of an id that is none, no rule.
    pub fn start(flaw: &'static str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let workspace = root.join("project");
        std::fs::create_dir(&workspace).unwrap();
        std::fs::create_dir(root.join("tmp")).unwrap();
        fill(&workspace, 3);
        let everywhere = flaw == "K2-loopback";
        let address = if everywhere {
            "0.0.0.0:0"
        } else {
            "127.0.0.1:0"
        };
        let listener = TcpListener::bind(address).unwrap();
        let port = listener.local_addr().unwrap().port();
        let first = workspace.join("file-0.txt").to_str().unwrap().to_owned();
        let shared = Arc::new(Shared {
            flaw,
            port,
            token: match flaw {
                "K3-secret" => "secret".to_owned(),
                // Another companion of these tests may get the port after this one.
                _ => format!("{TOKEN}-{port:05}"),
            },
            home: root,
            workspace,
            files: Mutex::default(),
            state: Mutex::default(),
            cursor: Cursor::in_file(first),
            is_stopped: AtomicBool::new(false),
        });
        let files = lock_files::publish(&shared);
        *shared.files.lock().unwrap() = files;
        let keeper = Arc::clone(&shared);
        thread::spawn(move || lock_files::keep(&keeper));
        if !shared.breaks("K9-answers") {
            let shared = Arc::clone(&shared);
            thread::spawn(move || serve(&listener, &shared));
        }
        Self { shared, home }
    }

    /// The file that leads to it.
    pub fn entry(&self) -> PathBuf {
        self.shared.files.lock().unwrap()[0].clone()
    }

    /// The entries of the workspace that were not there at the start.
    pub fn left(&self) -> Vec<PathBuf> {
        left(&self.shared.workspace)
    }

    /// The variables of an agent that could find it.
    pub fn environment(&self) -> [(&'static str, PathBuf); 3] {
        let home = self.home.path();
        [
            ("TMPDIR", home.join("tmp")),
            ("HOME", home.join("home")),
            ("CLAUDE_CONFIG_DIR", home.join("config")),
        ]
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.shared.end();
    }
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_stopped.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // The caller may be gone.
            let _ = shared.connected(stream.unwrap());
        });
    }
}

impl Shared {
    pub fn breaks(&self, rule: &str) -> bool {
        self.flaw == rule
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Ends the server.
    fn end(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        // Wakes it up.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }

    /// Stops as when the editor ends.
    pub fn stop(&self) {
        let waits = self.breaks("K9-port/clients") && !self.state().clients.is_empty();
        if self.breaks("K9-port") || waits {
            self.remove_files();
            return;
        }
        self.end();
        self.remove_files();
    }

    fn remove_files(&self) {
        // Nothing is put back any more.
        let files = std::mem::take(&mut *self.files.lock().unwrap());
        if !self.breaks("K9-files") {
            files
                .iter()
                .for_each(|file| std::fs::remove_file(file).unwrap());
        }
    }

    /// Decides as the reviewer does; returns false if there is no such view.
    pub fn settle(&self, path: &str, decision: Decision) -> bool {
        let view = {
            let mut state = self.state();
            let at = state.views.iter().position(|view| view.path == path);
            let Some(at) = at else { return false };
            state.views.remove(at)
        };
        let is_accepted = decision == Decision::Accept;
        let result = match decision {
            Decision::Accept => self.acceptance(&view.text),
            Decision::Reject => match self.flaw {
                "K5-rejected" => texts(&["REJECTED"]),
                "K5-rejected/tab" => texts(&["TAB_CLOSED"]),
                "K5-rejected/error" => json!({"content": [], "isError": true}),
                _ => texts(&["DIFF_REJECTED", &view.tab]),
            },
            Decision::Close if self.breaks("K5-closed") => texts(&["TAB_CLOSED"]),
            Decision::Close => texts(&["DIFF_REJECTED"]),
        };
        let is_silent = self.breaks("K5-accepted/nothing") && is_accepted
            || self.breaks("K5-rejected/nothing") && decision == Decision::Reject;
        let twice = self.breaks("K5-once") && is_accepted
            || self.breaks("K5-once/rejected") && decision == Decision::Reject;
        for _ in 0..=usize::from(twice) {
            if !is_silent {
                self.reply(view.client, &view.id, &result);
            }
        }
        if self.breaks("K8-decision") {
            let others: Vec<_> = self.state().clients.keys().copied().collect();
            for other in others.into_iter().filter(|other| *other != view.client) {
                self.reply(other, &view.id, &result);
            }
        }
        let writes = self.breaks("K5-writes") && is_accepted
            || self.breaks("K5-writes/rejected") && decision == Decision::Reject;
        if writes {
            std::fs::write(path, &view.text).unwrap();
        }
        if is_accepted {
            lock_files::rewrite(self);
        }
        true
    }

    fn acceptance(&self, text: &str) -> Value {
        let spoilt = self.spoilt(text);
        match self.flaw {
            "K5-accepted" => texts(&["FILE_SAVED"]),
            "K5-accepted/word" => texts(&["SAVED", text]),
            "K5-accepted/order" => texts(&[text, "FILE_SAVED"]),
            "K6-empty" if text.is_empty() => texts(&["FILE_SAVED"]),
            "none/empty-rejected" if text.is_empty() => texts(&["DIFF_REJECTED"]),
            _ => texts(&["FILE_SAVED", &spoilt]),
        }
    }

    /// An accepted text as an editor spoils it.
    fn spoilt(&self, text: &str) -> String {
        let is_scenario = text.contains("one more line");
        match self.flaw {
            "K5-bytes" if is_scenario => format!("{text}\n"),
            "K5-bytes/bom" if is_scenario => text.trim_start_matches('\u{feff}').to_owned(),
            "K5-bytes/nul" if is_scenario => text.replace('\0', ""),
            "K5-bytes/cr" if is_scenario => text.replace('\r', "\n"),
            "K5-bytes/spaces" if is_scenario => text.replace(" \n", "\n"),
            "K5-bytes/long" if is_scenario => text.chars().take(65_536).collect(),
            "K5-bytes/lossy" if is_scenario => text.replace('\u{200d}', "\u{fffd}"),
            _ if is_scenario => text.to_owned(),
            "K6-no-newline" if text == "one\ntwo" => format!("{text}\n"),
            "K6-newlines" if text == "one\n\n\n" => "one\n".to_owned(),
            "K6-spaces" => text.replace("  \n", "\n"),
            "K6-crlf" if text == "one\r\ntwo\r\n" => text.replace("\r\n", "\r\r\n"),
            "K6-crlf-kept" => text.replace("\r\n", "\n"),
            "K6-mixed" if text.contains("five") => text.replace("\rfour", "\nfour"),
            "K6-cr" if text.ends_with("three\r") => text.replace('\r', "\n"),
            "K6-bom" => text.trim_start_matches('\u{feff}').to_owned(),
            "K6-separators" => text.replace(['\u{2028}', '\u{85}'], "\n"),
            "K6-unicode" => text.replace("e\u{301}", "é"),
            "K6-nul" => text.replace('\0', ""),
            "K6-json" if text.starts_with('{') => {
                let value: Value = serde_json::from_str(text).unwrap();
                value["content"].as_str().unwrap().to_owned()
            }
            "K6-markup" => text.replace("&amp;", "&"),
            "K6-long-line" if !text.contains('\n') => text.chars().take(1 << 20).collect(),
            "K6-5mb" if text.contains("foxes") => text.chars().take(1 << 20).collect(),
            _ => text.to_owned(),
        }
    }

    /// Answers a call.
    pub fn reply(&self, client: u64, id: &Value, result: &Value) {
        let is_text = self.breaks("K4-id") && id.is_number();
        let id = if is_text {
            id.to_string().into()
        } else {
            id.clone()
        };
        self.send(
            client,
            &json!({"jsonrpc": "2.0", "id": id, "result": result}),
        );
    }

    /// Sends a message to a client, if it is still there.
    pub fn send(&self, client: u64, message: &Value) {
        self.write(client, frames::TEXT, message.to_string().as_bytes());
    }

    pub fn write(&self, client: u64, opcode: u8, payload: &[u8]) {
        let state = self.state();
        let Some(known) = state.clients.get(&client) else {
            return;
        };
        let writer = Arc::clone(&known.writer);
        drop(state);
        let _ = frames::write(&mut writer.lock().unwrap(), opcode, payload);
    }

    /// A client is gone, and its views with it.
    pub fn gone(&self, client: u64) {
        let mut state = self.state();
        state.clients.remove(&client);
        if !self.breaks("K5-lost") {
            state.views.retain(|view| view.client != client);
        }
        if self.breaks("K8-leaving") {
            let views = std::mem::take(&mut state.views);
            drop(state);
            for view in views {
                self.reply(view.client, &view.id, &texts(&["DIFF_REJECTED"]));
            }
        }
    }

    /// Cuts every client off.
    pub fn cut_all(&self) {
        let clients = std::mem::take(&mut self.state().clients);
        for client in clients.into_values() {
            let _ = client
                .writer
                .lock()
                .unwrap()
                .shutdown(std::net::Shutdown::Both);
        }
    }
}

/// The result of a call with these text blocks.
pub fn texts(texts: &[&str]) -> Value {
    let blocks = texts
        .iter()
        .map(|text| json!({"type": "text", "text": text}));
    json!({"content": blocks.collect::<Vec<_>>()})
}
