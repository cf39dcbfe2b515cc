//! The plugin's messages that nobody asked for, which must stop nobody.

use pillion_testkit::{Home, NvimVersion, SOON, Size, TestAgent, Tmux, each_neovim};
use serde_json::json;

use crate::diff::Review;
use crate::world::{World, setup};

/// Neovim in a terminal, with this in its configuration and a file open.
fn in_a_terminal(version: NvimVersion, tmux: &Tmux, columns: u16, init: &str) -> World {
    let home = Home::new();
    let file = home.file("a.txt", "a\n");
    let setup = setup(version, &home).init(init).arg(file);
    let nvim = setup.in_tmux(tmux, Size::new(columns, 24));
    World { nvim, home }
}

/// The same with Pillion running, and Gemini CLI.
pub fn with_agent(version: NvimVersion, tmux: &Tmux, size: Size) -> (World, TestAgent) {
    let world = in_a_terminal(version, tmux, size.width, "");
    world.wait_running();
    let gemini = world.gemini();
    (world, gemini)
}

/// All that is on the screen, without blanks: wherever a line ends, the words are there.
fn words_on(screen: &str) -> String {
    screen.split_whitespace().collect()
}

/// Waits until a message with these words is in the log, and all of it is on the screen.
#[track_caller]
fn wait_shown(world: &World, wanted: &str) {
    let wanted = words_on(wanted);
    let code = "local log = vim.api.nvim_exec2('messages', { output = true }).output:gsub('%s', '')
        local last = log:match('.*(Pillion:.*)')
        return last and last:find(..., 1, true) and last or nil";
    let all: String = world.nvim.wait_for(&wanted, code, json!([wanted]));
    let pane = world.nvim.pane();
    pane.wait_until(&all, SOON, |screen| words_on(screen).contains(&all));
}

/// Changes that are doubted for one, two and four reasons, and one word of each of these.
fn doubted() -> [(&'static str, &'static [&'static str]); 3] {
    [
        ("long.txt", &["lines are deleted"]),
        (
            "../long.txt",
            &["lines are deleted", "outside of the workspace"],
        ),
        (
            "../.envrc",
            &[
                "has not been on the screen",
                "lines are deleted",
                "your shell runs",
                "outside of the workspace",
            ],
        ),
    ]
}

/// A text of a hundred lines, and one that deletes most of it and changes what no screen shows with its beginning.
fn long_texts(is_unseen: bool) -> (String, String) {
    let lines = |last: usize| {
        (2..=last)
            .map(|line| format!("line {line}\n"))
            .collect::<String>()
    };
    let before = format!("first\n{}", lines(100));
    match is_unseen {
        true => (before, format!("changed\n{}the end\n", lines(40))),
        false => (before, "first\n".to_owned()),
    }
}

/// Asks for each of the doubted changes, with everything that decides how much room there is.
fn ask_everywhere(version: NvimVersion, init: &str) {
    let tmux = Tmux::start();
    let world = in_a_terminal(
        version,
        &tmux,
        80,
        &format!("vim.opt.diffopt:append('context:9999')\n{init}"),
    );
    world.wait_running();
    let agent = world.gemini();
    for (columns, cmdheight, shortmess) in [
        (80, 1, "ltToOCF"),
        (60, 1, "a"),
        (40, 1, ""),
        (80, 0, ""),
        (60, 0, "filnxtToOFWAIcCqS"),
        (40, 0, "ltToOCF"),
    ] {
        world.nvim.pane().resize(Size::new(columns, 24));
        world
            .nvim
            .wait_until("the size", &format!("vim.o.columns == {columns}"));
        world
            .nvim
            .command(&format!("set cmdheight={cmdheight} shortmess={shortmess}"));
        for (name, doubts) in doubted() {
            let what =
                format!("{name} at {columns}, cmdheight {cmdheight}, shortmess {shortmess:?}");
            let (before, after) = long_texts(doubts.len() == 4);
            let path = world.home.workspace().join(name);
            std::fs::write(&path, before).unwrap();
            let path = path.canonicalize().unwrap();
            agent.propose(&path, &after);
            world.look();
            // The question about the change before this one is no answer.
            world.nvim.command("messages clear");
            world.nvim.input("gg:w<CR>");
            for doubt in doubts {
                wait_shown(&world, doubt);
            }
            assert_eq!(world.nvim.blocked_in(), None, "{what}");
            assert_eq!(world.nvim.mode(), "n", "{what}");
            let is_inside = "vim.b.pillion_diff ~= nil and vim.fn.line('.') == 1";
            world.nvim.wait_until(&what, is_inside);
            // The next key does what it does, and takes the message away.
            world.nvim.input("x");
            world.nvim.wait_until(&what, "vim.bo.modified");
            let floats = "#vim.tbl_filter(function(win) return vim.w[win].pillion_message end, vim.api.nvim_list_wins()) == 0";
            world.nvim.wait_until(&what, floats);
            // The message goes with the diff, too. On a busy machine, this could be the answer to the question.
            world.looked_for(0);
            world.nvim.input("u:w<CR>");
            world.nvim.wait_until(
                &what,
                "require('pillion.diff.pending').sorted()[1].deciding == nil",
            );
            agent.close(&path).unwrap();
            world
                .nvim
                .wait_until(&what, "#require('pillion.diff.pending').sorted() == 0");
            world.looked_as_long_as_it_was();
            world.nvim.wait_until(&what, floats);
            assert_eq!(world.nvim.blocked_in(), None, "{what}");
        }
    }
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn no_question_asks_for_a_key_however_narrow_the_screen(version: NvimVersion) {
    ask_everywhere(version, "");
}

/// Neovim's own replacement of its command line, which is there since 0.12.
#[each_neovim]
fn nor_with_other_messages_of_neovim_s(version: NvimVersion) {
    if version == NvimVersion::V0_12 {
        ask_everywhere(version, "require('vim._core.ui2').enable({})");
    }
}

/// Those of plugins get all of it; those that echo in the end ask for nothing, either.
#[each_neovim]
fn whatever_takes_the_place_of_vim_notify_gets_all_of_a_message(version: NvimVersion) {
    for (init, is_echoed) in [
        ("vim.notify = function(text) vim.g.told = text end", false),
        (
            "local own = vim.notify vim.notify = function(text, ...) vim.g.told = text return own(text, ...) end",
            true,
        ),
        (
            "vim.notify = function(text) vim.g.told = text vim.api.nvim_echo({ { text } }, true, {}) end",
            true,
        ),
    ] {
        let tmux = Tmux::start();
        let world = in_a_terminal(version, &tmux, 60, init);
        world.wait_running();
        let long = "a sentence that no command line has room for ".repeat(4);
        world
            .nvim
            .lua::<()>("require('pillion.notify').error(...)", json!([long]));
        assert_eq!(world.nvim.blocked_in(), None, "{init}");
        world.nvim.wait_until(init, "(vim.g.told or ''):find('room for $') ~= nil or (vim.g.told or ''):find('room for ', 100) ~= nil");
        if is_echoed {
            wait_shown(&world, "room for");
        }
        world.nvim.input("itypedx<Esc>");
        world
            .nvim
            .wait_until("what was typed", "vim.fn.getline(1) == 'typedxa'");
    }
}

/// Text for the command line and for a window, from a callback, from a command and while one is typed.
#[each_neovim]
fn messages_in_a_row_ask_for_no_key_either(version: NvimVersion) {
    for columns in [40, 60, 80] {
        let tmux = Tmux::start();
        let world = in_a_terminal(version, &tmux, columns, "function Say()
                local notify = require('pillion.notify')
                notify.info('one') notify.warn(('two '):rep(30)) notify.error('three')
              end
              vim.keymap.set('c', '<F2>', function() vim.schedule(Say) return '' end, { expr = true })");
        for keys in [
            ":lua Say()<CR>",
            ":lua vim.schedule(Say)<CR>",
            ":let g:typed = 1<F2>",
        ] {
            world.nvim.command("messages clear");
            world.nvim.input(keys);
            world.nvim.pane().wait_until(keys, SOON, |screen| {
                let words = words_on(screen);
                ["one", "twotwotwo", "three"]
                    .iter()
                    .all(|text| words.contains(text))
            });
            assert_eq!(world.nvim.blocked_in(), None, "{keys}");
            world.nvim.input("<CR>");
        }
        world.nvim.wait_until("what was typed", "vim.g.typed == 1");
    }
}

/// Short messages of commands, also after other output, with and without a command line.
#[each_neovim]
fn what_a_command_says_asks_for_no_key(version: NvimVersion) {
    for cmdheight in [0, 1, 2] {
        let tmux = Tmux::start();
        let world = in_a_terminal(
            version,
            &tmux,
            80,
            &format!("vim.o.cmdheight = {cmdheight}"),
        );
        world.wait_running();
        for keys in [
            ":PillionDiffs<CR>",
            ":Pillion status<CR>",
            ":lua print('one') vim.cmd('PillionDiffs')<CR>",
        ] {
            let has_output = keys.contains("print");
            if has_output && cmdheight == 0 {
                // Neovim asks for Enter after its own message.
                continue;
            }
            world.nvim.command("messages clear");
            world.nvim.input(keys);
            let said = if keys.contains("status") {
                "version"
            } else {
                "no diff is pending"
            };
            world.nvim.pane().wait_for(said, SOON);
            assert_eq!(
                world.nvim.blocked_in(),
                None,
                "{keys}, cmdheight {cmdheight}"
            );
            world.nvim.input("x");
        }
        world
            .nvim
            .wait_until("keys that were typed", "vim.fn.getline(1) == ''");
    }
}

/// A window of a plugin's that floats while a view opens or closes.
#[each_neovim]
fn windows_that_float_meanwhile_change_no_sizes(version: NvimVersion) {
    let float = "vim.g.float = vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false,
            { relative = 'editor', row = 1, col = 1, width = 9, height = 3 })";
    let steps = [
        ("opens", float, ""),
        (
            "is there",
            float,
            "vim.api.nvim_win_close(vim.g.float, true)",
        ),
        ("closes", "", float),
    ];
    for (what, before, inside) in steps {
        let mut review = Review::with(version, "vim.cmd('autocmd VimEnter * botright 5split')");
        let sizes = "return { vim.o.cmdheight, vim.fn.winheight(1), vim.fn.winheight(2) }";
        let was: Vec<u32> = review.world.nvim.lua(sizes, json!([]));
        review.world.nvim.lua::<()>(before, json!([]));
        review.propose("1\n");
        review.world.nvim.lua::<()>(inside, json!([]));
        review.world.nvim.input(":q<CR>");
        review.is_rejected();
        assert_eq!(
            review.world.nvim.lua::<Vec<u32>>(sizes, json!([])),
            was,
            "a window that {what}"
        );
    }
}

/// A message that nobody asked for stays long enough to be read by who types, away from the cursor.
#[each_neovim]
fn who_types_reads_what_was_not_asked_for(version: NvimVersion) {
    let tmux = Tmux::start();
    let init = "package.loaded['pillion.version'] = '99.0.0'";
    let world = in_a_terminal(version, &tmux, 60, init);
    wait_shown(&world, "update the program");
    assert_eq!(world.nvim.blocked_in(), None);
    world.nvim.input("ityped<Esc>");
    world
        .nvim
        .wait_until("what was typed", "vim.fn.getline(1) == 'typeda'");
    world.nvim.wait_until(
        "it gone with a key",
        "(function()
            vim.api.nvim_input('l')
            return #vim.api.nvim_list_wins() == 1 end)()",
    );
}

#[each_neovim]
fn in_a_narrow_terminal_no_message_asks_for_a_key_either(version: NvimVersion) {
    for columns in [60, 40] {
        let tmux = Tmux::start();
        let world = in_a_terminal(version, &tmux, columns, "");
        world.wait_running();
        let _agent = world.gemini();
        world.nvim.command("call setline(1, 'mine')");
        world
            .nvim
            .lua::<()>("require('pillion.reload').check()", json!([]));
        std::fs::write(world.home.workspace().join("a.txt"), "theirs\n").unwrap();
        world.nvim.pane().wait_for("Pillion: …a.txt cha", SOON);
        assert_eq!(world.nvim.blocked_in(), None);
        world.nvim.input("ityped <Esc>");
        world
            .nvim
            .wait_until("what was typed", "vim.fn.getline(1) == 'typed mine'");
    }
}

#[each_neovim]
fn the_status_line_is_drawn_when_an_agent_comes_and_goes(version: NvimVersion) {
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
    world
        .nvim
        .pane()
        .wait_until("the agent gone", SOON, |screen| {
            !screen.contains("Gemini CLI")
        });
}
