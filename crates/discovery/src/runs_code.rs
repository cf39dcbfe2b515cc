//! Which program runs or obeys a file without being started: by all names that the file has here, and by the settings of its
//! repository. What one name tells is [`Runner`]'s.

use std::path::Path;

use pillion_protocol::runs_code::Runner;

use crate::real_path;
use crate::regular_file;
use crate::version_control::{self, GitFolders, git};

/// Settings of a repository are not longer than this, in bytes.
const MAX_SETTINGS: u64 = 1 << 20;

/// The names of the programs that git runs (githooks(5)).
const GIT_HOOKS: &str = "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg \
     commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive \
     post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate \
     fsmonitor-watchman p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change";

/// The program that runs or obeys this file, if any does. Blocking.
pub fn runner(path: &Path) -> Option<Runner> {
    let real = real_path(path);
    let names = [path, &real].into_iter();
    let of_names = || names.clone().find_map(Runner::of);
    of_names().or_else(|| is_gits(&real).then_some(Runner::Git))
}

/// Returns true if this file lies in a repository's own folder, whatever that is called, or if the settings of the repository in
/// whose work tree it lies name it.
fn is_gits(path: &Path) -> bool {
    for folder in path.ancestors().skip(1) {
        if version_control::is_git_folder(folder) {
            return true;
        }
        if version_control::is_work_tree(folder) {
            return is_included(folder, path) || is_git_hook(folder, path);
        }
    }
    false
}

/// Returns true if the settings of a repository include this file. Git is asked only if they include any.
fn is_included(top: &Path, path: &Path) -> bool {
    let settings = GitFolders::of(top).map(|it| it.common.join("config"));
    let settings = settings.and_then(|it| regular_file::read(&it, MAX_SETTINGS).ok());
    let text = String::from_utf8_lossy(&settings.unwrap_or_default()).to_lowercase();
    text.contains("[include")
        && git::included_files(top)
            .is_ok_and(|all| all.iter().any(|it| it == path || real_path(it) == path))
}

/// Returns true if the settings of a repository have git run programs of the folder in which this file lies. Git is asked only
/// where a program of that name is.
fn is_git_hook(top: &Path, path: &Path) -> bool {
    let is_hook = |it: &Path| is_hooks_name(it) || it.parent().is_some_and(has_hooks);
    let mut inner = path.ancestors().take_while(|it| *it != top);
    if !inner.any(is_hook) {
        return false;
    }
    let setting = git::path_setting(top, "core.hooksPath").ok().flatten();
    setting.is_some_and(|folder| path.starts_with(real_path(&top.join(folder))))
}

fn is_hooks_name(path: &Path) -> bool {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    GIT_HOOKS.split(' ').any(|it| it == name)
}

fn has_hooks(folder: &Path) -> bool {
    let mut hooks = GIT_HOOKS.split(' ').map(|it| folder.join(it));
    hooks.any(|it| it.is_file())
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on says where")]

    use std::fs;
    use std::process::Command;

    use super::*;

    #[test]
    fn what_git_is_told_to_run_is_code_wherever_it_lies() {
        for (setting, hooks, runs) in [
            ("git config core.hooksPath tools/hooks", "tools/hooks", true),
            ("git config core.hooksPath \"$PWD/hk\"", "hk", true),
            // In a file that the settings include, and by a link.
            (
                "printf '[core]\\nhooksPath = hk\\n' > more; git config include.path ../more",
                "hk",
                true,
            ),
            (
                "mkdir real; ln -s real hk; git config core.hooksPath hk",
                "real",
                true,
            ),
            ("git config core.hooksPath hk", "other", false),
            ("true", "hooks", false),
            // What cannot be read says nothing, and nobody waits for it.
            ("echo '[' >> .git/config", "hk", false),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().canonicalize().unwrap();
            let mut shell = Command::new("sh");
            shell.args([
                "-ec",
                &format!("git init -q; {setting}; mkdir -p {hooks}/lib src"),
            ]);
            shell
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .current_dir(&root);
            assert!(shell.status().unwrap().success(), "{setting}");
            let expected = runs.then_some(Runner::Git);
            let hook = root.join(hooks).join("pre-commit");
            assert_eq!(runner(&hook), expected, "{setting}");
            fs::write(&hook, ". lib/all\n").unwrap();
            for name in ["commit-msg", "helper.sh", "lib/all"] {
                let file = root.join(hooks).join(name);
                assert_eq!(runner(&file), expected, "{setting} {name}");
            }
            assert_eq!(runner(&root.join("src/pre-commit")), None, "{setting}");
            assert_eq!(runner(&root.join("src/a.rs")), None, "{setting}");
        }
    }

    #[test]
    fn what_git_takes_its_settings_from_is_code_whatever_it_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let mut shell = Command::new("sh");
        let setup = "git init -q; git config include.path ../more.cfg
            git config includeIf.onbranch:x.path \"$PWD/other.cfg\"
            printf '[include]\npath = inner.cfg\n' > more.cfg
            git init -q --bare store; mkdir tree; echo 'gitdir: ../store' > tree/.git";
        shell.args(["-ec", setup]).current_dir(&root);
        shell.env("GIT_CONFIG_GLOBAL", "/dev/null");
        assert!(shell.status().unwrap().success());
        for (name, is_gits) in [
            ("more.cfg", true),
            ("other.cfg", true),
            ("inner.cfg", true),
            ("third.cfg", false),
            ("store/config", true),
            ("store/hooks/pre-commit", true),
            ("tree/config", false),
        ] {
            let expected = is_gits.then_some(Runner::Git);
            assert_eq!(runner(&root.join(name)), expected, "{name}");
        }
    }
}
