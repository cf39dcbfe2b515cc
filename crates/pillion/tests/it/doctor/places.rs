//! A companion of this folder whose files are not where the agent looks, or nowhere.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::world::{CLAUDE, GEMINI, Told, World, in_namespace};

#[test]
fn a_companion_with_another_home_is_named_with_the_variable() {
    let world = World::new();
    world.install(CLAUDE, "2.1.332");
    let config = world.home().root().join("config");
    let home = world.home().root().join("second-home");
    for folder in [&config, &home.join(".claude")] {
        fs::create_dir_all(folder.join("ide")).unwrap();
    }
    let expect = |told: Told, fix: String| {
        let found = told.expect("tmpdir-differs", "problem", "agents here look in");
        assert_eq!(found, fix);
        told.expect_gone("no-companion");
    };
    let set = |name: &str, value: &Path| format!("export {name}={}", value.display());
    let connect = "export CLAUDE_CODE_AUTO_CONNECT_IDE=true";
    {
        let _serve = world.serve_with("CLAUDE_CONFIG_DIR", &config);
        let fix = set("CLAUDE_CONFIG_DIR", &config);
        expect(world.doctor(CLAUDE), fix.clone());
        let after = world.after(&format!("{connect}\n{fix}"), CLAUDE);
        after.expect_connects("tmpdir-differs");
    }
    {
        let _serve = world.serve_with("HOME", &home);
        let fix = set("HOME", &home);
        expect(world.doctor(CLAUDE), fix.clone());
        let after = world.after(&format!("{connect}\n{fix}"), CLAUDE);
        after.expect_connects("tmpdir-differs");
    }
    let _serve = world.serve();
    // Newer releases look in both folders.
    let told = world.after(
        &format!("{connect}\n{}", set("CLAUDE_CONFIG_DIR", &config)),
        CLAUDE,
    );
    if told.code == 1 {
        expect(told, "unset CLAUDE_CONFIG_DIR".to_owned());
    }
}

/// A home that is read-only, and a temporary folder that is full.
#[test]
fn a_companion_that_could_not_write_its_file_is_named_with_the_reason() {
    let world = World::new();
    world.install(CLAUDE, "2.1.332");
    let home = world.home().home().display().to_string();
    let tmp = world.home().tmp().display().to_string();
    let read_only = format!("mount --bind {home} {home} && mount -o remount,bind,ro {home}");
    let full = |folder: &str| {
        format!(
            "mkdir -p {folder} && mount -t tmpfs -o size=16k tmpfs {folder} && \
             {{ head -c 99999 /dev/zero > {folder}/full 2> /dev/null || true; }}"
        )
    };
    for (mount, agent, reason) in [
        (read_only, CLAUDE, "read-only"),
        (full(&format!("{home}/.claude")), CLAUDE, "full"),
        (full(&tmp), GEMINI, "full"),
    ] {
        let script = format!(
            "{{ {mount}; }} || exit 9; said={tmp}/../said-$$; \"$1\" serve > $said 2> /dev/null & \
             until grep -q port $said; do sleep 0.05; done; exec=$*; \
             \"$@\"; code=$?; kill %1 2> /dev/null || kill $!; exit $code"
        );
        let wrapped = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_pillion"));
            let plain = world.command("", &[]);
            for (name, value) in plain.get_envs() {
                command.env(name, value.unwrap());
            }
            command
                .arg("doctor")
                .args(args)
                .current_dir(plain.get_current_dir().unwrap());
            in_namespace(&script, &[], &command)
        };
        let told = world.told_by(wrapped(&[agent, "--json"]), || wrapped(&[agent]));
        told.expect_first(
            "no-discovery-file",
            "serves this folder, but left no discovery file",
        );
        let found = told.finding("no-discovery-file").unwrap();
        let why = found["why"].as_str().unwrap();
        assert!(why.contains(reason), "{why}");
    }
}
