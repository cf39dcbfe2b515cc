//! A small companion that keeps the whole contract, with one switch per rule to break it. The
//! switch is the rule's id.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::files;
use crate::wire::Request;

pub const TOKEN: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

pub struct Companion {
    pub shared: Arc<Shared>,
    pub files: Vec<PathBuf>,
    home: TempDir,
}

pub struct Shared {
    flaw: &'static str,
    pub port: u16,
    pub token: String,
    pub workspace: PathBuf,
    pub files: Mutex<Vec<PathBuf>>,
    state: Mutex<State>,
    is_stopped: AtomicBool,
    pub streams: AtomicU32,
}

#[derive(Default)]
pub struct State {
    pub sessions: BTreeMap<String, Session>,
    pub views: BTreeMap<String, View>,
    pub last_session: u32,
    /// On which line the cursor stands.
    pub line: u32,
    /// Counts streams that were opened.
    pub greeted: u32,
    /// Counts moves of the cursor.
    pub moves: u32,
}

#[derive(Default)]
pub struct Session {
    pub stream: Option<Sender<String>>,
}

pub struct View {
    pub session: String,
    pub text: String,
}

impl Companion {
    /// A companion that breaks this one rule; of an id that is none, no rule.
    pub fn start(flaw: &'static str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let workspace = home.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&workspace).unwrap();
        for number in 0..11 {
            std::fs::write(
                workspace.join(format!("file-{number}.txt")),
                "text\n".repeat(9),
            )
            .unwrap();
        }
        let everywhere = flaw == "C1.3-loopback";
        let address = if everywhere {
            "0.0.0.0:0"
        } else {
            "127.0.0.1:0"
        };
        let listener = TcpListener::bind(address).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            flaw,
            port,
            token: match flaw {
                "C3.1-secret" => "secret".to_owned(),
                // Another companion of these tests may get the port after this one.
                _ => format!("{TOKEN}{port:05}"),
            },
            workspace,
            files: Mutex::default(),
            state: Mutex::default(),
            is_stopped: AtomicBool::new(false),
            streams: AtomicU32::new(0),
        });
        let files = files::publish(&shared, &home.path().join("tmp"), &home.path().join("home"));
        *shared.files.lock().unwrap() = files.clone();
        if !shared.breaks("C6.1-answers") {
            let shared = Arc::clone(&shared);
            thread::spawn(move || serve(&listener, &shared));
        }
        Self {
            shared,
            files,
            home,
        }
    }

    /// The variables of an agent that could find it.
    pub fn environment(&self) -> [(&'static str, PathBuf); 2] {
        let home = self.home.path();
        [("TMPDIR", home.join("tmp")), ("HOME", home.join("home"))]
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
            let request = Request::read(stream.unwrap());
            // Whoever called may be gone.
            let _ = request.and_then(|request| shared.handle(request));
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

    /// The session that was opened last, whether or not it has ended.
    pub fn newest_session(&self) -> String {
        let blank = if self.breaks("C1.1-session") {
            " "
        } else {
            "-"
        };
        format!("session{blank}{}", self.state().last_session)
    }

    /// Ends the server.
    fn end(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        // Wakes it up.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }

    /// As when the editor ends.
    pub fn stop(&self) {
        if !self.breaks("C6.2-files") {
            for file in &*self.files.lock().unwrap() {
                std::fs::remove_file(file).unwrap();
            }
        }
        let has_streams = self.streams.load(Ordering::SeqCst) > 0;
        let waits = self.breaks("C6.2-port/streams") && has_streams;
        if !self.breaks("C6.2-port") && !waits {
            self.end();
        }
    }

    /// What the reviewer decides.
    pub fn settle(&self, file: &str, accept: bool) {
        let name = if accept { "accepted" } else { "rejected" };
        let breaks = |rule: &str| self.breaks(&rule.replace("NAME", name));
        let view = self.state().views.remove(file).expect("the view is open");
        let mut params = json!({"filePath": file});
        if breaks("C5.8-NAME") {
            params["filePath"] = file.replace("//./", "/").into();
        }
        let mut method = if accept {
            "ide/diffAccepted"
        } else {
            "ide/diffRejected"
        };
        if accept && !self.breaks("C5.6-sent") {
            let more = if self.breaks("C5.6-bytes") { "\n" } else { "" };
            params["content"] = format!("{}{more}", view.text).into();
        }
        if !accept && self.breaks("C5.7-sent") {
            method = "ide/diffClosed";
        }
        let twice = if accept { "C5.6-once" } else { "C5.7-once" };
        let everybody = breaks("C1.4-NAME");
        if accept && self.breaks("C5.6-sent/nothing") {
            return;
        }
        for _ in 0..=usize::from(self.breaks(twice)) {
            self.push(method, &params, |id| everybody || id == view.session);
        }
        if accept && self.breaks("C5.9-writes") {
            std::fs::write(file, &view.text).unwrap();
        }
        files::rewrite(self);
    }

    /// Pushes a notification to the sessions that are meant.
    pub fn push(&self, method: &str, params: &Value, is_meant: impl Fn(&str) -> bool) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        for (id, session) in &self.state().sessions {
            if let (true, Some(stream)) = (is_meant(id), &session.stream) {
                let _ = stream.send(format!("data: {message}\n\n"));
            }
        }
    }
}
