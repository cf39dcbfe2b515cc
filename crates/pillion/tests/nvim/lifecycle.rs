//! When Pillion runs, and what is shown when it does not.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use pillion_protocol::Dialect;
use pillion_testkit::{Home, Nvim, NvimSetup, NvimVersion, SOON, discovery_files, each_neovim};
use serde_json::json;

use crate::world::{World, setup};

/// The number of times that a text is in Neovim's messages.
fn said(nvim: &Nvim, text: &str) -> usize {
    nvim.messages().matches(text).count()
}

fn wait_said(nvim: &Nvim, text: &str) {
    let messages = "vim.api.nvim_exec('messages', true)";
    nvim.wait_until(
        text,
        &format!("{messages}:find([[{text}]], 1, true) ~= nil"),
    );
}

fn wait_stopped(nvim: &Nvim) {
    nvim.wait_until(
        "Pillion stopped",
        "require('pillion.client').phase() == 'stopped'",
    );
}

/// Neovim has had time to do what it does after an event.
fn settle(nvim: &Nvim) {
    nvim.lua::<()>("vim.wait(150)", json!([]));
}

/// A program that is no Pillion, in a folder of its own.
fn program(home: &Home, name: &str, script: &str) -> PathBuf {
    let path = home.other_workspace(name).join("pillion");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("the home is ours");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("the file is ours");
    path
}

fn without_pillion(version: NvimVersion, home: &Home) -> NvimSetup {
    NvimSetup::new(version, home).arg(home.file("a.txt", "a\n"))
}

#[each_neovim]
fn what_is_no_file_does_not_start_it_and_a_file_does(version: NvimVersion) {
    let home = Home::new();
    home.file("a.txt", "a\n");
    let nvim = setup(version, &home).arg(home.workspace()).headless();
    // netrw says so much about a page that somebody would have to press a key.
    nvim.detach_ui();
    for command in [
        "enew",
        "help help",
        "terminal",
        "edit http://localhost/x",
        "new | setlocal buftype=nofile",
    ] {
        nvim.command(&format!("silent! {command}"));
        settle(&nvim);
    }
    assert!(nvim.lua::<bool>("return package.loaded['pillion.client'] == nil", json!([])));
    nvim.command("edit a.txt");
    nvim.wait_until("Pillion running", "require('pillion.client').is_running()");
    nvim.assert_no_errors();
}

#[each_neovim]
fn a_file_that_is_not_written_yet_starts_it(version: NvimVersion) {
    let home = Home::new();
    let nvim = setup(version, &home).arg("new.txt").headless();
    nvim.wait_until("Pillion running", "require('pillion.client').is_running()");
}

#[each_neovim]
fn a_plugin_that_is_loaded_late_starts_it_on_the_file_that_is_there(version: NvimVersion) {
    let home = Home::new();
    let file = home.file("a.txt", "a\n");
    let nvim = setup(version, &home).arg("--noplugin").arg(file).headless();
    nvim.command("runtime plugin/pillion.lua");
    nvim.wait_until("Pillion running", "require('pillion.client').is_running()");
}

#[each_neovim]
fn auto_start_can_be_switched_off(version: NvimVersion) {
    let world = World::with(version, Home::new(), &[], |setup| {
        setup.init("require('pillion').setup({ auto_start = false })")
    });
    world.home.file("a.txt", "a\n");
    world.nvim.command("edit a.txt");
    settle(&world.nvim);
    assert!(
        !world
            .nvim
            .lua::<bool>("return require('pillion.client').is_running()", json!([]))
    );
    world.nvim.command("Pillion start");
    world.wait_running();
    world.active(&mut world.gemini(), |file| file.path.ends_with("a.txt"));
}

#[each_neovim]
fn a_missing_program_is_said_once(version: NvimVersion) {
    let home = Home::new();
    let nvim = without_pillion(version, &home).headless();
    wait_said(&nvim, "`pillion` was not found. Hint: :checkhealth pillion");
    nvim.command("edit b.txt | edit a.txt");
    settle(&nvim);
    assert_eq!(said(&nvim, "not found"), 1, "{}", nvim.messages());
    // Who asks gets an answer each time.
    nvim.input(":Pillion start<CR>");
    settle(&nvim);
    assert_eq!(said(&nvim, "not found"), 2, "{}", nvim.messages());
    nvim.assert_no_errors();
    assert_eq!(nvim.quit(), 0);
}

#[each_neovim]
fn a_program_that_does_not_know_lsp_is_said_once_and_can_be_replaced(version: NvimVersion) {
    let home = Home::new();
    let old = program(
        &home,
        "old",
        "echo 'error: unrecognized subcommand lsp' >&2; exit 2",
    );
    let nvim = without_pillion(version, &home).pillion(&old).headless();
    wait_said(&nvim, "`pillion lsp` failed. Hint: :checkhealth pillion");
    nvim.command("edit b.txt | edit a.txt");
    settle(&nvim);
    assert_eq!(said(&nvim, "failed"), 1, "{}", nvim.messages());
    std::fs::remove_file(&old).expect("it is ours");
    std::os::unix::fs::symlink(crate::world::PILLION, &old).expect("the folder is ours");
    nvim.command("Pillion start");
    nvim.wait_until("Pillion running", "require('pillion.client').is_running()");
}

#[each_neovim]
fn a_program_that_speaks_another_language_is_ended(version: NvimVersion) {
    let home = Home::new();
    for (name, script) in [
        ("chatty", "yes 'what is this'"),
        (
            "short",
            "printf 'Content-Length: 5\\r\\n\\r\\nhello'; exec sleep 60",
        ),
    ] {
        let chatty = program(&home, name, script);
        let nvim = without_pillion(version, &home).pillion(&chatty).headless();
        wait_said(&nvim, "`pillion lsp` failed");
        wait_stopped(&nvim);
        let reason: String = nvim.lua("return require('pillion.client').last_end.said", json!([]));
        assert_eq!(reason, "it does not speak the protocol");
        nvim.assert_no_errors();
        assert_eq!(nvim.quit(), 0);
    }
}

#[each_neovim]
fn one_that_dies_is_said_once_and_can_be_started_again(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let agent = world.gemini();
    world.nvim.lua::<()>(
        "vim.loop.kill(require('pillion.client').state.pid, 'sigkill')",
        json!([]),
    );
    wait_said(
        &world.nvim,
        "pillion exited (signal 9). Hint: :Pillion start",
    );
    world.nvim.command("next | first");
    settle(&world.nvim);
    assert_eq!(said(&world.nvim, "exited"), 1, "{}", world.nvim.messages());
    assert!(
        !world
            .nvim
            .lua::<bool>("return require('pillion.client').is_running()", json!([]))
    );
    drop(agent);
    world.nvim.command("Pillion start");
    world.wait_running();
    let port: u16 = world
        .nvim
        .lua("return require('pillion.client').state.port", json!([]));
    let files = discovery_files(&world.home, Dialect::GeminiCli);
    let ours = files
        .iter()
        .find(|path| pillion_testkit::discovery_file(path).port == port);
    let mut agent = pillion_testkit::TestAgent::connect(ours.expect("it is published"));
    world.active(&mut agent, |file| file.path.ends_with("a.txt"));
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn what_was_typed_into_a_proposal_outlives_a_program_that_dies(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let agent = world.gemini();
    agent.propose(world.home.workspace().join("a.txt"), "b\n");
    world.look();
    agent.propose(world.home.workspace().join("new.txt"), "untouched\n");
    world.nvim.lua::<()>(
        "for _, buf in ipairs(vim.api.nvim_list_bufs()) do
               local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
               if vim.b[buf].pillion_diff and lines[1] == 'b' then
                 vim.api.nvim_buf_set_lines(buf, 1, 1, false, { 'typed' })
               end
             end
             vim.loop.kill(require('pillion.client').state.pid, 'sigkill')",
        json!([]),
    );
    wait_said(&world.nvim, "your edits of a.txt are in buffer ");
    world.nvim.wait_until(
        "the views gone",
        "vim.fn.tabpagenr('$') == 1 and vim.fn.winnr('$') == 1",
    );
    let kept: Vec<Vec<String>> = world.nvim.lua(
        "return vim.tbl_map(function(info)
               return vim.api.nvim_buf_get_lines(info.bufnr, 0, -1, false)
             end, vim.fn.getbufinfo({ buflisted = 1, bufmodified = 1 }))",
        json!([]),
    );
    assert_eq!(kept, [["b", "typed"]]);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn it_stops_and_starts_by_command_and_says_so_by_events(version: NvimVersion) {
    let world = World::with(version, Home::new(), &[("a.txt", "a\n")], |setup| {
        setup.init(
            "_G.happened = {}
                 for _, name in ipairs({ 'PillionStarted', 'PillionStopped' }) do
                   vim.api.nvim_create_autocmd('User', { pattern = name, callback = function()
                     table.insert(_G.happened, name)
                   end })
                 end",
        )
    });
    world.nvim.command("Pillion stop");
    wait_stopped(&world.nvim);
    assert!(discovery_files(&world.home, Dialect::GeminiCli).is_empty());
    world.nvim.command("edit a.txt");
    settle(&world.nvim);
    assert!(
        !world
            .nvim
            .lua::<bool>("return require('pillion.client').is_running()", json!([]))
    );
    world.nvim.command("Pillion start");
    world.wait_running();
    world.nvim.command("Pillion restart");
    world.nvim.wait_until("three starts", "#_G.happened == 5");
    world.wait_running();
    world.nvim.command("Pillion stop | Pillion start");
    world.nvim.wait_until("four starts", "#_G.happened == 7");
    let happened: Vec<String> = world.nvim.lua("return _G.happened", json!([]));
    let expected = [
        "Started", "Stopped", "Started", "Stopped", "Started", "Stopped", "Started",
    ];
    assert_eq!(happened, expected.map(|name| format!("Pillion{name}")));
    assert_eq!(world.nvim.messages(), "", "nobody has to be told");
}

#[each_neovim]
fn it_ends_with_neovim_at_once(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let pid: u32 = world
        .nvim
        .lua("return require('pillion.client').state.pid", json!([]));
    assert!(!discovery_files(&world.home, Dialect::GeminiCli).is_empty());
    let started = Instant::now();
    assert_eq!(world.nvim.quit(), 0);
    let took = started.elapsed();
    assert!(took < SOON, "quitting took {took:?}");
    wait_gone(&world.home, pid);
}

#[each_neovim]
fn it_ends_with_a_neovim_that_is_killed(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let pid: u32 = world
        .nvim
        .lua("return require('pillion.client').state.pid", json!([]));
    world.nvim.kill();
    wait_gone(&world.home, pid);
}

/// Waits until the process and what it published are gone.
fn wait_gone(home: &Home, pid: u32) {
    let started = Instant::now();
    while pillion_system::process::is_alive(pid)
        || !discovery_files(home, Dialect::GeminiCli).is_empty()
    {
        assert!(started.elapsed() < SOON, "Pillion is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[each_neovim]
fn wrong_commands_and_options_are_named(version: NvimVersion) {
    let world = World::with(version, Home::new(), &[("a.txt", "a\n")], |setup| {
        setup.init(
            "require('pillion').setup({ is_trusted = 'yes', diff = { layout = 'round' }, colour = 1 })",
        )
    });
    for text in [
        "setup: is_trusted must be a boolean",
        "setup: diff.layout must be one of \"vertical\", \"horizontal\", \"unified\"",
        "setup: unknown option colour",
    ] {
        wait_said(&world.nvim, text);
    }
    world.nvim.input(":Pillion frobnicate<CR>");
    wait_said(
        &world.nvim,
        "unknown subcommand frobnicate. Hint: use one of accept, add, ask",
    );
    let complete = "return vim.fn.getcompletion(..., 'cmdline')";
    let words: Vec<String> = world.nvim.lua(complete, json!("Pillion st"));
    assert_eq!(words, ["start", "status", "stop"]);
    let words: Vec<String> = world.nvim.lua(complete, json!("Pillion run "));
    assert_eq!(
        words,
        [
            "claude", "codex", "copilot", "gemini", "kimi", "opencode", "qwen", "vibe"
        ]
    );
    let words: Vec<String> = world.nvim.lua(complete, json!("PillionSend q"));
    assert_eq!(words, ["qwen"]);
    let words: Vec<String> = world.nvim.lua(complete, json!("Pillion run gemini "));
    assert_eq!(words, [""; 0]);
    let agent = world.gemini();
    for name in ["a.txt", "b.txt"] {
        agent.propose(world.home.workspace().join(name), "b\n");
    }
    for command in [
        "PillionAccept",
        "PillionReject",
        "PillionDiffs",
        "Pillion accept",
        "Pillion reject",
        "Pillion diffs",
    ] {
        for (typed, wanted) in [("", &["1", "2"][..]), ("2", &["2"][..]), ("1 ", &[][..])] {
            let words: Vec<String> = world
                .nvim
                .lua(complete, json!(format!("{command} {typed}")));
            assert_eq!(words, wanted, "after {command} {typed}");
        }
    }
}

#[each_neovim]
fn the_status_line_shows_which_agents_are_connected(version: NvimVersion) {
    let world = World::open(version, &[("a.txt", "a\n")]);
    let line = "return require('pillion').statusline()";
    assert_eq!(world.nvim.lua::<String>(line, json!([])), "Pillion");
    let agent = world.gemini();
    assert_eq!(
        world.nvim.lua::<String>(line, json!([])),
        "Pillion: Gemini CLI"
    );
    agent.disconnect();
    world.nvim.command("Pillion stop");
    wait_stopped(&world.nvim);
    assert_eq!(world.nvim.lua::<String>(line, json!([])), "");
}
