//! A small companion that keeps the whole contract, with one switch per rule to break it. The
//! switch is the rule's id.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::SystemTime;

use crossbeam_channel::Sender;
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
    pub flaw: &'static str,
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
    /// The line of the cursor.
    pub line: u32,
    /// Counts streams that were opened.
    pub greeted: u32,
    /// Counts moves of the cursor.
    pub moves: u32,
    /// Counts acceptances.
    pub accepted: u32,
    /// When it was moved last.
    pub moved: Option<SystemTime>,
    /// The files that are open, the one with the focus first, with the time when each got it.
    pub open: Vec<(String, u64)>,
}

#[derive(Default)]
pub struct Session {
    pub stream: Option<Sender<String>>,
}

pub struct View {
    pub session: String,
    pub text: String,
    /// The number of sessions that there had been when it was opened, until somebody tries to close it.
    pub opens_with: Option<u32>,
}

impl Companion {
    /// A companion that breaks this one rule; of an id that is none, no rule.
    pub fn start(flaw: &'static str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let workspace = home.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&workspace).unwrap();
        fill(&workspace, 11);
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
        for number in [1, 0] {
            let file = shared.workspace.join(format!("file-{number}.txt"));
            shared.state().focus(file.to_str().unwrap());
        }
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

    /// The file that leads to it: the first, unless that is one which nobody finds.
    pub fn entry(&self) -> &Path {
        let is_lost = ["C2.2-name/", "C2.2-gemini/", "C2.1-file/"];
        let is_lost = is_lost.iter().any(|it| self.shared.flaw.starts_with(it));
        &self.files[usize::from(is_lost && self.shared.flaw != "C2.1-file/pipe")]
    }

    /// The entries of the workspace that were not there at the start.
    pub fn left(&self) -> Vec<PathBuf> {
        left(&self.shared.workspace)
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

/// Puts as many files into a workspace.
pub fn fill(workspace: &Path, count: u32) {
    for number in 0..count {
        let file = workspace.join(format!("file-{number}.txt"));
        std::fs::write(file, "text\n".repeat(9)).unwrap();
    }
}

/// The entries of a workspace that were not put there so.
pub fn left(workspace: &Path) -> Vec<PathBuf> {
    let entries = workspace.read_dir().unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    let is_own = |path: &Path| {
        let name = path.file_name().unwrap();
        name.as_encoded_bytes().starts_with(b"file-")
    };
    paths.retain(|path| !is_own(path));
    paths
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_stopped.load(Ordering::SeqCst) {
            return;
        }
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            let request = Request::read(stream.unwrap());
            // The caller may be gone.
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

    /// Stops as when the editor ends.
    pub fn stop(&self) {
        for file in &*self.files.lock().unwrap() {
            let is_lock = file.extension().is_some_and(|it| it == "lock");
            let stays = self.breaks("C6.2-files") || self.breaks("C6.2-files/lock") && is_lock;
            if !stays {
                std::fs::remove_file(file).unwrap();
            }
        }
        let has_streams = self.streams.load(Ordering::SeqCst) > 0;
        let waits = self.breaks("C6.2-port/streams") && has_streams;
        if !self.breaks("C6.2-port") && !waits {
            self.end();
        }
    }

    /// Decides as the reviewer does.
    pub fn settle(&self, file: &str, accept: bool) {
        let name = if accept { "accepted" } else { "rejected" };
        let breaks = |rule: &str| self.breaks(&rule.replace("NAME", name));
        let view = self.state().views.remove(file);
        // An editor that accepts by itself may come after the agent, which closed the view.
        let Some(view) = view else { return };
        let path = match () {
            () if breaks("C5.8-NAME") => file.replace("//./", "/"),
            () if breaks("C5.8-NAME/uri") => file.split('#').next().unwrap().to_owned(),
            () if breaks("C5.8-NAME/escaped") => file.replace("%20", " "),
            () if breaks("C5.8-NAME/composed") => file.replace("e\u{301}", "é"),
            () => file.to_owned(),
        };
        let mut params = json!({"filePath": path});
        let mut method = if accept {
            "ide/diffAccepted"
        } else {
            "ide/diffRejected"
        };
        if accept && !self.breaks("C5.6-sent") {
            params["content"] = self.accepted(&view.text).into();
        }
        if !accept && self.breaks("C5.7-sent") {
            method = "ide/diffClosed";
        }
        let twice = if accept { "C5.6-once" } else { "C5.7-once" };
        let everybody = breaks("C1.4-NAME");
        let is_silent = accept && self.breaks("C5.6-sent/nothing")
            || !accept && self.breaks("C5.7-sent/nothing");
        for _ in 0..=usize::from(self.breaks(twice)) {
            if !is_silent {
                self.push(method, &params, |id| everybody || id == view.session);
            }
        }
        let is_first_accepted = accept && self.state().accepted == 0;
        self.state().accepted += u32::from(accept);
        if is_first_accepted && self.breaks("C5.9-writes")
            || accept && self.breaks("C5.9-writes/always")
            || !accept && self.breaks("C5.9-writes/rejected")
        {
            std::fs::write(file, &view.text).unwrap();
        }
        files::rewrite(self);
    }

    /// An accepted text as an editor spoils it.
    fn accepted(&self, text: &str) -> String {
        match self.flaw {
            "C5.6-bytes" => format!("{text}\n"),
            "C5.6-bytes/bom" => text.trim_start_matches('\u{feff}').to_owned(),
            "C5.6-bytes/nul" => text.replace('\0', ""),
            "C5.6-bytes/nul-ends" => text.split('\0').next().unwrap().to_owned(),
            "C5.6-bytes/crlf" => text.replace("\r\n", "\n"),
            "C5.6-bytes/cr" => text.replace('\r', "\n"),
            "C5.6-bytes/spaces" => text.replace(" \n", "\n"),
            "C5.6-bytes/long" => text.chars().take(65_536).collect(),
            "C5.6-bytes/lossy" => text.replace('\u{200d}', "\u{fffd}"),
            _ => text.to_owned(),
        }
    }

    /// Pushes a notification to the sessions that are meant.
    pub fn push(&self, method: &str, params: &Value, is_meant: impl Fn(&str) -> bool) {
        let mut message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let is_context = method == "ide/contextUpdate";
        if is_context && self.breaks("C4.3-shape/request")
            || !is_context && self.breaks("C5.6-sent/request") && params["content"].is_string()
        {
            message["id"] = 1.into();
        }
        for (id, session) in &self.state().sessions {
            if let (true, Some(stream)) = (is_meant(id), &session.stream) {
                let is_odd = !is_context && self.breaks("C1.1-events/outcome");
                let id = if is_odd { "id: 7\n" } else { "" };
                let _ = stream.send(format!("{id}data: {message}\n\n"));
            }
        }
    }
}
