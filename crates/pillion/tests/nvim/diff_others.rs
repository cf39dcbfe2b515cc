//! Programs that are connected to Neovim's socket and are no user interface, as an agent's shell can be: what they type
//! and call decides nothing.

use std::thread::sleep;

use pillion_testkit::{
    AgentsTerminal, Home, IN_THE_PERSONS_NAME, NvimVersion, SOON, Size, Tmux, each_neovim,
    vim_command,
};
use pillion_view::HELD;
use serde_json::json;

use crate::diff::{ORIGINAL, Review};
use crate::world::{World, setup};

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";

const REFUSED: &str = "another program types or calls this";

/// A refusal is a whole sentence, for which Neovim wants Enter in a narrow window.
const INIT: &str = "vim.o.columns = 200
    vim.cmd [[
      command! W w
      nnoremap <C-s> <Cmd>w<CR>
      nnoremap <Space>p <Cmd>PillionAccept<CR>
    ]]";

impl Review {
    #[track_caller]
    fn is_refused_to_others(&mut self, what: &str) {
        let said = format!("vim.api.nvim_exec('messages', true):find('{REFUSED}', 1, true) ~= nil");
        self.world.nvim.wait_until(what, &said);
        self.world.nvim.command("messages clear");
        self.is_pending(what);
        sleep(HELD);
    }

    /// The person presses a key that does nothing, and waits until what is typed can only be theirs.
    #[track_caller]
    fn wait_alone(&self) {
        self.world.nvim.input("<Ignore>");
        self.world.nvim.wait_until(
            "no other program",
            "not require('pillion.others').may_have_typed()",
        );
    }
}

#[each_neovim]
fn another_program_neither_types_nor_calls_a_decision(version: NvimVersion) {
    let mut review = Review::with(version, INIT);
    review.propose(PROPOSED);
    for keys in [
        ":w<CR>",
        ":W<CR>",
        ":x<CR>",
        "ZZ",
        "<C-s>",
        " p",
        ":PillionAccept<CR>",
        ":PillionReject<CR>",
    ] {
        review.world.nvim.other_client().input(keys);
        review.is_refused_to_others(keys);
    }
    for command in ["PillionAccept", "PillionReject no"] {
        review.world.nvim.other_client().command(command);
        review.is_refused_to_others(command);
    }
    review.wait_alone();
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}

#[each_neovim]
fn what_another_program_began_is_not_completed_for_it(version: NvimVersion) {
    let mut review = Review::with(version, INIT);
    review.propose(PROPOSED);
    let other = review.world.nvim.other_client();
    other.input(":PillionAccept");
    let is_begun = "vim.fn.getcmdline() == 'PillionAccept'";
    review.world.nvim.wait_until("a command line", is_begun);
    drop(other);
    review.wait_alone();
    review.world.nvim.input("<CR>");
    review.is_refused_to_others("a command line");
    review.wait_alone();
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}

/// Neovim tells since 0.11 that keys come from within.
#[each_neovim]
fn what_another_program_leaves_behind_types_no_decision(version: NvimVersion) {
    if version != NvimVersion::V0_12 {
        return;
    }
    let mut review = Review::with(version, INIT);
    review.propose(PROPOSED);
    let timer = "call timer_start(1500, {-> nvim_input(':w<CR>')})";
    review.world.nvim.other_client().command(timer);
    review.is_refused_to_others("a timer");
    review.wait_alone();
    review.world.nvim.input(":w<CR>");
    review.is_accepted(PROPOSED);
}

/// It is told from the person by Neovim itself, since 0.11.
#[each_neovim]
fn beside_a_program_that_stays_connected_the_person_decides(version: NvimVersion) {
    let mut review = Review::with(version, INIT);
    let other = review.world.nvim.other_client();
    review.propose(PROPOSED);
    let is_told = version == NvimVersion::V0_12;
    if is_told {
        review.wait_alone();
    }
    // The person rests, and it calls.
    review.world.nvim.input("j");
    let moved = "vim.fn.line('.') > 1";
    review.world.nvim.wait_until("the person's key", moved);
    other.command("PillionAccept");
    review.is_refused_to_others("a call");
    if !is_told {
        review.world.nvim.input(":w<CR>");
        review.is_refused_to_others("keys that may be anybody's");
        drop(other);
        review.wait_alone();
    }
    review.world.nvim.input(" p");
    review.is_accepted(PROPOSED);
}

/// Neovim takes its keys for the person's.
#[each_neovim]
fn a_window_that_another_program_opens_decides_nothing(version: NvimVersion) {
    let tmux = Tmux::start();
    let home = Home::new();
    let path = home.file("a.txt", ORIGINAL);
    let setup = setup(version, &home).init(INIT).arg(&path);
    let nvim = setup.clone().in_tmux(&tmux, Size::new(120, 30));
    let world = World { nvim, home };
    world.wait_running();
    let mut review = Review {
        gemini: world.gemini(),
        path,
        world,
    };
    review.propose(PROPOSED);
    let nvim = &review.world.nvim;
    let (env, command) = setup.window();
    let wait_windows = |count: u8| {
        // The test's own is one.
        let there = format!("#vim.api.nvim_list_uis() == {count}");
        nvim.wait_until("windows", &there);
    };
    let mut window = AgentsTerminal::run(env, &command);
    wait_windows(3);
    window.wait_for("seven");
    window.type_text(":PillionAccept\r");
    let said = "vim.api.nvim_exec('messages', true):find('another program is connected', 1, true)";
    nvim.wait_until("a refusal", &format!("{said} ~= nil"));
    let pending = review.gemini.check_pending(&review.world.home);
    assert_eq!(pending, Ok(()), "{}", nvim.describe());
    drop(window);
    wait_windows(2);
    sleep(HELD);
    let folder = review.world.home.workspace();
    let window = tmux.spawn("window", Size::new(120, 30), env, &folder, &command);
    wait_windows(3);
    window.wait_for("seven", SOON);
    review.world.look();
    review.wait_alone();
    window.type_text(":PillionAccept\r");
    review.is_accepted(PROPOSED);
}

/// Keeping, taking back and all else that is done in the person's name.
#[each_neovim]
fn another_program_does_nothing_in_the_persons_name(version: NvimVersion) {
    let review = Review::with(version, INIT);
    for (name, words) in IN_THE_PERSONS_NAME {
        let command = vim_command(name, words);
        let nvim = &review.world.nvim;
        nvim.other_client().input(&format!(":{command}<CR>"));
        let said = format!("vim.api.nvim_exec('messages', true):find('{REFUSED}', 1, true) ~= nil");
        nvim.wait_until(&command, &said);
        nvim.command("messages clear");
        review.wait_alone();
        nvim.input(&format!(":{command}<CR>"));
        let said = "vim.trim(vim.api.nvim_exec('messages', true)) ~= ''";
        nvim.wait_until(&command, said);
        let messages = nvim.messages();
        assert!(!messages.contains(REFUSED), "{command}: {messages}");
        nvim.lua::<()>("vim.cmd('messages clear')", json!([]));
    }
}
