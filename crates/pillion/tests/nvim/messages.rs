//! What the plugin says and shows without being asked, which must stop nobody.

use pillion_testkit::{Home, NvimVersion, SOON, Size, Tmux};
use serde_json::json;

use crate::world::{World, setup};

/// Neovim in a terminal, with this in its configuration and a file open.
fn in_a_terminal(version: NvimVersion, tmux: &Tmux, columns: u16, init: &str) -> World {
    let home = Home::new();
    let file = home.file("a.txt", "a\n");
    let setup = setup(version, &home).init(init).arg(file);
    let nvim = setup.in_tmux(tmux, Size::new(columns, 24));
    World { nvim, home }
}

each_neovim! {
    fn a_message_that_is_too_long_is_cut_instead_of_asking_for_a_key(version) {
        let tmux = Tmux::start();
        let init = "package.loaded['pillion.version'] = '99.0.0'";
        let world = in_a_terminal(version, &tmux, 80, init);
        world.nvim.wait_until(
            "the message",
            "vim.api.nvim_exec('messages', true):find(' … :checkhealth pillion', 1, true) ~= nil",
        );
        assert_eq!(world.nvim.blocked_in(), None);
        world.nvim.input("ityped<Esc>");
        world.nvim.wait_until("what was typed", "vim.fn.getline(1) == 'typeda'");
        let whole: Vec<String> = world.nvim.lua("return require('pillion.notify').long()", json!([]));
        assert!(whole.len() == 1 && whole[0].contains("update the program"), "{whole:?}");
        world.nvim.command("silent checkhealth pillion");
        let line = format!("vim.fn.search([[\\V{}]], 'nw') > 0", whole[0]);
        world.nvim.wait_until("the whole message in the report", &line);
    }
}

each_neovim! {
    fn in_a_narrow_terminal_no_message_asks_for_a_key_either(version) {
        for columns in [60, 40] {
            let tmux = Tmux::start();
            let world = in_a_terminal(version, &tmux, columns, "");
            world.wait_running();
            let _agent = world.gemini();
            world.nvim.command("call setline(1, 'mine')");
            world.nvim.lua::<()>("require('pillion.reload').check()", json!([]));
            std::fs::write(world.home.workspace().join("a.txt"), "theirs\n").unwrap();
            world.nvim.pane().wait_for("Pillion: …a.txt cha", SOON);
            assert_eq!(world.nvim.blocked_in(), None);
            world.nvim.input("ityped <Esc>");
            world.nvim.wait_until("what was typed", "vim.fn.getline(1) == 'typed mine'");
        }
    }
}

each_neovim! {
    fn the_status_line_is_drawn_when_an_agent_comes_and_goes(version) {
        let tmux = Tmux::start();
        let world = in_a_terminal(
            version,
            &tmux,
            80,
            "vim.o.statusline = [[%{%v:lua.require'pillion'.statusline()%}]]",
        );
        world.wait_running();
        let agent = world.gemini();
        world.nvim.pane().wait_for("Pillion: Gemini CLI", SOON);
        agent.disconnect();
        world.nvim.pane().wait_until("the agent gone", SOON, |screen| {
            !screen.contains("Gemini CLI")
        });
    }
}
