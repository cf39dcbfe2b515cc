//! Stand-ins for agents in terminals: they write down how they were started and every byte that is
//! typed. For speed, beside the real ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pillion_testkit::{Home, NvimSetup, SOON};

/// The first line is the folder, the second Pillion's port, the third the one of Claude Code and what else
/// it is told; then one argument a line. The typed bytes
/// go to a file of their own as soon as the terminal passes on every byte as it is.
const SCRIPT: &str = r#"#!/bin/sh
record="$HOME/$(basename "$0").$$"
stty raw -echo
printf '%s\n' "$PWD" "$GEMINI_CLI_IDE_SERVER_PORT" \
  "$CLAUDE_CODE_SSE_PORT $CLAUDE_CODE_IDE_SKIP_AUTO_INSTALL" "$@" > "$record.begun"
mv "$record.begun" "$record.started"
cat > "$record.typed"
"#;

/// The stand-ins of one home.
#[derive(Debug)]
pub struct StandIns {
    home: PathBuf,
    folder: PathBuf,
}

/// One that runs.
#[derive(Debug)]
pub struct StandIn {
    record: PathBuf,
    pub cwd: PathBuf,
    pub port: String,
    /// Of Claude Code: the port, a blank, and `1` if it is to install nothing.
    pub claude: String,
    pub arguments: Vec<String>,
}

impl StandIns {
    /// Puts all agents into the home.
    pub fn install(home: &Home) -> StandIns {
        let folder = home.root().join("stand-ins");
        fs::create_dir(&folder).unwrap();
        for name in ["claude", "gemini", "opencode", "qwen"] {
            let path = folder.join(name);
            fs::write(&path, SCRIPT).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        StandIns {
            home: home.home(),
            folder,
        }
    }

    /// Puts them where this Neovim finds them.
    pub fn found_by(&self, setup: NvimSetup) -> NvimSetup {
        // `pillion` is what stands in front of PATH: a test replaces the rest only.
        setup.init(&format!(
            "vim.env.PATH = [[{}]] .. ':' .. vim.env.PATH",
            self.folder.display()
        ))
    }

    /// The program of one.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Waits until so many with this name were started; in the order of their process ids.
    pub fn started(&self, name: &str, count: usize) -> Vec<StandIn> {
        let begun = Instant::now();
        loop {
            let found = self.records(name);
            if found.len() == count {
                return found;
            }
            assert!(begun.elapsed() < SOON, "expected {count} {name}: {found:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The only one with this name.
    pub fn one(&self, name: &str) -> StandIn {
        self.started(name, 1).remove(0)
    }

    fn records(&self, name: &str) -> Vec<StandIn> {
        let entries = fs::read_dir(&self.home).unwrap().flatten();
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| {
            let file = path.file_name().unwrap().to_str().unwrap();
            file.starts_with(name) && file.ends_with(".started")
        });
        paths.sort();
        // `pillion run` asks an agent for its release before it starts it.
        let is_started = |standin: &StandIn| standin.arguments != ["--version"];
        paths
            .into_iter()
            .map(StandIn::read)
            .filter(is_started)
            .collect()
    }
}

impl StandIn {
    fn read(started: PathBuf) -> StandIn {
        let text = fs::read_to_string(&started).unwrap();
        let mut lines = text.lines().map(str::to_owned);
        StandIn {
            cwd: lines.next().unwrap().into(),
            port: lines.next().unwrap(),
            claude: lines.next().unwrap(),
            arguments: lines.collect(),
            record: started.with_extension(""),
        }
    }

    /// Waits until these bytes are the last that were typed; all that were.
    #[track_caller]
    pub fn typed(&self, end: &str) -> String {
        let begun = Instant::now();
        loop {
            let typed = fs::read(format!("{}.typed", self.record.display())).unwrap_or_default();
            let typed = String::from_utf8_lossy(&typed).into_owned();
            if typed.ends_with(end) {
                return typed;
            }
            let shown: String = typed.chars().take(2000).collect();
            assert!(begun.elapsed() < SOON, "expected …{end:?} but {shown:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until more than `before` bytes were typed, and these are the last; those behind `before`.
    #[track_caller]
    pub fn typed_after(&self, before: usize, end: &str) -> String {
        let begun = Instant::now();
        loop {
            let typed = self.typed("");
            if typed.len() > before && typed[before..].ends_with(end) {
                return typed[before..].to_owned();
            }
            let shown: String = typed.chars().skip(before).take(2000).collect();
            assert!(begun.elapsed() < SOON, "expected …{end:?} but {shown:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns true if its process is there.
    pub fn is_running(&self) -> bool {
        let pid = self.record.extension().unwrap().to_str().unwrap();
        pillion_system::process::is_alive(pid.parse().unwrap())
    }
}
