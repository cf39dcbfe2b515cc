//! The lines by which the editors' own package managers get the plugins from a clone: each as the documentation has it.

use std::path::{Path, PathBuf};
use std::process::Command;

use pillion_testkit::{Home, NvimSetup, NvimVersion};
use serde_json::json;

use crate::bare::{Debian, LOOK_OF_NEOVIM, artifact};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

/// A clone, in this folder.
fn cloned(of: &str, folder: &Path) -> bool {
    let mut git = Command::new("timeout");
    git.args(["60", "git", "clone", "--quiet", "--no-hardlinks", of])
        .arg(folder);
    git.env("GIT_TERMINAL_PROMPT", "0");
    git.status().unwrap().success()
}

/// The code on a page under this heading, for who has a clone in `~/src/pillion`.
fn line(page: &str, heading: &str) -> String {
    let page = std::fs::read_to_string(Path::new(ROOT).join(page)).unwrap();
    let (_, rest) = page
        .split_once(heading)
        .unwrap_or_else(|| panic!("no {heading}"));
    let block = rest.split("```").nth(1).unwrap();
    let code = block.split_once('\n').unwrap().1;
    assert!(code.contains("~/src/pillion"), "{code}");
    code.to_owned()
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn neovims_own_manager_gets_it() {
    let home = Home::new();
    assert!(cloned(ROOT, &home.home().join("src/pillion")));
    let line = line("editors/nvim/README.md", "**vim.pack**");
    let nothing = home.other_workspace("nothing");
    let file = home.file("first.txt", "one\n");
    // It asks before it installs.
    let agree = "vim.fn.confirm = function() return 1 end";
    for round in ["installs", "starts"] {
        let setup = NvimSetup::new(NvimVersion::V0_12, &home)
            .pillion(PILLION)
            .plugin(&nothing);
        let nvim = setup.init(agree).init(&line).arg(&file).headless();
        nvim.wait_until(
            round,
            "package.loaded['pillion.client'] and require('pillion.client').is_running()",
        );
        let help: usize = nvim.lua(
            "return #vim.fn.getcompletion('pillion-', 'help')",
            json!([]),
        );
        assert!(help > 5, "{round}: {help}");
        nvim.assert_no_errors();
    }
}

/// A Debian with the program and the clone.
fn debian() -> Debian {
    let debian = Debian::new();
    assert!(cloned(ROOT, &debian.path("root/src/pillion")));
    debian.put("usr/local/bin/pillion", std::fs::read(program()).unwrap());
    debian.run("chmod 755 /usr/local/bin/pillion; chown -R root:root /root/src");
    debian
}

/// The static one, which runs there too.
fn program() -> PathBuf {
    let archive = artifact(
        &format!("pillion-{}-{}", crate::bare::VERSION, crate::bare::target()),
        ".tar.gz",
    );
    let folder = crate::bare::unpacked(&archive).keep();
    let name = archive
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .trim_end_matches(".tar.gz");
    folder.join(name).join("pillion")
}

/// A clone of somebody's plugin manager, in this folder: from a folder of such clones, else from where it is published.
#[allow(clippy::print_stderr, reason = "it tells that the test gave up")]
fn manager(debian: &Debian, name: &str, address: &str, to: &str) -> bool {
    let folder = std::env::var_os("PILLION_TEST_MANAGERS").map(PathBuf::from);
    let copy = folder
        .map(|folder| folder.join(name))
        .filter(|it| it.exists());
    let of = copy.map_or_else(|| address.to_owned(), |copy| copy.display().to_string());
    let is_there = cloned(&of, &debian.path(to));
    if !is_there {
        eprintln!("skipped: {name} cannot be downloaded, and is not in PILLION_TEST_MANAGERS");
    }
    is_there
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn lazy_nvim_gets_it() {
    let debian = debian();
    let address = "https://github.com/folke/lazy.nvim";
    if !manager(&debian, "lazy.nvim", address, "root/lazy") {
        return;
    }
    let line = line("editors/nvim/README.md", "**[lazy.nvim]");
    debian.put(
        "root/.config/nvim/init.lua",
        format!(
            "vim.opt.rtp:prepend('/root/lazy')\nrequire('lazy').setup({{ spec = {{ {line} }} }})"
        ),
    );
    debian.put("tmp/look.lua", LOOK_OF_NEOVIM);
    debian.run(
        "chown -R root:root /root/lazy
        echo one > first.txt; timeout 100 nvim --headless '+Lazy! sync' +qa",
    );
    debian.run("timeout 60 nvim --headless first.txt -c 'luafile /tmp/look.lua'");
    assert_eq!(debian.get("tmp/look"), "true true \n");
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn vim_plug_gets_it_for_neovim_and_for_vim() {
    let debian = debian();
    let address = "https://github.com/junegunn/vim-plug";
    if !manager(&debian, "vim-plug", address, "root/plug") {
        return;
    }
    let settings = |page: &str| {
        let line = line(page, "**[vim-plug]");
        format!("set rtp+=/root/plug\ncall plug#begin('/root/plugged')\n{line}call plug#end()\n")
    };
    debian.run(
        "mkdir /root/plug/autoload
        cp /root/plug/plug.vim /root/plug/autoload/; echo one > first.txt",
    );
    debian.put(
        "root/.config/nvim/init.vim",
        settings("editors/nvim/README.md"),
    );
    debian.put("tmp/look.lua", LOOK_OF_NEOVIM);
    debian.run("timeout 100 nvim --headless '+PlugInstall --sync' +qa");
    debian.run("timeout 60 nvim --headless first.txt -c 'luafile /tmp/look.lua'");
    assert_eq!(debian.get("tmp/look"), "true true \n");

    debian.run("rm -r /root/.config/nvim");
    debian.put("root/.vimrc", settings("editors/vim/README.md"));
    debian.run("timeout 100 script -qec \"vim '+PlugInstall --sync' +qa\" /dev/null");
    debian.put(
        "tmp/look.vim",
        "func Look(timer)
           if system('pillion list --json') =~ 'Vim'
             call writefile([exists(':Pillion') . ' ' . (len(getcompletion('pillion-', 'help')) > 5)], '/tmp/vim')
             qall!
           endif
         endfunc
         call timer_start(200, 'Look', {'repeat': -1})",
    );
    debian.run("timeout 60 script -qec 'vim -S /tmp/look.vim first.txt' /dev/null");
    assert_eq!(debian.get("tmp/vim"), "2 1\n");
}

#[test]
#[ignore = "needs the artifacts: cargo xtask test --only dist"]
fn package_vc_gets_it() {
    let debian = debian();
    let line = line("editors/emacs/README.md", "**With package-vc**");
    debian.put(
        "root/.emacs.d/init.el",
        format!(
            "{line}
             (run-at-time 0.2 0.2 (lambda ()
               (when (string-match-p \"Emacs\" (shell-command-to-string \"pillion list --json\"))
                 (write-region (format \"%s\" (locate-library \"pillion\")) nil \"/tmp/emacs\")
                 (kill-emacs))))"
        ),
    );
    debian.run("echo one > first.txt; timeout 100 script -qec 'emacs -nw first.txt' /dev/null");
    let place = debian.get("tmp/emacs");
    assert!(
        place.starts_with("/root/.emacs.d/elpa/pillion/editors/emacs/pillion.el"),
        "{place}"
    );
}
