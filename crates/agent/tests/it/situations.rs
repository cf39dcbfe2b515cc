//! Situations for the rules of choice: a temporary machine with folders, links, discovery files and
//! variables, generated from a seed. The same seed gives the same situation.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pillion_protocol::Dialect;
use pillion_testkit::ChoiceSituation;
use serde_json::{Value, json};
use tempfile::TempDir;

/// No system gives this id to a process.
const DEAD: u64 = 4_500_000;

/// A machine, and an agent on it.
pub struct World {
    _folder: TempDir,
    root: PathBuf,
    pub situation: ChoiceSituation,
}

/// Chance from a seed.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    /// True this often in a hundred times.
    pub fn percent(&mut self, often: u64) -> bool {
        self.below(100) < often
    }

    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }
}

/// The situation that the generator is about to write.
struct Generator {
    chance: Chance,
    agent: Dialect,
    root: PathBuf,
    cwd: PathBuf,
    pid: u32,
    ports: Vec<u64>,
    files: u64,
}

/// Folders of the machine, by what they try.
const FOLDERS: [&str; 8] = [
    "w/a",
    "w/a/in/deep",
    "w/ab",
    "w/with space",
    "w/with%20space",
    "w/pct%2x",
    "w/été",
    "other",
];

/// Variables of terminals and surroundings, and how often in a hundred times they are set.
const TERMINALS: [(&str, &str, u64); 15] = [
    ("TERM_PROGRAM", "vscode", 55),
    ("TERMINAL_EMULATOR", "JetBrains-JediTerm", 8),
    ("ZED_SESSION_ID", "1", 5),
    ("XCODE_VERSION_ACTUAL", "1", 4),
    ("ANTIGRAVITY_CLI_ALIAS", "agy", 4),
    ("CURSOR_TRACE_ID", "1", 6),
    ("CODESPACES", "true", 4),
    ("CLOUD_SHELL", "true", 4),
    ("TERM_PRODUCT", "Trae", 4),
    ("MONOSPACE_ENV", "1", 4),
    ("POSITRON", "1", 4),
    ("REPLIT_USER", "me", 4),
    ("__COG_BASHRC_SOURCED", "1", 4),
    ("SSH_CONNECTION", "1 2", 10),
    ("REMOTE_CONTAINERS", "1", 10),
];

/// The commands that the editor's process may have.
const COMMANDS: [&str; 4] = [
    "/usr/bin/nvim",
    "/usr/share/code/code --x",
    "",
    "/opt/GoLand/bin/goland",
];

impl World {
    /// A machine on which a client with this process id is asked.
    pub fn generate(agent: Dialect, seed: u64, pid: u32) -> World {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in FOLDERS
            .iter()
            .chain(&["tmp/gemini/ide", "tmp/qwen/ide", "home/.qwen/ide"])
        {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("w/plain"), "").unwrap();
        for (link, target) in [
            ("w/link", "a"),
            ("w/dangling", "nowhere/at/all"),
            ("link to w", "w"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        let mut chance = Chance(seed);
        let cwd = match chance.below(10) {
            0..4 => "w/a",
            4 => "w/a/in",
            5 => "w/link/in/deep",
            6 => "link to w/ab",
            _ => FOLDERS[chance.below(7) as usize],
        };
        let mut generator = Generator {
            cwd: root.join(cwd),
            chance,
            agent,
            root: root.clone(),
            pid,
            ports: Vec::new(),
            files: 0,
        };
        generator.files();
        let situation = generator.situation();
        World {
            _folder: folder,
            root,
            situation,
        }
    }

    /// The discovery files, for a person who looks into a difference.
    pub fn listing(&self) -> String {
        let mut lines = String::new();
        for folder in ["tmp", "tmp/gemini/ide", "tmp/qwen/ide", "home/.qwen/ide"] {
            let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten();
            for entry in entries.flatten() {
                let text =
                    fs::read_to_string(entry.path()).unwrap_or_else(|error| error.to_string());
                lines.push_str(&format!("{}: {text}\n", entry.path().display()));
            }
        }
        lines
    }
}

impl Generator {
    fn files(&mut self) {
        let gemini = self.root.join("tmp/gemini/ide");
        let tmp = self.root.join("tmp");
        let locks = self.root.join("home/.qwen/ide");
        let prefix = match self.agent {
            Dialect::QwenCode => "qwen-code-ide-server",
            _ => "gemini-ide-server",
        };
        for _ in 0..self.chance.below(5) {
            let (pid, port) = (self.any_pid(), self.port());
            self.file(&gemini.join(format!("{prefix}-{pid}-{port}.json")), port);
            if self.agent == Dialect::QwenCode {
                let port = self.port();
                self.file(&locks.join(format!("{port}.lock")), port);
            }
        }
        for folder in [&tmp, &gemini] {
            if self.chance.percent(20) {
                let (pid, port) = (self.any_pid(), self.port());
                self.file(&folder.join(format!("{prefix}-{pid}.json")), port);
            }
        }
        if self.chance.percent(15) {
            let port = self.ports.last().copied().unwrap_or(4000);
            self.file(&tmp.join(format!("{prefix}-{port}.json")), port);
        }
        for name in ["x-1.json", "1-2.json.bak", "1-x.json", "1--2.json"] {
            if self.chance.percent(5) {
                self.file(&gemini.join(format!("{prefix}-{name}")), 4999);
            }
        }
        if self.chance.percent(4) {
            fs::remove_dir_all(&gemini).unwrap();
        }
    }

    fn port(&mut self) -> u64 {
        let port = 4000 + self.chance.below(900);
        self.ports.push(port);
        port
    }

    /// Mostly the client's own; else living ones and dead ones.
    fn any_pid(&mut self) -> u64 {
        let own = u64::from(self.pid);
        let test = u64::from(std::process::id());
        match self.chance.below(10) {
            0..6 => own,
            6 => test,
            7 => 1,
            8 => DEAD,
            _ => DEAD + self.chance.below(1000),
        }
    }

    fn file(&mut self, path: &Path, port: u64) {
        if path.symlink_metadata().is_ok() {
            return;
        }
        self.files += 1;
        match self.chance.below(200) {
            0..3 => return fs::create_dir(path).unwrap(),
            3..6 => return symlink("nowhere", path).unwrap(),
            _ => {}
        }
        let text = self.text(port);
        let behind_link = self.chance.percent(4);
        let real = if behind_link {
            let real = self.root.join(format!("behind-{}", self.files));
            symlink(&real, path).unwrap();
            real
        } else {
            path.to_owned()
        };
        fs::write(&real, text).unwrap();
        let age = Duration::from_secs(1000 * self.chance.below(500) + self.files);
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000) + age;
        File::options()
            .append(true)
            .open(&real)
            .unwrap()
            .set_modified(modified)
            .unwrap();
        if self.chance.percent(6) {
            // Only root may give files away; for others this situation is one of their own file.
            let _ = std::os::unix::fs::chown(&real, Some(54_321), None);
        }
    }

    fn text(&mut self, port: u64) -> String {
        match self.chance.below(40) {
            0 => return String::new(),
            1 => return "{\"port\": 4".to_owned(),
            _ => {}
        }
        let fields = [
            // Shows which file was taken.
            ("mark", Some(json!(self.files))),
            ("workspacePath", Some(self.workspace_field())),
            ("port", Some(json!(port))),
            ("authToken", self.token_field()),
            ("ideInfo", self.ide_field()),
            ("ppid", self.parent_field()),
        ];
        let fields = fields.into_iter();
        let given = fields.filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let text = Value::Object(given.collect()).to_string();
        match self.chance.below(30) {
            0 => format!(" \n{text}\n\n"),
            1 => text.replacen('{', &format!("{{\"x\":\"{}\",", "y".repeat(100_000)), 1),
            _ => text,
        }
    }

    fn token_field(&mut self) -> Option<Value> {
        let is_given = self.chance.below(12) > 0;
        is_given.then(|| json!(format!("token-{}", self.files)))
    }

    fn ide_field(&mut self) -> Option<Value> {
        match self.chance.below(8) {
            0 => None,
            1 => Some(json!({"name": "", "displayName": "D"})),
            _ => Some(json!({"name": "kate", "displayName": "Kate"})),
        }
    }

    fn parent_field(&mut self) -> Option<Value> {
        match self.chance.below(10) {
            0..5 => Some(json!(std::process::id())),
            5 => Some(json!(DEAD)),
            6 => Some(json!(1)),
            _ => None,
        }
    }

    fn workspace_field(&mut self) -> Value {
        match self.chance.below(60) {
            3..7 => json!(""),
            7..11 if self.agent == Dialect::QwenCode => {
                json!(json!([self.root_text(), self.root_text()]).to_string())
            }
            _ => json!(self.workspace_text()),
        }
    }

    fn workspace_text(&mut self) -> String {
        let count = 1 + self.chance.below(3);
        let roots: Vec<String> = (0..count).map(|_| self.root_text()).collect();
        roots.join(":")
    }

    fn root_text(&mut self) -> String {
        let at = |name: &str| self.root.join(name).display().to_string();
        match self.chance.below(24) {
            0..9 => self.cwd.display().to_string(),
            9 => self.cwd.parent().unwrap().display().to_string(),
            10 => self.cwd.canonicalize().unwrap().display().to_string(),
            11 => at("w/link"),
            12 => at("link to w"),
            13 => self
                .chance
                .pick(&[at("w/dangling"), at("w/dangling/below"), at("gone/deep")]),
            14 if self.chance.percent(30) => at("w/plain"),
            15 => self
                .chance
                .pick(&[".".into(), "..".into(), "in".into(), "/".into()]),
            16 => self.cwd.display().to_string().replace(' ', "%20"),
            18 => format!("{}/", self.cwd.display()),
            19 => format!("{}/../{}/.", at("w"), "w/a"),
            20 => self.odd_root(),
            _ => {
                let name = self.chance.pick(&FOLDERS);
                self.root.join(name).display().to_string()
            }
        }
    }

    /// A root that no editor should write, and a person or another program may.
    fn odd_root(&mut self) -> String {
        let cwd = self.cwd.display().to_string();
        self.chance.pick(&[
            cwd.to_uppercase(),
            cwd.replace('/', "//"),
            cwd.replace('/', "%2F"),
            cwd.replace('a', "%61"),
            format!(" {cwd}"),
            format!("{cwd} "),
            format!("{cwd}\n"),
            format!("{cwd};{cwd}"),
            "//".to_owned(),
            "~".to_owned(),
        ])
    }

    fn situation(&mut self) -> ChoiceSituation {
        let at = |name: &str| self.root.join(name).display().to_string();
        let mut env = vec![("TMPDIR", at("tmp")), ("HOME", at("home"))];
        self.wiring(&mut env);
        for (name, value, often) in TERMINALS {
            if self.chance.percent(often) {
                env.push((name, value.to_owned()));
            }
        }
        if self.chance.percent(20) {
            let other = self.chance.pick(&["sublime", "Zed", "iTerm.app"]);
            env.push(("TERM_PROGRAM", other.to_owned()));
        }
        let named = |(name, value): (&str, String)| (name.to_owned(), value);
        ChoiceSituation {
            cwd: self.cwd.clone(),
            in_container: self.chance.percent(30),
            command: self.chance.pick(&COMMANDS).to_owned(),
            env: env.into_iter().map(named).collect(),
        }
    }

    /// The variables that wire an agent to one companion.
    fn wiring(&mut self, env: &mut Vec<(&'static str, String)>) {
        let (port, workspace) = match self.agent {
            Dialect::QwenCode => ("QWEN_CODE_IDE_SERVER_PORT", "QWEN_CODE_IDE_WORKSPACE_PATH"),
            _ => (
                "GEMINI_CLI_IDE_SERVER_PORT",
                "GEMINI_CLI_IDE_WORKSPACE_PATH",
            ),
        };
        match self.chance.below(10) {
            0..4 if !self.ports.is_empty() => {
                env.push((port, self.chance.pick(&self.ports.clone()).to_string()));
            }
            4 => env.push((port, "4998".to_owned())),
            6..9 if self.files == 0 => env.push((port, "4997".to_owned())),
            5 => env.push((port, self.chance.pick(&["x", "0"]).to_owned())),
            _ => {}
        }
        match self.chance.below(20) {
            0..6 => env.push((workspace, self.workspace_text())),
            6 | 7 => env.push((workspace, String::new())),
            8 | 9 => env.push((workspace, self.root.join("other").display().to_string())),
            10..17 if self.files == 0 => env.push((workspace, self.workspace_text())),
            _ => {}
        }
        if self.chance.percent(25) {
            env.push(("GEMINI_CLI_IDE_AUTH_TOKEN", "token-of-variable".to_owned()));
        }
        if self.agent == Dialect::GeminiCli && self.chance.percent(8) {
            let (own, dead) = (self.pid.to_string(), DEAD.to_string());
            let value = self.chance.pick(&[own, "1".into(), dead, "x".into()]);
            env.push(("GEMINI_CLI_IDE_PID", value));
        }
    }
}
