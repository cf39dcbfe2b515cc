//! A server that its editor starts again is found again by Claude Code, which dials the old port with the
//! old token: both come back, once, and no other workspace's do.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use pillion_testkit::{IdleProcess, SOON, discovery_file, pause};
use serde_json::{Value, json};

use crate::client::{Editor, files, plugin_params, uri};
use crate::sandbox::Sandbox;

/// A server, and how agents find it.
struct Server {
    editor: Editor,
    port: u16,
    claude: String,
    /// The others', each once.
    others: Vec<String>,
    files: Vec<PathBuf>,
}

impl Server {
    /// Starts one for the editor with this process.
    fn start(sandbox: &Sandbox, process: u32) -> Self {
        let mut params = plugin_params();
        params["processId"] = json!(process);
        Self::start_with(sandbox, params)
    }

    fn start_with(sandbox: &Sandbox, params: Value) -> Self {
        let mut editor = Editor::start::<&str>(sandbox, []);
        editor.initialize(params);
        editor.notify("initialized", json!({}));
        let environment = editor.params("pillion/environment");
        let token = |path: &PathBuf| {
            let token = discovery_file(path).auth_token.unwrap();
            token.expose().to_owned()
        };
        let is_claudes = |path: &&PathBuf| path.to_str().unwrap().contains("/.claude/");
        let files = files(&environment);
        let claudes: Vec<_> = files.iter().filter(is_claudes).collect();
        assert_eq!(claudes.len(), 1, "{files:?}");
        let others = files.iter().filter(|path| !is_claudes(path));
        let mut others: Vec<_> = others.map(token).collect();
        others.sort();
        others.dedup();
        Self {
            editor,
            port: environment["port"].as_u64().unwrap().try_into().unwrap(),
            claude: token(claudes[0]),
            others,
            files,
        }
    }

    fn own(sandbox: &Sandbox) -> Self {
        Self::start(sandbox, std::process::id())
    }

    fn stop(mut self) -> Known {
        self.editor.request("shutdown", Value::Null);
        self.editor.notify("exit", Value::Null);
        let (code, errors) = self.editor.ended();
        assert_eq!(code, Some(0), "{errors}");
        self.known()
    }

    fn kill(mut self) -> Known {
        self.editor.child.kill().unwrap();
        self.editor.child.wait().unwrap();
        self.known()
    }

    /// The same of the last one, after which nothing runs: who comes before the hub has noticed would share its companion.
    fn kill_last(self) -> Known {
        let files = self.files.clone();
        let known = self.kill();
        let started = Instant::now();
        while files.iter().any(|it| it.exists()) {
            assert!(started.elapsed() < SOON, "{files:?}");
            pause(started);
        }
        known
    }

    fn known(&self) -> Known {
        Known {
            port: self.port,
            claude: self.claude.clone(),
            others: self.others.clone(),
        }
    }

    #[track_caller]
    fn expect_back(&self, before: &Known) {
        assert_eq!((self.port, &self.claude), (before.port, &before.claude));
        self.expect_others_fresh(before);
    }

    #[track_caller]
    fn expect_shared(&self, with: &Known) {
        assert_eq!((self.port, &self.claude), (with.port, &with.claude));
        assert_eq!(self.others, with.others);
    }

    #[track_caller]
    fn expect_fresh(&self, before: &Known) {
        assert_ne!(self.port, before.port);
        assert_ne!(self.claude, before.claude);
        self.expect_others_fresh(before);
    }

    #[track_caller]
    fn expect_others_fresh(&self, before: &Known) {
        assert_eq!(
            self.others.len(),
            3,
            "of Gemini CLI, Qwen Code and Copilot CLI"
        );
        let is_known = |token: &String| *token == before.claude || before.others.contains(token);
        assert!(!self.others.iter().any(is_known));
    }
}

/// The facts that an agent knows of a server that is gone.
struct Known {
    port: u16,
    claude: String,
    others: Vec<String>,
}

/// The records of the servers that ran here.
fn records(sandbox: &Sandbox) -> Vec<PathBuf> {
    let entries = fs::read_dir(sandbox.home.runtime().join("pillion")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_record = |path: &PathBuf| path.extension().is_some_and(|it| it == "handover");
    paths.filter(is_record).collect()
}

#[test]
fn a_server_that_is_stopped_and_started_again_comes_back() {
    let sandbox = Sandbox::new();
    let first = Server::own(&sandbox).stop();
    let second = Server::own(&sandbox);
    second.expect_back(&first);
    // And once more.
    let second = second.stop();
    Server::own(&sandbox).expect_back(&second);
}

#[test]
fn a_server_that_is_killed_and_started_again_comes_back() {
    let sandbox = Sandbox::new();
    let first = Server::own(&sandbox).kill_last();
    let second = Server::own(&sandbox);
    second.expect_back(&first);
    let second = second.kill_last();
    Server::own(&sandbox).expect_back(&second);
}

#[test]
fn servers_of_one_folder_share_a_port_and_keep_it_while_one_is_there() {
    let sandbox = Sandbox::new();
    let first = Server::own(&sandbox);
    let beside = Server::own(&sandbox);
    beside.expect_shared(&first.known());
    let known = first.stop();
    let third = Server::own(&sandbox);
    third.expect_shared(&known);
    drop((beside.kill(), third.stop()));
    Server::own(&sandbox).expect_back(&known);
}

#[test]
fn another_editor_of_the_same_folders_comes_back_there() {
    let (sandbox, other) = (Sandbox::new(), IdleProcess::start());
    let first = Server::own(&sandbox).stop();
    Server::start(&sandbox, other.id()).expect_back(&first);
}

#[test]
fn another_workspace_gets_nothing() {
    let sandbox = Sandbox::new();
    let first = Server::own(&sandbox).stop();
    let folder = sandbox.home.root().join("elsewhere");
    fs::create_dir(&folder).unwrap();
    let mut params = plugin_params();
    params["workspaceFolders"] = json!([{"uri": uri(&folder), "name": "elsewhere"}]);
    Server::start_with(&sandbox, params).expect_fresh(&first);
    Server::own(&sandbox).expect_back(&first);
}

#[test]
fn what_is_too_old_does_not_come_back() {
    let sandbox = Sandbox::new();
    let first = Server::own(&sandbox).stop();
    let [record] = &records(&sandbox)[..] else {
        panic!("{:?}", records(&sandbox));
    };
    let mut content: Value = serde_json::from_slice(&fs::read(record).unwrap()).unwrap();
    let ended = content["endedAtMs"].as_u64().unwrap();
    content["endedAtMs"] = json!(ended - 60_000);
    fs::write(record, content.to_string()).unwrap();
    let second = Server::own(&sandbox);
    second.expect_fresh(&first);
    assert!(!record.exists(), "nobody can use it");
}

#[test]
fn where_another_program_listens_nothing_comes_back() {
    let sandbox = Sandbox::new();
    let first = Server::own(&sandbox).stop();
    let somebody = TcpListener::bind((Ipv4Addr::LOCALHOST, first.port)).unwrap();
    let second = Server::own(&sandbox);
    second.expect_fresh(&first);
    drop((somebody, second.kill()));
    // The listener there may have received the token.
    let third = Server::own(&sandbox);
    assert_ne!(third.claude, first.claude);
}

#[test]
fn the_record_is_private_and_its_token_in_no_log() {
    use std::os::unix::fs::MetadataExt;

    let sandbox = Sandbox::new();
    let log = sandbox.home.root().join("log");
    let first = Server::own(&sandbox).kill_last();
    let [record] = &records(&sandbox)[..] else {
        panic!("{:?}", records(&sandbox));
    };
    assert_eq!(record.metadata().unwrap().mode() & 0o777, 0o600);
    let folder = record.parent().unwrap();
    assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
    // The hub of the first one does not log.
    let is_there = || {
        let mut names = fs::read_dir(folder).unwrap().flatten();
        names.any(|it| it.file_name().to_string_lossy().ends_with(".sock"))
    };
    let start = Instant::now();
    while is_there() {
        assert!(start.elapsed() < SOON, "the hub does not end");
        thread::sleep(Duration::from_millis(10));
    }
    let mut command = sandbox.command(["lsp"]);
    command.env("PILLION_HUB_LOG", &log);
    let mut editor = Editor::spawn(&mut command);
    editor.initialize(plugin_params());
    editor.notify("initialized", json!({}));
    assert_eq!(editor.params("pillion/environment")["port"], first.port);
    let logged = fs::read_to_string(&log).unwrap();
    assert!(logged.contains("took over the port"), "{logged}");
    assert!(!logged.contains(&first.claude), "{logged}");
}
