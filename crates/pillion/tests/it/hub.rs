//! `pillion hub`, which whoever serves agents starts by itself.

mod kills;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pillion_discovery::{CompanionState, Environment, state};
use pillion_testkit::{HungDisk, SOON, Size, TestClaude, Tmux};

use crate::other_hub;
use crate::sandbox::{Sandbox, Serve};

fn running(sandbox: &Sandbox) -> Vec<CompanionState> {
    let environment = Environment::from_pairs([
        ("TMPDIR", sandbox.home.tmp()),
        ("XDG_RUNTIME_DIR", sandbox.home.runtime()),
    ]);
    state::list(&environment)
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < SOON, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_alive(pid: u32) -> bool {
    pillion_system::process::is_alive(pid)
}

fn kill(pid: u32, signal: &str) {
    let pid = pid.to_string();
    let status = Command::new("kill").args(["-s", signal, &pid]).status();
    assert!(status.unwrap().success());
}

/// The files that the hub leaves in the folder where front ends look for it.
fn left(sandbox: &Sandbox) -> Vec<PathBuf> {
    let folder = sandbox.home.runtime().join("pillion");
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.map(|file| file.path());
    let is_hubs = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with("hub")
    };
    files.filter(is_hubs).collect()
}

fn hub_of(sandbox: &Sandbox) -> u32 {
    running(sandbox)[0].pid
}

fn serve(sandbox: &Sandbox, folder: &Path) -> Serve {
    let folder = folder.to_str().unwrap();
    sandbox.serve_in_hub(["--workspace", folder])
}

#[test]
fn one_process_serves_all_and_ends_with_the_last() {
    let sandbox = Sandbox::new();
    let (one, two) = (
        sandbox.home.workspace(),
        sandbox.home.other_workspace("two"),
    );
    let mut first = serve(&sandbox, &one);
    let mut second = serve(&sandbox, &one);
    let mut other = serve(&sandbox, &two);
    assert_eq!(first.port(), second.port());
    assert_ne!(first.port(), other.port());
    let companions = running(&sandbox);
    let hub = hub_of(&sandbox);
    assert!(companions.iter().all(|it| it.pid == hub));
    assert_eq!(companions.len(), 2);
    assert_ne!(hub, first.child.id());
    let files = first.files();
    for (serve, signal) in [
        (&mut first, "TERM"),
        (&mut other, "HUP"),
        (&mut second, "INT"),
    ] {
        assert!(is_alive(hub));
        serve.signal(signal);
        assert_eq!(serve.ended(), Some(0));
    }
    assert!(files.iter().all(|file| !file.exists()));
    wait_until("the hub ends", || !is_alive(hub));
    assert_eq!(left(&sandbox), Vec::<PathBuf>::new());
    // The connections with them: who has asked something keeps no hub.
    drop(companions);
}

/// Of this process, as Linux shows it: the soft limit of open files, and the hard one.
#[cfg(target_os = "linux")]
fn file_limits(pid: u32) -> (u64, u64) {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = limits.lines().find(|it| it.starts_with("Max open files"));
    let mut numbers = line.unwrap().split_whitespace().skip(3);
    let mut next = || numbers.next().unwrap().parse().unwrap();
    (next(), next())
}

/// Each workspace takes ten descriptors, so that the seventh had no room.
#[cfg(target_os = "linux")]
#[test]
fn a_hub_that_starts_with_few_descriptors_has_room_for_many_workspaces() {
    let sandbox = Sandbox::new();
    let script = "ulimit -Sn 64 && ulimit -Hn 1000 && exec \"$0\" hub";
    let mut hub = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_pillion")])
        .env_clear()
        .envs(sandbox.home.env().iter())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut word = [0; 10];
    let out = hub.stdout.as_mut().unwrap();
    out.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"listening\n");
    assert_eq!(file_limits(hub.id()), (1000, 1000));
    let folders = (0..12).map(|number| sandbox.home.other_workspace(&number.to_string()));
    let serving: Vec<Serve> = folders.map(|folder| serve(&sandbox, &folder)).collect();
    let companions = running(&sandbox);
    assert_eq!(companions.len(), serving.len());
    assert!(companions.iter().all(|it| it.pid == hub.id()));
    drop(companions);
    let open = fs::read_dir(format!("/proc/{}/fd", hub.id())).unwrap();
    assert!(open.count() > 64);
    let agent = serving.last().unwrap().connect();
    agent.propose("/tmp/new", "x");
    drop(serving);
    assert!(hub.wait().unwrap().success());
}

#[test]
fn a_front_end_that_is_killed_has_left() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve_in_hub::<&str>([]);
    let (hub, files) = (hub_of(&sandbox), serve.files());
    serve.signal("KILL");
    wait_until("the hub ends", || !is_alive(hub));
    assert!(files.iter().all(|file| !file.exists()));
    assert!(running(&sandbox).is_empty());
}

/// The way in which a hub comes to its end, and the folder that hangs then.
type End = (fn(&Serve, hub: u32), fn(&Sandbox) -> PathBuf);

#[test]
#[ignore = "waits for a minute: cargo xtask test"]
fn it_ends_while_a_disk_that_it_needs_for_that_hangs() {
    let ends: [End; 4] = [
        (|serve, _| serve.signal("TERM"), |it| it.home.tmp()),
        (|serve, _| serve.signal("KILL"), |it| it.home.tmp()),
        (|_, hub| kill(hub, "TERM"), |it| it.home.tmp()),
        (|serve, _| serve.signal("KILL"), |it| it.home.runtime()),
    ];
    for (which, (end, folder)) in ends.into_iter().enumerate() {
        let sandbox = Sandbox::new();
        let serve = sandbox.serve_in_hub::<&str>([]);
        let hub = hub_of(&sandbox);
        let Some(hung) = HungDisk::mount(&folder(&sandbox)) else {
            return;
        };
        // It looks after its files there.
        hung.wait_for_request();
        end(&serve, hub);
        wait_until(&format!("the hub ends, {which}"), || !is_alive(hub));
        drop(hung);
    }
}

#[test]
fn where_the_hub_is_killed_another_goes_on_at_the_same_port() {
    let sandbox = Sandbox::new();
    let mut first = sandbox.serve_in_hub::<&str>([]);
    let second = sandbox.serve_in_hub::<&str>([]);
    for signal in ["KILL", "TERM"] {
        let hub = hub_of(&sandbox);
        kill(hub, signal);
        let is_new = || running(&sandbox).iter().any(|it| it.pid != hub);
        wait_until("another hub", is_new);
        let views = || sandbox.run(["list", "--json"]).expect(0).stdout;
        let pids = [&first, &second].map(|serve| serve.child.id().to_string());
        wait_until("both are back", || {
            pids.iter().all(|pid| views().contains(pid))
        });
        let companions = running(&sandbox);
        assert_eq!(companions.len(), 1);
        assert_eq!(companions[0].port, first.port(), "{signal}");
    }
    let agent = first.connect();
    agent.propose("/tmp/new", "x");
    let [name] = &*pending(&sandbox) else {
        panic!("one is pending");
    };
    sandbox.insist(["accept", name]).expect(0);
    first.signal("TERM");
    assert_eq!(first.ended(), Some(0));
}

/// The names of what is pending, as a script reads them.
fn pending(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.run(["diffs", "--json"]).expect(0).stdout;
    let listed: Vec<serde_json::Value> = serde_json::from_str(&listed).unwrap();
    let name = |it: &serde_json::Value| it["diff"].as_str().unwrap().to_owned();
    listed.iter().map(name).collect()
}

/// A killed hub, one that has ended with its last view, and companions without a hub, beside one and alone.
#[test]
fn a_name_that_a_person_has_read_never_means_another_text() {
    let sandbox = Sandbox::new();
    let mut names = Vec::new();
    let mut propose = |serve: &Serve, text: &str| {
        let agent = serve.connect();
        agent.propose("/tmp/new", text);
        let [name] = &*pending(&sandbox) else {
            panic!("one is pending");
        };
        assert!(!names.contains(name), "{name} of {names:?}");
        names.push(name.clone());
        (agent, name.clone())
    };
    let mut serve = sandbox.serve_in_hub::<&str>([]);
    let (_agent, read) = propose(&serve, "good");
    let hub = hub_of(&sandbox);
    kill(hub, "KILL");
    wait_until("another hub", || {
        running(&sandbox).iter().any(|it| it.pid != hub)
    });
    let (mut agent, name) = propose(&serve, "evil");
    for command in ["accept", "reject"] {
        let refused = sandbox.run([command, &read]);
        refused.expect_error(1, "is pending", "`pillion diffs`");
    }
    sandbox.insist(["accept", &name]).expect(0);
    let accepted = pillion_testkit::client::Update::accepted("/tmp/new".to_owned(), "evil");
    assert_eq!(agent.outcome(), accepted);
    for in_hub in [true, false, true, false] {
        serve.signal("TERM");
        assert_eq!(serve.ended(), Some(0));
        wait_until("the hub ends", || running(&sandbox).is_empty());
        serve = match in_hub {
            true => sandbox.serve_in_hub::<&str>([]),
            false => sandbox.serve::<&str>([]),
        };
        propose(&serve, "another");
    }
    let numbers = names.iter().map(|name| name.split('.').next().unwrap());
    let numbers: Vec<u32> = numbers.map(|it| it.parse().unwrap()).collect();
    assert!(numbers.iter().all(|it| *it < 200), "{numbers:?}");
}

/// The view has been there before, and says so.
#[test]
fn a_name_is_not_given_again_where_all_that_was_kept_is_gone() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve_in_hub::<&str>([]);
    let propose = |text: &str| {
        let agent = serve.connect();
        agent.propose("/tmp/new", text);
        (agent, pending(&sandbox))
    };
    let (_agent, read) = propose("good");
    let hub = hub_of(&sandbox);
    fs::remove_dir_all(sandbox.home.home().join(".local/state/pillion")).unwrap();
    kill(hub, "KILL");
    wait_until("another hub", || {
        running(&sandbox).iter().any(|it| it.pid != hub)
    });
    let (_agent, now) = propose("evil");
    assert!(now.len() == 1 && now != read, "{now:?} after {read:?}");
}

/// The numbers of the agents that are connected, as a person reads them.
fn numbers_of_agents(sandbox: &Sandbox) -> Option<String> {
    let refused = sandbox.run(["review-mode", "--session", "0"]).stderr;
    let (_, numbers) = refused.split_once("the numbers are ")?;
    Some(numbers.lines().next()?.to_owned())
}

/// A killed hub, one that has ended with its last view, and companions without a hub, also after all was forgotten.
#[test]
fn an_agent_never_gets_the_number_of_one_that_was_here() {
    let sandbox = Sandbox::new();
    let mut given = Vec::new();
    let mut come = || {
        let _claude = TestClaude::find(&sandbox.home);
        let number = || numbers_of_agents(&sandbox);
        wait_until("it listens", || number().is_some());
        let number: u64 = number().unwrap().parse().unwrap();
        assert!(!given.contains(&number), "{number} of {given:?}");
        given.push(number);
    };
    let gone = || {
        wait_until("it is gone", || numbers_of_agents(&sandbox).is_none());
    };
    let mut serve = sandbox.serve_in_hub::<&str>([]);
    come();
    gone();
    come();
    let hub = hub_of(&sandbox);
    kill(hub, "KILL");
    wait_until("another hub", || {
        running(&sandbox).iter().any(|it| it.pid != hub)
    });
    come();
    for in_hub in [true, false, true, false] {
        serve.signal("TERM");
        assert_eq!(serve.ended(), Some(0));
        wait_until("the hub ends", || running(&sandbox).is_empty());
        sandbox.insist(["forget", "--all"]).expect(0);
        serve = match in_hub {
            true => sandbox.serve_in_hub::<&str>([]),
            false => sandbox.serve::<&str>([]),
        };
        come();
    }
    assert!(given.iter().all(|it| *it < 200), "{given:?}");
}

/// Those of all front ends together are the workspace's, and one comes back first.
#[test]
fn the_port_outlives_a_hub_of_front_ends_with_different_roots() {
    let sandbox = Sandbox::new();
    let roots = [
        sandbox.home.workspace(),
        sandbox.home.other_workspace("two"),
    ];
    let roots = roots.map(|root| root.to_str().unwrap().to_owned());
    let [one, two] = roots.each_ref().map(String::as_str);
    let first = sandbox.serve_in_hub(["--workspace", one]);
    let _second = sandbox.serve_in_hub(["--workspace", one, "--workspace", two]);
    for signal in ["KILL", "TERM", "KILL", "KILL"] {
        wait_until("both are there", || {
            running(&sandbox).iter().any(|it| it.views.len() == 2)
        });
        let hub = hub_of(&sandbox);
        kill(hub, signal);
        wait_until("another hub", || {
            running(&sandbox).iter().any(|it| it.pid != hub)
        });
        let ports: Vec<_> = running(&sandbox).iter().map(|it| it.port).collect();
        assert_eq!(ports, [first.port()], "{signal}");
    }
}

/// For an agent that connects again, which the stand-in's process does.
#[test]
fn what_a_person_chose_for_an_agent_outlives_a_hub_that_is_killed() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve_in_hub::<&str>([]);
    let mut claude = TestClaude::find(&sandbox.home);
    let chosen = || sandbox.run(["review-mode"]).stdout;
    wait_until("it listens", || !chosen().is_empty());
    sandbox.run(["review-mode", "asked"]).expect(0);
    // Twice: what was taken over is left to the next one, too.
    for signal in ["KILL", "KILL", "TERM"] {
        let hub = hub_of(&sandbox);
        kill(hub, signal);
        wait_until("another hub", || {
            running(&sandbox).iter().any(|it| it.pid != hub)
        });
        drop(claude);
        claude = TestClaude::find(&sandbox.home);
        wait_until("it listens", || !chosen().is_empty());
        let said = chosen();
        assert!(said.contains("as its permission mode has it"), "{said}");
    }
    sandbox.run(["review-mode", "always"]).expect(0);
    kill(hub_of(&sandbox), "KILL");
    wait_until("another hub", || !running(&sandbox).is_empty());
    drop(claude);
    let _claude = TestClaude::find(&sandbox.home);
    wait_until("the last choice", || {
        chosen().contains("shows every change")
    });
}

#[test]
fn the_hub_gets_no_secret_and_logs_no_content() {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(["serve"]);
    let child = command
        .env("ANTHROPIC_API_KEY", "a secret")
        .env("PILLION_HUB_LOG", sandbox.hub_log())
        .stdout(Stdio::null())
        .spawn();
    let mut child = child.unwrap();
    wait_until("it runs", || !running(&sandbox).is_empty());
    let hub = hub_of(&sandbox);
    if cfg!(target_os = "linux") {
        let environment = fs::read(format!("/proc/{hub}/environ")).unwrap();
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(environment.contains("XDG_RUNTIME_DIR="), "{environment}");
        assert!(!environment.contains("ANTHROPIC"), "{environment}");
        let folder = fs::read_link(format!("/proc/{hub}/cwd")).unwrap();
        assert_eq!(folder, Path::new("/"));
    }
    let second = sandbox.serve_in_hub::<&str>([]);
    let agent = second.connect();
    agent.propose("/tmp/new", "the content of a file");
    sandbox.insist(["accept", "1.1"]).expect(0);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(second);
    wait_until("the hub ends", || !is_alive(hub));
    let log = fs::read_to_string(sandbox.hub_log()).unwrap();
    assert!(
        log.contains("diff opened") && log.contains("the hub ends"),
        "{log}"
    );
    assert!(
        !log.contains("the content") && !log.contains("a secret"),
        "{log}"
    );
}

#[test]
fn a_second_hub_has_nothing_to_do() {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve_in_hub::<&str>([]);
    let told = sandbox.run(["hub"]).expect(0).stdout;
    assert_eq!(told, "another hub is there\n");
    drop(serve);
}

/// A clean-up of old files takes it, for example.
#[test]
fn who_comes_while_the_socket_is_missing_is_served_by_the_same_hub() {
    let sandbox = Sandbox::new();
    let first = sandbox.serve_in_hub::<&str>([]);
    let hub = hub_of(&sandbox);
    let is_socket = |path: &PathBuf| path.extension().is_some_and(|it| it == "sock");
    for socket in left(&sandbox).into_iter().filter(is_socket) {
        fs::remove_file(socket).unwrap();
    }
    // It may be back at once.
    let second = sandbox.serve_in_hub::<&str>([]);
    assert_eq!(second.port(), first.port());
    let companions = running(&sandbox);
    assert_eq!(companions.len(), 1);
    assert_eq!((companions[0].pid, companions[0].views.len()), (hub, 2));
}

#[test]
fn a_hub_of_another_version_is_reported() {
    let sandbox = Sandbox::new();
    other_hub::start(&sandbox.home, "0.0.1");
    let mut serve = sandbox.serve_in_hub::<&str>([]);
    serve.signal("TERM");
    assert_eq!(serve.ended(), Some(0));
    let mut told = String::new();
    let mut errors = serve.child.stderr.take().unwrap();
    errors.read_to_string(&mut told).unwrap();
    assert!(
        told.contains("hub (version 0.0.1)") && told.contains("is older than"),
        "{told}"
    );
}

#[test]
fn the_review_says_that_the_hub_is_another_version() {
    let sandbox = Sandbox::new();
    other_hub::start(&sandbox.home, "0.0.1");
    let tmux = Tmux::start();
    let command = [env!("CARGO_BIN_EXE_pillion"), "review"];
    let (size, folder) = (Size::new(80, 24), sandbox.home.workspace());
    let pane = tmux.spawn("review", size, &sandbox.home.env(), &folder, &command);
    let screen = pane.wait_for("is older than", SOON);
    assert!(screen.contains("quit all your editors"), "{screen}");
}
