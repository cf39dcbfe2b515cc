//! A daemon, and terminals that come and go.

use pillion_protocol::Dialect;
use pillion_testkit::{AgentsTerminal, EmacsVersion, Home, SOON, TestAgent, Tmux, each_emacs};

use crate::world::{ORIGINAL, PROPOSED, setup};

#[each_emacs]
fn a_proposal_waits_until_a_frame_of_the_daemon_is_there(version: EmacsVersion) {
    let (home, tmux) = (Home::new(), Tmux::start());
    let path = home.file("a.txt", ORIGINAL);
    let daemon = setup(version, &home).daemon();
    let emacs = daemon.clone().in_tmux(&tmux);
    emacs.wait_until("the server", "(server-running-p server-name)");
    let client = daemon.client_in_tmux(&tmux, &path);
    client.wait_for("three", SOON);
    emacs.wait_until("a root", "(pillion-client-get :roots)");
    let mut gemini = TestAgent::find(&home, Dialect::GeminiCli);
    gemini.context(|context| {
        context
            .active_file()
            .is_some_and(|file| file.path.ends_with("a.txt"))
    });
    // C-x C-c ends the client alone.
    client.send_keys(["C-x", "C-c"]);
    client.wait_exit(SOON);
    gemini.propose(&path, PROPOSED);
    // Only time can tell that it does not count as seen: this is longer than a look takes.
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(!emacs.has_looked(), "nobody has seen it");
    assert_eq!(gemini.check_pending(&home), Ok(()), "{}", emacs.describe());
    let client = daemon.client_in_tmux(&tmux, &path);
    client.wait_for("C-c C-c accepts", SOON);
    emacs.wait_looked();
    // The first key in a new frame goes to the buffer with which it opened.
    client.send_keys(["C-l", "C-c", "C-c"]);
    let expected = pillion_testkit::client::Update::accepted(path.display().to_string(), PROPOSED);
    assert_eq!(gemini.outcome(), expected);
    emacs.assert_no_errors();
}

#[each_emacs]
fn a_proposal_whose_frame_is_deleted_goes_to_another(version: EmacsVersion) {
    let (home, tmux) = (Home::new(), Tmux::start());
    let path = home.file("a.txt", ORIGINAL);
    let daemon = setup(version, &home).daemon();
    let emacs = daemon.clone().in_tmux(&tmux);
    emacs.wait_until("the server", "(server-running-p server-name)");
    let clients = [(); 2].map(|()| {
        let client = daemon.client_in_tmux(&tmux, &path);
        client.wait_for("three", SOON);
        client
    });
    emacs.wait_until("a root", "(pillion-client-get :roots)");
    let gemini = TestAgent::find(&home, Dialect::GeminiCli);
    gemini.propose(&path, PROPOSED);
    let [first, last] = clients;
    last.wait_for("C-c C-c accepts", SOON);
    // Sooner, keys do nothing.
    emacs.wait_looked();
    last.send_keys(["C-x", "5", "0"]);
    last.wait_exit(SOON);
    first.wait_for("C-c C-c accepts", SOON);
    emacs.assert_no_errors();
}

/// An agent's shell can be one that asks the server.
#[each_emacs]
fn what_the_server_is_asked_to_call_or_to_type_decides_nothing(version: EmacsVersion) {
    let (home, tmux) = (Home::new(), Tmux::start());
    let path = home.file("a.txt", ORIGINAL);
    let daemon = setup(version, &home).daemon();
    let emacs = daemon.clone().in_tmux(&tmux);
    emacs.wait_until("the server", "(server-running-p server-name)");
    let client = daemon.client_in_tmux(&tmux, &path);
    client.wait_for("three", SOON);
    emacs.wait_until("a root", "(pillion-client-get :roots)");
    let mut gemini = TestAgent::find(&home, Dialect::GeminiCli);
    gemini.propose(&path, PROPOSED);
    client.wait_for("C-c C-c accepts", SOON);
    emacs.wait_looked();
    let typed = |keys: &str| {
        format!("(progn (setq unread-command-events (listify-key-sequence (kbd \"{keys}\"))) nil)")
    };
    let refused = "only a command that you give accepts";
    for (expression, why) in [
        (typed("C-l C-c C-c"), refused),
        (typed("M-x pillion-accept RET"), refused),
        (typed("C-c C-k"), "only what you type for this diff decides"),
        (typed("M-x pillion-undo RET"), "only you decide"),
        (typed("M-x pillion-send-notes RET"), "only you decide"),
    ] {
        emacs.eval(
            "(with-current-buffer \"*Messages*\" (let ((inhibit-read-only t)) (erase-buffer)))",
        );
        daemon.eval_by_client(&expression);
        emacs.wait_said(why);
        assert_eq!(gemini.check_pending(&home), Ok(()), "{expression}");
    }
    // Emacs is in the middle of a command of the person's.
    client.send_keys(["M-x"]);
    emacs.wait_until("a prompt", "(active-minibuffer-window)");
    for call in ["accept", "send-notes"] {
        let call = format!("(call-interactively #'pillion-{call})");
        let said = daemon.eval_by_client(&call);
        assert!(said.contains("only"), "{call}: {said}");
        assert_eq!(gemini.check_pending(&home), Ok(()), "{call}");
    }
    client.send_keys(["C-g"]);
    emacs.wait_until("no prompt", "(not (active-minibuffer-window))");
    emacs.wait_looked();
    client.send_keys(["C-c", "C-c"]);
    let expected = pillion_testkit::client::Update::accepted(path.display().to_string(), PROPOSED);
    assert_eq!(gemini.outcome(), expected);
    emacs.assert_no_errors();
}

/// As an agent's shell can be one, in a terminal of its own.
#[each_emacs]
fn a_frame_that_another_program_opens_decides_nothing(version: EmacsVersion) {
    let (home, tmux) = (Home::new(), Tmux::start());
    let path = home.file("a.txt", ORIGINAL);
    let daemon = setup(version, &home).daemon();
    let emacs = daemon.clone().in_tmux(&tmux);
    emacs.wait_until("the server", "(server-running-p server-name)");
    let client = daemon.client_in_tmux(&tmux, &path);
    client.wait_for("three", SOON);
    emacs.wait_until("a root", "(pillion-client-get :roots)");
    let mut gemini = TestAgent::find(&home, Dialect::GeminiCli);
    gemini.propose(&path, PROPOSED);
    client.wait_for("C-c C-c accepts", SOON);
    emacs.wait_looked();
    let (env, command) = daemon.client(&path);
    let mut frame = AgentsTerminal::run(env, &command);
    emacs.wait_until("its frame", "(= (length server-clients) 2)");
    frame.type_text("\u{1b}xpillion-accept\r");
    emacs.wait_said("another program is connected to this editor");
    assert_eq!(gemini.check_pending(&home), Ok(()));
    drop(frame);
    emacs.wait_until("one frame", "(= (length server-clients) 1)");
    emacs.wait_looked();
    client.send_keys(["C-c", "C-c"]);
    let expected = pillion_testkit::client::Update::accepted(path.display().to_string(), PROPOSED);
    assert_eq!(gemini.outcome(), expected);
}
