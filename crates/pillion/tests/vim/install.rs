//! `pillion install vim`, the help, and the options.

use std::fs;
use std::process::Command;

use pillion_testkit::{Home, Tmux, VimVersion, each_vim};

use crate::world::{PILLION, World, setup};

/// Runs `pillion` as this person. `--force`: the Vim on their PATH is the machine's, which may be too old.
pub fn pillion(home: &Home, args: &[&str]) {
    let output = Command::new(PILLION)
        .args(args)
        .env_clear()
        .envs(home.env().iter())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
}

#[each_vim]
fn pillion_installs_it_and_takes_it_away(version: VimVersion) {
    let home = Home::new();
    let mine = home.home().join(".vim/pack/mine/start/x/plugin");
    fs::create_dir_all(&mine).unwrap();
    fs::write(mine.join("x.vim"), "let g:mine = 1\n").unwrap();
    pillion(&home, &["install", "vim", "--force"]);
    let plugin = home.home().join(".vim/pack/pillion/start/pillion");
    assert!(plugin.join("plugin/pillion.vim").is_file());
    let tmux = Tmux::start();
    let file = home.file("a.txt", "one\n");
    let vim = setup(version, &home)
        .without_plugin()
        .arg(file)
        .in_tmux(&tmux);
    vim.wait_until(
        "Pillion running",
        "exists(':Pillion') == 2 && g:mine && pillion#Status().running",
    );
    vim.input(":help pillion-accepting<CR>");
    vim.wait_until(
        "the help",
        &format!(
            "expand('%:p') == '{}'",
            plugin.join("doc/pillion.txt").display()
        ),
    );
    // The index is what Vim itself makes of the page.
    let own = fs::read_to_string(plugin.join("doc/tags")).unwrap();
    vim.command(&format!("helptags {}/doc", plugin.display()));
    assert_eq!(own, fs::read_to_string(plugin.join("doc/tags")).unwrap());
    vim.assert_no_errors();
    vim.quit();
    pillion(&home, &["uninstall", "vim"]);
    assert!(!plugin.exists() && mine.join("x.vim").is_file());
}

#[each_vim]
fn the_help_names_all_there_is(version: VimVersion) {
    let world = World::open(version, &[("a.txt", "one\n")]);
    let page = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../editors/vim/doc/pillion.txt"
    ))
    .unwrap();
    let commands: Vec<String> = world.vim.get("getcompletion('Pillion', 'command')");
    for command in commands {
        assert!(page.contains(&format!("*:{command}*")), "{command}");
    }
    let subcommands: Vec<String> = world.vim.get("getcompletion('Pillion ', 'cmdline')");
    assert!(subcommands.len() > 15, "{subcommands:?}");
    for word in subcommands {
        assert!(page.contains(&format!("\n\t{word}\t")), "{word}");
    }
    let options: Vec<String> = world.vim.get("pillion#config#Names()");
    for option in options {
        assert!(page.contains(&format!("*g:pillion_{option}*")), "{option}");
    }
    let maps: Vec<String> = world
        .vim
        .get("maplist()->map('v:val.lhs')->filter('v:val =~ \"Plug.(pillion\"')");
    assert!(maps.len() > 8);
    for map in maps {
        assert!(page.contains(&format!("*{map}*")), "{map}");
    }
}

#[each_vim]
fn an_option_that_is_wrong_costs_nothing_but_itself(version: VimVersion) {
    let world = World::with(version, Home::new(), &[("a.txt", "one\n")], |setup| {
        setup.vimrc("let g:pillion_diff_layout = 'diagonal'\nlet g:pillion_agents = {'gemini': []}\nlet g:pillion_colour = 1")
    });
    world.vim.input(":Pillion doctor<CR>");
    world.vim.wait_until(
        "the report",
        "bufname() == 'pillion-doctor' && search('IDE mode', 'nw')",
    );
    let report: String = world.vim.get("getline(1, '$')->join(\"\\n\")");
    for problem in [
        "g:pillion_diff_layout must be one of",
        "g:pillion_agents must be a dictionary",
        "unknown option g:pillion_colour",
        "Workspace roots: /",
    ] {
        assert!(report.contains(problem), "{problem}: {report}");
    }
    world.vim.assert_no_errors();
}

#[each_vim]
fn diagnostics_are_those_of_ale(version: VimVersion) {
    let home = Home::new();
    let folder = home.root().join("ale/autoload/ale");
    fs::create_dir_all(&folder).unwrap();
    let engine = "function ale#engine#GetLoclist(buf)\n\
        return [{'bufnr': a:buf, 'lnum': 2, 'col': 7, 'end_lnum': 2, 'end_col': 9, 'type': 'W', \
        'text': 'no such word', 'linter_name': 'spell', 'code': 'W1'}]\nendfunction\n";
    fs::write(folder.join("engine.vim"), engine).unwrap();
    let ale = home.root().join("ale").display().to_string();
    let world = World::with(version, home, &[("a.txt", "one\nhäß two\n")], |setup| {
        setup.vimrc(&format!(
            "set runtimepath+={ale}\nlet g:ale_buffer_info = {{1: {{}}}}"
        ))
    });
    let claude = pillion_testkit::TestClaude::find(&world.home);
    let found = claude.diagnostics(None);
    let text = format!("{found:?}");
    assert_eq!(found.len(), 1, "{text}");
    for part in [
        "no such word",
        "spell",
        "W1",
        "line: 1",
        "character: 4",
        "character: 7",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    world.vim.assert_no_errors();
}
