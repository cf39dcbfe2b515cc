//! The companion of a real Neovim keeps the contract, every rule of it.

use std::fs;
use std::thread;
use std::time::Duration;

use pillion_testkit::conformance::{claude_commands, close_line, commands, fill, run, suite};
use pillion_testkit::{Home, NvimVersion, each_neovim};

use serde_json::json;

use crate::world::World;

const POLL_INTERVAL: Duration = Duration::from_millis(50);

#[each_neovim(all, conformance)]
fn neovim_passes(version: NvimVersion) {
    let home = Home::new();
    fill(&home);
    let other = home.other_workspace("other");
    let text = "text\n\n\n\ntext\n";
    let files = [("a.txt", text), ("b.txt", text)];
    let world = World::with(version, home, &files, |setup| setup);
    let mut command = suite(&world.home, commands(&format!("kill {}", world.nvim.pid())));
    let running = thread::spawn(move || run(&mut command));
    // By then it has read the files.
    let connected = "#require('pillion.client').state.agents > 0";
    world.nvim.wait_until("an agent", connected);
    world
        .nvim
        .command(&format!("tabnew | tcd {}", other.display()));
    let outcome = running.join().unwrap();
    // Nothing but time shows that a silent stream lives.
    outcome.expect_all_but(&["C1.1-stream-alive"]);
}

#[each_neovim(all, conformance)]
fn neovim_keeps_claude_codes_rules(version: NvimVersion) {
    let home = Home::new();
    fill(&home);
    let text = "text\n\n\n\ntext\n";
    let files = [("a.txt", text), ("b.txt", text)];
    let world = World::with(version, home, &files, |setup| setup);
    let asked = world.home.root().join("close");
    let stop = format!("kill {}", world.nvim.pid());
    let mut command = suite(
        &world.home,
        claude_commands(&stop, Some(&close_line(&asked))),
    );
    let running = thread::spawn(move || run(&mut command));
    while !running.is_finished() {
        if asked.exists() {
            world.nvim.lua::<()>(
                // One that goes may take another along.
                "for _, buf in ipairs(vim.api.nvim_list_bufs()) do
                       local is_valid = vim.api.nvim_buf_is_valid(buf)
                       if is_valid and vim.b[buf].pillion_diff ~= nil then vim.cmd('bwipeout! ' .. buf) end
                     end",
                json!([]),
            );
            fs::remove_file(&asked).unwrap();
        }
        thread::sleep(POLL_INTERVAL);
    }
    running.join().unwrap().expect_all_but(&[]);
}
