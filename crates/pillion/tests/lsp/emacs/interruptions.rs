//! Proposals that come, go or lose their server at a bad moment.

use pillion_protocol::Dialect;
use pillion_testkit::client::Update;
use pillion_testkit::client::claude::Answer;
use pillion_testkit::{
    EmacsVersion, TestAgent, TestClaude, each_emacs_client, kill_tree, programs_below,
};

use super::scene::{BEFORE, Client, MINIBUFFER, Scene};

/// Even if lsp-mode takes the focus, keys go to a text that takes none.
#[each_emacs_client]
fn what_is_typed_in_the_minibuffer_stays_there_and_decides_nothing(
    client: Client,
    version: EmacsVersion,
) {
    let scene = Scene::start(client, version, BEFORE);
    let claude = TestClaude::find(&scene.home);
    let holds = |text: &str| format!("(equal {MINIBUFFER} {text:?})");
    scene.emacs.input_until("<M-x>half", &holds("half"));
    let call = claude.proposing(&scene.path, "one\nTWO\n", "tab");
    scene.wait_view("poem");
    match client {
        Client::Eglot => scene.emacs.input_until("way", &holds("halfway")),
        Client::LspMode => {
            scene.emacs.wait_until("the proposal", "buffer-read-only");
            scene.emacs.input("way<RET>");
            scene.emacs.wait_until("the minibuffer", &holds("half"));
            scene.emacs.input_until("<C-x>o", "(minibufferp)");
        }
    }
    // Windows are as they were before.
    scene
        .emacs
        .input_until("<C-g>", "(zerop (minibuffer-depth))");
    scene.show("poem");
    // What had been decided before this would be without it.
    scene.type_at_end("mine");
    scene.accept();
    assert_eq!(call.end(), Ok(Answer::Saved("one\nTWO\nmine".to_owned())));
}

#[each_emacs_client]
fn two_agents_are_answered_each_by_its_own_text(client: Client, version: EmacsVersion) {
    let scene = Scene::start(client, version, BEFORE);
    let other = scene.home.file(&client.file("other"), BEFORE);
    let claude = TestClaude::find(&scene.home);
    let mut gemini = TestAgent::find(&scene.home, Dialect::GeminiCli);
    gemini.propose(&scene.path, "gemini's\n");
    scene.go("poem");
    let call = claude.proposing(&other, "one\nclaude's\n", "tab");
    scene.go("other");
    scene.type_at_end("mine");
    scene.accept_until(&call);
    assert_eq!(
        call.end(),
        Ok(Answer::Saved("one\nclaude's\nmine".to_owned()))
    );
    scene.show("poem");
    // What had been decided before this would be without it.
    scene.type_at_end("mine");
    scene.accept();
    let path = scene.path.display().to_string();
    assert_eq!(gemini.outcome(), Update::accepted(path, "gemini's\nmine"));
    assert_eq!(scene.companions().len(), 1);
    scene.emacs.assert_no_errors();
}

/// eglot starts a server for the proposal once the person is there.
#[test]
#[ignore = "needs Emacs: cargo xtask test"]
fn an_agent_that_closes_its_proposal_while_eglot_starts_a_server_leaves_nothing() {
    let scene = Scene::start(Client::Eglot, EmacsVersion::V30_2, BEFORE);
    let gemini = TestAgent::find(&scene.home, Dialect::GeminiCli);
    let before = scene.published();
    for _ in 0..3 {
        gemini.propose(&scene.path, "one\n");
        scene.wait_view("poem");
        scene.emacs.input("<C-x>o");
        scene.wait_servers(2);
        assert_eq!(gemini.close(&scene.path).unwrap(), "one\n");
        let is_served = "(and (string-prefix-p \"poem.proposed\" (buffer-name)) (eglot-managed-p))";
        scene.emacs.wait_until("a server", is_served);
        // The round before was answered alike.
        scene.emacs.eval(
            "(let ((inhibit-read-only t)) (with-current-buffer (messages-buffer) (erase-buffer)))",
        );
        scene.emacs.command("eglot-code-actions");
        scene.emacs.wait_said("No code actions here");
        assert_eq!(scene.published(), before);
        scene.close();
        scene.wait_servers(1);
    }
    // Before there is one.
    gemini.propose(&scene.path, "one\n");
    scene.wait_view("poem");
    assert_eq!(gemini.close(&scene.path).unwrap(), "one\n");
    scene.emacs.input("<C-x>o");
    scene.emacs.wait_said("is gone!");
    assert_eq!(scene.servers(), 1);
    scene.close();

    let claude = TestClaude::find(&scene.home);
    let call = claude.proposing(&scene.path, "one\ntwo\n3\n", "tab");
    scene.go("poem");
    scene.accept();
    assert_eq!(call.end(), Ok(Answer::Saved("one\ntwo\n3\n".to_owned())));
}

/// The one that eglot has started for the proposal has nobody to ask.
#[test]
#[ignore = "needs Emacs: cargo xtask test"]
fn a_proposal_whose_server_is_killed_cannot_be_decided() {
    let scene = Scene::start(Client::Eglot, EmacsVersion::V30_2, BEFORE);
    let claude = TestClaude::find(&scene.home);
    let call = claude.proposing(&scene.path, "one\n", "tab");
    scene.go("poem");
    let [companion] = scene.companions()[..] else {
        panic!("{:?}", scene.companions());
    };
    // The first has the proposal, and the one that was started for its file is a guest.
    let servers = programs_below(scene.emacs.pid(), "pillion");
    kill_tree(servers.into_iter().min().expect("it was started"));
    scene.emacs.wait_said("can no longer be decided");
    assert!(call.end().is_err());
    scene
        .emacs
        .wait_until("no hunks", "(null (flymake-diagnostics))");
    scene.emacs.command("eglot-code-actions");
    scene.emacs.wait_said("No code actions here");
    scene.close();
    scene.wait_servers(0);
    // A person starts another one.
    scene.emacs.command("eglot");
    scene.wait("a companion", || {
        let companions = scene.companions();
        !companions.is_empty() && !companions.contains(&companion)
    });
    scene.wait_servers(1);
    let claude = TestClaude::find(&scene.home);
    let call = claude.proposing(&scene.path, "one\nTWO\n", "tab");
    scene.go("poem");
    scene.accept();
    assert_eq!(call.end(), Ok(Answer::Saved("one\nTWO\n".to_owned())));
}
