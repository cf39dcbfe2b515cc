//! The README and the pages, tried.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pillion_discovery::handover::{REFRESH_INTERVAL, VALID_FOR};
use pillion_protocol::Dialect;
use pillion_protocol::dialect::Base;
use pillion_testkit::{SOON, TestClaude};

use crate::doctor::world::{CLAUDE, World};
use crate::sandbox::Serve;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    fs::read_to_string(path).unwrap()
}

/// The commands in the pages' shell blocks that need no terminal, and do not install.
fn examples() -> Vec<String> {
    let pages = ["README.md", "docs/review.md", "docs/scripts.md"].map(page);
    let blocks = pages
        .iter()
        .flat_map(|page| page.split("```").skip(1).step_by(2));
    blocks
        .filter_map(|block| block.strip_prefix("sh\n"))
        .flat_map(str::lines)
        .filter(|line| line.starts_with("pillion ") || line.contains("| pillion "))
        .filter(|line| !line.starts_with("pillion   ") && !line.starts_with("pillion install"))
        .map(str::to_owned)
        .collect()
}

/// A machine with companion and agents, where every example has what it names.
struct Machine {
    world: World,
    serve: Serve,
}

impl Machine {
    fn new() -> Self {
        let world = World::new();
        for (name, text) in [
            ("src/main.rs", "fn main() {}"),
            ("notes.md", "Look at this part.\n"),
            ("better.txt", "b"),
            ("names.txt", "b\na\n"),
            ("src/a.rs", "a"),
            ("src/b.rs", "b"),
            ("a.new", "new a"),
            ("b.new", "new b"),
        ] {
            world.home().file(name, text);
        }
        world.install(CLAUDE, "2.1.332");
        fs::create_dir_all(world.home().home().join(".claude")).unwrap();
        let settings = r#"{"permissions": {"defaultMode": "default"}}"#;
        world.settings(CLAUDE, settings);
        let menus = world.home().home().join(".claude.json");
        fs::write(menus, r#"{"autoConnectIde": true}"#).unwrap();
        for agent in ["gemini", "claude"] {
            let agent = fs::canonicalize(world.bin().join(agent)).unwrap();
            fs::write(agent, "#!/bin/sh\n").unwrap();
        }
        let serve = world.serve();
        Self { world, serve }
    }

    fn shell(&self, line: &str) -> Command {
        let own = Path::new(env!("CARGO_BIN_EXE_pillion")).parent().unwrap();
        let path = [
            &self.world.bin(),
            own,
            Path::new("/usr/bin"),
            Path::new("/bin"),
        ];
        let mut command = Command::new("sh");
        command
            .args(["-e", "-c", line])
            .env_clear()
            .envs(self.world.home().env().iter())
            .env("PATH", std::env::join_paths(path).unwrap())
            // Here an agent finds the companion of its own container.
            .env("REMOTE_CONTAINERS", "1")
            .current_dir(self.world.home().workspace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // An editor's terminal: in one of VS Code's, Claude Code wants a companion that started it.
        if !line.contains("claude") {
            command.env("TERM_PROGRAM", "vscode");
        }
        command
    }

    fn run(&self, line: &str) {
        let example = self.shell(line).spawn().unwrap();
        let proposals = match line.split_once("pillion diff ") {
            Some((_, arguments)) => arguments.matches("--content-file").count().max(1),
            None => 0,
        };
        for _ in 0..proposals {
            self.accept_next();
        }
        let ran = example.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&ran.stderr);
        let printed = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{line}\n{printed}\n{errors}");
    }

    /// Accepts the proposal of a command when it is there.
    fn accept_next(&self) {
        let started = Instant::now();
        loop {
            let listed = self.shell("pillion diffs --json").output().unwrap().stdout;
            let diffs: Vec<serde_json::Value> = serde_json::from_slice(&listed).unwrap();
            if let Some(diff) = diffs.iter().find(|diff| diff["agent"] == "pillion") {
                return self.run(&format!("pillion accept {}", diff["diff"]));
            }
            assert!(started.elapsed() < SOON, "no proposal came");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn the_examples_of_readme_and_pages_work_in_their_order() {
    let machine = Machine::new();
    let mut agent = machine.serve.connect();
    let _mentioned = TestClaude::find(machine.world.home());
    for number in 1..=4 {
        let path = machine.world.home().workspace();
        agent.propose(path.join(format!("proposed-{number}")), "as proposed");
    }
    let examples = examples();
    assert!(examples.len() >= 13, "{examples:?}");
    for example in examples {
        machine.run(&example);
    }
    let workspace = machine.world.home().workspace();
    let text = |name| fs::read_to_string(workspace.join(name)).unwrap();
    assert_eq!(text("proposal.txt"), "as proposed");
    assert_eq!(text("names.txt"), "a\nb\n");
    assert_eq!(
        (text("src/a.rs"), text("src/b.rs")),
        ("new a".to_owned(), "new b".to_owned())
    );
    let outcomes: Vec<_> = (1..=4).map(|_| agent.outcome()).collect();
    let shown = format!("{outcomes:?}");
    assert!(
        shown.contains("as proposed") && shown.contains("\"b\""),
        "{shown}"
    );
    assert_eq!(shown.matches("DiffRejected").count(), 2, "{shown}");
}

#[test]
fn the_page_about_installing_has_the_readmes_commands() {
    let (readme, installing) = (page("README.md"), page("docs/install.md"));
    let (_, section) = readme.split_once("\n## Install\n").unwrap();
    let block = section.split("```sh\n").nth(1).unwrap();
    let lines = block.split("```").next().unwrap().lines();
    let commands: Vec<_> = lines.filter_map(|line| line.split("  #").next()).collect();
    assert!(commands.len() >= 3, "{commands:?}");
    for command in commands {
        let command = format!("`{}`", command.trim_end());
        assert!(installing.contains(&command), "{command}");
    }
}

#[test]
fn the_page_about_agents_says_when_deleted_files_are_back_and_who_takes_over() {
    let page = page("docs/agents.md");
    let (valid, refresh) = (VALID_FOR.as_secs(), REFRESH_INTERVAL.as_secs());
    let restores = format!("restores its own within {refresh} seconds");
    let takes_over = format!(
        "within {valid} seconds ({valid} to {} after a crash)",
        valid + refresh
    );
    for said in [restores, takes_over] {
        assert!(page.contains(&said), "{said}");
    }
}

#[test]
fn the_page_about_agents_names_every_place() {
    let page = page("docs/agents.md");
    for place in Dialect::ALL.into_iter().flat_map(Dialect::places) {
        let mut path = match place.base {
            Base::TmpDir => "TMPDIR".to_owned(),
            Base::QwenHome => "QWEN_HOME".to_owned(),
            Base::ClaudeConfig => "CLAUDE_CONFIG_DIR".to_owned(),
            Base::ClaudeHome => "~/.claude".to_owned(),
            Base::CopilotHome => "COPILOT_HOME".to_owned(),
        };
        for part in place.folder {
            path = format!("{path}/{part}");
        }
        let name = place.name.of(1111, 2222);
        let name = name.replace("1111", "PID").replace("2222", "PORT");
        let place = format!("`{path}/{name}`");
        assert!(page.contains(&place), "{place} is not in docs/agents.md");
    }
}
