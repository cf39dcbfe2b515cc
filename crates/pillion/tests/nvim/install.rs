//! Installing the plugin: as its README says, and by `pillion install nvim`; and what `pillion detect`
//! says inside.

use std::path::Path;
use std::process::Command;

use pillion_testkit::{Home, Nvim, NvimVersion, each_neovim};
use serde_json::{Value, json};

use crate::world::{PILLION, setup};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn block(heading: &str) -> String {
    let path = Path::new(REPOSITORY).join("editors/nvim/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (_, rest) = readme.split_once(heading).unwrap();
    let code = rest.split("```").nth(1).unwrap();
    code.split_once('\n').unwrap().1.to_owned()
}

#[each_neovim]
fn it_is_installed_by_hand_as_the_readme_says(version: NvimVersion) {
    let home = Home::new();
    std::fs::create_dir(home.home().join("src")).unwrap();
    std::os::unix::fs::symlink(REPOSITORY, home.home().join("src/pillion")).unwrap();
    let ran = Command::new("sh")
        .args(["-e", "-c", &block("**By hand**")])
        .env_clear()
        .envs(home.env().iter())
        .status();
    assert!(ran.unwrap().success());
    let file = home.file("first.txt", "one\n");
    let nothing = home.other_workspace("nothing");
    let nvim = setup(version, &home).plugin(nothing).arg(file).headless();
    nvim.wait_until(
        "Pillion running",
        "package.loaded['pillion.client'] and require('pillion.client').is_running()",
    );
}

#[each_neovim]
fn the_options_of_the_readme_are_options(version: NvimVersion) {
    let home = Home::new();
    let nvim = setup(version, &home).headless();
    for heading in [
        "The plugin maps no keys",
        "Qwen Code approves changes itself",
    ] {
        nvim.lua::<()>(&block(heading), json!([]));
    }
    assert_eq!(nvim.messages(), "");
    let command: Vec<String> = nvim.lua(
        "return require('pillion.config').get().agents.qwen",
        json!([]),
    );
    assert_eq!(command, ["qwen", "--approval-mode", "default"]);
}

/// Runs `pillion` as this person.
pub(crate) fn pillion(home: &Home, args: &[&str]) -> String {
    let output = Command::new(PILLION)
        .args(args)
        .current_dir(home.workspace())
        .env_clear()
        .envs(home.env().iter())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// A Neovim without any plugin of the test's.
fn bare(version: NvimVersion, home: &Home) -> Nvim {
    let nothing = home.other_workspace("nothing");
    setup(version, home).plugin(nothing).headless()
}

/// The files of `site` in Neovim's data folder.
fn site(home: &Home) -> Vec<(String, Vec<u8>)> {
    let root = home.home().join(".local/share/nvim/site");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                found.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[each_neovim]
fn pillion_installs_it_and_takes_it_away(version: NvimVersion) {
    let home = Home::new();
    let site_folder = home.home().join(".local/share/nvim/site");
    std::fs::create_dir_all(site_folder.join("pack/mine/start/x/plugin")).unwrap();
    std::fs::write(
        site_folder.join("pack/mine/start/x/plugin/x.vim"),
        "let g:mine = 1\n",
    )
    .unwrap();
    let before = site(&home);

    pillion(&home, &["install", "nvim"]);
    let nvim = bare(version, &home);
    let data: String = nvim.lua("return vim.fn.stdpath('data')", json!([]));
    assert_eq!(format!("{data}/site"), site_folder.display().to_string());
    nvim.wait_until(
        "the command",
        "vim.fn.exists(':Pillion') == 2 and vim.g.mine == 1",
    );
    nvim.command("help pillion");
    let page: String = nvim.lua("return vim.fn.expand('%:p')", json!([]));
    let plugin = site_folder.join("pack/pillion/start/pillion");
    assert_eq!(page, plugin.join("doc/pillion.txt").display().to_string());
    nvim.command("silent checkhealth pillion");
    let report: String = nvim.wait_for(
        "the report",
        "return vim.fn.search('pillion: the options', 'nw') > 0
             and table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')",
        json!([]),
    );
    let number = env!("CARGO_PKG_VERSION");
    assert!(
        report.contains(&format!("version {number}, the plugin is {number}")),
        "{report}"
    );
    assert!(!report.contains("ERROR"), "{report}");

    // The index is what Neovim itself makes of the page.
    let own = std::fs::read(plugin.join("doc/tags")).unwrap();
    nvim.command(&format!("helptags {}/doc", plugin.display()));
    let neovims = std::fs::read(plugin.join("doc/tags")).unwrap();
    assert_eq!(
        String::from_utf8(own).unwrap(),
        String::from_utf8(neovims).unwrap()
    );
    nvim.assert_no_errors();
    drop(nvim);

    pillion(&home, &["uninstall", "nvim"]);
    assert_eq!(site(&home), before);
    let nvim = bare(version, &home);
    nvim.wait_until(
        "no command",
        "vim.fn.exists(':Pillion') == 0 and vim.g.mine == 1",
    );
}

#[each_neovim]
fn it_is_installed_by_pillion_as_the_readme_says(version: NvimVersion) {
    let home = Home::new();
    let line = block("**Pillion itself**");
    let words: Vec<_> = line.split_whitespace().collect();
    assert_eq!(words[0], "pillion");
    pillion(&home, &words[1..]);
    let nvim = bare(version, &home);
    nvim.wait_until("the command", "vim.fn.exists(':Pillion') == 2");
}

#[each_neovim]
fn the_folder_is_the_one_that_this_neovim_names(version: NvimVersion) {
    let home = Home::new();
    let data = home.other_workspace("data of mine");
    let variables = [
        ("XDG_DATA_HOME", data.to_str().unwrap()),
        ("NVIM_APPNAME", "other/nvim"),
    ];
    let ran = Command::new(PILLION)
        .args(["install", "nvim"])
        .env_clear()
        .envs(home.env().iter())
        .envs(variables)
        .status();
    assert!(ran.unwrap().success());
    let nothing = home.other_workspace("nothing");
    let mut setup = setup(version, &home).plugin(nothing);
    for (name, value) in variables {
        setup = setup.env(name, value);
    }
    let nvim = setup.headless();
    let folder: String = nvim.lua("return vim.fn.stdpath('data')", json!([]));
    let plugin = Path::new(&folder).join("site/pack/pillion/start/pillion");
    assert!(
        plugin.join("plugin/pillion.lua").is_file(),
        "{}",
        plugin.display()
    );
    nvim.wait_until("the command", "vim.fn.exists(':Pillion') == 2");
}

#[each_neovim]
fn a_file_that_is_opened_starts_what_pillion_installed(version: NvimVersion) {
    let home = Home::new();
    pillion(&home, &["install", "nvim"]);
    let file = home.file("first.txt", "one\n");
    let nothing = home.other_workspace("nothing");
    let nvim = setup(version, &home).plugin(nothing).arg(file).headless();
    nvim.wait_until(
        "Pillion running",
        "package.loaded['pillion.client'] and require('pillion.client').is_running()",
    );
}

#[each_neovim]
fn its_terminal_is_detected_as_neovims_within_that_of_vs_code(version: NvimVersion) {
    let home = Home::new();
    let nothing = home.other_workspace("nothing");
    let nvim = setup(version, &home)
        .plugin(nothing)
        .env("TERM_PROGRAM", "vscode")
        .headless();
    let out = home.root().join("detected.json");
    nvim.lua::<()>(
        "local pillion, out = ...
             script = ([['%s' detect --json > '%s.new'; mv '%s.new' '%s']]):format(pillion, out, out, out)
             vim.cmd('new')
             vim.fn.termopen({ 'sh', '-c', script })",
        json!([PILLION, out]),
    );
    let there = format!("vim.loop.fs_stat([[{}]]) ~= nil", out.display());
    nvim.wait_until("an answer", &there);
    let found: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(found["name"], "neovim");
    assert_eq!(found["displayName"], "Neovim");
    assert_eq!(found["pid"], nvim.pid(), "{found}");
}
