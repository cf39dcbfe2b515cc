//! `pillion install` and `pillion uninstall`: Neovim's package in a fresh home, and editors whose
//! command line is a stand-in that notes its arguments.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use pillion_testkit::Home;
use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, ran};

const GEMINI: &str = "google.gemini-cli-vscode-ide-companion";
const QWEN: &str = "qwenlm.qwen-code-vscode-ide-companion";

impl Sandbox {
    /// Neovim's folder for what is not settings.
    fn data(&self) -> PathBuf {
        self.home.home().join(".local/share/nvim")
    }

    /// Where the plugin is installed.
    fn target(&self) -> PathBuf {
        self.data().join("site/pack/pillion/start/pillion")
    }

    /// An editor's command that notes its arguments, a line each, and fails where `fails` stands in
    /// them.
    fn editor(&self, name: &str, fails: &str) -> PathBuf {
        let log = self.log(name);
        let script = format!(
            "#!/bin/sh\nfor word; do echo \"$word\" >> '{}'; done\n\
             case \"$*\" in *{fails}*) echo first; echo \"no network\" >&2; exit 7;; esac\n\
             echo \"Extension '$2' was successfully installed.\"\n",
            log.display()
        );
        let path = self.home.other_workspace("bin").join(name);
        let text = self.home.root().join(format!("{name}.sh"));
        fs::write(&text, script).unwrap();
        // By another process: what this one writes, a child of another test may still hold open, and
        // then it cannot be run.
        let installed = Command::new("install").args([&text, &path]).status();
        assert!(installed.unwrap().success());
        path
    }

    fn log(&self, name: &str) -> PathBuf {
        self.home.root().join(format!("{name}.log"))
    }

    /// What the stand-in was given; nothing if it was not run.
    fn given(&self, name: &str) -> Vec<String> {
        let text = fs::read_to_string(self.log(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The command with the stand-ins on PATH.
    fn with_editors(&self, args: &[&str]) -> Ran {
        let mut env = self.home.env();
        env.prepend_path(self.home.other_workspace("bin"));
        ran(self.command(args).env_clear().envs(env.iter()), b"")
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
    assert!(dry.stdout.contains("would put "), "{}", dry.stdout);
    assert_eq!(tree(&sandbox.home), before);

    let done = sandbox.run(["install", "neovim"]).expect(0);
    let target = sandbox.target();
    assert!(
        done.stdout.contains(&format!("into {}", target.display())),
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
        (&again["success"], &again["steps"]),
        (&json!(true), &json!([]))
    );
    assert_eq!(tree(&sandbox.home), installed);

    sandbox.run(["uninstall", "nvim", "--dry-run"]).expect(0);
    assert_eq!(tree(&sandbox.home), installed);
    sandbox.run(["uninstall", "nvim"]).expect(0);
    assert_eq!(tree(&sandbox.home), before);
    sandbox
        .run(["uninstall", "nvim"])
        .expect_error(1, "there is no ", "plugin manager");
}

#[test]
fn an_older_plugin_is_replaced_and_its_files_that_are_gone_go() {
    let sandbox = Sandbox::new();
    sandbox.run(["install", "nvim"]).expect(0);
    let now = tree(&sandbox.home);
    make_older(&sandbox);
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
        gone.stdout
            .contains("kept what is yours: lua/pillion/init.lua"),
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
            fs::create_dir(&target).unwrap()
        }),
    ];
    for (number, (what, make)) in make.into_iter().enumerate() {
        make();
        let before = tree(&sandbox.home);
        sandbox
            .run(["install", "nvim"])
            .expect_error(1, what, "--force");
        sandbox
            .run(["uninstall", "nvim"])
            .expect_error(1, what, "did not put it there");
        assert_eq!(tree(&sandbox.home), before);
        sandbox.run(["install", "nvim", "--force"]).expect(0);
        assert!(target.join("plugin/pillion.lua").is_file() && !target.is_symlink());
        let backup = sandbox.data().join("site/pack/pillion/backup");
        assert_eq!(fs::read_dir(backup).unwrap().count(), number + 1);
        sandbox.run(["uninstall", "nvim"]).expect(0);
    }
    assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 1);
}

#[test]
fn a_plugin_managers_copy_is_noticed() {
    for place in [
        ".local/share/nvim/lazy/pillion",
        ".local/share/nvim/plugged/pillion",
        ".local/share/nvim/site/pack/deps/opt/pillion.nvim",
        ".config/nvim/pack/mine/start/pillion",
    ] {
        let sandbox = Sandbox::new();
        let copy = sandbox.home.home().join(place);
        fs::create_dir_all(copy.join("lua/pillion")).unwrap();
        fs::write(copy.join("lua/pillion/client.lua"), "").unwrap();
        let before = tree(&sandbox.home);
        let error = format!("the plugin is in {} already", copy.display());
        sandbox
            .run(["install", "nvim"])
            .expect_error(1, &error, "plugin manager's");
        assert_eq!(tree(&sandbox.home), before);
        let forced = sandbox.run(["install", "nvim", "--force"]).expect(0);
        assert!(forced.stdout.contains("two copies"), "{}", forced.stdout);
        assert!(copy.join("lua/pillion/client.lua").is_file());
    }
}

#[test]
fn an_installation_that_is_killed_is_whole_or_not_there() {
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
        if target.exists() {
            let again = sandbox.run(["install", "nvim", "--json"]).expect(0);
            assert!(again.stdout.contains("\"steps\":[]"), "{}", again.stdout);
            sandbox.run(["uninstall", "nvim"]).expect(0);
        }
        assert!(!target.exists());
    }
    sandbox.run(["install", "nvim"]).expect(0);
}

#[test]
fn antigravitys_own_name_for_its_command_is_tried_and_a_path_is_not() {
    let sandbox = Sandbox::new();
    let program = sandbox.editor("my-agy", "no-such-word");
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let run = |alias: &str| {
        let mut command = sandbox.command(["install", "antigravity"]);
        ran(
            command
                .env("PATH", &path)
                .env("ANTIGRAVITY_CLI_ALIAS", alias),
            b"",
        )
    };
    run(program.to_str().unwrap()).expect_error(1, "Antigravity was not found", GEMINI);
    assert!(sandbox.given("my-agy").is_empty());
    run("my-agy").expect(0);
    assert_eq!(sandbox.given("my-agy").len(), 6);
}

/// Runs a shell script in a mount namespace of its own, as root. `$DISK` is a file system of this
/// kind, Neovim's data are there. What it prints.
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
fn a_full_disk_leaves_nothing_half_installed() {
    let sandbox = Sandbox::new();
    let script = "$PILLION install nvim 2>&1 || echo code $?; find \"$DISK\" -mindepth 1";
    let Some(said) = on_disk(&sandbox, "size=100k", script) else {
        return;
    };
    assert!(said.contains("free some space"), "{said}");
    assert!(said.contains("What failed changed nothing"), "{said}");
    assert!(said.ends_with("code 1\n"), "{said}");
}

#[test]
fn a_full_disk_leaves_the_older_version() {
    let sandbox = Sandbox::new();
    let script = "$PILLION install nvim >&2
        cd \"$DISK/nvim/site/pack/pillion/start/pillion\"
        sed -i 's/\"version\": \"[^\"]*\"/\"version\": \"0.0.9\"/' .pillion-installed.json
        find \"$DISK\" -type f | sort | xargs cksum > $TMPDIR/before
        $PILLION install nvim 2>&1 || echo code $?
        find \"$DISK\" -type f | sort | xargs cksum | cmp - $TMPDIR/before && echo same";
    let Some(said) = on_disk(&sandbox, "size=500k", script) else {
        return;
    };
    assert!(said.contains("free some space"), "{said}");
    assert!(said.ends_with("code 1\nsame\n"), "{said}");
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
fn vs_code_and_its_kin_get_both_extensions_by_their_own_command() {
    for (editor, command) in [
        ("vscode", "code"),
        ("code-insiders", "code-insiders"),
        ("vscodium", "codium"),
        ("cursor", "cursor"),
        ("windsurf", "windsurf"),
        ("trae", "trae"),
        ("antigravity", "agy"),
        ("positron", "positron"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.editor(command, "no-such-word");
        let dry = sandbox
            .with_editors(&["install", editor, "--dry-run"])
            .expect(0);
        assert!(dry.stdout.contains("--install-extension"), "{}", dry.stdout);
        assert!(sandbox.given(command).is_empty());
        let done = sandbox.with_editors(&["install", editor]).expect(0);
        let install = "--install-extension";
        let expected = [install, GEMINI, "--force", install, QWEN, "--force"];
        assert_eq!(sandbox.given(command), expected);
        let said = format!("Qwen Code's extension: Extension '{QWEN}' was successfully installed.");
        assert!(done.stdout.contains(&said), "{}", done.stdout);
        fs::remove_file(sandbox.log(command)).unwrap();
        sandbox
            .with_editors(&["uninstall", editor, "--agent", "gemini"])
            .expect(0);
        assert_eq!(sandbox.given(command), ["--uninstall-extension", GEMINI]);
    }
}

#[test]
fn the_extension_that_fails_is_named_with_the_editors_own_words() {
    let sandbox = Sandbox::new();
    sandbox.editor("code", "qwenlm");
    let ran = sandbox.with_editors(&["install", "vscode"]);
    let ran = ran.expect_error(
        1,
        "VS Code: Qwen Code's extension: failed (exit status: 7)",
        "again",
    );
    assert!(ran.stderr.contains("no network"), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("Gemini CLI's extension: Extension"),
        "{}",
        ran.stdout
    );
    let ran = sandbox
        .with_editors(&["install", "vscode", "--json"])
        .expect(1);
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(printed["success"], false);
    assert_eq!(printed["steps"][0]["success"], true);
    assert_eq!(printed["steps"][1]["success"], false);
    sandbox
        .with_editors(&["install", "vscode", "--agent", "gemini"])
        .expect(0);
}

#[test]
fn an_editor_is_found_in_its_usual_place_and_nothing_in_the_current_folder() {
    let sandbox = Sandbox::new();
    let here = sandbox.home.workspace().join("code");
    symlink(sandbox.editor("code", "no-such-word"), here).unwrap();
    let mut command = sandbox.command(["install", "vscode"]);
    ran(command.env("PATH", ".::/usr/bin:/bin"), b"").expect_error(
        1,
        "VS Code was not found",
        GEMINI,
    );
    assert!(sandbox.given("code").is_empty());
    let usual = sandbox.home.home().join(".local/share/code/bin");
    fs::create_dir_all(&usual).unwrap();
    symlink(sandbox.editor("code", "no-such-word"), usual.join("code")).unwrap();
    sandbox.run(["install", "vscode"]).expect(0);
    assert_eq!(sandbox.given("code").len(), 6);
}

#[test]
fn firebase_studio_is_where_its_variable_is() {
    let sandbox = Sandbox::new();
    let bin = sandbox.editor("code", "no-such-word");
    let path = format!("{}:/usr/bin:/bin", bin.parent().unwrap().display());
    let run = |name: &str, value: &str| {
        let mut command = sandbox.command(["install", "firebase-studio"]);
        ran(command.env("PATH", &path).env(name, value), b"")
    };
    run("X", "x").expect_error(1, "Firebase Studio was not found", GEMINI);
    run("MONOSPACE_ENV", "true").expect(0);
}

#[test]
fn an_extension_that_is_not_there_is_not_uninstalled() {
    let sandbox = Sandbox::new();
    sandbox.editor("code", "no-such-word");
    let folder = sandbox.home.home().join(".vscode/extensions");
    fs::create_dir_all(&folder).unwrap();
    let list = |ids: &[&str]| {
        let entries = ids
            .iter()
            .map(|id| json!({ "identifier": { "id": id }, "version": "1.2.3" }));
        let text = Value::Array(entries.collect()).to_string();
        fs::write(folder.join("extensions.json"), text).unwrap();
    };
    list(&["x.y", QWEN]);
    let ran = sandbox.with_editors(&["uninstall", "vscode"]).expect(0);
    assert!(
        ran.stdout
            .contains("note: Gemini CLI's extension is not installed"),
        "{}",
        ran.stdout
    );
    assert_eq!(sandbox.given("code"), ["--uninstall-extension", QWEN]);

    let shown = sandbox
        .with_editors(&["install", "--list", "--json"])
        .expect(0);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    let code = shown
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["name"] == "vscode")
        .unwrap();
    assert_eq!(code["installed"], json!(["Qwen Code's extension 1.2.3"]));
    assert!(code["program"].as_str().unwrap().ends_with("/bin/code"));

    list(&[]);
    let ran = sandbox.with_editors(&["uninstall", "vscode"]);
    ran.expect_error(1, "VS Code has no extension of an agent", "--list");
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
    sandbox.run(["install"]).expect(2);
    let ran = sandbox.run(["install", "nvim", "--agent", "gemini"]);
    ran.expect_error(2, "for every agent", "--agent");
}
