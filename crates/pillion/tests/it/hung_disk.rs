//! Disks that do not answer: what is about them fails or waits, and every agent is served all the
//! same.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsRawFd;
use std::process::Stdio;

use pillion_testkit::client::Update;
use pillion_testkit::{HungDisk, TestAgent, UnreadPipe, fill_pipe};
use serde_json::json;

use crate::sandbox::{Sandbox, Serve, ran};

/// Two agents, and a file that the second one has proposed a change of.
struct Scene {
    sandbox: Sandbox,
    serve: Serve,
    one: TestAgent,
    two: TestAgent,
    near: String,
}

impl Scene {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let serve = sandbox.serve::<&str>([]);
        let (one, two) = (serve.connect(), serve.connect());
        let near = sandbox.home.file("near.txt", "old\n");
        let near = near.to_str().unwrap().to_owned();
        Self {
            sandbox,
            serve,
            one,
            two,
            near,
        }
    }

    /// An agent's requests are served. Commands look for companions where the disk hangs: the context is for
    /// the tests of the language server.
    fn agents_are_served(&self) {
        self.two.propose(&self.near, "new\n");
        assert_eq!(self.two.close(&self.near).unwrap(), "new\n");
    }

    /// A pending diff is rejected, and the companion ends.
    fn it_ends(&mut self) {
        self.two.propose(&self.near, "new\n");
        self.serve.signal("TERM");
        let path = self.near.clone();
        assert_eq!(self.two.outcome(), Update::DiffRejected { path });
        assert_eq!(self.serve.ended(), Some(0));
    }
}

#[test]
fn while_discovery_files_cannot_be_put_back_agents_are_served() {
    let mut scene = Scene::new();
    let Some(hung) = HungDisk::mount(&scene.sandbox.home.tmp()) else {
        return;
    };
    hung.wait_for_request();
    scene.agents_are_served();
    scene.it_ends();
    drop(hung);
}

#[test]
fn while_the_target_of_one_agent_hangs_the_others_are_served() {
    let mut scene = Scene::new();
    let far = scene.sandbox.home.workspace().join("far");
    fs::create_dir(&far).unwrap();
    let Some(hung) = HungDisk::mount(&far) else {
        return;
    };
    let path = far.join("a.txt");
    let waiting = scene.one.proposing(path.to_str().unwrap(), "new\n");
    hung.wait_for_request();
    scene.agents_are_served();
    let error = waiting.end().unwrap_err();
    assert!(error.contains("no answer from its disk"), "{error}");
    scene.it_ends();
    drop(hung);
}

#[test]
fn files_are_removed_at_the_end_when_the_disk_answers_again() {
    let mut scene = Scene::new();
    let files = scene.serve.files();
    let Some(hung) = HungDisk::mount(&scene.sandbox.home.tmp()) else {
        return;
    };
    hung.wait_for_request();
    drop(hung);
    scene.agents_are_served();
    scene.it_ends();
    assert!(!files.iter().any(|file| file.exists()), "C6.2");
}

#[test]
fn a_signal_ends_one_that_cannot_be_published() {
    let sandbox = Sandbox::new();
    let Some(hung) = HungDisk::mount(&sandbox.home.tmp()) else {
        return;
    };
    let mut child = sandbox.command(["serve"]).spawn().unwrap();
    hung.wait_for_request();
    crate::sandbox::signal(&child, "TERM");
    assert_eq!(crate::sandbox::ended(&mut child), Some(0));
    drop(hung);
}

#[test]
fn a_log_that_takes_no_more_holds_up_no_agent() {
    let sandbox = Sandbox::new();
    let log = UnreadPipe::create(sandbox.home.root().join("log"));
    let mut serve = sandbox.serve(["--log", log.path().to_str().unwrap()]);
    fill_pipe(log.path());
    let mut agent = serve.connect();
    let path = sandbox.home.file("near.txt", "old\n");
    agent.propose(&path, "new\n");
    serve.signal("TERM");
    let path = path.to_str().unwrap().to_owned();
    assert_eq!(agent.outcome(), Update::DiffRejected { path });
    assert_eq!(serve.ended(), Some(0));
}

#[test]
fn warnings_that_are_not_read_do_not_delay_the_end() {
    let sandbox = Sandbox::new();
    let mut serve = sandbox.serve::<&str>([]);
    let errors = serve.child.stderr.as_ref().unwrap().as_raw_fd();
    fill_pipe(format!("/proc/self/fd/{errors}").as_ref());
    let agent = serve.connect();
    agent.propose("/tmp/new.txt", "new\n");
    drop(agent);
    let mine = sandbox.home.file("mine", "mine\n");
    let args = ["accept", "1.1", "--content-file", mine.to_str().unwrap()];
    sandbox.insist(args).expect(0);
    serve.signal("TERM");
    assert_eq!(serve.ended(), Some(0));
}

#[test]
#[ignore = "in --all: takes a home from other tests' doctors: cargo xtask test --all"]
fn the_home_of_another_program_that_does_not_answer_keeps_no_doctor_waiting() {
    let sandbox = Sandbox::new();
    let other = sandbox.home.other_workspace("other home");
    let mut serve = sandbox.command(["serve"]);
    serve.env("HOME", &other).stdout(Stdio::piped());
    let mut serve = serve.spawn().unwrap();
    let mut ready = String::new();
    let output = serve.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut ready).unwrap();
    let hung = HungDisk::mount(&other);
    if hung.is_some() {
        let (code, said) = ended_and_said(&sandbox, &["doctor", "claude"]);
        assert_eq!((code, said.as_str()), (Some(1), ""));
    }
    drop(hung);
    serve.kill().unwrap();
    serve.wait().unwrap();
}

/// The exit code of a command that may meet the hung disk, and what it says on standard error.
fn ended_and_said(sandbox: &Sandbox, args: &[&str]) -> (Option<i32>, String) {
    let mut command = sandbox.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let code = crate::sandbox::ended(&mut child);
    let mut said = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    (code, said)
}

#[test]
fn a_home_that_does_not_answer_is_named_and_others_folders_are_looked_at() {
    let sandbox = Sandbox::new();
    // Who waits for the same file as another process cannot be ended: this one has a home of its own.
    let other = sandbox.home.other_workspace("other home");
    let mut serve = sandbox.command(["serve"]);
    serve.env("HOME", other).stdout(Stdio::piped());
    let mut serve = serve.spawn().unwrap();
    let mut ready = String::new();
    let output = serve.stdout.take().unwrap();
    BufReader::new(output).read_line(&mut ready).unwrap();
    let home = sandbox.home.home();
    let Some(hung) = HungDisk::mount(&home) else {
        serve.kill().unwrap();
        serve.wait().unwrap();
        return;
    };
    let home = home.display().to_string();
    // Whoever asks a companion that answers looks at no files.
    for (args, codes, looks) in [
        (&["list"][..], &[0][..], true),
        (&["diffs"], &[0], false),
        (&["reject", "7.1"], &[1], false),
        (&["env", "--shell", "sh"], &[0, 1], true),
        (&["doctor", "gemini"], &[1], true),
        (&["doctor", "claude"], &[1], true),
    ] {
        let (code, said) = ended_and_said(&sandbox, args);
        let is_expected = code.is_some_and(|code| codes.contains(&code));
        assert!(is_expected, "{args:?} {code:?}: {said}");
        let names_it = said.contains("does not answer") && said.contains(&home);
        assert_eq!(names_it, looks, "{args:?}: {said}");
    }
    drop(hung);
    serve.kill().unwrap();
    serve.wait().unwrap();
}

/// Its agent makes the change if a hook ends in any other way than with an answer, or with the exit code that blocks it.
#[test]
fn no_disk_that_does_not_answer_lets_a_change_pass_a_hook() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    let workspace = sandbox.home.workspace();
    let [far, near] = ["far", "near"].map(|name| workspace.join(name));
    for folder in [&far, &near] {
        fs::create_dir(folder).unwrap();
    }
    let outside = sandbox.home.other_workspace("outside");
    let (home, tmp) = (sandbox.home.home(), sandbox.home.tmp());
    for (hung, cwd, folder) in [
        (&far, &near, &far),
        (&far, &far, &outside),
        (&home, &near, &near),
        (&tmp, &near, &near),
    ] {
        let call = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": cwd, "permission_mode": "bypassPermissions",
            "tool_name": "Write", "tool_input": {"file_path": folder.join("a.txt"), "content": "x\n"},
        });
        let Some(disk) = HungDisk::mount(hung) else {
            return;
        };
        let mut command = sandbox.command(["hook", "claude", "--strict", "--limit", "1s"]);
        let ran = ran(&mut command, call.to_string().as_bytes());
        let is_denied = ran.code == Some(0) && ran.stdout.contains(r#""deny""#);
        assert!(
            is_denied || ran.code == Some(2),
            "{}: {}",
            hung.display(),
            ran.report()
        );
        drop(disk);
    }
}

/// What an agent only tells: it goes on with its prompt, and has its answer.
#[test]
fn no_disk_that_does_not_answer_keeps_an_agent_from_its_turn() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve_in_hub::<&str>([]);
    let home = &sandbox.home;
    let call = |event: &str| {
        json!({
            "hook_event_name": event, "session_id": "s", "cwd": home.workspace(), "permission_mode": "default",
            "tool_name": "Bash", "tool_input": {"command": "true"}, "prompt": "do it", "tool_use_id": "1",
        })
    };
    for hung in [home.tmp(), home.runtime()] {
        let Some(disk) = HungDisk::mount(&hung) else {
            return;
        };
        for event in ["UserPromptSubmit", "PreToolUse"] {
            let mut command = sandbox.command(["hook", "claude"]);
            let ran = ran(&mut command, call(event).to_string().as_bytes());
            assert_eq!(
                ran.code,
                Some(0),
                "{event} {}: {}",
                hung.display(),
                ran.report()
            );
        }
        drop(disk);
    }
}
