//! The end of a view: the person's own lifts nothing and leaves nothing, and what an agent's signal has ended is expected back.

use std::fs;
use std::time::Instant;

use pillion_discovery::unended;
use pillion_protocol::Dialect;
use pillion_testkit::{SOON, Size, TestAgent, Tmux, all_of, kill_all_of, pause};
use serde_json::json;

use super::apart;
use crate::sandbox::Sandbox;

/// The ways without and with a hub.
const HUBS: [&str; 2] = ["on", "off"];

struct Served {
    sandbox: Sandbox,
    view: u32,
    _agent: TestAgent,
}

impl Served {
    /// With an agent that is this process.
    fn new(hub: &str) -> Self {
        let sandbox = Sandbox::new();
        let variables = [("PILLION_HUB", hub)];
        apart(&sandbox, &variables, "\"$0\" serve >/dev/null 2>&1 &");
        let agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
        let view = sandbox.running_pid();
        Self {
            sandbox,
            view,
            _agent: agent,
        }
    }

    /// Whether a companion is expected here once everything has ended.
    fn is_expected(&self) -> bool {
        is_expected(&self.sandbox)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        kill_all_of(&self.sandbox.home);
    }
}

fn is_expected(sandbox: &Sandbox) -> bool {
    let of_ours = |pid: &u32| {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.trim() == "pillion"
    };
    let started = Instant::now();
    while all_of(&sandbox.home).iter().any(of_ours) {
        assert!(started.elapsed() < SOON, "it does not end");
        pause(started);
    }
    unended::roots_around(&sandbox.environment(), &sandbox.home.workspace()).is_some()
}

#[test]
fn a_view_that_an_agents_signal_ends_is_expected_back() {
    for hub in HUBS {
        for signal in ["TERM", "HUP", "INT"] {
            for how in ["", "env -i", "setsid --wait env"] {
                let served = Served::new(hub);
                let kill = format!("{how} kill -{signal} {}", served.view);
                apart(&served.sandbox, &[], &kill).expect(0);
                assert!(served.is_expected(), "{hub} {kill}");
            }
        }
    }
}

#[test]
fn a_view_that_the_person_ends_is_not() {
    for hub in HUBS {
        let served = Served::new(hub);
        let kill = format!(
            "kill -TERM {0}; while [ -e /proc/{0} ]; do sleep 0.01; done",
            served.view
        );
        served.sandbox.home.run_as_person(&["sh", "-c", &kill]);
        assert!(!served.is_expected(), "{hub}");
        // What has started it ends it with its last word, though an agent has done the like before.
        let script = "\"$0\" serve >ready & until grep -q port ready; do sleep 0.01; done; kill $!";
        let script = format!("export PILLION_HUB={hub}; {script}");
        let program = env!("CARGO_BIN_EXE_pillion");
        let said = served
            .sandbox
            .home
            .run_as_person(&["sh", "-c", &script, program]);
        assert!(!served.is_expected(), "{hub} {}", said.stderr);
    }
}

/// What an editor starts gets no signal when its terminal closes: then that is no kill of the editor.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_editor_that_ends_without_a_word_was_killed_unless_its_terminal_is_closed() {
    let params = json!({"processId": null, "rootUri": null, "capabilities": {}});
    let first = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    for hub in HUBS {
        for is_closed in [true, false] {
            let sandbox = Sandbox::new();
            let mut env = sandbox.home.env();
            env.set("PILLION_HUB", hub);
            let tmux = Tmux::start();
            let folder = sandbox.home.workspace();
            let shell = ["bash", "--norc", "-i"];
            let pane = tmux.spawn("shell", Size::new(110, 30), &env, &folder, &shell);
            let first = first.to_string();
            let frame = format!("Content-Length: {}\r\n\r\n{first}", first.len());
            sandbox.home.file("first", frame);
            let lsp = env!("CARGO_BIN_EXE_pillion");
            pane.type_text(&format!(
                "mkfifo in; (cat first; cat in) | setsid {lsp} lsp >/dev/null 2>&1"
            ));
            pane.send_keys(["Enter"]);
            let _agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
            match is_closed {
                true => pane.close(),
                false => drop(apart(&sandbox, &[], ": >in")),
            }
            assert_eq!(is_expected(&sandbox), !is_closed, "{hub}");
        }
    }
}

/// In a terminal: its keys, and its end, are the person's; the signal of one that nobody is known to have started is not.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_review_ends_by_its_keys_and_its_terminal() {
    const TERMINATE: &str = "(while [ -e /proc/$$ ]; do sleep 0.01; done; kill -TERM VIEW; \
        while [ -e /proc/VIEW ]; do sleep 0.01; done) >/dev/null 2>&1 &";
    for hub in HUBS {
        for (end, expected) in [("q", false), ("close", false), ("kill", true)] {
            let sandbox = Sandbox::new();
            let mut env = sandbox.home.env();
            env.set("PILLION_HUB", hub);
            let tmux = Tmux::start();
            let command = [env!("CARGO_BIN_EXE_pillion"), "review"];
            let folder = sandbox.home.workspace();
            let pane = tmux.spawn("review", Size::new(110, 30), &env, &folder, &command);
            pane.wait_for("Waiting for an agent.", SOON);
            let _agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
            match end {
                "q" => pane.send_keys(["q"]),
                "close" => pane.close(),
                _ => {
                    let script = TERMINATE.replace("VIEW", &sandbox.running_pid().to_string());
                    apart(&sandbox, &[], &script).expect(0);
                }
            }
            assert_eq!(is_expected(&sandbox), expected, "{hub} {end}");
        }
    }
}
