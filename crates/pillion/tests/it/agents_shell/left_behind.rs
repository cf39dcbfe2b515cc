//! What an agent leaves behind: a process without a parent, without a variable, with a terminal of its own. And what it asks of
//! a companion that it is not connected to.

use std::fs;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use pillion_discovery::program::Connection;
use pillion_discovery::unended;
use pillion_protocol::{Outcome, Stranger};
use pillion_testkit::{SOON, kill_all_of, pause};
use pillion_view::ask::{Program, Refused};
use pillion_view::{Decide, DiffId, ProposalKey};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use super::{WITHOUT_COMPANION, World, apart};
use crate::sandbox::Ran;
use crate::shared_agent_work as agent_work;

pub(super) const UNKNOWN: &str = "nothing shows that you have started this command";

/// Runs a script for the shell when whoever started it has ended, in which `PILLION` stands for the command. Its environment is
/// empty but for what leads to the companion.
fn left_behind(world: &World, how: &str, script: &str) -> Ran {
    let home = &world.sandbox.home;
    let folder = home.workspace();
    home.file(
        "left.sh",
        script.replace("PILLION", env!("CARGO_BIN_EXE_pillion")),
    );
    home.file(
        "wait.sh",
        "while [ -e /proc/$1 ]; do sleep 0.01; done; sh left.sh >out 2>&1; echo $? >code; mv code ended\n",
    );
    let start = format!(
        "env -i PATH=\"$PATH\" HOME=\"$HOME\" TMPDIR=\"$TMPDIR\" XDG_RUNTIME_DIR=\"$XDG_RUNTIME_DIR\" \
            {how} sh wait.sh $$ >/dev/null 2>&1 </dev/null &"
    );
    world.shell(&[], &start).expect(0);
    let ended = || fs::read_to_string(folder.join("ended")).ok();
    let started = Instant::now();
    while ended().is_none() {
        assert!(started.elapsed() < SOON, "{how} {script}: it does not end");
        pause(started);
    }
    let code = ended().unwrap();
    fs::remove_file(folder.join("ended")).unwrap();
    world.shell(&[], &format!("cat out >&2; exit {code}"))
}

#[test]
fn what_an_agent_leaves_behind_does_not_speak_for_the_person() {
    let mut world = World::new("after\n");
    for how in ["", "setsid", "nohup setsid"] {
        for command in [
            "accept 1.1",
            "reject 1.1",
            "review-mode asked",
            "mention a.txt",
            "focus a.txt",
        ] {
            let line = format!("PILLION {command}");
            let hint = "in a terminal of your own, or decide in the view";
            left_behind(&world, how, &line).expect_error(1, UNKNOWN, hint);
        }
    }
    // A terminal, and a login, of its own.
    let command = env!("CARGO_BIN_EXE_pillion");
    let script = format!("{command} accept 1.1; exit $?\n");
    world.sandbox.home.file("left-too.sh", script);
    for line in [
        "script --quiet --return --command 'PILLION accept 1.1' /dev/null",
        "script --quiet --return --command 'bash -l left-too.sh' /dev/null",
        "bash -c 'exec -a -bash bash left-too.sh'",
        "setsid --wait bash -l left-too.sh",
    ] {
        let said = left_behind(&world, "setsid", line);
        assert!(said.stderr.contains(UNKNOWN), "{line}: {}", said.stderr);
    }
    world.expect_pending();
    world.sandbox.run_as_person(["accept", "1.1"]).expect(0);
    world.expect_accepted("after\n");
}

/// Who opened a connection is who asks there, as the system tells: a child of the agent opens it and ends, and the agent speaks.
#[test]
fn a_connection_whose_opener_has_ended_is_nobodys() {
    let mut world = World::new("after\n");
    let folders = world.sandbox.environment().state_dirs().into_iter();
    let files = folders.flat_map(|it| fs::read_dir(it).into_iter().flatten().flatten());
    // Beside it is one for agents.
    let is_for_programs = |it: &PathBuf| {
        let name = it.file_name().unwrap().to_string_lossy();
        name.ends_with(".sock") && !name.starts_with("agents-")
    };
    let path = files.map(|it| it.path()).find(is_for_programs).unwrap();
    let address = SocketAddrUnix::new(&path).unwrap();
    let stream = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    let dialled = stream.try_clone().unwrap();
    let mut child = Command::new("true");
    // SAFETY: it makes one system call.
    unsafe { child.pre_exec(move || Ok(rustix::net::connect(&dialled, &address)?)) };
    assert!(child.status().unwrap().success());
    let connection = Connection::new(UnixStream::from(stream), Program::default()).unwrap();
    let mut connection = connection.to(world.sandbox.companion_port());
    let key = ProposalKey {
        id: DiffId(1),
        revision: 1,
    };
    for outcome in [Outcome::accepted("after\n"), Outcome::Rejected] {
        let decide = Decide::blind(key, outcome);
        let refused = connection.ask(&decide, Some(SOON)).unwrap().err();
        let (by, in_view) = (Stranger::Unknown, false);
        assert_eq!(refused, Some(Refused::NotThePerson { by, in_view }));
    }
    world.expect_pending();
    world.sandbox.run_as_person(["accept", "1.1"]).expect(0);
    world.expect_accepted("after\n");
}

/// Where no companion is found, by what companions have noted.
#[test]
fn what_an_agent_leaves_behind_decides_nothing_without_a_companion_either() {
    let world = World::new("after\n");
    let home = &world.sandbox.home;
    home.file(agent_work::OTHER.0, agent_work::OTHER.1);
    let path = home.file("b.txt", "before\n");
    agent_work::turn_begins(home);
    agent_work::command_begins(home);
    fs::write(&path, "after\n").unwrap();
    agent_work::command_ends(home);
    agent_work::turn_ends(home);
    let expect_refused = || {
        // In a time namespace, all seem to be as old as the machine.
        let uptime = fs::read_to_string("/proc/uptime").unwrap();
        let seconds = uptime.split('.').next().unwrap();
        let shifted = format!("unshare -U -r -T --boottime -{seconds} -f");
        for how in ["", &shifted] {
            for command in WITHOUT_COMPANION {
                let line = format!(
                    "XDG_RUNTIME_DIR=/nonexistent TMPDIR=/nonexistent {how} PILLION {command}"
                );
                let said = left_behind(&world, "setsid", &line);
                let stderr = &said.stderr;
                assert!(stderr.contains(UNKNOWN), "{how} {command}: {stderr}");
            }
        }
    };
    expect_refused();
    // Whoever removes what is noted of agents is not the person for that.
    let noted = home.changes_store().path().join("agents");
    fs::remove_dir_all(noted).unwrap();
    expect_refused();
    world.sandbox.run_as_person(["keep", "1"]).expect(0);
}

/// The view that the agent leaves behind is not the person's, also in a terminal, and what is beside it is not, too.
#[test]
fn a_view_that_an_agent_leaves_behind_is_nobodys() {
    let world = World::new("after\n");
    let line = "PILLION serve --workspace . >ready & until grep -q port ready; do sleep 0.01; done
        PILLION accept 1.1; code=$?; kill $!; exit $code";
    let command = env!("CARGO_BIN_EXE_pillion");
    let in_terminal = line.replace("PILLION", command);
    world.sandbox.home.file("in-terminal.sh", in_terminal);
    let terminal = "script --quiet --return --command 'sh in-terminal.sh' /dev/null";
    for line in [line, terminal] {
        let said = left_behind(&world, "setsid", line);
        assert!(said.stderr.contains(UNKNOWN), "{}", said.stderr);
    }
    world.expect_pending();
}

/// In the hub, and in the view's own process.
#[test]
fn a_view_that_an_agent_ends_does_not_lift_the_denial_after_a_kill() {
    for hub in ["", "env 'PIL''LION_HUB=off'"] {
        let world = World::new("after\n");
        let home = &world.sandbox.home;
        home.file(agent_work::OTHER.0, agent_work::OTHER.1);
        agent_work::turn_begins(home);
        let noted = home.changes_store().agents().unwrap();
        assert!(!noted.is_empty(), "{hub}: the agent is known");
        kill_all_of(home);
        let roots = unended::roots_around(&world.sandbox.environment(), &home.workspace());
        assert!(roots.is_some(), "{hub}: it was killed");
        let shown = format!(
            "{hub} PILLION serve --workspace . >ready & until grep -q port ready; do sleep 0.01; done
            kill $!; wait $!"
        );
        let said = left_behind(&world, "setsid", &shown);
        let roots = unended::roots_around(&world.sandbox.environment(), &home.workspace());
        assert!(roots.is_some(), "{hub}: {}", said.report());
    }
}

#[test]
fn an_agent_decides_nothing_at_another_companion() {
    let world = World::new("after\n");
    let sandbox = &world.sandbox;
    let folder = sandbox.home.other_workspace("other");
    let mut other = sandbox.serve_in_hub(["--workspace", folder.to_str().unwrap()]);
    let port = other.ready["port"].to_string();
    for command in [
        "accept 1.1",
        "reject 1.1",
        "review-mode asked",
        "send-notes",
        "focus a.txt",
    ] {
        let script = format!("\"$0\" {} --port {port}", command);
        world
            .shell(&[], &script)
            .expect_error(1, super::REFUSED, super::ADVICE);
    }
    other.child.kill().unwrap();
    other.child.wait().unwrap();
    assert!(
        apart(sandbox, &[], "\"$0\" diffs")
            .expect(0)
            .stdout
            .contains("1.1")
    );
}
