//! Pillion's companions without an editor keep the contract, and the rules of Claude Code and Copilot CLI: every rule of
//! them. One pass for each protocol is in every run.

use std::fs;

use companion_conformance::{Protocol, rules};
use pillion_testkit::conformance::{
    claude_commands, commands, copilot_commands, fill, program, run, suite,
};
use pillion_testkit::{Pane, SOON, Size, Tmux};

use crate::sandbox::{Sandbox, Serve};

/// Nothing but time shows that a silent stream lives, and nobody opens a second workspace folder.
const NOT_SEEN: [&str; 3] = ["C1.1-stream-alive", "C2.5-atomic", "C2.5-separator"];

/// A review that waits for agents.
fn review(tmux: &Tmux, sandbox: &Sandbox) -> Pane {
    let pillion = program("pillion");
    let pillion = pillion.to_str().unwrap();
    let (size, env) = (Size::new(110, 30), sandbox.home.env());
    let pane = tmux.spawn("review", size, &env, &sandbox.home.workspace(), &[pillion]);
    pane.wait_for("Waiting for an agent.", SOON);
    pane
}

fn stop_all(views: &[Serve]) -> String {
    let pids = views.iter().map(|view| view.child.id().to_string());
    format!("kill {}", pids.collect::<Vec<_>>().join(" "))
}

fn stop(serve: &Serve) -> String {
    format!("kill {}", serve.child.id())
}

#[test]
fn a_headless_companion_passes() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    let before = fs::read_dir(sandbox.home.workspace()).unwrap().count();
    let serve = sandbox.serve();
    let outcome = run(&mut suite(&sandbox.home, commands(&stop(&serve))));
    outcome.expect_all_but(&NOT_SEEN);
    assert_eq!(
        outcome.report["rules"].as_array().unwrap().len(),
        rules(Protocol::Companion).count()
    );
    let left: Vec<_> = fs::read_dir(sandbox.home.workspace()).unwrap().collect();
    assert_eq!(left.len(), before, "nothing was written: {left:?}");
}

#[test]
fn a_headless_companion_keeps_claude_codes_rules() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    let before = fs::read_dir(sandbox.home.workspace()).unwrap().count();
    let serve = sandbox.serve();
    let outcome = run(&mut suite(
        &sandbox.home,
        claude_commands(&stop(&serve), None),
    ));
    outcome.expect_all_but(&["K5-closed"]);
    assert_eq!(
        outcome.report["rules"].as_array().unwrap().len(),
        rules(Protocol::Claude).count()
    );
    let left: Vec<_> = fs::read_dir(sandbox.home.workspace()).unwrap().collect();
    assert_eq!(left.len(), before, "nothing was written: {left:?}");
}

#[test]
#[ignore = "in --all: takes a minute: cargo xtask test --all"]
fn a_companion_with_two_views_passes() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    let views = [(); 2].map(|()| sandbox.serve_in_hub());
    let outcome = run(&mut suite(&sandbox.home, commands(&stop_all(&views))));
    outcome.expect_all_but(&NOT_SEEN);
}

#[test]
#[ignore = "in --all: takes a minute: cargo xtask test --all"]
fn a_companion_with_two_views_keeps_claude_codes_rules() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    let views = [(); 2].map(|()| sandbox.serve_in_hub());
    let outcome = run(&mut suite(
        &sandbox.home,
        claude_commands(&stop_all(&views), None),
    ));
    outcome.expect_all_but(&["K5-closed"]);
}

#[test]
fn a_companion_with_two_views_keeps_copilot_clis_rules() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    let before = fs::read_dir(sandbox.home.workspace()).unwrap().count();
    let views = [(); 2].map(|()| sandbox.serve_in_hub());
    let outcome = run(&mut suite(
        &sandbox.home,
        copilot_commands(&stop_all(&views)),
    ));
    // Nothing closes a view without a decision here, and nobody opens a second workspace folder.
    outcome.expect_all_but(&["P5-closed", "P9-atomic"]);
    assert_eq!(
        outcome.report["rules"].as_array().unwrap().len(),
        rules(Protocol::Copilot).count()
    );
    let left: Vec<_> = fs::read_dir(sandbox.home.workspace()).unwrap().collect();
    assert_eq!(left.len(), before, "nothing was written: {left:?}");
}

#[test]
#[ignore = "in --all: takes a minute: cargo xtask test --all"]
fn the_review_passes() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    let tmux = Tmux::start();
    let _pane = review(&tmux, &sandbox);
    let stop = format!("kill {}", sandbox.running_pid());
    run(&mut suite(&sandbox.home, commands(&stop))).expect_all_but(&NOT_SEEN);
}

#[test]
#[ignore = "in --all: takes a minute: cargo xtask test --all"]
fn the_review_keeps_claude_codes_rules() {
    let sandbox = Sandbox::new();
    fill(&sandbox.home);
    let tmux = Tmux::start();
    let _pane = review(&tmux, &sandbox);
    let stop = format!("kill {}", sandbox.running_pid());
    let outcome = run(&mut suite(&sandbox.home, claude_commands(&stop, None)));
    // Its views are closed by decisions alone.
    outcome.expect_all_but(&["K5-closed"]);
}
