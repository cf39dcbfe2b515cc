//! The way from an opened file to an agent that is connected.

use pillion_testkit::{NvimVersion, each_neovim};
use serde_json::json;

use crate::world::World;

#[each_neovim]
fn opening_a_file_starts_the_companion(version: NvimVersion) {
    let world = World::open(version, &[("first.txt", "one\n")]);
    let mut gemini = world.gemini();
    let path = world
        .home
        .workspace()
        .join("first.txt")
        .display()
        .to_string();
    let file = world.active(&mut gemini, |file| file.path == path);
    assert_eq!(
        file.cursor.map(|cursor| (cursor.line, cursor.character)),
        Some((1, 1))
    );
    assert_eq!(world.nvim.quit(), 0);
}

#[each_neovim]
fn a_neovim_that_is_too_old_is_told(version: NvimVersion) {
    let world = World::open(version, &[("first.txt", "one\n")]);
    let load = "vim.g.loaded_pillion = nil
            local has = vim.fn.has
            vim.fn.has = function(what) return what == 'nvim-0.10' and 0 or has(what) end
            dofile(vim.api.nvim_get_runtime_file('plugin/pillion.lua', false)[1])
            vim.fn.has = has
            return vim.g.loaded_pillion == nil";
    let is_refused: bool = world.nvim.lua(load, json!([]));
    assert!(is_refused);
    assert!(
        world
            .nvim
            .messages()
            .contains("Pillion needs Neovim 0.10 or newer")
    );
}
