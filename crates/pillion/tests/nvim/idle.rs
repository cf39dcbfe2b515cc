//! The cost when nothing happens.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pillion_testkit::{Home, NvimVersion, each_neovim};
use serde_json::json;

use crate::world::World;

/// Counts in `looks` how often a file is looked at from now on.
const COUNT: &str = "looks = 0
    local check = require('pillion.reload.check')
    local look = check.look
    check.look = function(...)
      looks = looks + 1
      return look(...)
    end";

#[each_neovim]
fn nothing_is_looked_at_while_nothing_happens(version: NvimVersion) {
    let world = World::with(
        version,
        Home::new(),
        &[("first.txt", "one\n"), ("second.txt", "two\n")],
        |setup| setup.init("vim.o.updatetime = 10"),
    );
    let _agent = world.gemini();
    world
        .nvim
        .command("split second.txt | call setline(1, 'mine')");
    // What was begun comes to its end.
    std::thread::sleep(Duration::from_millis(1500));
    world.nvim.lua::<()>(COUNT, json!([]));
    std::thread::sleep(Duration::from_secs(3));
    let looks: u32 = world.nvim.lua("return looks", json!([]));
    assert_eq!(looks, 0);
    fs::write(world.home.workspace().join("first.txt"), "new\n").unwrap();
    world.nvim.wait_until(
        "the new text",
        "vim.fn.getbufline('first.txt', 1)[1] == 'new'",
    );
}

/// Under another name, and where there was none.
#[each_neovim]
fn the_system_tells_of_every_way_to_write(version: NvimVersion) {
    let world = World::open(version, &[("folder/first.txt", "one\n")]);
    let _agent = world.gemini();
    let folder = world.home.workspace().join("folder");
    let path = folder.join("first.txt");
    let wait = |text: &str| {
        world
            .nvim
            .wait_until(text, &format!("vim.fn.getline(1) == '{text}'"));
    };
    fs::write(folder.join("other"), "renamed\n").unwrap();
    fs::rename(folder.join("other"), &path).unwrap();
    wait("renamed");
    fs::write(&path, "in place\n").unwrap();
    wait("in place");
    fs::remove_file(&path).unwrap();
    fs::write(&path, "made anew\n").unwrap();
    wait("made anew");
    // The folder itself is another one.
    fs::rename(&folder, folder.with_extension("old")).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::write(&path, "in a new folder\n").unwrap();
    wait("in a new folder");
    fs::write(&path, "there, too\n").unwrap();
    wait("there, too");
    world.nvim.assert_no_errors();
}

/// Loading it takes longer than showing a proposal.
#[each_neovim]
fn what_shows_a_proposal_is_loaded_before_the_first_one_comes(version: NvimVersion) {
    let world = World::open(version, &[("first.txt", "one\n")]);
    let loaded = "package.loaded['pillion.diff'] ~= nil";
    let is_loaded: bool = world
        .nvim
        .lua(&format!("vim.wait(200) return {loaded}"), json!([]));
    assert!(!is_loaded, "without an agent there are no proposals");
    let _agent = world.gemini();
    world.nvim.wait_until("what shows proposals", loaded);
}

/// The number of times that each thread of a process has gone to sleep; without the one that refreshes files three times a
/// minute, which waits for the disk in between.
fn sleeps(pid: u32) -> HashMap<PathBuf, u64> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let of = |folder: PathBuf| {
        let name = fs::read_to_string(folder.join("comm")).ok()?;
        let status = fs::read_to_string(folder.join("status")).ok()?;
        let mut lines = status.lines();
        let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        (name.trim() != "discovery").then_some((folder, count.trim().parse().ok()?))
    };
    threads.filter_map(|thread| of(thread.path())).collect()
}

/// The number of times that the threads of a process woke up within so long.
fn woken(pids: [u32; 2], within: Duration) -> [u64; 2] {
    let before = pids.map(sleeps);
    std::thread::sleep(within);
    let mut before = before.iter();
    pids.map(|pid| {
        let before = before.next().unwrap();
        let woken = sleeps(pid).into_iter();
        woken
            .map(|(thread, count)| count - before.get(&thread).unwrap_or(&0))
            .sum()
    })
}

#[each_neovim(all)]
fn program_and_editor_sleep_while_nothing_happens(version: NvimVersion) {
    let world = World::open(version, &[("first.txt", "one\n")]);
    let _gemini = world.gemini();
    let _claude = pillion_testkit::TestClaude::find(&world.home);
    let [program, editor]: [u32; 2] = world.nvim.lua(
        "return { require('pillion.client').state.pid, vim.fn.getpid() }",
        json!([]),
    );
    // What was begun comes to its end.
    std::thread::sleep(Duration::from_secs(12));
    let woken = woken([program, editor], Duration::from_secs(30));
    // With two agents, one of which is pinged and answers.
    assert!(woken[0] + woken[1] <= 10, "program and editor: {woken:?}");
}
