//! A machine with lock files, folders, listeners and variables, generated from a seed.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use pillion_agent::find::{Finding, Preference, Verdict};
use pillion_testkit::{Home, IdleProcess, set_up_claude};
use serde_json::{Value, json};

use super::program::Dialled;
use crate::situations::Chance;

/// No system gives this id to a process.
const DEAD: u32 = 4_500_000;

pub struct Machine {
    home: Home,
    variables: Vec<(String, String)>,
    folder: PathBuf,
    listeners: Vec<Listener>,
    /// A process that lives and is no ancestor of the program.
    stranger: IdleProcess,
}

/// Notes who dials.
struct Listener {
    port: u16,
    socket: TcpListener,
    dialled: Arc<Mutex<Vec<Dialled>>>,
}

impl Machine {
    pub fn generate(seed: u64) -> Self {
        let home = Home::new();
        let root = home.root().canonicalize().unwrap();
        for folder in [
            "w/p/below",
            "w/px",
            "other",
            "config/ide",
            "home/.claude/ide",
        ] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        symlink("p", root.join("w/link")).unwrap();
        let mut chance = Chance::new(seed);
        let folder = chance.pick(&["w/p", "w/p", "w/p/below", "w/link"]);
        let mut machine = Self {
            folder: root.join(folder),
            variables: vec![("HOME".into(), home.home().display().to_string())],
            listeners: (0..3).map(|_| Listener::start()).collect(),
            stranger: IdleProcess::start(),
            home,
        };
        machine.set_variables(&mut chance);
        set_up_claude(&machine.home, &machine.real_folder());
        let settings = machine.home.home().join(".claude.json");
        fs::copy(settings, root.join("config/.claude.json")).unwrap();
        for index in 0..1 + chance.below(3) {
            machine.write_lock(&mut chance, index as usize);
        }
        machine
    }

    pub fn variables(&self) -> impl Iterator<Item = (String, String)> {
        self.variables.iter().cloned()
    }

    /// As the program is started in it: it may be a link.
    pub fn folder(&self) -> &PathBuf {
        &self.folder
    }

    pub fn real_folder(&self) -> PathBuf {
        self.folder.canonicalize().unwrap()
    }

    pub fn lock_folders(&self) -> [PathBuf; 2] {
        let root = self.home.root().canonicalize().unwrap();
        ["home/.claude/ide", "config/ide"].map(|folder| root.join(folder))
    }

    pub fn dialled(&self) -> Vec<Dialled> {
        let dialled = self
            .listeners
            .iter()
            .flat_map(|it| it.dialled.lock().unwrap().clone());
        dialled.collect()
    }

    /// For a person who looks into a difference.
    pub fn listing(&self) -> String {
        let mut lines = format!("in {}, {:?}\n", self.folder.display(), self.variables);
        for folder in self.lock_folders() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let text = fs::read_to_string(entry.path()).unwrap_or_default();
                lines.push_str(&format!("{}: {text}\n", entry.path().display()));
            }
        }
        lines
    }

    fn set_variables(&mut self, chance: &mut Chance) {
        let mut set = |name: &str, value: String| self.variables.push((name.into(), value));
        let first = self.listeners[0].port;
        match chance.below(10) {
            0..2 => set("CLAUDE_CODE_SSE_PORT", first.to_string()),
            2 => set("CLAUDE_CODE_SSE_PORT", chance.pick(&["5", "x"]).into()),
            _ => {}
        }
        match chance.below(12) {
            0 | 1 => set("TERM_PROGRAM", "vscode".into()),
            2 => set("TERMINAL_EMULATOR", "JetBrains-JediTerm".into()),
            3 => set(
                "TERM_PROGRAM",
                chance.pick(&["zed", "tmux", "iTerm.app"]).into(),
            ),
            _ => {}
        }
        if chance.percent(8) {
            let value = chance.pick(&["1", "true", "0"]);
            set("CLAUDE_CODE_IDE_SKIP_VALID_CHECK", value.into());
        }
        if chance.percent(12) {
            let root = self.home.root().canonicalize().unwrap();
            set(
                "CLAUDE_CONFIG_DIR",
                root.join("config").display().to_string(),
            );
        }
    }

    fn write_lock(&self, chance: &mut Chance, index: usize) {
        let is_configured = self
            .variables
            .iter()
            .any(|(name, _)| name == "CLAUDE_CONFIG_DIR");
        let in_config = is_configured && chance.percent(50);
        let folder = &self.lock_folders()[usize::from(in_config)];
        let port = self.listeners[index].port;
        let name = match chance.below(25) {
            0 => format!("{port}.lock.bak"),
            _ => format!("{port}.lock"),
        };
        let text = self.text(chance, port);
        fs::write(folder.join(name), text).unwrap();
    }

    fn text(&self, chance: &mut Chance, port: u16) -> String {
        let cwd = self.real_folder().display().to_string();
        let mut lock = json!({"ideName": "Kate", "workspaceFolders": self.roots(chance, &cwd)});
        match chance.below(12) {
            0 => {}
            1 => lock["transport"] = "sse".into(),
            _ => lock["transport"] = "ws".into(),
        }
        match chance.below(12) {
            0 => {}
            _ => lock["authToken"] = format!("token-{port}").into(),
        }
        if let Some(pid) = self.pid(chance) {
            lock["pid"] = pid;
        }
        let text = lock.to_string();
        match chance.below(30) {
            0 => format!(" \n{text}\n"),
            _ => text,
        }
    }

    fn pid(&self, chance: &mut Chance) -> Option<Value> {
        let own = std::process::id();
        Some(match chance.below(20) {
            0..10 => json!(own),
            10..13 => json!(self.stranger.id()),
            13 => json!(own.to_string()),
            14 | 15 => json!(DEAD),
            16 => json!("x"),
            _ => return None,
        })
    }

    fn roots(&self, chance: &mut Chance, cwd: &str) -> Value {
        let root = self.home.root().canonicalize().unwrap();
        let at = |name: &str| root.join(name).display().to_string();
        let usual = json!([cwd]);
        match chance.below(30) {
            0..14 => usual,
            14 | 15 => json!([at("w")]),
            16..19 => json!([at("other")]),
            19 => json!([at("w/px"), at("other")]),
            20 => json!([at("other"), cwd]),
            21 => json!([at("w/link")]),
            22 => json!([format!("{cwd}/"), at("other")]),
            23 => json!([]),
            24 => json!([at("w/./x/..//")]),
            25 => chance.pick(&[json!(["."]), json!([".."]), json!(["below"])]),
            26 => json!([cwd.to_uppercase()]),
            27 => json!([format!("file://{cwd}")]),
            _ => json!([format!("{cwd}/below/deeper")]),
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        for listener in &self.listeners {
            listener.stop();
        }
    }
}

impl Listener {
    fn start() -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let dialled = Arc::new(Mutex::new(Vec::new()));
        let (accepting, log) = (socket.try_clone().unwrap(), Arc::clone(&dialled));
        thread::spawn(move || {
            for stream in accepting.incoming().flatten() {
                let log = Arc::clone(&log);
                if !note(stream, port, &log) {
                    return;
                }
            }
        });
        Self {
            port,
            socket,
            dialled,
        }
    }

    fn stop(&self) {
        let address = self.socket.local_addr().unwrap();
        if let Ok(mut stream) = TcpStream::connect(address) {
            let _ = stream.write_all(b"STOP\r\n\r\n");
            let _ = stream.shutdown(Shutdown::Write);
        }
    }
}

/// Notes a request; a mere connection makes none. False at the end.
fn note(mut stream: TcpStream, port: u16, log: &Mutex<Vec<Dialled>>) -> bool {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.extend(byte),
            _ => return true,
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.lines();
    let first = lines.next().unwrap_or_default();
    if first == "STOP" {
        return false;
    }
    let headers = lines.filter_map(|line| line.split_once(": "));
    let mut tokens =
        headers.filter(|(name, _)| name.eq_ignore_ascii_case("x-claude-code-ide-authorization"));
    let dialled = Dialled {
        port,
        path: first.split(' ').nth(1).unwrap_or_default().to_owned(),
        token: tokens.next().map(|(_, token)| token.to_owned()),
    };
    let mut log = log.lock().unwrap();
    if log.is_empty() {
        log.push(dialled);
    }
    true
}

/// Returns true if the port variable decided.
pub fn is_named(finding: &Finding) -> bool {
    finding.candidates.iter().any(|candidate| {
        matches!(
            candidate.verdict,
            Verdict::SecondChoice(Preference::PortVariable(_)) | Verdict::OtherWorkspace
        )
    }) && !finding.dials.is_empty()
}
