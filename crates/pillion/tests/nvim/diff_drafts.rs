//! The person's draft of a proposal outlives Neovim, the hub and the agent: it is offered again, and `u` brings it back.

use pillion_testkit::client::Update;
use pillion_testkit::{Home, NvimVersion, SOON, TestAgent, each_neovim};
use serde_json::{Value, json};
use std::process::Command;
use std::time::Instant;

use crate::world::{PILLION, World};

/// A file, its proposal, the keys that change it, and what comes of that.
const CASES: [(&str, &str, &str, &str); 3] = [
    (
        "1\n2\n3\n",
        "one\n2\n3\n",
        "Gomine<Esc>",
        "one\n2\n3\nmine\n",
    ),
    (
        "\u{feff}1\r\n2\r\n3",
        "\u{feff}one\r\n2\r\n3",
        "ggA!<Esc>",
        "\u{feff}one!\r\n2\r\n3",
    ),
    ("1\n2\n3\n", "one\n2\nthree\n", "gg\"_dd", "2\nthree\n"),
];

fn open(version: NvimVersion, home: Home) -> World {
    World::with(version, home, &[("open.txt", "open\n")], |setup| setup)
}

/// The undecided texts, as the log has them.
fn texts(home: &Home) -> Vec<String> {
    let run = |args: &[&str]| {
        let mut command = Command::new(PILLION);
        command.args(args).current_dir(home.workspace());
        command.env_clear().envs(home.env().iter());
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then_some(text)
    };
    let log: Vec<Value> = serde_json::from_str(&run(&["log", "--json"]).unwrap()).unwrap();
    let undecided = log.iter().filter(|it| it["state"] == "not decided");
    // One may be forgotten in between.
    undecided
        .filter_map(|it| run(&["show", it["id"].as_str().unwrap(), "--text"]))
        .collect()
}

fn wait_for_text(home: &Home, text: &str) {
    let started = Instant::now();
    while texts(home) != [text] {
        assert!(started.elapsed() < SOON, "{:?}", texts(home));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn proposed(world: &World, agent: &TestAgent, path: &str, text: &str) {
    agent.propose(path, text);
    world.look();
}

/// The same is proposed again: by itself nothing comes of what was kept, and `u` brings it back.
fn comes_back(world: &World, agent: &mut TestAgent, path: &str, proposal: &str, mine: &str) {
    proposed(world, agent, path, proposal);
    world.nvim.wait_until(
        "that it is kept",
        "vim.api.nvim_exec('messages', true):find('u brings it back', 1, true) ~= nil",
    );
    let text = "require('pillion.buffers').text(vim.api.nvim_get_current_buf())";
    let code = format!("return {{ {text}, vim.bo.modified }}");
    let stands: Value = world.nvim.lua(&code, json!([]));
    assert_eq!(stands, json!([proposal, false]));
    world.nvim.input("u");
    let code = format!("{text} == {}", serde_json::to_string(mine).unwrap());
    let code = code.replace("\u{feff}", "\\239\\187\\191");
    world.nvim.wait_until("what was kept", &code);
    world.look();
    world.accept_whatever_is_asked();
    let expected = Update::accepted(path.to_owned(), mine.to_owned());
    assert_eq!(agent.outcome(), expected);
}

#[each_neovim]
fn what_was_changed_outlives_a_neovim_that_is_killed(version: NvimVersion) {
    for (before, proposal, keys, mine) in CASES {
        let world = open(version, Home::new());
        let path = world.home.file("a.txt", before);
        let path = path.to_str().unwrap();
        let agent = world.gemini();
        proposed(&world, &agent, path, proposal);
        world.nvim.input(keys);
        wait_for_text(&world.home, mine);
        world.nvim.kill();
        let World { nvim, home } = world;
        drop((nvim, agent));
        let world = open(version, home);
        let mut agent = world.gemini();
        comes_back(&world, &mut agent, path, proposal, mine);
    }
}

#[each_neovim]
fn what_was_changed_back_is_not_kept(version: NvimVersion) {
    let world = open(version, Home::new());
    let path = world.home.file("a.txt", "1\n");
    let mut agent = world.gemini();
    proposed(&world, &agent, path.to_str().unwrap(), "one\n");
    world.nvim.input("Gomine<Esc>");
    wait_for_text(&world.home, "one\nmine\n");
    world.nvim.input("u");
    let started = Instant::now();
    while !texts(&world.home).is_empty() {
        assert!(started.elapsed() < SOON, "{:?}", texts(&world.home));
    }
    world.accept_whatever_is_asked();
    agent.outcome();
}
