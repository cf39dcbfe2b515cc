//! Commands with a companion that speaks Claude Code's protocol only: one of Pillion's, of which nothing
//! but its lock file is to be seen, and that without Pillion's mark.

use std::fs;
use std::process::{Command, Output};

use serde_json::Value;

use crate::sandbox::{Sandbox, Serve};

struct Disguised {
    /// The home of the companion.
    there: Sandbox,
    /// The home of its lock file alone.
    here: Sandbox,
    serve: Serve,
}

impl Disguised {
    fn new() -> Self {
        let (there, here) = (Sandbox::new(), Sandbox::new());
        let serve = there.serve::<&str>([]);
        let world = Self { there, here, serve };
        world.disguise();
        world
    }

    fn disguise(&self) {
        let name = format!(".claude/ide/{}.lock", self.serve.port());
        let text = fs::read_to_string(self.there.home.home().join(&name)).unwrap();
        let mut lock: Value = serde_json::from_str(&text).unwrap();
        lock.as_object_mut().unwrap().remove("pillion");
        lock["ideName"] = "VS Code".into();
        let path = self.here.home.home().join(name);
        let folder = path.parent().unwrap();
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).unwrap();
        fs::write(path, lock.to_string()).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.here.command(args);
        command.current_dir(self.there.home.workspace());
        command
    }
}

fn stdout(output: &Output) -> &str {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    std::str::from_utf8(&output.stdout).unwrap()
}

#[test]
fn no_session_is_opened_with_it() {
    let world = Disguised::new();
    let output = world.command(&["context"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("is not Pillion's"), "{stderr}");
}

#[test]
fn it_is_listed_and_wires_claude_code_and_no_other() {
    let world = Disguised::new();
    let output = world.command(&["list", "--json"]).output().unwrap();
    let listed = stdout(&output);
    assert!(listed.contains("VS Code"), "{listed}");
    let output = world.command(&["env", "--shell", "sh"]).output().unwrap();
    let port = world.serve.port();
    let lines = stdout(&output);
    assert!(lines.contains(&format!("export CLAUDE_CODE_SSE_PORT='{port}'")));
    assert!(!lines.contains("GEMINI_CLI_IDE_SERVER_PORT"), "{lines}");
}
