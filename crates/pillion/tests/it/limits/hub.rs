//! The limits on what connections at the hub's socket can consume: of memory, and of places.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::thread;

use pillion_discovery::{Environment, socket};
use pillion_protocol::IdeInfo;
use pillion_testkit::client::Update;
use pillion_testkit::{SOON, peak_memory};
use pillion_view::ask::{Asked, GetReview};
use pillion_view::hub::wire::{Attach, FromHub, FromView};
use pillion_view::{Options, Show, Shows};

use super::serve_with_descriptors;
use crate::sandbox::{Sandbox, Serve};

/// A hub with one view of the person's.
fn hub() -> (Sandbox, Serve, u32) {
    let sandbox = Sandbox::new();
    let serve = sandbox.serve_in_hub::<&str>([]);
    let hub = sandbox.companion_pid();
    (sandbox, serve, hub)
}

fn environment(sandbox: &Sandbox) -> Environment {
    let env = sandbox.home.env();
    let pairs = env
        .iter()
        .filter_map(|(name, value)| Some((name.to_str()?, value)));
    Environment::from_pairs(pairs)
}

fn dial(sandbox: &Sandbox) -> UnixStream {
    let stream = socket::connect_to_hub(&environment(sandbox)).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream
}

/// A view that says who it is, and nothing else.
fn view(sandbox: &Sandbox, environment: Environment) -> UnixStream {
    view_that(Shows::Never, sandbox, environment)
}

fn view_that(shows: Shows, sandbox: &Sandbox, environment: Environment) -> UnixStream {
    let mut stream = dial(sandbox);
    let attach = FromView::Attach(Attach::from(Options {
        environment,
        editor_pid: std::process::id(),
        ide: IdeInfo::new("test", "Test"),
        roots: vec![sandbox.home.workspace().to_owned()],
        shows,
    }));
    say(&mut stream, &attach);
    stream
}

fn say(stream: &mut UnixStream, message: &FromView) {
    let mut line = serde_json::to_vec(message).unwrap();
    line.push(b'\n');
    stream.write_all(&line).unwrap();
}

/// The next message of the hub that is of this kind.
fn next(stream: &UnixStream, is_meant: impl Fn(&FromHub) -> bool) -> FromHub {
    let lines = BufReader::new(stream).lines();
    let mut messages = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap());
    messages.find(is_meant).unwrap()
}

/// What the hub says of the attempt to attach.
fn answer(stream: &UnixStream) -> FromHub {
    next(stream, |it| {
        matches!(it, FromHub::Attached(_) | FromHub::Refused(_))
    })
}

/// Writes so many pieces of a line without an end. Returns true if the hub took them.
fn begins(stream: &mut UnixStream, pieces: usize) -> bool {
    let piece = vec![b' '; 1 << 20];
    (0..pieces).all(|_| stream.write_all(&piece).is_ok())
}

#[test]
fn lines_without_an_end_take_little_memory_and_others_are_answered() {
    let (sandbox, serve, hub) = hub();
    let before = peak_memory(hub);
    let mut silent: Vec<_> = (0..6).map(|_| dial(&sandbox)).collect();
    for stream in &mut silent {
        assert!(!begins(stream, 200), "it has not said who it is");
    }
    let grown = peak_memory(hub) - before;
    assert!(grown < 30 << 20, "{grown} bytes");
    let mut views: Vec<_> = (0..4)
        .map(|_| view(&sandbox, environment(&sandbox)))
        .collect();
    let taken = views.iter_mut().filter_map(|view| {
        assert!(matches!(answer(view), FromHub::Attached(_)));
        begins(view, 250).then_some(())
    });
    assert!(taken.count() < 2);
    let grown = peak_memory(hub) - before;
    assert!(grown < 700 << 20, "{grown} bytes");
    serve.connect().propose("/tmp/new", "x");
    sandbox.run(["reject", "1.1"]).expect(0);
}

#[test]
fn a_view_that_never_reads_is_cut_off_and_its_proposals_go_to_others() {
    let (sandbox, serve, hub) = hub();
    let mut flooding = view_that(Shows::Always, &sandbox, environment(&sandbox));
    answer(&flooding);
    let agent = serve.connect();
    let mut agent = thread::scope(|scope| {
        let proposed = scope.spawn(move || {
            agent.propose("/tmp/new", "x");
            agent
        });
        let is_open =
            |it: &FromHub| matches!(it, FromHub::Show(show) if matches!(**show, Show::Open(..)));
        let FromHub::Show(show) = next(&flooding, is_open) else {
            unreachable!("it is meant");
        };
        let Show::Open(_, request) = *show else {
            unreachable!("it is meant");
        };
        let shown = serde_json::json!({"answer": {"request": request, "result": {"Ok": null}}});
        say(&mut flooding, &serde_json::from_value(shown).unwrap());
        proposed.join().unwrap()
    });
    let before = peak_memory(hub);
    let question = FromView::Ask(Asked::new(1, &GetReview::default()).unwrap());
    let mut line = serde_json::to_vec(&question).unwrap();
    line.push(b'\n');
    let questions = line.repeat(1000);
    let error = loop {
        if let Err(error) = flooding.write_all(&questions) {
            break error;
        }
    };
    assert!(matches!(
        error.kind(),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
    ));
    let grown = peak_memory(hub) - before;
    assert!(grown < 60 << 20, "{grown} bytes");
    // Until the hub has noticed that nobody reads there, that view is asked.
    let ran = loop {
        let ran = sandbox.insist(["accept", "1.1"]);
        if !ran.stderr.contains("does not tell what stands in the view") {
            break ran;
        }
    };
    ran.expect(0);
    assert!(matches!(agent.outcome(), Update::DiffAccepted { .. }));
}

#[test]
fn idle_views_of_an_agent_leave_room_for_commands_and_for_the_persons_views() {
    let (sandbox, serve, _) = hub();
    let of_agent = environment(&sandbox).with("CLAUDECODE", Some("1"));
    let views: Vec<_> = (0..256).map(|_| view(&sandbox, of_agent.clone())).collect();
    let refused = views.iter().filter_map(|view| match answer(view) {
        FromHub::Refused(refused) => Some(refused.reason),
        _ => None,
    });
    let refused: Vec<_> = refused.collect();
    assert!(refused.len() > 150, "{}", refused.len());
    assert!(
        refused
            .iter()
            .all(|it| it == "the hub has too many front ends")
    );
    serve.connect().propose("/tmp/new", "x");
    sandbox.run(["reject", "1.1"]).expect(0);
    let persons = view(&sandbox, environment(&sandbox));
    assert!(matches!(answer(&persons), FromHub::Attached(_)));
    // Nor do connections that say nothing.
    let _silent: Vec<_> = (0..300).map(|_| dial(&sandbox)).collect();
    sandbox.run(["diffs"]).expect(0);
}

/// A view of a project of its own.
fn serve_project(sandbox: &Sandbox, name: &str) -> Serve {
    let folder = sandbox.home.root().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    sandbox.serve_in_hub([OsStr::new("--workspace"), folder.as_os_str()])
}

/// The number of entries of a folder of the hub's in `/proc`.
fn count(hub: u32, what: &str) -> usize {
    std::fs::read_dir(format!("/proc/{hub}/{what}"))
        .unwrap()
        .count()
}

#[test]
fn a_project_costs_few_descriptors_and_threads() {
    const MORE: usize = 8;
    let (sandbox, _serve, hub) = hub();
    let counts = || (count(hub, "fd"), count(hub, "task"));
    let before = counts();
    let _serving: Vec<_> = (0..MORE)
        .map(|it| serve_project(&sandbox, &format!("p{it}")))
        .collect();
    let (descriptors, threads) = counts();
    // A port, a socket, its lock, and a view.
    let few = before.0 + 6 * MORE + 4;
    assert!(descriptors <= few, "{before:?}: {descriptors}");
    // Discovery, changes, and two of a view.
    assert!(threads <= before.1 + 4 * MORE + 4, "{before:?}: {threads}");
}

#[test]
fn one_project_too_many_is_refused_alone() {
    let sandbox = Sandbox::new();
    let serve = serve_with_descriptors(&sandbox, 160);
    let mut agent = serve.connect();
    let mut served = Vec::new();
    let refusal = (0..100).find_map(|number| {
        let folder = sandbox.home.root().join(format!("p{number}"));
        std::fs::create_dir_all(&folder).unwrap();
        let mut child = sandbox
            .command(["serve", "--workspace", folder.to_str().unwrap()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        if line.is_empty() {
            let ended = child.wait_with_output().unwrap();
            return Some(String::from_utf8(ended.stderr).unwrap());
        }
        let ready = serde_json::from_str(&line).unwrap();
        served.push(Serve { child, ready });
        None
    });
    let refusal = refusal.unwrap();
    assert!(
        refusal.contains("no more files for one more project"),
        "{refusal}"
    );
    assert!(served.len() > 5, "{}", served.len());
    let more: Vec<_> = (0..20).map(|_| serve.connect()).collect();
    agent.propose("/tmp/new", "x");
    sandbox.insist(["accept", "1.1"]).expect(0);
    assert!(matches!(agent.outcome(), Update::DiffAccepted { .. }));
    drop(more);
}
