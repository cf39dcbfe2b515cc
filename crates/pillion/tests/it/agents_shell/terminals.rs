//! A person's terminal, in which an agent runs: its shells, wrappers and scripts are the agent, what the person types is not.

use std::ffi::OsStr;
use std::fs;

use pillion_testkit::{SOON, Size, Tmux, kill_all_of};

use super::{World, apart};
use crate::sandbox::Sandbox;
use crate::shared_agent_work as agent_work;

fn shell(tmux: &Tmux, sandbox: &Sandbox, name: &str) -> pillion_testkit::Pane {
    let home = &sandbox.home;
    let command = ["bash", "--norc"].map(OsStr::new);
    tmux.spawn(
        name,
        Size::new(100, 30),
        &home.env(),
        &home.workspace(),
        &command,
    )
}

/// The agent is a script, and calls its hook through shells and programs that run others.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_agent_that_is_a_script_is_known_behind_wrappers_and_the_person_in_its_terminal_is_the_person()
{
    let tmux = Tmux::start();
    let sandbox = Sandbox::new();
    let home = &sandbox.home;
    home.file(agent_work::OTHER.0, agent_work::OTHER.1);
    let path = home.file("a.txt", "before\n");
    let _serve = sandbox.serve_in_hub::<&str>([]);
    let command = env!("CARGO_BIN_EXE_pillion");
    home.file(
        "agent.sh",
        format!(
            "hook() {{
                printf '{{\"hook_event_name\":\"%s\",\"session_id\":\"s\",\"cwd\":\"%s\",\"prompt\":\"go\",\"tool_name\":\"Bash\",\
            \"tool_input\":{{\"command\":\"x\"}},\"tool_use_id\":\"1\"}}' \"$1\" \"$PWD\" |
                    timeout 60 nice sh -c 'sh -c \"{command} hook codex; true\"; true'
            }}
            hook UserPromptSubmit; hook PreToolUse; echo after >a.txt; hook PostToolUse; hook Stop
            sh -c '{command} keep 1; true' 2>said
            echo it-has-ended\n"
        ),
    );
    let pane = shell(&tmux, &sandbox, "person");
    pane.type_text("sh ./agent.sh; true\n");
    pane.wait_for("it-has-ended", SOON);
    let said = fs::read_to_string(home.workspace().join("said")).unwrap();
    assert!(said.contains("started by Codex CLI"), "{said}");
    pane.type_text(&format!("{command} keep 1 >kept 2>&1; echo kept-$?\n"));
    pane.wait_for("kept-0", SOON);
    assert_eq!(fs::read_to_string(path).unwrap(), "after\n");
    kill_all_of(home);
}

/// A terminal that it has made is not the person's when it has ended, either, nor does the person's show anything where it is held
/// open by the program that runs there: not for the companion, and not where none is found.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn what_an_agent_that_has_ended_left_behind_in_a_terminal_of_its_own_is_nobodys() {
    let tmux = Tmux::start();
    let sandbox = Sandbox::new();
    let home = &sandbox.home;
    let _serve = sandbox.serve_in_hub::<&str>([]);
    let command = env!("CARGO_BIN_EXE_pillion");
    let prompt = "{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"s\",\"cwd\":\"'$PWD'\",\"prompt\":\"go\"}";
    let away = "XDG_RUNTIME_DIR=/nonexistent TMPDIR=/nonexistent";
    home.file(
        "left.sh",
        format!(
            "while [ -e /proc/$1 ]; do sleep 0.01; done
            {command} focus left.sh >here$2 2>&1; {away} {command} keep 1 >away$2 2>&1; >ended$2\n"
        ),
    );
    home.file(
        "agent.sh",
        format!(
            "printf '{prompt}' | {command} hook codex
            setsid script --quiet --command \"sh left.sh $$ 1\" /dev/null >/dev/null 2>&1 </dev/null &
            terminal=$(tty)
            setsid bash left.sh $$ 2 >/dev/null 2>&1 <\"$terminal\" &\n"
        ),
    );
    let pane = shell(&tmux, &sandbox, "person");
    pane.type_text("sh ./agent.sh; until [ -e ended1 ] && [ -e ended2 ]; do sleep 0.1; done; echo all-has-ended\n");
    pane.wait_for("\nall-has-ended", SOON);
    for said in ["here1", "away1", "here2", "away2"] {
        let said = fs::read_to_string(home.workspace().join(said)).unwrap();
        assert!(said.contains(super::left_behind::UNKNOWN), "{said}");
    }
    pane.type_text(&format!("{command} focus left.sh; echo focus-$?\n"));
    pane.wait_for("focus-0", SOON);
    kill_all_of(home);
}

/// A multiplexer that was started after the agent: a person is attached to it, and types there.
#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_multiplexer_is_the_persons_while_a_terminal_of_theirs_is_attached() {
    let tmux = Tmux::start();
    let mut world = World::new("after\n");
    let sandbox = &world.sandbox;
    let pane = shell(&tmux, sandbox, "person");
    pane.type_text("tmux -L persons -f /dev/null new-session 'bash --norc'\n");
    let command = env!("CARGO_BIN_EXE_pillion");
    let socket = "for socket in \"$TMPDIR\"/tmux-*/persons; do test -S \"$socket\"; done";
    let started = std::time::Instant::now();
    while apart(sandbox, &[], socket).code != Some(0) {
        assert!(started.elapsed() < SOON, "{}", pane.screen());
        pillion_testkit::pause(started);
    }
    pane.type_text(&format!(
        "{command} accept 1.1; echo accepted-$?; tmux wait-for -S over\n"
    ));
    apart(sandbox, &[], "tmux -L persons wait-for over").expect(0);
    let screen = pane.screen();
    assert!(screen.contains("accepted-0"), "{screen}");
    pane.type_text("tmux kill-server\n");
    world.expect_accepted("after\n");
}
