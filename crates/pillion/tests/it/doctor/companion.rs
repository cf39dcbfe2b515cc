//! The companion that the agent takes, and the files that are in its way.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use pillion_discovery::{CompanionState, Environment, Socket, state};
use pillion_testkit::{Home, SOON, Size, Tmux};

use serde_json::json;

use super::world::{CLAUDE, GEMINI, QWEN, World, in_namespace, kill};

/// A user who is neither this one nor root.
const SOMEBODY: u32 = 54_321;

/// Gemini CLI's discovery files.
fn gemini_files(world: &World) -> Vec<PathBuf> {
    let folder = world.home().tmp().join("gemini/ide");
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let is_gemini = |path: &PathBuf| path.to_str().unwrap().contains("gemini-ide-server");
    let mut files: Vec<_> = entries.filter(is_gemini).collect();
    files.sort();
    files
}

/// Removes what the first releases look at: files in the temporary folder itself.
fn remove_oldest_files(world: &World) {
    for entry in fs::read_dir(world.home().tmp()).unwrap().flatten() {
        if entry.path().is_file() {
            fs::remove_file(entry.path()).unwrap();
        }
    }
}

#[test]
fn without_a_companion_the_command_that_starts_one_fixes_it() {
    let world = World::new();
    for agent in [GEMINI, QWEN] {
        let fix = world
            .doctor(agent)
            .expect_first("no-companion", "no companion is running");
        assert_eq!(fix, "pillion");
    }
    let tmux = Tmux::start();
    let command = [env!("CARGO_BIN_EXE_pillion")];
    let size = Size::new(100, 30);
    let folder = world.home().workspace();
    let pane = tmux.spawn("review", size, &world.home().env(), &folder, &command);
    pane.wait_for("Waiting for an agent.", SOON);
    for agent in [GEMINI, QWEN] {
        world.doctor(agent).expect_connects("no-companion");
    }
}

#[test]
fn a_companion_of_another_folder_is_named_with_the_folder_that_fits() {
    let world = World::new();
    let far = world.home().other_workspace("far");
    let near = world.home().workspace().join("near");
    fs::create_dir(&near).unwrap();
    let _far = world.serve_in(&far);
    let _near = world.serve_in(&near);
    for agent in [GEMINI, QWEN] {
        let told = world.doctor(agent);
        let fix = told.expect_first("wrong-folder", near.to_str().unwrap());
        assert_eq!(fix, format!("cd -- {}", near.display()));
        world.after(&fix, agent).expect_connects("wrong-folder");
        // As if it were started there.
        let script = "\"$0\" \"$@\"";
        let args = [agent, "--json", "--workspace", far.to_str().unwrap()];
        let people = [agent, "--workspace", far.to_str().unwrap()];
        let told = world.told_by(world.command(script, &args), || {
            world.command(script, &people)
        });
        told.expect_connects("wrong-folder");
    }
}

#[test]
fn files_of_a_dead_companion_are_named_and_removed() {
    let world = World::new();
    kill(world.serve());
    // The next companion removes them: one command is enough.
    for agent in [GEMINI, QWEN] {
        let told = world.doctor(agent);
        let fix = told.expect_first("dead-companion", "picks a companion that is gone");
        assert_eq!(fix, "pillion");
        told.expect_gone("no-companion");
    }
    let left = gemini_files(&world);
    let _next = world.serve_in(&world.home().other_workspace("elsewhere"));
    assert!(left.iter().all(|file| !file.exists()), "{left:?}");
}

#[test]
fn the_next_companion_tidies_up_and_is_found() {
    let world = World::new();
    kill(world.serve());
    let _next = world.serve();
    world.doctor(GEMINI).expect_connects("dead-companion");
    world.doctor(QWEN).expect_connects("dead-companion");
}

#[test]
fn files_of_another_user_are_named() {
    let world = World::new();
    let serve = world.serve();
    let files = gemini_files(&world);
    let json = as_another_users(&files, world.command("\"$0\" \"$@\"", &[GEMINI, "--json"]));
    let told = world.told_by(json, || {
        as_another_users(&files, world.command("\"$0\" \"$@\"", &[GEMINI]))
    });
    told.expect_first("companion-not-taken", "belongs to another user");
    drop(serve);
    for file in &files {
        // The companion could not remove what it did not own any more.
        let _ = fs::remove_file(file);
    }
    let _own = world.serve();
    world.doctor(GEMINI).expect_connects("companion-not-taken");
}

/// Root gives the files away; anybody else sees root's in their place, in a namespace of its own.
fn as_another_users(files: &[PathBuf], command: Command) -> Command {
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        for file in files {
            chown(file, Some(SOMEBODY), None).unwrap();
        }
        return command;
    }
    let script =
        r#"while [ "$1" != -- ]; do mount --bind /etc/passwd "$1"; shift; done; shift; exec "$@""#;
    let mut arguments: Vec<&OsStr> = files.iter().map(|file| file.as_os_str()).collect();
    arguments.push("--".as_ref());
    in_namespace(script, &arguments, &command)
}

/// No `chmod` opens it, and its owner may need it.
#[test]
fn a_folder_of_another_user_that_is_closed_is_named_once() {
    let world = World::new();
    let folder = world.home().tmp().join("gemini");
    fs::create_dir_all(folder.join("ide")).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    // Root without its rights is anybody; anybody else sees root's own folder in its place.
    let script = if is_root {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
        chown(&folder, Some(SOMEBODY), None).unwrap();
        "shift; exec setpriv --inh-caps=-all --bounding-set=-all \"$@\""
    } else {
        "mount --bind /root \"$1\"; shift; exec \"$@\""
    };
    let wrapped = |args: &[&str]| {
        let command = world.command("\"$0\" \"$@\"; exit $?", args);
        let mut wrapped = in_namespace(script, &[folder.as_os_str()], &command);
        if is_root {
            // Without a namespace for users, in which the owner would be nobody.
            let args: Vec<_> = wrapped.get_args().skip(2).map(OsStr::to_owned).collect();
            let mut plain = Command::new("/bin/sh");
            plain
                .args(args.iter().skip(1))
                .env_clear()
                .current_dir(command.get_current_dir().unwrap());
            plain.envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
            wrapped = plain;
        }
        wrapped
    };
    let told = world.told_by(wrapped(&[GEMINI, "--json"]), || wrapped(&[GEMINI]));
    let is_named = told.text.matches("belongs to user id").count();
    assert_eq!(is_named, 1, "{}", told.text);
    assert!(
        !told.text.contains("chmod") && !told.text.contains("rm -"),
        "{}",
        told.text
    );
}

#[test]
fn what_others_can_read_or_write_is_named() {
    let world = World::new();
    let _serve = world.serve();
    let file = gemini_files(&world).remove(0);
    let folder = file.parent().unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
    let told = world.doctor(GEMINI);
    for open in [&file, folder] {
        let line = format!("open to other users: {}", open.display());
        assert!(told.text.contains(&line), "{}", told.text);
    }
}

#[test]
fn links_and_files_that_are_none_are_named() {
    let world = World::new();
    let _serve = world.serve();
    let folder = world.home().tmp().join("gemini/ide");
    let link = folder.join("gemini-ide-server-1-1.json");
    symlink("/etc/passwd", &link).unwrap();
    let malformed = folder.join("gemini-ide-server-1-2.json");
    fs::write(&malformed, "{\"port\":").unwrap();
    fs::set_permissions(&malformed, fs::Permissions::from_mode(0o600)).unwrap();
    let told = world.doctor(GEMINI);
    told.expect_connects("dead-companion");
    for line in [
        format!("not used: {link:?} is a symbolic link"),
        format!("not used: {} is no discovery file", malformed.display()),
    ] {
        assert!(told.text.contains(&line), "{}", told.text);
    }
}

#[test]
fn a_companion_with_another_temporary_folder_is_seen() {
    let world = World::new();
    let elsewhere = world.home().other_workspace("elsewhere");
    let _serve = world.serve_with("TMPDIR", &elsewhere);
    let told = world.doctor(GEMINI);
    let fix = told.expect_first("tmpdir-differs", elsewhere.to_str().unwrap());
    assert_eq!(fix, format!("export TMPDIR={}", elsewhere.display()));
    world.after(&fix, GEMINI).expect_connects("tmpdir-differs");
    // Qwen Code finds it by its lock file, which lies elsewhere.
    world.doctor(QWEN).expect_connects("tmpdir-differs");
}

#[test]
fn a_companion_with_another_qwen_home_is_seen() {
    let world = World::new();
    let elsewhere = world.home().other_workspace("elsewhere");
    let _serve = world.serve_with("QWEN_HOME", &elsewhere);
    remove_oldest_files(&world);
    let told = world.doctor(QWEN);
    let fix = told.expect_first("tmpdir-differs", elsewhere.to_str().unwrap());
    assert_eq!(fix, format!("export QWEN_HOME={}", elsewhere.display()));
    // The agent's settings are there as well.
    let settings = world.home().home().join(".qwen/settings.json");
    fs::copy(settings, elsewhere.join("settings.json")).unwrap();
    world.after(&fix, QWEN).expect_connects("tmpdir-differs");
}

/// The home directory of this test lies below the folder for temporary files of others.
#[test]
fn a_lock_file_is_no_temporary_file() {
    let world = World::at(Home::below(Path::new("/tmp")));
    let _serve = world.serve();
    assert!(world.home().home().starts_with("/tmp"));
    remove_oldest_files(&world);
    world.doctor(QWEN).expect_connects("tmpdir-differs");
    let told = world.after("export QWEN_HOME=/nowhere", QWEN);
    told.expect("tmpdir-differs", "problem", "/.qwen");
}

/// They are one companion.
#[test]
fn several_front_ends_of_one_folder_are_no_choice() {
    let world = World::new();
    world.install(CLAUDE, "2.1.332");
    let (_one, _other) = (
        world.sandbox.serve_in_hub::<&str>([]),
        world.sandbox.serve_in_hub::<&str>([]),
    );
    let tmux = Tmux::start();
    let command = [env!("CARGO_BIN_EXE_pillion"), "review"];
    let size = Size::new(100, 30);
    let folder = world.home().workspace();
    let pane = tmux.spawn("review", size, &world.home().env(), &folder, &command);
    pane.wait_for("Waiting for an agent.", SOON);
    for agent in [GEMINI, QWEN, CLAUDE] {
        let told = world.doctor(agent);
        told.expect_gone("several-companions");
        told.expect_gone("no-companion");
        told.expect_gone("hub-version");
    }
}

/// Says what companions it has, until this is dropped.
fn saying(environment: &Environment, companions: &[CompanionState]) -> Socket {
    let socket = Socket::of_companion(environment).unwrap();
    let listener = socket.listener().try_clone().unwrap();
    let companions = serde_json::to_value(companions).unwrap();
    let answer = json!({"answer": {"request": 1, "result": {"Ok": companions}}});
    thread::spawn(move || {
        while let Ok(mut stream) = listener.accept() {
            let mut question = String::new();
            // Whoever asks may be gone.
            let _ = BufReader::new(&stream).read_line(&mut question);
            let _ = writeln!(stream, "{answer}");
        }
    });
    socket
}

#[test]
fn a_hub_of_another_version_is_reported() {
    for (version, said) in [("0.0.1", "is older than"), ("99.0.0", "is newer than")] {
        let world = World::new();
        let _serve = world.serve();
        world.doctor(GEMINI).expect_connects("hub-version");
        let home = world.home();
        let places = [("TMPDIR", home.tmp()), ("XDG_RUNTIME_DIR", home.runtime())];
        let environment = Environment::from_pairs(places);
        let mut state = state::list(&environment).pop().unwrap();
        fs::remove_file(state.address.as_ref().unwrap().path()).unwrap();
        state.version = version.to_owned();
        let _other = saying(&environment, &[state]);
        let told = world.doctor(GEMINI);
        told.expect("hub-version", "warning", said);
        assert_eq!(told.code, 0, "{}", told.text);
    }
}

#[test]
fn two_companions_of_equal_rank_are_distinguished_by_the_command() {
    let world = World::new();
    let one = world.serve();
    let other = world.serve();
    for agent in [GEMINI, QWEN] {
        let told = world.doctor(agent);
        told.expect_connects("no-companion");
        let fix = told.expect(
            "several-companions",
            "warning",
            "two companions serve this folder",
        );
        let taken = told.agent["companion"]["port"].as_u64().unwrap();
        let ports = [u64::from(one.port()), u64::from(other.port())];
        let left = ports.into_iter().find(|port| *port != taken).unwrap();
        assert_eq!(fix, format!("pillion run --port {left} {agent}"));
        // What that command sets.
        let set = format!("eval \"$(\"$0\" env --shell sh --port {left})\"");
        let set = set.replace("\"$0\"", env!("CARGO_BIN_EXE_pillion"));
        let after = world.after(&set, agent);
        after.expect_connects("several-companions");
        assert_eq!(after.agent["companion"]["port"], left);
    }
}

#[test]
fn a_port_variable_of_a_companion_that_is_gone_is_named() {
    let world = World::new();
    // For the same folder the next one would come back on its port.
    let elsewhere = world.home().other_workspace("elsewhere");
    let port = kill(world.serve_in(&elsewhere)).to_string();
    let _serve = world.serve();
    for (agent, variable) in [
        (GEMINI, "GEMINI_CLI_IDE_SERVER_PORT"),
        (QWEN, "QWEN_CODE_IDE_SERVER_PORT"),
    ] {
        let set = format!("export {variable}={port}");
        let told = world.after(&set, agent);
        let fix = told.expect("stale-variable", "warning", variable);
        assert_eq!(fix, format!("unset {variable}"));
        let after = world.after(&format!("{set}\n{fix}"), agent);
        after.expect_connects("stale-variable");
    }
}

/// Every file below the home, with what is in it and who may read it.
fn everything(world: &World) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![world.home().root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let mode = entry.metadata().unwrap().permissions().mode();
            let is_folder = entry.file_type().unwrap().is_dir();
            if is_folder {
                folders.push(entry.path());
            }
            let content = fs::read(entry.path()).unwrap_or_default();
            found.insert(entry.path(), (content, mode));
        }
    }
    found
}

#[test]
fn the_doctor_changes_nothing() {
    let world = World::new();
    let far = world.home().other_workspace("far");
    let _far = world.serve_in(&far);
    kill(world.serve());
    let folder = world.home().tmp().join("gemini/ide");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(folder.join("gemini-ide-server-1-2.json"), "{").unwrap();
    world.settings(QWEN, "{broken");
    let before = everything(&world);
    for agent in [GEMINI, QWEN] {
        assert_eq!(world.doctor(agent).code, 1);
    }
    assert!(before == everything(&world), "something was written");
}
