//! The newest Neovim as people set it up, with the plugin as `pillion install nvim` installs it: without an init file, as
//! Debian leaves it, which adds none of its own; and with kickstart.nvim and the plugins that it installs.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use pillion_testkit::{Env, Home, NvimSetup, NvimVersion};

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

/// What people answer who are asked whether plugins are to be installed.
const YES: &str = "lua vim.fn.confirm = function() return 1 end";

/// The variables by which git finds what is at GitHub in this folder.
fn instead_of_github(env: Env, folder: &std::path::Path) -> Env {
    [
        ("GIT_CONFIG_COUNT", "3".to_owned()),
        (
            "GIT_CONFIG_KEY_0",
            format!("url.file://{}/.insteadOf", folder.display()),
        ),
        ("GIT_CONFIG_VALUE_0", "https://github.com/".to_owned()),
        ("GIT_CONFIG_KEY_1", "safe.directory".to_owned()),
        ("GIT_CONFIG_VALUE_1", "*".to_owned()),
        // LuaSnip's, which it can do without.
        ("GIT_CONFIG_KEY_2", "submodule.active".to_owned()),
        ("GIT_CONFIG_VALUE_2", "none".to_owned()),
    ]
    .into_iter()
    .fold(env, |env, (name, value)| env.with(name, value))
}

#[test]
#[ignore = "needs kickstart.nvim and Neovim: cargo xtask test"]
fn with_kickstart() {
    let folder = PathBuf::from(
        std::env::var_os("PILLION_TEST_KICKSTART").expect("cargo xtask test sets it"),
    );
    let home = Home::new();
    let config = home.home().join(".config/nvim");
    fs::create_dir_all(&config).unwrap();
    let init = Command::new("git")
        .args(["-c", "safe.directory=*", "show", "main:init.lua"])
        .current_dir(folder.join("nvim-lua/kickstart.nvim"))
        .output()
        .unwrap();
    assert!(init.status.success(), "{init:?}");
    fs::write(config.join("init.lua"), init.stdout).unwrap();
    let env = instead_of_github(home.env(), &folder);
    let program = pillion_testkit::Editors::from_env().nvim(NvimVersion::V0_12);
    let ran = Command::new(program)
        .args(["--headless", "--cmd", YES, "+qa!"])
        .current_dir(home.workspace())
        .env_clear()
        .envs(env.iter())
        .output()
        .unwrap();
    let installed = home.home().join(".local/share/nvim/site/pack/core/opt");
    for plugin in [
        "gitsigns.nvim",
        "which-key.nvim",
        "telescope.nvim",
        "mini.nvim",
        "blink.cmp",
        "nvim-treesitter",
    ] {
        assert!(
            installed.join(plugin).exists(),
            "{plugin}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
    let review = review(home, |setup| {
        env.iter()
            .filter(|(name, _)| name.to_string_lossy().starts_with("GIT_"))
            .fold(setup, |setup, (name, value)| setup.env(name, value))
    });
    let has_its_options =
        "vim.o.scrolloff == 10 and vim.o.confirm and package.loaded['blink.cmp'] ~= nil";
    review
        .world
        .nvim
        .wait_until("its options and its last plugins", has_its_options);
    works(review);
}
