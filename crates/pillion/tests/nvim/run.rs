//! `pillion run` in a terminal inside: Neovim itself is what it takes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pillion_testkit::{Home, NvimVersion, each_neovim};
use serde_json::json;

use crate::world::{PILLION, World};

/// A running `pillion serve`, and its port. Killed on drop.
struct Serve(Child, u64);

impl Serve {
    fn start(home: &Home, folder: &Path) -> Serve {
        let child = Command::new(PILLION)
            .arg("serve")
            .current_dir(folder)
            .env_clear()
            .envs(home.env().iter())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut serve = Serve(child, 0);
        let mut line = String::new();
        let out = serve.0.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
        serve.1 = ready["port"].as_u64().unwrap();
        serve
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Beside a companion whose folder is deeper, without a variable, and with another's.
#[each_neovim]
fn a_command_inside_is_given_its_own_neovim(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "x\n")]);
    let inner = world.home.workspace().join("inner");
    fs::create_dir(&inner).unwrap();
    let Serve(_, port) = &Serve::start(&world.home, &inner);
    let own: u16 = world
        .nvim
        .lua("return require('pillion.client').state.port", json!([]));
    let script = r#"cd inner; GEMINI_CLI_IDE_SERVER_PORT="$1" exec "$0" run --print gemini"#;
    for variable in ["", &port.to_string()] {
        let command = json!([["sh", "-c", script, PILLION, variable]]);
        let said: String = world.nvim.lua("return vim.fn.system(...)", command);
        let expected = format!("GEMINI_CLI_IDE_SERVER_PORT={own}\n");
        assert!(said.contains(&expected), "{said}");
    }
    // From outside the deeper folder wins.
    let outside = Command::new(PILLION)
        .args(["run", "--print", "gemini"])
        .current_dir(&inner)
        .env_clear()
        .envs(world.home.env().iter())
        .output()
        .unwrap();
    let said = String::from_utf8(outside.stdout).unwrap();
    let expected = format!("GEMINI_CLI_IDE_SERVER_PORT={port}\n");
    assert!(said.contains(&expected), "{said}");
}
