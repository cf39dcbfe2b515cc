//! Disks that do not answer: what is about them fails or waits, and every agent is served all the
//! same.

use std::fs;
use std::os::fd::AsRawFd;

use pillion_agent::Update;
use pillion_testkit::{HungDisk, TestAgent, UnreadPipe, fill_pipe};

use crate::sandbox::{Sandbox, Serve};

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

    /// What an agent wants is done. Commands look for companions where the disk hangs: the context is for
    /// the tests of the language server.
    fn agents_are_served(&self) {
        self.two.propose(&self.near, "new\n");
        assert_eq!(self.two.close(&self.near).unwrap(), "new\n");
    }

    /// What is pending is rejected, and the companion ends.
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
    sandbox.run(args).expect(0);
    serve.signal("TERM");
    assert_eq!(serve.ended(), Some(0));
}
