//! Which program runs or obeys a file without being started: by all names that the file has here, and by the settings of its
//! repository. What one name tells is [`Runner`]'s.

use std::path::Path;

use pillion_protocol::runs_code::Runner;

use crate::real_path;
use crate::version_control::{self, git};

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
    of_names().or_else(|| is_git_hook(&real).then_some(Runner::Git))
}

/// Returns true if the settings of its repository have git run programs of the folder in which this file lies. Git is asked only
/// where a program of that name is.
fn is_git_hook(path: &Path) -> bool {
    let folders = || path.ancestors().skip(1);
    let Some(top) = folders().find(|it| version_control::is_work_tree(it)) else {
        return false;
    };
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
}
