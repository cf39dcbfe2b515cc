//! A small companion that keeps every rule, with one switch per rule to break it. The switch is the
//! rule's id.

use std::collections::BTreeMap;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use crossbeam_channel::Sender;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::lock_files;
use crate::companion::{fill, left};
use crate::editor::Cursor;
use crate::files::chmod;

pub const TOKEN: &str = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";

/// The number of connections that a companion takes that is easily occupied.
const FEW: usize = 32;

pub struct Companion {
    pub shared: Arc<Shared>,
    home: TempDir,
}

pub struct Shared {
    pub flaw: &'static str,
    pub token: &'static str,
    pub home: PathBuf,
    pub workspace: PathBuf,
    pub socket: PathBuf,
    pub files: Mutex<Vec<PathBuf>>,
    state: Mutex<State>,
    pub cursor: Cursor,
    is_stopped: AtomicBool,
    /// The number of open connections.
    connections: AtomicUsize,
}

#[derive(Default)]
pub struct State {
    pub sessions: BTreeMap<String, Session>,
    pub views: Vec<View>,
    pub last_session: u64,
}

#[derive(Default)]
pub struct Session {
    pub stream: Option<Sender<String>>,
}

pub struct View {
    pub session: String,
    pub tab: String,
    pub path: String,
    pub text: String,
    /// Takes the result of the call.
    pub answer: Sender<Value>,
}

/// The reviewer's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Accept,
    AcceptEdited,
    Reject,
    Close,
}

impl Companion {
    /// A companion that breaks this one rule; of an id that is none, no rule.
    pub fn start(flaw: &'static str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let workspace = root.join("project");
        for folder in ["project", "run", "tmp"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        fill(&workspace, 3);
        let socket = root.join("run/s");
        let listener = UnixListener::bind(&socket).unwrap();
        let (mode, folder) = match flaw {
            "P1-private-socket" => (0o666, 0o755),
            _ => (0o600, 0o700),
        };
        chmod(&socket, mode);
        chmod(&root.join("run"), folder);
        let first = workspace.join("file-0.txt").to_str().unwrap().to_owned();
        let shared = Arc::new(Shared {
            flaw,
            token: if flaw == "P3-secret" { "secret" } else { TOKEN },
            home: root,
            workspace,
            socket,
            files: Mutex::default(),
            state: Mutex::default(),
            cursor: Cursor::in_file(first),
            is_stopped: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
        });
        *shared.files.lock().unwrap() = vec![lock_files::publish(&shared)];
        if !shared.breaks("P9-answers") {
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
            ("COPILOT_HOME", home.join("copilot")),
        ]
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.shared.end();
    }
}

fn serve(listener: &UnixListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_stopped.load(Ordering::SeqCst) {
            return;
        }
        let open = shared.connections.fetch_add(1, Ordering::SeqCst);
        let shared = Arc::clone(shared);
        let is_refused = open >= FEW && shared.breaks("P3-crowd");
        thread::spawn(move || {
            if !is_refused {
                // The caller may be gone.
                let _ = shared.connected(stream.unwrap());
            }
            shared.connections.fetch_sub(1, Ordering::SeqCst);
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
        let _ = UnixStream::connect(&self.socket);
    }

    /// Stops as when the editor ends.
    pub fn stop(&self) {
        let files = std::mem::take(&mut *self.files.lock().unwrap());
        if !self.breaks("P9-files") {
            files
                .iter()
                .for_each(|file| std::fs::remove_file(file).unwrap());
        }
        let has_streams = self.state().sessions.values().any(|it| it.stream.is_some());
        let waits = self.breaks("P9-socket/streams") && has_streams;
        if !self.breaks("P9-socket") && !waits {
            self.end();
            std::fs::remove_file(&self.socket).unwrap();
        }
    }

    /// Decides as the reviewer does; returns false if there is no such view, or it is not done.
    pub fn settle(&self, path: &str, decision: Decision) -> bool {
        if decision == Decision::AcceptEdited && !self.breaks("P5-edited") {
            return false;
        }
        let view = {
            let mut state = self.state();
            let at = state.views.iter().position(|view| view.path == path);
            let Some(at) = at else { return false };
            state.views.remove(at)
        };
        let is_accepted = matches!(decision, Decision::Accept | Decision::AcceptEdited);
        let result = match (decision, self.flaw) {
            (Decision::Accept, "P5-accepted") => decided("ACCEPTED"),
            (Decision::Accept, "P5-accepted/trigger") => without(&decided("SAVED"), "trigger"),
            (Decision::Accept, "P5-accepted/words") => block("SAVED"),
            (Decision::Accept, "P5-accepted/error") => failed("SAVED"),
            (Decision::Reject, "P5-rejected") => decided("DENIED"),
            (Decision::Reject, "P5-rejected/message") => without(&decided("REJECTED"), "message"),
            (Decision::Reject, "P5-rejected/saved") => decided("SAVED"),
            (Decision::Close, "P5-closed") => decided("SAVED"),
            _ if is_accepted => decided("SAVED"),
            _ => decided("REJECTED"),
        };
        let is_silent = is_accepted && self.breaks("P5-accepted/nothing")
            || decision == Decision::Reject && self.breaks("P5-rejected/nothing");
        if is_silent {
            // The call stays open.
            std::mem::forget(view.answer);
        } else {
            let _ = view.answer.send(result);
        }
        let writes = self.breaks("P5-writes") && is_accepted
            || self.breaks("P5-writes/rejected") && decision == Decision::Reject;
        if writes {
            std::fs::write(path, &view.text).unwrap();
        }
        if is_accepted {
            lock_files::rewrite(self);
        }
        true
    }

    /// An agent is gone, or the call of one of its views.
    pub fn gone(&self, is_its: impl Fn(&View) -> bool) {
        let everybody = self.breaks("P8-leaving");
        let mut state = self.state();
        let all = std::mem::take(&mut state.views);
        let (gone, kept) = all.into_iter().partition(|view| everybody || is_its(view));
        state.views = kept;
        drop(state);
        let gone: Vec<View> = gone;
        for view in gone {
            let _ = view.answer.send(decided("REJECTED"));
        }
    }
}

/// The result of a call with this text block.
pub fn block(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// The same of one that fails.
pub fn failed(why: &str) -> Value {
    let mut result = block(why);
    result["isError"] = true.into();
    result
}

/// The result of a proposal.
pub fn decided(result: &str) -> Value {
    let told = json!({"success": true, "result": result, "trigger": "button", "message": "done"});
    block(&told.to_string())
}

/// The same without a field.
fn without(decided: &Value, field: &str) -> Value {
    let text = decided["content"][0]["text"].as_str().unwrap();
    let mut told: Value = serde_json::from_str(text).unwrap();
    told.as_object_mut().unwrap().remove(field);
    block(&told.to_string())
}
