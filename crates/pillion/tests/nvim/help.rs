//! `:help pillion`, held together with the plugin.

use std::path::Path;
use std::process::Command;

use pillion_testkit::{Home, NvimVersion, each_neovim};
use serde_json::json;

use crate::world::setup;

const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../editors/nvim");

/// Copied, because making the tags writes beside the page.
fn copy(home: &Home) -> std::path::PathBuf {
    let folder = home.root().join("plugin");
    let copied = Command::new("cp")
        .arg("-r")
        .args([Path::new(PLUGIN), &folder])
        .status();
    assert!(copied.unwrap().success());
    folder
}

#[each_neovim]
fn the_help_says_all_there_is_and_nothing_else(version: NvimVersion) {
    let home = Home::new();
    let folder = copy(&home);
    let nvim = setup(version, &home).plugin(&folder).headless();
    nvim.command(&format!("helptags {}/doc", folder.display()));
    let problems: Vec<String> = nvim.lua(include_str!("help.lua"), json!([folder]));
    assert!(problems.is_empty(), "{problems:#?}");
    // Off for root, who may run the tests.
    nvim.command("set modeline | help pillion");
    let page: String = nvim.lua(
        "return vim.fn.expand('%:t') .. ' ' .. vim.bo.filetype",
        json!([]),
    );
    assert_eq!(page, "pillion.txt help");
    nvim.assert_no_errors();
}

#[each_neovim]
fn the_suggested_maps_do_what_they_say(version: NvimVersion) {
    let home = Home::new();
    let nvim = setup(version, &home)
        .init("vim.g.mapleader = ' ' require('pillion').setup({ auto_start = false })")
        .headless();
    let page = std::fs::read_to_string(Path::new(PLUGIN).join("doc/pillion.txt")).unwrap();
    let (_, suggestion) = page.split_once("A suggestion: >lua\n").unwrap();
    let (suggestion, _) = suggestion.split_once("\n<").unwrap();
    nvim.lua::<()>(suggestion, json!([]));
    nvim.lua::<()>(
        "_G.called = {}
            require('pillion.command').dispatch = function(name) table.insert(_G.called, name) end",
        json!([]),
    );
    nvim.input(" ag aq as aa ar ad at axV as");
    nvim.wait_until(
        "every map called",
        "table.concat(_G.called, ' ') == 'run run send accept reject diffs take-hunk drop-hunk send'",
    );
}
