//! `pillion hook install` and `uninstall`: what becomes of the settings files of people.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::Sandbox;

const PILLION: &str = env!("CARGO_BIN_EXE_pillion");

/// Every agent, with the folder of its settings below the home directory and the variable that moves it.
const AGENTS: [(&str, &str, Option<&str>); 4] = [
    ("claude", ".claude", Some("CLAUDE_CONFIG_DIR")),
    ("gemini", ".gemini", None),
    ("qwen", ".qwen", Some("QWEN_HOME")),
    ("copilot", ".copilot", Some("COPILOT_HOME")),
];

fn settings(sandbox: &Sandbox, folder: &str) -> PathBuf {
    sandbox.home.home().join(folder).join("settings.json")
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o7777
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn the_hooks_get_into_a_settings_file_and_out_of_it_again() {
    let sandbox = Sandbox::new();
    let commented = "{\r\n\t\"model\": \"x\", // mine\r\n\t\"hooks\": {\r\n\t\t\"Stop\": [\r\n\t\t\t\
                    {\"hooks\": [{\"type\": \"command\", \"command\": \"mine\"}]} // x\r\n\t\t]\r\n\t}\r\n} // end";
    let plain = commented
        .replace(" // mine", "")
        .replace(" // x", "")
        .replace(" // end", "");
    for (agent, folder, _) in AGENTS {
        let path = settings(&sandbox, folder);
        let original = if agent == "claude" { &plain } else { commented };
        write(&path, original);
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let done = sandbox.run(["hook", "install", agent]).expect(0).stdout;
        assert!(
            done.contains(&format!("added Pillion's hooks to {}", path.display())),
            "{done}"
        );
        assert!(done.contains(&format!("pillion doctor {agent}")), "{done}");
        let with = fs::read_to_string(&path).unwrap();
        assert!(
            with.contains(&format!("{PILLION} hook {agent}\"")),
            "{with}"
        );
        assert!(
            with.starts_with(
                original
                    .split_inclusive('\n')
                    .take(2)
                    .collect::<String>()
                    .as_str()
            ),
            "{with}"
        );
        assert_eq!(mode(&path), 0o640);

        let again = sandbox.run(["hook", "install", agent]).expect(0).stdout;
        assert!(again.contains("has Pillion's hooks already"), "{again}");
        assert_eq!(fs::read_to_string(&path).unwrap(), with);
        // Another entry takes the place of the former one.
        sandbox
            .run(["hook", "install", agent, "--strict"])
            .expect(0);
        let strict = fs::read_to_string(&path).unwrap();
        assert_eq!(strict.replace(" --strict\"", "\""), with);

        let shown = sandbox
            .run(["hook", "uninstall", agent, "--print"])
            .expect(0)
            .stdout;
        assert!(shown.contains(&format!("hook {agent} --strict")), "{shown}");
        assert_eq!(fs::read_to_string(&path).unwrap(), strict);
        sandbox.run(["hook", "uninstall", agent]).expect(0);
        assert_eq!(fs::read_to_string(&path).unwrap(), original);
        assert_eq!(mode(&path), 0o640);
        let nothing = sandbox.run(["hook", "uninstall", agent]).expect(0).stdout;
        assert!(nothing.contains("has no Pillion hooks"), "{nothing}");
        assert_eq!(names(path.parent().unwrap()), ["settings.json"]);
    }
}

#[test]
fn a_file_with_nothing_in_it_gets_the_hooks_and_keeps_its_comments() {
    let sandbox = Sandbox::new();
    for (agent, folder, _) in AGENTS {
        let path = settings(&sandbox, folder);
        let commented: &[_] = if agent == "claude" {
            &[]
        } else {
            &["// mine\n", "/* mine */"]
        };
        for original in ["", "\n"].iter().chain(commented) {
            write(&path, original);
            sandbox.run(["hook", "install", agent]).expect(0);
            let with = fs::read_to_string(&path).unwrap();
            assert!(with.starts_with(original.trim_end()), "{with}");
            assert!(with.contains(&format!("hook {agent}\"")), "{with}");
            let again = sandbox.run(["hook", "install", agent]).expect(0).stdout;
            assert!(again.contains("has Pillion's hooks already"), "{again}");
            sandbox.run(["hook", "uninstall", agent]).expect(0);
            if original.trim().is_empty() {
                assert!(!path.exists(), "{agent}: nothing is left in it");
                continue;
            }
            let without = fs::read_to_string(&path).unwrap();
            let rest = without.strip_prefix(original.trim_end());
            assert_eq!(rest.map(str::trim), Some("{\n}"), "{agent}: {without}");
        }
    }
}

#[test]
fn a_file_that_was_made_for_the_hooks_goes_with_them() {
    let sandbox = Sandbox::new();
    for (agent, file) in [
        ("vibe", ".vibe/hooks.toml"),
        ("kimi", ".kimi-code/config.toml"),
        ("codex", ".codex/config.toml"),
        ("claude", ".claude/settings.json"),
    ] {
        let path = sandbox.home.home().join(file);
        sandbox.run(["hook", "install", agent]).expect(0);
        assert!(path.is_file(), "{agent}");
        sandbox.run(["hook", "uninstall", agent]).expect(0);
        assert!(!path.exists(), "{agent}");
        // With a comment of the person's it stays.
        if agent != "claude" {
            write(&path, "# mine\n");
            sandbox.run(["hook", "install", agent]).expect(0);
            sandbox.run(["hook", "uninstall", agent]).expect(0);
            assert_eq!(
                fs::read_to_string(&path).unwrap().trim(),
                "# mine",
                "{agent}"
            );
        }
    }
}

/// Claude Code skips such a file as a whole, so that no hook in it is run.
#[test]
fn hooks_are_not_added_where_claude_code_skips_the_file_and_are_still_taken_out_of_it() {
    let sandbox = Sandbox::new();
    let path = settings(&sandbox, ".claude");
    for (comment, place) in [
        ("// mine\n", "line 1, column 2"),
        ("\n  /* mine */", "line 2, column 3"),
    ] {
        let text = format!("{{{comment}}}\n");
        write(&path, &text);
        let why = format!(
            "{}: it has a comment ({place}), and Claude Code skips a file with comments",
            path.display()
        );
        sandbox
            .run(["hook", "install", "claude"])
            .expect_error(1, &why, "Take the comments out");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);

        write(&path, "{}");
        sandbox.run(["hook", "install", "claude"]).expect(0);
        let with = fs::read_to_string(&path).unwrap();
        write(&path, &with.replacen('{', &format!("{{{comment}"), 1));
        sandbox
            .run(["hook", "install", "claude"])
            .expect_error(1, &why, "Take the comments out");
        sandbox.run(["hook", "uninstall", "claude"]).expect(0);
        let without = fs::read_to_string(&path).unwrap();
        assert!(without.contains(comment.trim()), "{without}");
        assert!(!without.contains("hook claude"), "{without}");
    }
}

/// It is written in place, and nobody has accepted anything.
#[test]
fn a_file_that_has_another_name_keeps_it() {
    let sandbox = Sandbox::new();
    let path = settings(&sandbox, ".claude");
    let other = sandbox.home.home().join("other.json");
    write(&path, "{}");
    fs::hard_link(&path, &other).unwrap();
    let ran = sandbox.run(["hook", "install", "claude"]).expect(0);
    let (note, text) = (ran.stderr, fs::read_to_string(&other).unwrap());
    assert!(note.contains("its new text is also in"), "{note}");
    assert!(!note.contains("accepted"), "{note}");
    assert_eq!(text, fs::read_to_string(&path).unwrap());
    assert!(text.contains("hook claude\""), "{text}");
}

#[test]
fn a_new_file_is_private_and_lies_where_the_agent_looks() {
    let sandbox = Sandbox::new();
    for (agent, folder, variable) in AGENTS {
        let moved = sandbox.home.root().join(format!("moved {agent}"));
        let mut places = vec![(settings(&sandbox, folder), None)];
        places.extend(variable.map(|name| (moved.join("settings.json"), Some((name, &moved)))));
        for (path, variable) in places {
            // The home has some of these.
            let _ = fs::remove_file(&path);
            let command = |args: &[&str]| {
                let mut command = sandbox.command(args);
                command.envs(variable);
                let output = command.output().unwrap();
                assert!(output.status.success(), "{output:?}");
                String::from_utf8(output.stdout).unwrap()
            };
            let printed = command(&["hook", "install", agent, "--print"]);
            assert!(!path.exists());
            command(&["hook", "install", agent]);
            assert_eq!(fs::read_to_string(&path).unwrap(), printed);
            let values: Value = serde_json::from_str(&printed).unwrap();
            assert!(values["hooks"].is_object(), "{printed}");
            assert_eq!(mode(&path), 0o600);
            assert_eq!(mode(path.parent().unwrap()), 0o700);
            command(&["hook", "uninstall", agent]);
            assert!(!path.exists());
        }
    }
}

/// As programs that keep settings in one place make them.
#[test]
fn a_link_stays_one_and_the_file_that_it_leads_to_is_changed() {
    let sandbox = Sandbox::new();
    let path = settings(&sandbox, ".claude");
    let kept = sandbox.home.root().join("dotfiles/claude.json");
    write(&kept, "{}\n");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(&kept, &path).unwrap();
    let done = sandbox.run(["hook", "install", "claude"]).expect(0).stdout;
    assert!(
        done.contains(&format!("{} (in fact {})", path.display(), kept.display())),
        "{done}"
    );
    assert!(path.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&kept).unwrap().contains("hook claude"));
    sandbox.run(["hook", "uninstall", "claude"]).expect(0);
    assert_eq!(fs::read_to_string(&kept).unwrap(), "{\n}\n");
    // One that leads nowhere yet.
    fs::remove_file(&kept).unwrap();
    sandbox.run(["hook", "install", "claude"]).expect(0);
    assert!(kept.is_file() && path.symlink_metadata().unwrap().is_symlink());
}

#[test]
fn what_an_older_pillion_wrote_is_replaced() {
    let sandbox = Sandbox::new();
    let path = settings(&sandbox, ".claude");
    sandbox.run(["hook", "install", "claude"]).expect(0);
    let now = fs::read_to_string(&path).unwrap();
    for (from, to) in [
        (PILLION, "/gone/bin/pillion"),
        ("86400", "5"),
        ("Edit|Write", "Edit"),
        ("hook claude", "hook claude --limit 5m"),
    ] {
        assert!(now.contains(from), "{now}");
        fs::write(&path, now.replace(from, to)).unwrap();
        sandbox.run(["hook", "install", "claude"]).expect(0);
        assert_eq!(fs::read_to_string(&path).unwrap(), now, "{to}");
    }
}

#[test]
fn a_file_that_cannot_be_changed_is_left_alone_with_a_hint() {
    let sandbox = Sandbox::new();
    let path = settings(&sandbox, ".claude");
    for (text, why, hint) in [
        ("{\n  \"a\": 1,\n}\n", "line 2, column 9", "trailing commas"),
        (
            "{\"hooks\": []}",
            "`hooks` is not an object (line 1, column 11)",
            "Correct that first",
        ),
        (
            "{\"hooks\": {}, \"hooks\": {}}",
            "`hooks` is there twice",
            "Correct that first",
        ),
    ] {
        write(&path, text);
        sandbox
            .run(["hook", "install", "claude"])
            .expect_error(1, why, hint);
        let removed = sandbox.run(["hook", "uninstall", "claude"]);
        if text.contains("hooks") {
            // None of ours is in it.
            removed.expect(0);
        } else {
            removed.expect_error(1, why, hint);
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    sandbox.run(["hook", "install", "claude"]).expect_error(
        1,
        "not in UTF-8 from byte 8 on",
        "Correct",
    );
    write(&path, "{}");
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    sandbox
        .run(["hook", "install", "claude"])
        .expect_error(1, "it is read-only", "--print");
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&path, Some(4242), None).unwrap();
        sandbox.run(["hook", "install", "claude"]).expect_error(
            1,
            "belongs to another user",
            "--print",
        );
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let ran = sandbox.run(["hook", "install", "claude"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(ran.stderr.contains("not a regular file"), "{}", ran.stderr);
}

/// opencode's plugin is a file of its own. One of another version is replaced, and none of anybody else's.
#[test]
fn opencode_gets_a_plugin_and_no_other_file_is_taken_for_it() {
    let sandbox = Sandbox::new();
    let path = sandbox
        .home
        .home()
        .join(".config/opencode/plugin/pillion.js");
    let install = || sandbox.run(["hook", "install", "opencode"]);
    let uninstall = || sandbox.run(["hook", "uninstall", "opencode"]);
    let done = install().expect(0).stdout;
    assert!(
        done.contains(&format!("added Pillion's hooks to {}", path.display())),
        "{done}"
    );
    let plugin = fs::read_to_string(&path).unwrap();
    let hook = format!("const HOOK = [\"{PILLION}\",\"hook\",\"opencode\"]\n");
    assert!(plugin.contains(&hook), "{plugin}");
    assert_eq!(mode(&path), 0o600);
    let again = install().expect(0).stdout;
    assert!(again.contains("has Pillion's hooks already"), "{again}");
    let printed = sandbox
        .run(["hook", "install", "opencode", "--print"])
        .expect(0)
        .stdout;
    assert_eq!(printed, plugin);

    for older in [
        plugin.replace(PILLION, "/gone/pillion"),
        plugin.replace("\n}", "\n\n}"),
    ] {
        assert_ne!(older, plugin);
        fs::write(&path, older).unwrap();
        install().expect(0);
        assert_eq!(fs::read_to_string(&path).unwrap(), plugin);
    }
    let shown = sandbox
        .run(["hook", "uninstall", "opencode", "--print"])
        .expect(0)
        .stdout;
    assert!(
        shown.contains(&format!("{PILLION} hook opencode")),
        "{shown}"
    );
    uninstall().expect(0);
    assert!(!path.exists());
    let nothing = uninstall().expect(0).stdout;
    assert!(nothing.contains("has no Pillion hooks"), "{nothing}");

    for foreign in [
        "export const Pillion = async () => ({})\n",
        "const HOOK = [\"a\",\"hook\",\"opencode\"]\n",
    ] {
        fs::write(&path, foreign).unwrap();
        for refused in [install(), uninstall()] {
            refused.expect_error(1, "it is not Pillion's plugin", "another name");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), foreign);
    }
    fs::remove_file(&path).unwrap();
    let kept = sandbox.home.root().join("kept.js");
    symlink(&kept, &path).unwrap();
    for text in [None, Some(&plugin)] {
        if let Some(text) = text {
            fs::write(&kept, text).unwrap();
        }
        for refused in [install(), uninstall()] {
            refused.expect_error(1, "is a symbolic link", "Remove the link");
        }
        assert_eq!(fs::read_to_string(&kept).ok().as_ref(), text);
    }
}
