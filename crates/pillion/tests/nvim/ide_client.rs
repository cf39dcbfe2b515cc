//! Gemini CLI's own client library and a person in Neovim: what it finds, is shown and gets back.

use pillion_testkit::{Env, Home, IdeClient, NvimVersion, Outcome, SOON, each_neovim};
use serde_json::Value;

use crate::world::World;

#[each_neovim(agents)]
fn the_real_client_hears_of_a_rejection_once_and_closes_in_silence(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let mut client = IdeClient::start(&world.home, &world.home.workspace());
    let path = world.home.workspace().join("a.txt");

    let diff = client.open_diff(&path, "two\n");
    wait_view(&world);
    world.nvim.input(":q<CR>");
    assert_eq!(client.outcome(diff, SOON), Outcome::Rejected);
    wait_no_view(&world);

    // Allowed in the agent's own window: it gets what stands in the view, and no outcome that
    // would turn its own decision round.
    let diff = client.open_diff(&path, "two\n");
    wait_view(&world);
    world.nvim.input("Gothree<Esc>");
    world
        .nvim
        .wait_until("the edit", "vim.fn.getline('$') == 'three'");
    wait_pending(&world);
    client.resolve(&path, true, SOON);
    let accepted = Outcome::Accepted(Some("two\nthree\n".to_owned()));
    assert_eq!(client.outcome(diff, SOON), accepted);
    wait_no_view(&world);
}

#[each_neovim(agents)]
fn the_real_client_is_shown_the_file_the_cursor_and_the_selection(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "one\nzwei ü three\n")]);
    let mut client = IdeClient::start(&world.home, &world.home.workspace());
    world.nvim.input("2G5lv2l");
    let file = active(&mut client, |file| file["selectedText"] == "ü t");
    assert_eq!(
        file["path"],
        world.home.workspace().join("a.txt").display().to_string()
    );
    assert_eq!(file["cursor"]["line"], 2);
    assert_eq!(file["cursor"]["character"], 8);
    world.nvim.input("<Esc>");
    active(&mut client, |file| file["selectedText"].is_null());
}

/// Two Neovims in one folder: the variables of a terminal inside decide (C2.7).
#[each_neovim(agents)]
fn the_real_client_takes_the_neovim_of_its_terminal(version: NvimVersion) {
    let home = Home::new();
    let file = home.file("a.txt", "one\n");
    let nvims: Vec<_> = (0..2)
        .map(|_| {
            let nvim = crate::world::setup(version, &home).arg(&file).headless();
            nvim.wait_until(
                "Pillion running",
                "vim.env.GEMINI_CLI_IDE_SERVER_PORT ~= nil",
            );
            nvim
        })
        .collect();
    for nvim in &nvims {
        let port: String = nvim.lua("return vim.env.GEMINI_CLI_IDE_SERVER_PORT", Value::Null);
        let env = Env::default().with("GEMINI_CLI_IDE_SERVER_PORT", port);
        let mut client = IdeClient::start_unconnected(&home, &home.workspace(), &env);
        assert_eq!(client.connect()["status"], "connected");
        nvim.wait_until(
            "this one has the agent",
            "#require('pillion.client').state.agents == 1",
        );
        client.disconnect();
    }
}

fn wait_view(world: &World) {
    world
        .nvim
        .wait_until("the view", "vim.b.pillion_diff ~= nil");
}

/// An agent that closes a diff before the companion knows it is shown gets no text.
fn wait_pending(world: &World) {
    let pending = "require('pillion.client').state.pendingDiffs == 1";
    world.nvim.wait_until("the companion to know", pending);
}

fn wait_no_view(world: &World) {
    world
        .nvim
        .wait_until("no view", "vim.fn.tabpagenr('$') == 1");
}

/// The next context in which the active file is like that.
fn active(client: &mut IdeClient, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let context = client.next_context(SOON);
        let files = context["workspaceState"]["openFiles"].as_array().cloned();
        let mut files = files.unwrap_or_default().into_iter();
        if let Some(file) = files.find(|file| file["isActive"] == true)
            && wanted(&file)
        {
            return file;
        }
    }
}
