//! What the README and the pages say, tried.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pillion_protocol::Dialect;
use pillion_protocol::dialect::Base;

use crate::sandbox::Sandbox;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    fs::read_to_string(path).unwrap()
}

/// The commands in the README's shell blocks that need no terminal and no agent.
fn examples() -> Vec<String> {
    let readme = page("README.md");
    let blocks = readme.split("```").skip(1).step_by(2);
    blocks
        .filter_map(|block| block.strip_prefix("sh\n"))
        .flat_map(str::lines)
        .filter(|line| line.starts_with("pillion ") && !line.starts_with("pillion   "))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_examples_of_the_readme_work_in_their_order() {
    let sandbox = Sandbox::new();
    for (name, text) in [
        ("src/main.rs", "fn main() {}"),
        ("notes.md", ""),
        ("better.txt", "b"),
    ] {
        sandbox.home.file(name, text);
    }
    let serve = sandbox.serve::<&str>([]);
    let mut agent = serve.connect();
    for number in 1..=3 {
        agent.propose(format!("/tmp/proposed-{number}"), "as proposed");
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_pillion")).parent().unwrap();
    let path: PathBuf = folder.into();
    let path = format!("{}:/usr/bin:/bin", path.display());
    let examples = examples();
    assert!(examples.len() >= 7, "{examples:?}");
    for example in examples {
        let ran = Command::new("sh")
            .args(["-e", "-c", &example])
            .env_clear()
            .envs(sandbox.home.env().iter())
            .env("PATH", &path)
            .current_dir(sandbox.home.workspace())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{example}\n{errors}");
    }
    let proposal = sandbox.home.workspace().join("proposal.txt");
    assert_eq!(fs::read_to_string(proposal).unwrap(), "as proposed");
    let outcomes = [agent.outcome(), agent.outcome(), agent.outcome()];
    let shown = format!("{outcomes:?}");
    assert!(
        shown.contains("as proposed") && shown.contains("\"b\""),
        "{shown}"
    );
    assert!(shown.contains("DiffRejected"), "{shown}");
}

#[test]
fn the_page_about_agents_names_every_place() {
    let page = page("docs/agents.md");
    for place in Dialect::ALL.into_iter().flat_map(Dialect::places) {
        let mut path = match place.base {
            Base::TmpDir => "TMPDIR".to_owned(),
            Base::QwenHome => "QWEN_HOME".to_owned(),
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
