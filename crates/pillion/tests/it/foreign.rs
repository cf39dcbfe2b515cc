//! A companion that is not Pillion's: a listener, and a discovery file.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Listens until it is dropped; answers nobody.
pub struct Foreign {
    listener: TcpListener,
}

impl Foreign {
    pub fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        Self { listener }
    }

    pub fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    /// Leaves Gemini CLI's file for this process, as VS Code's companion does.
    pub fn serve_gemini(&self, sandbox: &Sandbox, pid: u32, workspace: &str, token: &str) {
        let folder = sandbox.home.tmp().join("gemini/ide");
        fs::create_dir_all(&folder).unwrap();
        let name = format!("gemini-ide-server-{pid}-{}.json", self.port());
        fs::write(
            folder.join(name),
            self.content(workspace, token).to_string(),
        )
        .unwrap();
    }

    /// Leaves Qwen Code's lock file for this process.
    pub fn serve_qwen(&self, sandbox: &Sandbox, pid: u32, workspace: &str) {
        let folder = sandbox.home.home().join(".qwen/ide");
        fs::create_dir_all(&folder).unwrap();
        let mut content = self.content(workspace, "qwens");
        content["ppid"] = pid.into();
        let name = format!("{}.lock", self.port());
        fs::write(folder.join(name), content.to_string()).unwrap();
    }

    fn content(&self, workspace: &str, token: &str) -> Value {
        json!({
            "port": self.port(), "workspacePath": workspace, "authToken": token,
            "ideInfo": {"name": "vscode", "displayName": "VS Code"},
        })
    }
}
