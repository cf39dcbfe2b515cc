//! `pillion install` and `pillion uninstall`: Neovim's package in a fresh home, and what is true of
//! every editor.

mod helix;
mod kate;
mod offer;
mod system;
mod vscode;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use pillion_testkit::Home;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, ran};

impl Sandbox {
    /// Neovim's folder for what is not settings.
    fn data(&self) -> PathBuf {
        self.home.home().join(".local/share/nvim")
    }

    /// The folder in which the plugin is installed.
    fn target(&self) -> PathBuf {
        self.data().join("site/pack/pillion/start/pillion")
    }
}

/// Every file and link of the home, with its content.
fn tree(home: &Home) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![home.home()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_symlink() {
                let to = fs::read_link(&path).unwrap();
                found.push((path, to.into_os_string().into_encoded_bytes()));
            } else if path.is_dir() {
                found.push((path.clone(), Vec::new()));
                folders.push(path);
            } else {
                let text = fs::read(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn neovims_plugin_comes_and_goes_and_nothing_else_changes() {
    let sandbox = Sandbox::new();
    let before = tree(&sandbox.home);
    let dry = sandbox.run(["install", "nvim", "--dry-run"]).expect(0);
    assert!(dry.stdout.contains("would write "), "{}", dry.stdout);
    let dry = sandbox
        .run(["install", "nvim", "--dry-run", "--json"])
        .expect(0);
    let dry: Value = serde_json::from_str(&dry.stdout).unwrap();
    let next = dry["next"].as_str().unwrap();
    assert!(next.contains(":checkhealth pillion"), "{next}");
    assert_eq!(dry["steps"][0]["success"], Value::Null);
    assert_eq!(tree(&sandbox.home), before);

    let done = sandbox.run(["install", "neovim"]).expect(0);
    let target = sandbox.target();
    assert!(
        done.stdout.contains(&format!("in {}", target.display())),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.contains(":checkhealth pillion"),
        "{}",
        done.stdout
    );
    assert!(target.join("plugin/pillion.lua").is_file());
    assert!(target.join("doc/tags").is_file());
    assert!(!target.join("README.md").exists());

    let installed = tree(&sandbox.home);
    let again = sandbox.run(["install", "nvim", "--json"]).expect(0);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(
        (&again["success"], &again["steps"], &again["next"]),
        (&json!(true), &json!([]), &Value::Null)
    );
    assert_eq!(tree(&sandbox.home), installed);

    sandbox.run(["uninstall", "nvim", "--dry-run"]).expect(0);
    assert_eq!(tree(&sandbox.home), installed);
    sandbox.run(["uninstall", "nvim"]).expect(0);
    assert_eq!(tree(&sandbox.home), before);
    sandbox
        .run(["uninstall", "nvim"])
        .expect_error(1, "does not exist", "plugin manager");
}

#[test]
fn an_older_plugin_is_replaced_and_its_files_that_are_gone_go() {
    let sandbox = Sandbox::new();
    sandbox.run(["install", "nvim"]).expect(0);
    let now = tree(&sandbox.home);
    make_older(&sandbox);
    let shown = sandbox.run(["install", "--list"]).expect(0).stdout;
    let version = env!("CARGO_PKG_VERSION");
    let older = format!("plugin 0.0.9 (`pillion` is {version})\n");
    assert!(shown.contains(&older), "{shown}");
    let done = sandbox.run(["install", "nvim"]).expect(0);
    assert!(done.stdout.contains("from 0.0.9 to "), "{}", done.stdout);
    assert_eq!(tree(&sandbox.home), now);
}

/// Makes the installed plugin one of version 0.0.9, with a file more.
fn make_older(sandbox: &Sandbox) {
    let target = sandbox.target();
    let path = target.join(".pillion-installed.json");
    let mut marker: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    marker["version"] = json!("0.0.9");
    // SHA-256 of nothing.
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    marker["files"]["lua/pillion/gone.lua"] = json!(empty);
    marker["files"]["lua/pillion/init.lua"] = json!(empty);
    fs::write(path, marker.to_string()).unwrap();
    fs::write(target.join("lua/pillion/gone.lua"), "").unwrap();
    fs::write(target.join("lua/pillion/init.lua"), "").unwrap();
}

#[test]
fn what_the_user_changed_is_not_overwritten_unless_asked_and_then_kept() {
    let sandbox = Sandbox::new();
    sandbox.run(["install", "nvim"]).expect(0);
    let target = sandbox.target();
    fs::write(target.join("lua/pillion/init.lua"), "-- mine\n").unwrap();
    fs::write(target.join("lua/mine.lua"), "-- mine, too\n").unwrap();
    let changed = tree(&sandbox.home);
    let shown = sandbox.run(["install", "--list"]).expect(0).stdout;
    assert!(shown.contains("(changed by you)\n"), "{shown}");
    let names = "lua/pillion/init.lua (changed), lua/mine.lua (added)";
    sandbox
        .run(["install", "nvim"])
        .expect_error(1, names, "--force");
    assert_eq!(tree(&sandbox.home), changed);

    let done = sandbox.run(["install", "nvim", "--force"]).expect(0);
    let backup = sandbox.data().join("site/pack/pillion/backup/pillion-1");
    assert!(
        done.stdout.contains(&backup.display().to_string()),
        "{}",
        done.stdout
    );
    assert_eq!(
        fs::read_to_string(backup.join("lua/mine.lua")).unwrap(),
        "-- mine, too\n"
    );
    assert!(!target.join("lua/mine.lua").exists());

    fs::write(target.join("lua/pillion/init.lua"), "-- mine\n").unwrap();
    let gone = sandbox.run(["uninstall", "nvim"]).expect(0);
    assert!(
        gone.stdout.contains("kept yours: lua/pillion/init.lua"),
        "{}",
        gone.stdout
    );
    assert!(target.join("lua/pillion/init.lua").is_file());
    assert!(!target.join("plugin").exists());
}

#[test]
fn what_is_not_ours_is_left_alone_unless_asked_and_then_moved_aside() {
    let sandbox = Sandbox::new();
    let target = sandbox.target();
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    let elsewhere = sandbox.home.other_workspace("elsewhere");
    fs::write(elsewhere.join("f"), "f").unwrap();
    let make: [(&str, &dyn Fn()); 3] = [
        ("a link to ", &|| symlink(&elsewhere, &target).unwrap()),
        ("a file", &|| fs::write(&target, "x").unwrap()),
        ("a folder that Pillion did not install", &|| {
            fs::create_dir(&target).unwrap();
            fs::write(target.join("mine"), "x").unwrap();
        }),
    ];
    for (number, (what, make)) in make.into_iter().enumerate() {
        make();
        let before = tree(&sandbox.home);
        sandbox
            .run(["install", "nvim"])
            .expect_error(1, what, "--force");
        sandbox.run(["uninstall", "nvim"]).expect_error(
            1,
            what,
            "cannot tell which files are its own",
        );
        assert_eq!(tree(&sandbox.home), before);
        sandbox.run(["install", "nvim", "--force"]).expect(0);
        assert!(target.join("plugin/pillion.lua").is_file() && !target.is_symlink());
        let backup = sandbox.data().join("site/pack/pillion/backup");
        assert_eq!(fs::read_dir(&backup).unwrap().count(), number + 1);
        let gone = sandbox.run(["uninstall", "nvim"]).expect(0);
        let note = format!("moved aside for the plugin stay in {}", backup.display());
        assert!(gone.stdout.contains(&note), "{}", gone.stdout);
    }
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 1);
}

#[test]
fn a_plugin_managers_copy_is_noticed() {
    for place in [
        ".local/share/nvim/lazy/pillion",
        ".local/share/nvim/plugged/pillion",
        ".config/nvim/plugged/pillion",
        ".vim/plugged/pillion",
        ".local/share/nvim/site/pack/deps/opt/pillion.nvim",
        ".config/nvim/pack/mine/start/pillion",
    ] {
        let sandbox = Sandbox::new();
        let copy = sandbox.home.home().join(place);
        fs::create_dir_all(copy.join("lua/pillion")).unwrap();
        fs::write(copy.join("lua/pillion/client.lua"), "").unwrap();
        let before = tree(&sandbox.home);
        let error = format!("the plugin is already in {}", copy.display());
        sandbox
            .run(["install", "nvim"])
            .expect_error(1, &error, "A plugin manager");
        let shown = sandbox.run(["install", "--list"]).expect(0).stdout;
        assert!(
            shown.contains(&format!("plugin in {}", copy.display())),
            "{shown}"
        );
        assert_eq!(tree(&sandbox.home), before);
        let forced = sandbox.run(["install", "nvim", "--force"]).expect(0);
        assert!(forced.stdout.contains("two copies"), "{}", forced.stdout);
        assert!(copy.join("lua/pillion/client.lua").is_file());
    }
}

#[test]
fn who_uses_lazy_nvim_is_told_the_line_that_loads_it() {
    let sandbox = Sandbox::new();
    let line = format!("{{ dir = \"{}\" }}", sandbox.target().display());
    let said = sandbox.run(["install", "nvim", "--dry-run"]).expect(0);
    assert!(!said.stdout.contains("lazy"), "{}", said.stdout);
    fs::create_dir_all(sandbox.data().join("lazy/lazy.nvim")).unwrap();
    let said = sandbox.run(["install", "nvim"]).expect(0);
    assert!(said.stdout.contains(&line), "{}", said.stdout);
}

#[test]
fn an_installation_that_is_killed_is_repeated() {
    let sandbox = Sandbox::new();
    let target = sandbox.target();
    for delay in 0..40 {
        let mut child = sandbox
            .command(["install", "nvim"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(delay * 400));
        let _ = child.kill();
        child.wait().unwrap();
        // Whatever it left, it may go as well as be completed.
        if target.join(".pillion-installed.json").exists() && delay % 2 == 0 {
            sandbox.run(["uninstall", "nvim"]).expect(0);
            assert!(!target.exists());
        }
        sandbox.run(["install", "nvim"]).expect(0);
        let again = sandbox.run(["install", "nvim", "--json"]).expect(0);
        assert!(again.stdout.contains("\"steps\":[]"), "{}", again.stdout);
        sandbox.run(["uninstall", "nvim"]).expect(0);
        assert!(!target.exists());
    }
}

#[test]
fn two_installations_at_once_both_succeed() {
    for _ in 0..10 {
        let sandbox = Sandbox::new();
        let both = [(); 2].map(|()| {
            let mut command = sandbox.command(["install", "nvim"]);
            let quiet = command.stdout(Stdio::null()).stderr(Stdio::piped());
            quiet.spawn().unwrap()
        });
        for child in both {
            let output = child.wait_with_output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{errors}");
        }
        let again = sandbox.run(["install", "nvim", "--json"]).expect(0);
        assert!(again.stdout.contains("\"steps\":[]"), "{}", again.stdout);
        let package = sandbox.data().join("site/pack/pillion");
        assert_eq!(fs::read_dir(package).unwrap().count(), 1);
    }
}

#[test]
fn a_link_of_a_dotfile_manager_is_followed_or_named() {
    let sandbox = Sandbox::new();
    let elsewhere = sandbox.home.home().join("dotfiles");
    fs::create_dir_all(sandbox.data().parent().unwrap()).unwrap();
    symlink(&elsewhere, sandbox.data()).unwrap();
    let named = format!("is a link to {}, which does not exist", elsewhere.display());
    sandbox
        .run(["install", "nvim"])
        .expect_error(1, &named, "run it again");
    fs::create_dir(&elsewhere).unwrap();
    sandbox.run(["install", "nvim"]).expect(0);
    assert!(elsewhere.join("site/pack/pillion/start/pillion").is_dir());
    sandbox.run(["uninstall", "nvim"]).expect(0);
    assert!(sandbox.data().is_symlink());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_file_where_a_folder_belongs_is_named() {
    let sandbox = Sandbox::new();
    fs::create_dir_all(sandbox.data()).unwrap();
    fs::write(sandbox.data().join("site"), "").unwrap();
    let ran = sandbox.run(["install", "nvim"]);
    ran.expect_error(1, "nvim/site/pack: Not a directory", "run it again");
    let ran = sandbox.run(["uninstall", "nvim"]);
    ran.expect_error(1, "does not exist", "plugin manager");
}

#[test]
fn a_damaged_marker_is_named_and_a_repository_is_not_listed_whole() {
    let sandbox = Sandbox::new();
    sandbox.run(["install", "nvim"]).expect(0);
    let folder = sandbox.target().join(".git/objects");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..12 {
        fs::write(folder.join(number.to_string()), "").unwrap();
    }
    sandbox
        .run(["install", "nvim"])
        .expect_error(1, "(added), and 2 more", "--force");
    fs::write(sandbox.target().join(".pillion-installed.json"), "{").unwrap();
    let damaged = "is a folder with a damaged .pillion-installed.json";
    sandbox
        .run(["install", "nvim"])
        .expect_error(1, damaged, "--force");
    sandbox
        .run(["uninstall", "nvim"])
        .expect_error(1, damaged, "remove the folder yourself");
}

#[test]
fn sudo_puts_nothing_into_the_home_of_who_called_it() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let sandbox = Sandbox::new();
    std::os::unix::fs::chown(sandbox.home.home(), Some(4242), None).unwrap();
    let before = tree(&sandbox.home);
    let mut command = sandbox.command(["install", "nvim"]);
    ran(command.env("SUDO_UID", "4242"), b"").expect_error(
        1,
        "would belong to root",
        "without `sudo`",
    );
    assert_eq!(tree(&sandbox.home), before);
    let mut command = sandbox.command(["install", "nvim"]);
    ran(command.env("SUDO_UID", "4243"), b"").expect(0);
}

/// Runs a shell script in a mount namespace of its own, as root. `$DISK` is a file system of this
/// kind, Neovim's data are there. Returns what it prints.
fn on_disk(sandbox: &Sandbox, mount: &str, script: &str) -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let disk = sandbox.home.other_workspace("disk");
    let script = format!("mount -t tmpfs -o {mount} pillion-test \"$DISK\"\n{script}");
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-ec", &script])
        .env_clear()
        .envs(sandbox.home.env().iter())
        .env("DISK", &disk)
        .env("XDG_DATA_HOME", &disk)
        .env("PILLION", env!("CARGO_BIN_EXE_pillion"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_full_disk_is_named_and_the_installation_repeated() {
    let sandbox = Sandbox::new();
    let script = "$PILLION install nvim 2>&1 || echo code $?
        mount -o remount,size=2m \"$DISK\"
        $PILLION install nvim >&2
        $PILLION install nvim --json
        $PILLION uninstall nvim >&2
        find \"$DISK\" -mindepth 1 -type f";
    let Some(said) = on_disk(&sandbox, "size=100k", script) else {
        return;
    };
    assert!(said.contains("free some space"), "{said}");
    assert!(
        said.contains("code 1\n") && said.contains("run it again"),
        "{said}"
    );
    assert!(said.contains("\"steps\":[]"), "{said}");
    assert!(said.ends_with("}\n"), "{said}");
}

#[test]
fn a_full_disk_loses_nothing_of_the_users_when_a_folder_is_moved_aside() {
    let sandbox = Sandbox::new();
    let script = "mkdir -p \"$DISK/nvim/site/pack/pillion/start/pillion\"
        cd \"$DISK/nvim/site/pack/pillion\"
        echo mine > start/pillion/mine
        $PILLION install nvim --force 2>&1 || echo code $?
        cat backup/pillion-1/mine";
    let Some(said) = on_disk(&sandbox, "size=100k", script) else {
        return;
    };
    assert!(said.contains("backup/pillion-1)"), "{said}");
    assert!(said.ends_with("code 1\nmine\n"), "{said}");
}

#[test]
fn uninstalling_what_cannot_all_go_is_repeated_and_keeps_what_is_the_users() {
    let sandbox = Sandbox::new();
    let script = "$PILLION install nvim >&2
        cd \"$DISK/nvim/site/pack/pillion/start/pillion\"
        echo mine > mine
        mount --bind plugin plugin && mount -o remount,ro,bind plugin
        $PILLION uninstall nvim 2>&1 || echo code $?
        umount plugin
        $PILLION uninstall nvim >&2
        find . -type f";
    let Some(said) = on_disk(&sandbox, "size=2m", script) else {
        return;
    };
    assert!(said.contains("run it again"), "{said}");
    assert!(said.ends_with("code 1\n./mine\n"), "{said}");
}

#[test]
fn a_disk_that_is_read_only_is_named() {
    let sandbox = Sandbox::new();
    let script = "$PILLION install nvim 2>&1 || echo code $?; find \"$DISK\" -mindepth 1";
    let Some(said) = on_disk(&sandbox, "ro", script) else {
        return;
    };
    assert!(said.contains("make that folder writable"), "{said}");
    assert!(said.ends_with("code 1\n"), "{said}");
}

#[test]
fn the_list_names_every_editor() {
    let sandbox = Sandbox::new();
    sandbox.run(["install", "nvim"]).expect(0);
    let shown = sandbox.run(["install", "--list"]).expect(0).stdout;
    for name in ["nvim", "vscode", "cursor", "positron", "firebase-studio"] {
        assert!(shown.lines().any(|line| line.starts_with(name)), "{shown}");
    }
    let version = format!("plugin {}", env!("CARGO_PKG_VERSION"));
    assert!(shown.contains(&version), "{shown}");
    sandbox.run(["install", "notepad"]).expect(2);
    let ran = sandbox.run(["install", "nvim", "--agent", "gemini"]);
    ran.expect_error(2, "serves every agent", "--agent");
}
