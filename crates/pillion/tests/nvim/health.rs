//! `:checkhealth pillion`: what is wrong, and what to do about it.

use std::os::unix::fs::PermissionsExt;

use pillion_testkit::{Home, Nvim, NvimSetup, NvimVersion, each_neovim};
use serde_json::json;

use crate::world::World;

/// The report that `:checkhealth pillion` shows.
fn report(nvim: &Nvim) -> String {
    nvim.command("silent checkhealth pillion");
    let code = "return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')";
    let text = nvim.wait_for(
        "the report",
        &format!(
            "return vim.fn.search('pillion: the options', 'nw') > 0 and (function() {code} end)()"
        ),
        json!([]),
    );
    nvim.assert_no_errors();
    text
}

/// Fails unless the report has a line with this mark and text.
fn assert_line(report: &str, mark: &str, text: &str) {
    let is_there = report
        .lines()
        .any(|line| line.contains(mark) && line.contains(text));
    assert!(is_there, "no {mark} with {text:?} in\n{report}");
}

#[each_neovim]
fn a_healthy_pillion_is_reported_as_such(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let _agent = world.gemini();
    let text = report(&world.nvim);
    assert_line(&text, "OK", "found: ");
    let version = env!("CARGO_PKG_VERSION");
    assert_line(
        &text,
        "OK",
        &format!("version {version}, the plugin is {version}"),
    );
    assert_line(&text, "OK", "it is running on port ");
    assert_line(&text, "OK", " discovery files in ");
    assert_line(&text, "OK", "connected: Gemini CLI");
    assert!(
        text.contains(&world.home.workspace().display().to_string()),
        "{text}"
    );
    assert!(
        !text.contains("ERROR") && !text.contains("WARNING"),
        "{text}"
    );
}

#[each_neovim]
fn a_missing_program_is_reported_with_what_to_do(version: NvimVersion) {
    let home = Home::new();
    let nvim = NvimSetup::new(version, &home).headless();
    let text = report(&nvim);
    assert_line(&text, "ERROR", "pillion was not found");
    assert_line(&text, "Install it", "cargo install --path crates/pillion");
    assert_line(&text, "WARN", "it is not running");
}

#[each_neovim]
fn a_program_of_another_version_is_reported(version: NvimVersion) {
    let home = Home::new();
    let program = home.other_workspace("old").join("pillion");
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && echo pillion 0.0.9 && exit\n\
                  echo \"error: unrecognized subcommand '$1'\" >&2\nexit 2\n";
    std::fs::write(&program, script).expect("the home is ours");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("the file is ours");
    let nvim = NvimSetup::new(version, &home)
        .pillion(&program)
        .init("require('pillion').setup({ log_level = 'info', nonsense = true })")
        .arg(home.file("a.txt", "a\n"))
        .headless();
    nvim.wait_until("its end", "require('pillion.client').last_end ~= nil");
    let text = report(&nvim);
    assert_line(&text, "WARN", "the program is version 0.0.9, the plugin is");
    assert_line(
        &text,
        "To update the plugin without a plugin manager",
        "pillion install nvim",
    );
    assert_line(
        &text,
        "ERROR",
        "it does not support `lsp`: error: unrecognized subcommand 'lsp'",
    );
    assert_line(
        &text,
        "ERROR",
        "it exited (exit code 2): error: unrecognized subcommand 'lsp'",
    );
    assert_line(&text, "WARN", "unknown option nonsense");
    assert_line(&text, "set:", "log_level = \"info\"");
}

#[each_neovim]
fn a_discovery_file_that_is_gone_is_reported(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let gone: String = world.nvim.lua(
        "local files = require('pillion.client').state.files
             assert(vim.loop.fs_unlink(files[1]))
             return files[1]",
        json!([]),
    );
    let text = report(&world.nvim);
    assert_line(
        &text,
        "ERROR",
        &format!("the discovery file {gone} is missing"),
    );
}
