//! A Neovim with stand-ins for agents in its terminals: what a person sees there, and waits for.

use std::time::{Duration, Instant};

use pillion_testkit::{Home, NvimSetup, NvimVersion, SOON};
use serde_json::{Value, json};

use crate::standin::StandIns;
use crate::world::World;

/// A file open, Pillion running, agents to be started.
pub fn world(
    version: NvimVersion,
    change: impl FnOnce(NvimSetup) -> NvimSetup,
) -> (World, StandIns) {
    let home = Home::new();
    let agents = StandIns::install(&home);
    let files = [("first.txt", "one\ntwo\nthree\n")];
    let world = World::with(version, home, &files, |setup| {
        change(
            agents
                .found_by(setup)
                .init("vim.o.columns = 200 vim.o.lines = 50"),
        )
    });
    (world, agents)
}

pub fn wait_terminal(world: &World, agent: &str) {
    world.nvim.wait_until(
        "typing in the agent's terminal",
        &format!("vim.b.pillion_agent == '{agent}' and vim.api.nvim_get_mode().mode == 't'"),
    );
}

/// The command that a person types ends with this message.
pub fn is_refused(world: &World, command: &str, message: &str) {
    world.nvim.command("messages clear");
    world.nvim.input(&format!(":{command}<CR>"));
    world.nvim.wait_for::<Value>(
        "the message",
        "return vim.api.nvim_exec('messages', true):find(..., 1, true)",
        json!([message]),
    );
}

/// Windows, their sizes, and which one has the focus.
pub fn layout(world: &World) -> Value {
    let code = "return { vim.fn.winlayout(), vim.fn.winrestcmd(), vim.api.nvim_get_current_win() }";
    world.nvim.lua(code, json!([]))
}

pub fn wait_layout(world: &World, expected: &Value) {
    let begun = Instant::now();
    while layout(world) != *expected {
        assert!(begun.elapsed() < SOON, "{}", world.nvim.describe());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The only window of a tab page leads nowhere.
pub fn is_refused_here(world: &World) {
    world.nvim.input("<C-\\><C-n>:tabnew | tabonly | only<CR>");
    let fill = "local terminal = require('pillion.terminal').list()[1]
         vim.api.nvim_win_set_buf(0, terminal.buf)
         terminal.back = nil";
    world.nvim.lua::<()>(fill, json!([]));
    is_refused(world, "Pillion focus", "there is no other window to go to");
}
