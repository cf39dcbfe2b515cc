//! Agents in terminals of Neovim: `:Pillion run`.

mod scene;

use std::time::{Duration, Instant};

use pillion_testkit::{Home, NvimVersion, SOON, each_neovim, make_repository};
use serde_json::{Value, json};

pub use self::scene::{is_refused, world};
use self::scene::{is_refused_here, layout, wait_layout, wait_terminal};
use crate::standin::StandIns;
use crate::world::World;

#[each_neovim]
fn an_agent_starts_at_the_right_with_pillions_variables(version: NvimVersion) {
    let (world, agents) = world(version, |setup| setup);
    world
        .nvim
        .command("Pillion run gemini --flag a\\ b $HOME;exit");
    wait_terminal(&world, "gemini");
    let gemini = agents.one("gemini");
    assert_eq!(gemini.cwd, world.home.workspace());
    assert_eq!(gemini.arguments, ["--flag", "a b", "$HOME;exit"]);
    let port: u16 = world
        .nvim
        .lua("return require('pillion.client').state.port", json!([]));
    assert_eq!(gemini.port, port.to_string());
    let place: Value = world.nvim.lua(
        "return { vim.fn.winnr(), vim.fn.winnr('$'), vim.fn.winwidth(0), vim.bo.buflisted }",
        json!([]),
    );
    assert_eq!(place, json!([2, 2, 60, false]));
    world.nvim.input("hello");
    gemini.typed("hello");
    world.nvim.assert_no_errors();
}

/// opencode would dial that port without a token: it finds the companion by its files, and is started by
/// `pillion run`.
#[each_neovim]
fn claude_code_is_led_by_its_port_and_opencode_is_not(version: NvimVersion) {
    let (world, agents) = world(version, |setup| setup);
    let port: u16 = world
        .nvim
        .lua("return require('pillion.client').state.port", json!([]));
    let led = format!("{port} 1");
    world.nvim.command("Pillion run claude");
    assert_eq!(agents.one("claude").claude, led);
    world.nvim.input("<C-\\><C-n>1<C-w>w");
    world.nvim.command("Pillion run opencode");
    let opencode = agents.one("opencode");
    assert_eq!(opencode.claude, " 1");
    assert_eq!(opencode.cwd, world.home.workspace());
    world.nvim.input("<C-\\><C-n>1<C-w>w");
    world.nvim.command(&format!(
        "botright new | terminal {}",
        agents.program("qwen").display()
    ));
    assert_eq!(agents.one("qwen").claude, led, "in every terminal");
    world.nvim.assert_no_errors();
}

/// In the repository of the file, wherever Neovim itself works; but a window's own folder is meant.
#[each_neovim]
fn an_agent_starts_in_the_root_of_the_file_that_was_used_last(version: NvimVersion) {
    for (set_up, expected) in [
        ("", "project"),
        ("set autochdir", "project"),
        ("cd ~", "project"),
        ("cd /", "project"),
        ("lcd src", "project/src"),
        ("tcd src | help", "project/src"),
        ("edit ../other/b.txt", "other"),
    ] {
        let (world, agents) = world(version, |setup| setup);
        let project = world.home.workspace();
        make_repository(&project);
        let file = world.home.file("src/a.txt", "a\n");
        let other = world.home.other_workspace("other");
        make_repository(&other);
        std::fs::write(other.join("b.txt"), "b\n").unwrap();
        world.nvim.command(&format!("edit {}", file.display()));
        // In the same instant, as in a map or a project picker.
        let bar = if set_up.is_empty() { "" } else { " | " };
        world
            .nvim
            .command(&format!("{set_up}{bar}Pillion run gemini"));
        let folder = project.parent().unwrap().join(expected);
        assert_eq!(agents.one("gemini").cwd, folder, "{set_up}");
        world.nvim.assert_no_errors();
    }
}

#[each_neovim]
fn the_same_command_hides_the_agent_and_shows_it_again(version: NvimVersion) {
    let (world, agents) = world(version, |setup| setup);
    world
        .nvim
        .command("vsplit | vertical resize 40 | split | resize 7");
    let before = layout(&world);
    world.nvim.command("Pillion run gemini");
    wait_terminal(&world, "gemini");
    world
        .nvim
        .input("<C-\\><C-n>:vertical resize 77<CR>:Pillion run gemini<CR>");
    wait_layout(&world, &before);
    assert_eq!(world.nvim.mode(), "n");
    world.nvim.command("Pillion run gemini");
    wait_terminal(&world, "gemini");
    let width: u16 = world.nvim.lua("return vim.fn.winwidth(0)", json!([]));
    assert_eq!(width, 77);
    world
        .nvim
        .command("tnoremap <C-g> <Cmd>Pillion run gemini<CR>");
    world.nvim.input("<C-g>");
    wait_layout(&world, &before);
    assert_eq!(world.nvim.mode(), "n");
    agents.one("gemini");
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn a_terminal_over_the_others_comes_and_goes(version: NvimVersion) {
    let set_up = "require('pillion').setup({ terminal = { split_side = 'float' } })";
    let (world, agents) = world(version, |setup| setup.init(set_up));
    world.nvim.command("vsplit");
    let before = layout(&world);
    world
        .nvim
        .command("tnoremap <C-g> <Cmd>Pillion run gemini<CR>");
    for _ in 0..2 {
        world.nvim.command("Pillion run gemini");
        wait_terminal(&world, "gemini");
        let place = "vim.api.nvim_win_get_config(0).relative";
        let place: String = world.nvim.lua(&format!("return {place}"), json!([]));
        assert_eq!(place, "editor");
        world.nvim.input("<C-g>");
        wait_layout(&world, &before);
        assert_eq!(world.nvim.mode(), "n");
    }
    agents.one("gemini");
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn several_agents_run_beside_each_other(version: NvimVersion) {
    let (world, agents) = world(version, |setup| setup);
    let before = layout(&world);
    world.nvim.command("Pillion run gemini");
    wait_terminal(&world, "gemini");
    for (command, name, count) in [
        ("Pillion run qwen", "qwen", 1),
        ("Pillion run gemini 2", "gemini", 2),
    ] {
        world.nvim.input(&format!("<C-\\><C-n>:{command}<CR>"));
        agents.started(name, count);
        wait_terminal(&world, name);
    }
    let windows: u16 = world.nvim.lua("return vim.fn.winnr('$')", json!([]));
    assert_eq!(windows, 4);
    for command in [
        "Pillion run gemini",
        "Pillion run gemini 2",
        "Pillion run qwen",
    ] {
        world.nvim.input(&format!("<C-\\><C-n>:{command}<CR>"));
    }
    wait_layout(&world, &before);
    assert!(
        agents
            .started("gemini", 2)
            .iter()
            .all(crate::standin::StandIn::is_running)
    );
}

#[each_neovim]
fn another_session_starts_in_a_buffer_of_one_line_too(version: NvimVersion) {
    let (world, agents) = world(version, |setup| setup);
    world.nvim.command("enew");
    world.nvim.input(":Pillion run gemini<CR>");
    agents.one("gemini");
    wait_terminal(&world, "gemini");
    world.nvim.input("<C-\\><C-n>");
    let hint = "gemini is already running. Hint: :Pillion run gemini 2";
    is_refused(&world, "Pillion run gemini other words", hint);
    world
        .nvim
        .input("<C-\\><C-n>:Pillion run gemini 2 -i 3<CR>");
    let started = agents.started("gemini", 2);
    assert!(
        started.iter().any(|one| one.arguments == ["-i", "3"]),
        "{started:?}"
    );
    world.nvim.assert_no_errors();
}

/// Neovim closes no other window meanwhile.
#[each_neovim]
fn an_agent_that_ends_while_the_command_line_window_is_open_disturbs_nobody(version: NvimVersion) {
    let (world, _) = world(version, |setup| {
        setup.init("require('pillion').setup({ agents = { good = { 'sh', '-c', 'read line' } } })")
    });
    let before = layout(&world);
    world.nvim.command("Pillion run good");
    wait_terminal(&world, "good");
    world.nvim.input("<C-\\><C-n><C-w>pq:");
    world
        .nvim
        .wait_until("the command-line window", "vim.fn.getcmdwintype() == ':'");
    world.nvim.lua::<()>(
        "local terminal = require('pillion.terminal').list()[1]
             vim.fn.chansend(terminal.job, '\\n')",
        json!([]),
    );
    world.nvim.wait_until(
        "its end",
        "not require('pillion.terminal').is_any_running()",
    );
    world.nvim.lua::<()>("vim.wait(100)", json!([]));
    let kind: String = world.nvim.lua("return vim.fn.getcmdwintype()", json!([]));
    assert_eq!((kind.as_str(), world.nvim.blocked_in()), (":", None));
    world.nvim.input(":q<CR>");
    wait_layout(&world, &before);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn from_insert_mode_and_visual_mode_typing_goes_on_in_the_terminal(version: NvimVersion) {
    let (world, agents) = world(version, |setup| setup);
    for mode in ["n", "x", "i"] {
        world
            .nvim
            .command(&format!("{mode}noremap <F2> <Cmd>Pillion run gemini<CR>"));
    }
    let mut gemini = None;
    for (keys, typed) in [
        ("i<F2>", "one"),
        ("vl<F2>", "two"),
        ("Vj<F2>", "three"),
        ("<F2>", "four"),
    ] {
        world.nvim.input(&format!("{keys}{typed}"));
        gemini
            .get_or_insert_with(|| agents.one("gemini"))
            .typed(typed);
        wait_terminal(&world, "gemini");
        world.nvim.input("<C-\\><C-n><F2>");
        world.nvim.wait_until("it hidden", "vim.fn.winnr('$') == 1");
        assert_eq!(world.nvim.mode(), "n");
    }
    assert_eq!(gemini.unwrap().typed(""), "onetwothreefour");
    let unchanged: bool = world.nvim.lua("return not vim.bo.modified", json!([]));
    assert!(unchanged);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn programs_in_the_home_folder_are_found(version: NvimVersion) {
    let (world, agents) = world(version, |setup| {
        setup.init(
        "require('pillion').setup({ agents = { mine = { '~/mine/gemini', '~/x' } }, log_file = '~/log' })",
    )
    });
    let home = world.home.home();
    std::fs::create_dir(home.join("mine")).unwrap();
    std::fs::copy(agents.program("gemini"), home.join("mine/gemini")).unwrap();
    world.nvim.command("Pillion run mine");
    assert_eq!(agents.one("gemini").arguments, ["~/x"]);
    assert!(home.join("log").is_file());
}

#[each_neovim]
fn a_terminal_goes_with_an_agent_that_ended_well_and_stays_with_one_that_failed(
    version: NvimVersion,
) {
    let (world, _) = world(version, |setup| {
        setup.init(
            "require('pillion').setup({ agents = {
                good = { 'sh', '-c', 'exit 0' },
                bad = { 'sh', '-c', 'echo the reason; read -r _; exit 3' },
            } })",
        )
    });
    let before = layout(&world);
    world.nvim.command("Pillion run good");
    wait_layout(&world, &before);
    world.nvim.command("Pillion run bad");
    // Neovim may lose the output of a program that exits at once (neovim/neovim#3030).
    world
        .nvim
        .wait_until("the reason", "vim.fn.getline(1) == 'the reason'");
    world
        .nvim
        .command("call chansend(b:terminal_job_id, \"\\n\")");
    world.nvim.wait_until(
        "the message",
        "vim.api.nvim_exec('messages', true):find('bad exited with status 3') ~= nil",
    );
    world.nvim.wait_until(
        "the reason, to be read in peace",
        "vim.fn.getline(1) == 'the reason' and vim.api.nvim_get_mode().mode ~= 't'",
    );
    world.nvim.command("Pillion run bad");
    world
        .nvim
        .wait_until("the old terminal replaced", "vim.fn.winnr('$') == 2");
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn the_terminal_of_an_agent_that_failed_at_once_stays_until_it_runs_again(version: NvimVersion) {
    let (world, _) = world(version, |setup| {
        setup.init("require('pillion').setup({ agents = { bad = { 'sh', '-c', 'exit 3' } } })")
    });
    for times in 1..=3 {
        world.nvim.command("Pillion run bad");
        let messages = "vim.api.nvim_exec('messages', true):gsub('bad exited with status 3', '')";
        world
            .nvim
            .wait_until("the message", &format!("select(2, {messages}) == {times}"));
        world.nvim.wait_until(
            "its terminal alone, to be left as any other window",
            "vim.bo.buftype == 'terminal' and vim.api.nvim_get_mode().mode ~= 't' and vim.fn.winnr('$') == 2",
        );
    }
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn an_agent_that_is_not_there_opens_nothing(version: NvimVersion) {
    let (world, _) = world(version, |setup| {
        setup.init("require('pillion').setup({ agents = { gemini = { 'no-such-gemini' } } })")
    });
    let before = layout(&world);
    for (command, message) in [
        (
            "Pillion run gemini",
            "no-such-gemini is not installed: npm install -g @google/gemini-cli",
        ),
        (
            "Pillion run cody",
            "unknown agent cody. Hint: :Pillion run claude|codex|copilot|gemini|kimi|opencode|qwen|vibe",
        ),
        (
            "Pillion run",
            "an agent is missing. Hint: :Pillion run claude|codex|copilot|gemini|kimi|opencode|qwen|vibe",
        ),
    ] {
        is_refused(&world, command, message);
    }
    assert_eq!(layout(&world), before);
}

/// Before it has started once, only those of the options are known.
#[each_neovim]
fn the_program_says_which_agents_there_are(version: NvimVersion) {
    let home = Home::new();
    let agents = StandIns::install(&home);
    let world = World::with(version, home, &[], |setup| {
        agents
            .found_by(setup)
            .init("require('pillion').setup({ auto_start = false, agents = { mine = { 'sh' } } })")
    });
    let names = |world: &World| -> Vec<String> {
        world.nvim.lua(
            "return vim.fn.getcompletion('Pillion run ', 'cmdline')",
            json!([]),
        )
    };
    assert_eq!(names(&world), ["mine"]);
    world.nvim.command("Pillion run qwen");
    agents.one("qwen");
    assert_eq!(
        names(&world),
        [
            "claude", "codex", "copilot", "gemini", "kimi", "mine", "opencode", "qwen", "vibe"
        ]
    );
    world.nvim.command("Pillion stop");
    world
        .nvim
        .wait_until("none", "require('pillion.client').phase() == 'stopped'");
    assert_eq!(
        names(&world),
        [
            "claude", "codex", "copilot", "gemini", "kimi", "mine", "opencode", "qwen", "vibe"
        ],
        "they stay"
    );
}

#[each_neovim]
fn people_may_bring_their_own_terminal_or_none(version: NvimVersion) {
    let (world, agents) = world(version, |setup| {
        setup.init(
            "require('pillion').setup({ terminal = { provider = function(command, env, opts)
                _G.asked = { command, env.GEMINI_CLI_IDE_SERVER_PORT, opts.agent, opts.cwd }
            end } })",
        )
    });
    world.nvim.command("Pillion run qwen 2 -i x");
    let asked: Value = world.nvim.lua("return _G.asked", json!([]));
    let port: u16 = world
        .nvim
        .lua("return require('pillion.client').state.port", json!([]));
    let folder = world.home.workspace();
    assert_eq!(
        asked,
        json!([["qwen", "-i", "x"], port.to_string(), "qwen", folder])
    );
    world
        .nvim
        .command("lua require('pillion').setup({ terminal = { provider = 'none' } })");
    world.nvim.command("Pillion run qwen");
    assert!(world.nvim.messages().contains("start qwen yourself"));
    let windows: u16 = world.nvim.lua("return vim.fn.winnr('$')", json!([]));
    assert_eq!(windows, 1);
    drop(agents);
}

#[each_neovim]
fn agents_end_with_neovim(version: NvimVersion) {
    let (world, agents) = world(version, |setup| setup);
    world.nvim.command("Pillion run gemini");
    wait_terminal(&world, "gemini");
    let gemini = agents.one("gemini");
    assert_eq!(world.nvim.quit(), 0);
    let begun = Instant::now();
    while gemini.is_running() {
        assert!(begun.elapsed() < SOON, "it is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[each_neovim]
fn stopping_gives_the_environment_back(version: NvimVersion) {
    let (world, _) = world(version, |setup| setup.env("QWEN_CODE_IDE_SERVER_PORT", "1"));
    let variables = "return { vim.env.GEMINI_CLI_IDE_SERVER_PORT or 'none', vim.env.QWEN_CODE_IDE_SERVER_PORT }";
    let port: u16 = world
        .nvim
        .lua("return require('pillion.client').state.port", json!([]));
    let set: Value = world.nvim.lua(variables, json!([]));
    assert_eq!(set, json!([port.to_string(), port.to_string()]));
    world.nvim.command("Pillion stop");
    world
        .nvim
        .wait_until("the end", "require('pillion.client').phase() == 'stopped'");
    let set: Value = world.nvim.lua(variables, json!([]));
    assert_eq!(set, json!(["none", "1"]));
}

#[each_neovim]
fn focus_goes_to_the_agent_and_back_and_knows_the_mode(version: NvimVersion) {
    let (world, agents) = world(version, |setup| setup);
    is_refused(
        &world,
        "Pillion focus",
        "no agent is running in a terminal. Hint: :Pillion run claude",
    );
    world.nvim.command("noremap <F2> <Cmd>Pillion focus<CR>");
    world.nvim.command("tnoremap <F2> <Cmd>Pillion focus<CR>");
    world.nvim.command("split | Pillion run gemini");
    wait_terminal(&world, "gemini");
    let in_file = "vim.bo.buftype == '' and vim.api.nvim_get_mode().mode == 'n'";
    world.nvim.input("<F2>");
    world
        .nvim
        .wait_until("the file", &format!("{in_file} and vim.fn.winnr() == 1"));
    let windows: u16 = world.nvim.lua("return vim.fn.winnr('$')", json!([]));
    assert_eq!(windows, 3, "the terminal stays");
    world.nvim.input("<C-w>j<F2>");
    wait_terminal(&world, "gemini");
    world.nvim.input("<F2>");
    world.nvim.wait_until(
        "where the person came from",
        &format!("{in_file} and vim.fn.winnr() == 2"),
    );
    // A person who reads the agent's output goes on reading.
    world.nvim.input("<F2>");
    wait_terminal(&world, "gemini");
    world.nvim.input("<C-\\><C-n><F2>");
    world.nvim.wait_until("the file", in_file);
    world.nvim.input("<F2>");
    world.nvim.wait_until(
        "reading",
        "vim.b.pillion_agent ~= nil and vim.api.nvim_get_mode().mode == 'nt'",
    );
    // Hidden, and from Insert and Visual mode.
    world.nvim.input(":Pillion run gemini<CR>");
    world.nvim.wait_until("it hidden", "vim.fn.winnr('$') == 2");
    world.nvim.command("imap <F2> <Cmd>Pillion focus<CR>");
    world.nvim.command("let b:x = 1 | Pillion run gemini");
    wait_terminal(&world, "gemini");
    for keys in ["vj", "i"] {
        world.nvim.input("<F2>");
        world.nvim.wait_until("the file", "vim.bo.buftype == ''");
        world.nvim.input(&format!("{keys}<F2>typed"));
        agents.one("gemini").typed("typed");
        wait_terminal(&world, "gemini");
    }
    let unchanged: bool = world.nvim.lua(
        "return vim.fn.getbufvar('first.txt', '&modified') == 0",
        json!([]),
    );
    assert!(unchanged);
    world.nvim.assert_no_errors();
}

#[each_neovim]
fn focus_takes_the_agent_that_is_named_also_in_another_tab_page(version: NvimVersion) {
    let (world, agents) = world(version, |setup| setup);
    world.nvim.command("Pillion run gemini");
    agents.one("gemini");
    world.nvim.input("<C-\\><C-n>:Pillion run qwen<CR>");
    agents.one("qwen");
    wait_terminal(&world, "qwen");
    world.nvim.input("<C-\\><C-n>:Pillion focus gemini<CR>");
    wait_terminal(&world, "gemini");
    world
        .nvim
        .input("<C-\\><C-n>:tabedit first.txt<CR>:Pillion focus<CR>");
    wait_terminal(&world, "gemini");
    is_refused_here(&world);
    world.nvim.assert_no_errors();
}
