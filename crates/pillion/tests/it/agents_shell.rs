//! The requests of an agent's own shell: the agent does not speak for the person. Here this process is the agent, and
//! the companion is no child of its.

mod ended;
mod left_behind;
mod terminals;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::process::parent_id;
use std::process::{Command, Stdio};
use std::time::Instant;

use crossbeam_channel::unbounded;
use pillion_companion::start_own;
use pillion_discovery::{Environment, state};
use pillion_protocol::{Dialect, IdeInfo, Outcome, ReviewChoice, Stranger};
use pillion_testkit::client::Update;
use pillion_testkit::{SOON, Size, TestAgent, TestClaude, Tmux, kill_all_of, pause};
use pillion_view::ask::{
    Ask, GetReview, Mention, Refused, SendNotes, SetReview, ToolCall, Work, WorkStep,
};
use pillion_view::changes::{ChangesAct, Meant, Part};
use pillion_view::{
    Attached, Client, Decide, EditorEvent, Options, Proposed, Reply, Shows, Tell, attach_to_running,
};

use serde_json::json;

use crate::sandbox::{Ran, Sandbox, ran};
use crate::shared_agent_work as agent_work;

const REFUSED: &str = "this command was started by Gemini CLI";
const ADVICE: &str = "in a terminal that Gemini CLI has not started";

const STARTED: &str = "this command was started by Codex CLI";
const ELSEWHERE: &str = "in a terminal that Codex CLI has not started";

struct World {
    sandbox: Sandbox,
    agent: TestAgent,
    path: String,
}

impl World {
    /// With an agent that has proposed `text`.
    fn new(text: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox
            .run(["hook", "install", "codex", "--strict"])
            .expect(0);
        // Its parent ends at once.
        apart(&sandbox, &[], "\"$0\" serve >/dev/null 2>&1 &");
        let agent = TestAgent::find(&sandbox.home, Dialect::GeminiCli);
        let path = sandbox.home.file("a.txt", "before\n");
        agent.propose(&path, text);
        Self {
            agent,
            path: path.to_str().unwrap().to_owned(),
            sandbox,
        }
    }

    fn shell(&self, variables: &[(&str, &str)], script: &str) -> Ran {
        apart(&self.sandbox, variables, script)
    }

    #[track_caller]
    fn expect_pending(&self) {
        let listed = self.sandbox.run(["diffs"]).expect(0).stdout;
        assert!(listed.contains(" 1.1  gemini"), "{listed}");
    }

    #[track_caller]
    fn expect_accepted(&mut self, text: &str) {
        let accepted = Update::accepted(self.path.clone(), text);
        assert_eq!(self.agent.outcome(), accepted);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        kill_all_of(&self.sandbox.home);
    }
}

/// Runs a script for the shell, in which `$0` is the command.
fn apart(sandbox: &Sandbox, variables: &[(&str, &str)], script: &str) -> Ran {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", script])
        .arg(env!("CARGO_BIN_EXE_pillion"))
        .env_clear()
        .envs(sandbox.home.env().iter())
        .envs(variables.iter().copied())
        .current_dir(sandbox.home.workspace())
        .stdin(Stdio::null());
    ran(&mut shell, b"")
}

/// What a person decides where no companion is found.
const WITHOUT_COMPANION: [&str; 9] = [
    "keep 1.1",
    "revert 1.1",
    "undo 1.1",
    "stage 1.1",
    "forget 1",
    "hook uninstall codex",
    "hook install codex",
    "install vim --force",
    "uninstall vim",
];

#[test]
fn what_an_agents_shell_asks_for_in_the_persons_name_is_refused() {
    let world = World::new("after\n");
    for script in [
        "\"$0\" accept 1.1",
        "\"$0\" reject 1.1",
        "\"$0\" accept 1.1 --content-file a.txt",
        "\"$0\" focus a.txt",
        "\"$0\" mention a.txt",
        "\"$0\" review-mode asked",
        "\"$0\" review-mode after",
        "\"$0\" send-notes",
        "(sh -c '(\"$0\" accept 1.1)' \"$0\")",
        "nohup setsid --wait \"$0\" accept 1.1",
        "exec 3<&0; timeout 60 env -i PATH=\"$PATH\" TMPDIR=\"$TMPDIR\" HOME=\"$HOME\" XDG_RUNTIME_DIR=\"$XDG_RUNTIME_DIR\" \"$0\" accept 1.1",
    ] {
        world.shell(&[], script).expect_error(1, REFUSED, ADVICE);
    }
    let typed = "script --quiet --return --command \"'$0' accept 1.1\" /dev/null";
    let typed = world.shell(&[], typed).expect(1);
    assert!(typed.stdout.contains(REFUSED), "{}", typed.stdout);
    world.expect_pending();
    // To look is everybody's.
    let looked = world.shell(&[], "\"$0\" diffs 1").expect(0);
    assert_eq!(looked.stdout, "after\n");
}

#[test]
fn a_process_without_a_parent_is_known_by_the_agents_variable() {
    for how in ["", "nohup", "setsid"] {
        let world = World::new("after\n");
        let accept =
            format!("{{ {how} sh -c '\"$0\" accept 1.1 2>&1; echo ended' \"$0\" >out 2>&1 & }}");
        world.shell(&[("GEMINI_CLI", "1")], &accept).expect(0);
        let out = world.sandbox.home.workspace().join("out");
        let said = || fs::read_to_string(&out).unwrap_or_default();
        let started = Instant::now();
        while !said().contains("ended") {
            assert!(started.elapsed() < SOON, "{}", said());
            pause(started);
        }
        assert!(said().contains(REFUSED), "{how}: {}", said());
        world.expect_pending();
    }
    // As a person's own terminal is: no child of the agent, and without its variable.
    let mut world = World::new("after\n");
    world.sandbox.run_as_person(["accept", "1.1"]).expect(0);
    world.expect_accepted("after\n");
}

#[test]
fn claude_codes_shell_decides_nothing_either() {
    let sandbox = Sandbox::new();
    apart(&sandbox, &[], "\"$0\" serve >/dev/null 2>&1 &");
    let claude = TestClaude::find(&sandbox.home);
    let path = sandbox.home.file("a.txt", "before\n");
    let _proposed = claude.proposing(&path, "after\n", "tab");
    let started = Instant::now();
    while !sandbox.run(["diffs"]).stdout.contains(" 1.1  claude") {
        assert!(started.elapsed() < SOON, "it is not shown");
        pause(started);
    }
    let refused = apart(&sandbox, &[], "\"$0\" accept 1.1");
    refused.expect_error(1, "started by Claude Code", "in the view");
    kill_all_of(&sandbox.home);
}

/// Codex CLI connects to nothing: this process is it, because its hooks are called here.
#[test]
fn an_agent_that_is_known_by_its_hooks_speaks_for_nobody_either() {
    let sandbox = Sandbox::new();
    let home = &sandbox.home;
    let path = home.file("a.txt", "before\n");
    home.file(agent_work::OTHER.0, agent_work::OTHER.1);
    sandbox
        .run(["hook", "install", "codex", "--strict"])
        .expect(0);
    apart(&sandbox, &[], "\"$0\" serve >/dev/null 2>&1 &");
    let wait = |what: &str, is_so: &dyn Fn() -> bool| {
        let started = Instant::now();
        while !is_so() {
            assert!(started.elapsed() < SOON, "{what}");
            pause(started);
        }
    };
    wait("a companion", &|| sandbox.run(["diffs"]).code == Some(0));
    agent_work::turn_begins(home);
    agent_work::command_begins(home);
    fs::write(&path, "after\n").unwrap();
    agent_work::command_ends(home);
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n";
    let call = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": home.workspace(), "tool_use_id": "2",
        "tool_name": "apply_patch", "tool_input": {"command": patch},
    });
    let mut hook = sandbox.command(["hook", "codex"]);
    let hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut hook = hook.spawn().unwrap();
    let mut stdin = hook.stdin.take().unwrap();
    stdin.write_all(call.to_string().as_bytes()).unwrap();
    drop(stdin);
    wait("its patch", &|| {
        sandbox.run(["diffs"]).stdout.contains(" 1.1  codex")
    });
    let kept = || sandbox.run(["changes", "--json"]).expect(0).stdout;
    let before = kept();
    assert!(
        before.contains("a.txt") && before.contains("unseen"),
        "{before}"
    );

    let hidden = "env -i HOME=\"$HOME\" PATH=\"$PATH\" ";
    for (how, commands) in [
        (
            "",
            &[
                "accept 1.1",
                "reject 1.1",
                "focus a.txt",
                "mention a.txt",
                "review-mode asked",
                "send-notes",
                "keep 1.1",
                "revert 1.1",
                "undo 1.1",
                "stage 1.1",
                "forget 1",
                "look 1.1",
                "hook uninstall codex",
                "hook install codex",
                "install vim --force",
                "uninstall vim",
            ][..],
        ),
        // It does not find the companion then,
        (hidden, &WITHOUT_COMPANION),
        // and here nothing of what was kept.
        (
            "env -i HOME=\"$HOME\" PATH=\"$PATH\" XDG_STATE_HOME=/nonexistent ",
            &["hook uninstall codex", "hook uninstall claude"],
        ),
    ] {
        for command in commands {
            let script = format!("{how}\"$0\" {command}");
            apart(&sandbox, &[], &script).expect_error(1, STARTED, ELSEWHERE);
        }
    }
    if rustix::process::geteuid().is_root() {
        expect_refused_among_other_processes(&sandbox);
    }
    assert_eq!(kept(), before);
    assert_eq!(fs::read_to_string(&path).unwrap(), "after\n");
    assert!(sandbox.run(["diffs"]).stdout.contains(" 1.1  codex"));

    sandbox.run_as_person(["accept", "1.1"]).expect(0);
    let answered = hook.wait_with_output().unwrap();
    assert!(answered.status.success(), "{answered:?}");
    agent_work::turn_ends(home);
    for (command, text) in [
        ("revert", "before\n"),
        ("undo", "after\n"),
        ("keep", "after\n"),
    ] {
        sandbox.run_as_person([command, "1.1"]).expect(0);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{command}");
    }
    sandbox.run_as_person(["forget", "1"]).expect(0);
    kill_all_of(home);
}

/// Where a process calls itself otherwise than it is shown, it finds no companion but one that is there, too.
fn expect_refused_among_other_processes(sandbox: &Sandbox) {
    let apart = |script: String| apart(sandbox, &[], &format!("unshare --pid --fork {script}"));
    // Each waits for a while: one of each kind.
    for command in ["keep 1.1", "forget 1", "hook uninstall codex"] {
        apart(format!("\"$0\" {command}")).expect_error(1, STARTED, ELSEWHERE);
        let own = format!(
            "sh -c '\"$0\" serve >\"$TMPDIR/serve.out\" 2>&1 & until grep -q port \"$TMPDIR/serve.out\"; do sleep 0.05; done; \"$0\" {command}' \"$0\""
        );
        // By that companion, or by itself if that has not answered.
        let refused = apart(own).expect(1).stderr;
        let is_refused = [left_behind::UNKNOWN, STARTED]
            .iter()
            .any(|it| refused.contains(it));
        assert!(is_refused, "{command}: {refused}");
    }
}

/// An editor that an agent opens shows what is proposed, and what it says of texts, files and trust is none of the
/// person's words.
#[test]
fn what_a_view_says_that_an_agent_started_counts_for_nothing() {
    let mut world = World::new("after\n");
    let home = &world.sandbox.home;
    home.file(agent_work::OTHER.0, agent_work::OTHER.1);
    let written = home.file("written.txt", "before\n");
    let environment = [("TMPDIR", home.tmp()), ("XDG_RUNTIME_DIR", home.runtime())];
    let options = Options {
        environment: Environment::from_pairs(environment),
        editor_pid: std::process::id(),
        ide: IdeInfo::new("agents", "Agent's"),
        roots: vec![home.workspace()],
        shows: Shows::Always,
    };
    let (sender, shown) = unbounded();
    let editor = move |event: EditorEvent| match event {
        EditorEvent::Open(_, opened) => {
            opened.done(());
            let _ = sender.send(());
        }
        EditorEvent::Text(_, told) => told.done("evil\n".to_owned()),
        EditorEvent::Close(_, _, closed) => closed.done("evil\n".to_owned()),
        _ => {}
    };
    let view = attach_to_running(options, editor, start_own).unwrap();
    shown.recv_timeout(SOON).unwrap();
    agent_work::turn_begins(home);
    agent_work::command_begins(home);
    fs::write(&written, "agent's\n").unwrap();
    view.handle().tell(Tell::Synced {
        path: written.clone(),
        is_saved: true,
    });
    view.handle().tell(Tell::context(Vec::new(), Some(true)));
    // What it says comes in order.
    ask(&view, GetReview::default()).unwrap();
    agent_work::command_ends(home);
    let changes = world.sandbox.run(["changes", "--json"]).expect(0).stdout;
    assert!(
        changes.contains("written.txt"),
        "it is the agent's: {changes}"
    );
    let looked = world.sandbox.run(["diffs", "1"]).expect(0);
    assert_eq!(looked.stdout, "after\n");
    world.sandbox.run_as_person(["accept", "1.1"]).expect(0);
    world.expect_accepted("after\n");
    drop(view);
}

/// The first view configures the companion, unless an agent's variable is in its environment.
#[test]
fn an_agents_view_does_not_turn_recording_off_for_the_person() {
    for (variable, is_recorded) in [("GEMINI_CLI", true), ("OTHER", false)] {
        let sandbox = Sandbox::new();
        let home = &sandbox.home;
        home.file(agent_work::OTHER.0, agent_work::OTHER.1);
        let path = home.file("a.txt", "before\n");
        let variables = [("PILLION_CHANGES", "off"), (variable, "1")];
        apart(&sandbox, &variables, "\"$0\" serve >/dev/null 2>&1 &");
        let started = Instant::now();
        while sandbox.run(["diffs"]).code != Some(0) {
            assert!(started.elapsed() < SOON, "no companion");
            pause(started);
        }
        let mut persons = sandbox.serve_in_hub::<&str>([]);
        if !is_recorded {
            // Whoever came first may have been an agent that nobody knew yet.
            persons.said("what agents change is not recorded");
        }
        agent_work::turn_begins(home);
        agent_work::command_begins(home);
        fs::write(&path, "after\n").unwrap();
        agent_work::command_ends(home);
        let changes = sandbox.run(["changes", "--json"]).expect(0).stdout;
        assert_eq!(
            changes.contains("a.txt"),
            is_recorded,
            "{variable}: {changes}"
        );
        kill_all_of(home);
    }
}

/// Where a view of the agent's comes first in a folder, the agent's own HOME does not say where the person's changes are kept; and where
/// nobody knew that it is an agent's, the person's view says it.
#[test]
fn an_agents_view_does_not_say_where_the_persons_changes_are_kept() {
    for is_known in [true, false] {
        let sandbox = Sandbox::new();
        let home = &sandbox.home;
        home.file(agent_work::OTHER.0, agent_work::OTHER.1);
        let path = home.file("a.txt", "before\n");
        let elsewhere = home.root().join("elsewhere");
        let variables = [
            ("XDG_STATE_HOME", elsewhere.to_str().unwrap()),
            ("HOME", elsewhere.to_str().unwrap()),
            (if is_known { "GEMINI_CLI" } else { "OTHER" }, "1"),
        ];
        let folder = home.other_workspace("other");
        let _first =
            is_known.then(|| sandbox.serve_in_hub(["--workspace", folder.to_str().unwrap()]));
        apart(
            &sandbox,
            &variables,
            "\"$0\" serve >ready 2>&1 & until grep -q port ready; do sleep 0.01; done",
        );
        let mut persons = sandbox.serve_in_hub::<&str>([]);
        if !is_known {
            persons.said("what agents change here is kept below");
        }
        agent_work::turn_begins(home);
        agent_work::command_begins(home);
        fs::write(&path, "after\n").unwrap();
        agent_work::command_ends(home);
        let changes = sandbox.run(["changes", "--json"]).expect(0).stdout;
        assert_eq!(changes.contains("a.txt"), is_known, "{changes}");
        assert_eq!(elsewhere.exists(), !is_known);
        // The commands that find nothing say why, too.
        for command in ["changes", "turns", "log"] {
            let said = sandbox.run([command]).expect(0).stderr;
            let is_said = said.contains("what agents change here is kept below")
                && said.contains(". Open here: ");
            assert_eq!(is_said, !is_known, "{command}: {said}");
        }
        kill_all_of(home);
    }
}

/// What calls itself the hook of an agent's process is below it.
#[test]
fn nobody_speaks_for_the_hooks_of_a_process_that_has_not_started_them() {
    let sandbox = Sandbox::new();
    let path = sandbox.home.file("a.txt", "before\n");
    let _serve = sandbox.serve_in_hub::<&str>([]);
    let companion = state::list(&sandbox.environment()).remove(0);
    let client = Client::new(&companion).unwrap();
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    for (process, is_its) in [
        (other.id(), false),
        (std::process::id(), false),
        (parent_id(), true),
    ] {
        let tell = |step| {
            let work = Work {
                agent: Dialect::CopilotCli,
                session: process.to_string(),
                processes: vec![process],
                process: Some(process),
                step,
                takes_context: false,
            };
            client.ask(work).unwrap();
        };
        tell(WorkStep::TurnBegins("forged".to_owned()));
        tell(WorkStep::CallBegins(ToolCall {
            id: "1".to_owned(),
            tool: "bash".to_owned(),
            ..ToolCall::default()
        }));
        fs::write(&path, format!("{process}\n")).unwrap();
        tell(WorkStep::CallEnds("1".to_owned()));
        let turns = sandbox.run(["turns", "--json"]).expect(0).stdout;
        assert_eq!(turns.contains("forged"), is_its, "{turns}");
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

/// Asks the companion of a view.
fn ask<A: Ask>(view: &Attached, ask: A) -> Result<A::Answer, Refused> {
    let (sender, answer) = unbounded();
    let reply = Reply::new(move |answer: Result<_, _>| drop(sender.send(answer)));
    view.handle().ask(ask, reply);
    answer.recv_timeout(SOON).unwrap()
}

#[track_caller]
fn expect_refused<A: Ask>(view: &Attached, asked: A) {
    let refused = ask(view, asked)
        .err()
        .expect("an agent speaks for the person");
    let (by, in_view) = (Stranger::Agent(Dialect::GeminiCli), true);
    assert_eq!(refused, Refused::NotThePerson { by, in_view });
}

#[test]
fn a_view_that_an_agent_started_decides_nothing() {
    let mut world = World::new("after\n");
    let home = &world.sandbox.home;
    let environment = [("TMPDIR", home.tmp()), ("XDG_RUNTIME_DIR", home.runtime())];
    let options = Options {
        environment: Environment::from_pairs(environment),
        editor_pid: std::process::id(),
        ide: IdeInfo::new("agents", "Agent's"),
        roots: vec![home.workspace()],
        shows: Shows::Always,
    };
    let (sender, shown) = unbounded();
    let editor = move |event: EditorEvent| match event {
        EditorEvent::Open(diff, opened) => {
            opened.done(());
            let _ = sender.send(diff);
        }
        EditorEvent::Close(_, _, closed) => closed.done("after\n".to_owned()),
        _ => {}
    };
    let view = attach_to_running(options, editor, start_own).unwrap();
    world.agent.propose(&world.path, "newer\n");
    // It was shown the former one, too, if it came before the newer one did.
    let diff = loop {
        let diff = shown.recv_timeout(SOON).unwrap();
        if diff.proposed.as_str() == "newer\n" {
            break diff;
        }
    };
    for outcome in [
        Outcome::accepted("newer\n"),
        Outcome::accepted("mine\n"),
        Outcome::Rejected,
    ] {
        expect_refused(&view, Decide::blind(diff.key(), outcome));
    }
    let (choice, number) = (ReviewChoice::Asked, None);
    expect_refused(&view, SetReview { choice, number });
    let looked = ask(&view, GetReview::default()).unwrap().message;
    assert!(looked.contains("`pillion run claude`"), "{looked}");
    expect_refused(&view, SendNotes::default());
    let (path, lines) = (world.path.clone().into(), None);
    expect_refused(&view, Mention { path, lines });
    let named = || Some("1".to_owned());
    let meant = || Meant {
        id: named(),
        ..Meant::default()
    };
    let take_back = Part {
        meant: meant(),
        ..Part::default()
    };
    for act in [
        ChangesAct::Look(named()),
        ChangesAct::Keep(meant()),
        ChangesAct::TakeBack(take_back),
        ChangesAct::Undo(named()),
    ] {
        expect_refused(&view, act);
    }
    drop(view);
    let listed = world.sandbox.run(["diffs"]).expect(0).stdout;
    assert!(listed.contains(" 1.2  gemini"), "{listed}");
    world.sandbox.run_as_person(["accept", "1.2"]).expect(0);
    world.expect_accepted("newer\n");
}

/// What an agent asks the person's tmux to run is no child of the agent, and the tmux is no agent by that.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_hook_that_an_agent_has_the_persons_tmux_run_makes_that_no_agent() {
    let tmux = Tmux::start();
    let mut world = World::new("after\n");
    let home = &world.sandbox.home;
    let call = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": home.workspace(), "tool_use_id": "2",
        "tool_name": "Bash", "tool_input": {"command": "true"},
    });
    home.file("call.json", call.to_string());
    let spawn = |name: &str, command: &[&str]| {
        let (env, folder) = (home.env(), home.workspace());
        tmux.spawn(name, Size::new(80, 10), &env, &folder, command)
    };
    let pillion = env!("CARGO_BIN_EXE_pillion");
    let hook = format!(
        "cd '{}'; {{ env; '{pillion}' hook codex <call.json; }} >said 2>&1",
        home.workspace().display()
    );
    let env = home.env();
    let variables: String = env
        .iter()
        .map(|(name, value)| format!("export {}='{}'\n", name.display(), value.display()))
        .collect();
    home.file("hook.sh", format!("{variables}{hook}\n"));
    let _other = spawn("other", &["sleep", "600"]);
    let socket = tmux.variable();
    let script = home.workspace().join("hook.sh");
    let script = format!("tmux run-shell \"sh '{}'\"", script.display());
    world.shell(&[("TMUX", &socket)], &script).expect(0);
    let said = fs::read_to_string(home.workspace().join("said")).unwrap();
    assert!(said.contains("HOME="), "{said}");
    let pane = spawn("person", &[pillion, "accept", "1.1"]);
    assert_eq!(pane.wait_exit(SOON), 0, "{}", pane.screen());
    world.expect_accepted("after\n");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_tmux_that_an_agent_started_is_the_agents_and_the_persons_is_the_persons() {
    let tmux = Tmux::start();
    let mut world = World::new("after\n");
    // Its server is no other one of this machine: it is ended here.
    let agents = "tmux -L agents -f /dev/null new-session -d sleep 600
        test -S \"$TMPDIR\"/tmux-*/agents || exit 9
        tmux -L agents run-shell \"'$0' accept 1.1 >out 2>&1\"; code=$?
        tmux -L agents kill-server; cat out; exit $code";
    let refused = world.shell(&[("GEMINI_CLI", "1")], agents).expect(1);
    assert!(refused.stdout.contains(REFUSED), "{}", refused.stdout);
    world.expect_pending();
    let home = &world.sandbox.home;
    let command = [env!("CARGO_BIN_EXE_pillion"), "accept", "1.1"].map(OsStr::new);
    let pane = tmux.spawn(
        "person",
        Size::new(80, 10),
        &home.env(),
        &home.workspace(),
        &command,
    );
    assert_eq!(pane.wait_exit(SOON), 0, "{}", pane.screen());
    world.expect_accepted("after\n");
}
