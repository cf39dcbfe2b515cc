//! The newest Neovim as people set it up, with the plugin as `pillion install nvim` installs it: without an init file, as
//! Debian leaves it, which adds none of its own; and with the plugins that Debian has, set up as starter configurations do.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use pillion_testkit::{Home, NvimSetup, NvimVersion};

use crate::diff::{ORIGINAL, Review};
use crate::world::{PILLION, World, setup};

const PROPOSED: &str = "one\n2\nthree\nfour\nfive\nsix\nseven\n";

/// A person with `a.txt` open and no other settings than those of the home, and Gemini CLI.
fn review(home: Home, change: impl FnOnce(NvimSetup) -> NvimSetup) -> Review {
    let installed = Command::new(PILLION)
        .args(["install", "nvim"])
        .env_clear()
        .envs(home.env().iter())
        .output()
        .unwrap();
    assert!(installed.status.success(), "{installed:?}");
    let path = home.file("a.txt", ORIGINAL);
    let nvim = change(setup(NvimVersion::V0_12, &home).own_init().arg(&path)).headless();
    let world = World { nvim, home };
    world
        .nvim
        .wait_until("the plugin", "package.loaded['pillion.client'] ~= nil");
    world.wait_running();
    let gemini = world.gemini();
    Review {
        world,
        gemini,
        path,
    }
}

/// Proposals are shown, edited, accepted and rejected, and written text reaches the buffer.
fn works(mut review: Review) {
    review.propose(PROPOSED);
    review.type_until(
        "Gomore<Esc>",
        "vim.bo.modified and vim.api.nvim_get_mode().mode == 'n'",
    );
    let edited = format!("{PROPOSED}more\n");
    review.world.nvim.input(":w<CR>");
    review.is_accepted(&edited);
    fs::write(&review.path, &edited).unwrap();
    review
        .world
        .nvim
        .wait_until("the new text", "vim.fn.getline('$') == 'more'");
    review.propose(ORIGINAL);
    review.world.nvim.input(":q<CR>");
    review.is_rejected();
    assert!(
        review
            .world
            .nvim
            .messages()
            .lines()
            .all(|line| !line.contains("pillion/")),
        "an error of the plugin's"
    );
    assert_eq!(review.world.nvim.quit(), 0);
}

#[test]
#[ignore = "needs Neovim: cargo xtask test"]
fn without_an_init_file() {
    works(review(Home::new(), |setup| setup));
}

/// Plugins as Debian installs them, which Neovim loads by itself, and what people set beside them.
#[test]
#[ignore = "needs Debian's plugins and Neovim: cargo xtask test"]
fn with_the_plugins_that_debian_has() {
    let folder =
        PathBuf::from(std::env::var_os("PILLION_TEST_ADDONS").expect("cargo xtask test sets it"));
    let home = Home::new();
    let config = home.home().join(".config/nvim");
    fs::create_dir_all(&config).unwrap();
    let site = folder.join("usr/share/nvim/site");
    let init = format!("vim.opt.packpath:prepend([[{}]])\n{INIT}", site.display());
    fs::write(config.join("init.lua"), init).unwrap();
    let review = review(home, |setup| setup);
    let are_there = "vim.g.loaded_airline == 1 and vim.fn.exists(':Git') == 2 \
         and vim.fn.exists(':GitGutter') == 2 and vim.fn.exists(':ALEInfo') == 2 \
         and vim.fn.exists(':CtrlP') == 2 and vim.fn.exists(':Tabularize') == 2";
    review.world.nvim.wait_until("the plugins", are_there);
    works(review);
}

/// The settings of kickstart.nvim and its likes.
const INIT: &str = "vim.g.mapleader = ' '
vim.o.number = true
vim.o.mouse = 'a'
vim.o.showmode = false
vim.o.breakindent = true
vim.o.undofile = true
vim.o.ignorecase = true
vim.o.smartcase = true
vim.o.signcolumn = 'yes'
vim.o.updatetime = 250
vim.o.timeoutlen = 300
vim.o.splitright = true
vim.o.splitbelow = true
vim.o.list = true
vim.o.inccommand = 'split'
vim.o.cursorline = true
vim.o.scrolloff = 10
vim.o.confirm = true
vim.g['airline#extensions#tabline#enabled'] = 1
vim.cmd('packadd CtrlP')
vim.keymap.set('n', '<Esc>', '<cmd>nohlsearch<CR>')
vim.api.nvim_create_autocmd('TextYankPost', { callback = function() (vim.hl or vim.highlight).on_yank() end })";
