//! `pillion install` without an editor's name: each editor of the machine is offered what it does not have.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use pillion_testkit::{SOON, Size, Tmux};

use crate::sandbox::{Ran, Sandbox, ran};

impl Sandbox {
    /// A folder with nothing but these programs, which do nothing.
    fn machine(&self, programs: &[&str]) -> PathBuf {
        let folder = self.home.other_workspace("programs");
        for name in programs {
            let path = folder.join(name);
            fs::write(&path, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        folder
    }

    fn install_on(&self, machine: &PathBuf, args: &[&str]) -> Ran {
        let args = [&["install"], args].concat();
        let env = self.home.env().with("PATH", machine);
        ran(self.command(args).env_clear().envs(env.iter()), b"")
    }

    /// Returns true for each of Neovim and Vim that has the plugin.
    fn installed(&self) -> [bool; 2] {
        let vim = self.home.home().join(".vim/pack/pillion/start/pillion");
        [self.target().exists(), vim.exists()]
    }
}

#[test]
fn what_is_there_is_offered_to_a_terminal_only() {
    let sandbox = Sandbox::new();
    let machine = sandbox.machine(&["nvim", "vim"]);
    let hint = "`pillion install nvim`, `pillion install vim`, or `pillion install --yes`";
    let refused = sandbox.install_on(&machine, &[]);
    refused.expect_error(2, "which editor?", hint);
    let shown = sandbox
        .install_on(&machine, &["--dry-run"])
        .expect(0)
        .stdout;
    let offered = shown.lines().filter(|line| line.ends_with(": plugin"));
    assert!(offered.eq(["Neovim: plugin", "Vim: plugin"]), "{shown}");
    assert_eq!(shown.matches("would write").count(), 2, "{shown}");
    assert_eq!(sandbox.installed(), [false, false]);
    sandbox
        .install_on(&machine, &["--json"])
        .expect_error(2, "about one editor", "--list");
}

#[test]
fn all_of_it_is_installed_on_demand_and_then_nothing_is_left() {
    let sandbox = Sandbox::new();
    let bare = sandbox.machine(&[]);
    let nothing = sandbox.install_on(&bare, &[]).expect(0).stdout;
    assert!(
        nothing.starts_with("no editor that Pillion knows"),
        "{nothing}"
    );
    let machine = sandbox.machine(&["nvim", "vim"]);
    sandbox.install_on(&machine, &["--yes"]).expect(0);
    assert_eq!(sandbox.installed(), [true, true]);
    let nothing = sandbox.install_on(&machine, &[]).expect(0).stdout;
    assert!(
        nothing.starts_with("every editor on this machine has"),
        "{nothing}"
    );
}

/// Its next start would stop with a message, and so would every one after it.
#[test]
fn an_editor_that_is_too_old_gets_nothing() {
    let sandbox = Sandbox::new();
    let machine = sandbox.machine(&["nvim", "vim", "kak"]);
    for (name, says) in [
        ("nvim", "NVIM v0.7.2"),
        (
            "vim",
            "VIM - Vi IMproved 9.0 (2022 Jun 28, compiled May 04 2023)",
        ),
        ("kak", "Kakoune v2024.05.18"),
    ] {
        fs::write(machine.join(name), format!("#!/bin/sh\necho '{says}'\n")).unwrap();
    }
    let old = "Vim 9.0 is too old: Pillion needs 9.1 or newer";
    let shown = sandbox
        .install_on(&machine, &["--dry-run"])
        .expect(0)
        .stdout;
    assert!(shown.contains(old), "{shown}");
    assert!(shown.contains("Neovim 0.7.2 is too old"), "{shown}");
    assert_eq!(shown.matches("would write").count(), 1, "{shown}");
    let refused = sandbox.install_on(&machine, &["vim"]);
    refused.expect_error(1, old, "Update it.");
    sandbox.install_on(&machine, &["--yes"]).expect(0);
    assert_eq!(sandbox.installed(), [false, false]);
    sandbox.install_on(&machine, &["vim", "--force"]).expect(0);
    fs::write(machine.join("nvim"), "#!/bin/sh\necho 'NVIM v0.10.0-dev'\n").unwrap();
    sandbox.install_on(&machine, &["--yes"]).expect(0);
    assert_eq!(sandbox.installed(), [true, true]);
}

#[test]
fn one_that_cannot_be_installed_does_not_keep_the_others_waiting() {
    let sandbox = Sandbox::new();
    let machine = sandbox.machine(&["nvim", "vim"]);
    // Where its folder would be.
    let data = sandbox.data();
    fs::create_dir_all(data.parent().unwrap()).unwrap();
    fs::write(&data, "").unwrap();
    let ran = sandbox.install_on(&machine, &["--yes"]).expect(1);
    assert!(ran.stderr.starts_with("error: Neovim: "), "{}", ran.stderr);
    assert_eq!(sandbox.installed(), [false, true]);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn each_editor_is_one_question() {
    let sandbox = Sandbox::new();
    let machine = sandbox.machine(&["nvim", "vim", "kak"]);
    let env = sandbox.home.env().with("PATH", &machine);
    let program = env!("CARGO_BIN_EXE_pillion");
    let line = format!("{program} install; echo \"exit code $?\"; read line");
    let shell = ["/bin/sh", "-c", &line];
    let folder = sandbox.home.workspace();
    let pane = Tmux::start().spawn("install", Size::new(100, 30), &env, &folder, &shell);
    pane.wait_for("Neovim: install plugin? [Y/n]", SOON);
    pane.send_keys(["n", "Enter"]);
    pane.wait_for("Vim: install plugin? [Y/n]", SOON);
    pane.send_keys(["Enter"]);
    pane.wait_for("Kakoune: install", SOON);
    // The end of the input is no yes.
    pane.send_keys(["C-d"]);
    pane.wait_for("exit code 0", SOON);
    assert_eq!(sandbox.installed(), [false, true]);
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_takes_long_is_said_while_it_does_and_then_goes() {
    let sandbox = Sandbox::new();
    let machine = sandbox.machine(&["code"]);
    let goes_on = sandbox.home.root().join("goes-on");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --install-extension ] || exit 0\n\
         until [ -e '{}' ]; do /bin/sleep 0.05; done\necho done\n",
        goes_on.display()
    );
    fs::write(machine.join("code"), script).unwrap();
    let env = sandbox.home.env().with("PATH", &machine);
    let line = format!(
        "{} install vscode; read line",
        env!("CARGO_BIN_EXE_pillion")
    );
    let shell = ["/bin/sh", "-c", &line];
    let folder = sandbox.home.workspace();
    let pane = Tmux::start().spawn("slow", Size::new(120, 30), &env, &folder, &shell);
    pane.wait_for("still at this: run ", SOON);
    fs::write(goes_on, "").unwrap();
    // Its list has no extension.
    let done = pane.wait_for("does not list it afterwards", SOON);
    assert!(!done.contains("still"), "{done}");
}
