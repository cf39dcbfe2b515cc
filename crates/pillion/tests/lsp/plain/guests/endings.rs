//! The ends of a view: the document is closed, the proposal goes, or whoever shows it.

use std::os::unix::fs::symlink;

use pillion_testkit::kill_hub;

use super::*;

#[test]
fn closing_it_rejects_in_the_editor_that_shows_it_and_not_in_another_window() {
    let mut world = World::new();
    let (target, other_target) = (world.target("a.rs", "a\n"), world.target("b.rs", "a\n"));
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    assert_eq!(second.actions().len(), 2);
    second.did_close();
    assert_eq!(world.agent.outcome(), rejected(&target));

    let proposal = shown_elsewhere(&mut world, &other_target, "b\n");
    let other = IdleProcess::start();
    let mut second = Second::of_another(&world, &other, &proposal);
    assert_eq!(second.actions().len(), 2);
    second.did_close();
    // Longer than one that is closed may be opened again: only time can tell that this does not reject.
    thread::sleep(Duration::from_secs(2));
    let text = fs::read_to_string(&proposal.path).unwrap();
    world.did_open(&proposal.uri, &text);
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&other_target, "b\n"));
}

#[test]
fn closing_it_in_the_editor_that_shows_it_rejects_whoever_else_has_it() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let other = IdleProcess::start();
    let mut second = Second::of_another(&world, &other, &proposal);
    second.did_change(1, "mine\n");
    assert_eq!(second.actions().len(), 2);
    world.did_close(&proposal.uri);
    assert_eq!(world.agent.outcome(), rejected(&target));
    let said = second.message();
    assert!(said.contains("a.rs"), "{said}");
    assert!(second.actions().is_empty());
}

#[test]
fn the_person_gets_a_message_in_each_window_when_the_agent_is_gone() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let other = IdleProcess::start();
    let mut second = Second::of_another(&world, &other, &proposal);
    assert!(!second.diagnostics().is_empty());
    drop(world.agent);
    // There may be others, such as that it has left something to look at.
    let is_gone = |said: &str| said.contains("Gemini CLI no longer waits for a.rs");
    while !is_gone(&second.message()) {}
    while !is_gone(
        world.editor.params("window/showMessage")["message"]
            .as_str()
            .unwrap(),
    ) {}
    while !second.diagnostics().is_empty() {}
    assert!(second.actions().is_empty());
}

/// As eglot does right after the last document is closed.
#[test]
fn a_second_server_that_ends_has_rejected_what_was_closed_and_nothing_else() {
    for is_closed in [true, false] {
        let mut world = World::new();
        let target = world.target("a.rs", "a\n");
        let proposal = shown_elsewhere(&mut world, &target, "b\n");
        let mut second = Second::of_same_editor(&world, &proposal);
        assert_eq!(second.actions().len(), 2);
        if is_closed {
            second.did_close();
        }
        second.editor.request("shutdown", Value::Null);
        second.editor.notify("exit", Value::Null);
        assert_eq!(second.editor.ended().0, Some(0));
        if is_closed {
            assert_eq!(world.agent.outcome(), rejected(&target));
            continue;
        }
        let pending = world.agent.check_pending(&world.sandbox.home);
        assert_eq!(pending, Ok(()));
        let mut third = Second::of_same_editor(&world, &proposal);
        third.choose("Accept");
        assert_eq!(world.agent.outcome(), accepted(&target, "b\n"));
    }
}

#[test]
fn a_document_that_is_opened_again_keeps_its_edits() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    second.did_change(1, "mine\n");
    // As Helix does when the language is changed.
    second.did_close();
    second.did_open("mine\n");
    second.choose("Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "mine\n"));
}

#[test]
fn a_window_that_is_killed_decides_nothing() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = world.shown(&target, "b\n");
    let other = IdleProcess::start();
    let mut second = Second::of_another(&world, &other, &proposal);
    second.did_change(1, "edited\n");
    assert_eq!(second.actions().len(), 2);
    second.editor.child.kill().unwrap();
    let pending = world.agent.check_pending(&world.sandbox.home);
    assert_eq!(pending, Ok(()));
    world.choose(&proposal, "Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "b\n"));
}

#[test]
fn a_proposal_that_the_agent_closes_has_no_actions_left() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let mut second = Second::of_same_editor(&world, &proposal);
    assert!(!second.diagnostics().is_empty());
    second.did_change(1, "mine\n");
    let arguments = second.actions()[0]["arguments"].clone();
    assert_eq!(world.agent.close(&target).unwrap(), "mine\n");
    while !second.diagnostics().is_empty() {}
    assert!(second.actions().is_empty());
    second.did_change(2, "late\n");
    let answer = second.execute("pillion.accept", arguments);
    assert!(answer["error"]["message"].is_string(), "{answer}");
}

#[test]
fn a_newer_proposal_is_not_decided_by_the_actions_of_the_older() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let older = shown_elsewhere(&mut world, &target, "b\n");
    let mut second = Second::of_same_editor(&world, &older);
    assert!(!second.diagnostics().is_empty());
    let arguments = second.actions()[0]["arguments"].clone();
    let newer = shown_elsewhere(&mut world, &target, "c\n");
    assert_ne!(newer.uri, older.uri);
    while !second.diagnostics().is_empty() {}
    assert!(second.actions().is_empty());
    second.uri = newer.uri.clone();
    second.did_open("c\n");
    assert_eq!(second.actions().len(), 2);
    let answer = second.execute("pillion.accept", arguments);
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("not pending any more"), "{why}");
    second.choose("Accept");
    assert_eq!(world.agent.outcome(), accepted(&target, "c\n"));
}

#[test]
fn when_whoever_shows_it_is_gone_the_person_gets_a_message() {
    for is_killed in [true, false] {
        let mut world = World::new();
        let target = world.target("a.rs", "a\n");
        let proposal = shown_elsewhere(&mut world, &target, "b\n");
        let mut second = Second::of_same_editor(&world, &proposal);
        assert!(!second.diagnostics().is_empty());
        let arguments = second.actions()[0]["arguments"].clone();
        match is_killed {
            true => world.editor.child.kill().unwrap(),
            false => drop(world.editor.request("shutdown", Value::Null)),
        }
        let said = second.message();
        assert!(
            said.contains("a.proposed.rs can no longer be decided"),
            "{said}"
        );
        assert!(second.diagnostics().is_empty());
        assert!(second.actions().is_empty());
        let answer = second.execute("pillion.accept", arguments);
        assert!(answer["error"]["message"].is_string(), "{answer}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "a\n");
    }
}

/// Its numbers begin at 1 again, and documents have others.
#[test]
fn after_another_hub_has_taken_over_a_proposal_is_decided_in_a_second_window() {
    let mut world = World::new();
    let (one, two) = (world.target("a.rs", "a\n"), world.target("b.rs", "a\n"));
    let older = shown_elsewhere(&mut world, &one, "b\n");
    let mut second = Second::of_same_editor(&world, &older);
    assert!(!second.diagnostics().is_empty());
    let found = wait_served(&world.sandbox, std::process::id());
    let before = fs::read(&found).unwrap();
    kill_hub(&world.sandbox.home);
    assert!(second.message().contains("can no longer be decided"));
    wait_gone(&older.path);
    let start = Instant::now();
    let mut file = found;
    while fs::read(&file).ok().is_none_or(|now| now == before) {
        assert!(start.elapsed() < SOON);
        thread::sleep(Duration::from_millis(10));
        file = wait_served(&world.sandbox, std::process::id());
    }
    world.agent = TestAgent::connect(&file);
    let proposal = shown_elsewhere(&mut world, &two, "c\n");
    assert_ne!(
        proposal.path.parent(),
        older.path.parent(),
        "the editor may still show the old text under the old name"
    );
    let mut second = Second::of_same_editor(&world, &proposal);
    second.choose("Accept");
    assert_eq!(world.agent.outcome(), accepted(&two, "c\n"));
}

/// A document that looks like a proposal, and the message about it.
fn refused(sandbox: &Sandbox, path: &std::path::Path) -> (Second, String) {
    let roots = json!([uri(path.parent().unwrap())]);
    let mut second = Second::connect(sandbox, std::process::id(), roots, &uri(path));
    second.did_open("b\n");
    assert!(second.actions().is_empty());
    let said = second.message();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(
        said.starts_with(&format!("{name} cannot be decided here: ")),
        "{said}"
    );
    (second, said)
}

#[test]
fn a_proposal_that_a_dead_process_left_behind_cannot_be_decided() {
    let sandbox = Sandbox::new();
    let proposals = sandbox.home.runtime().join("pillion/proposals");
    let folder = proposals.join("4294967294/1-1");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.proposed.rs");
    fs::write(&path, "b\n").unwrap();
    refused(&sandbox, &path);
    assert!(!sandbox.home.tmp().join("gemini/ide").exists());
}

#[test]
fn without_a_hub_the_second_process_says_so() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let mut command = world.sandbox.command(["lsp"]);
    let mut editor = Editor::spawn(command.env("PILLION_HUB", "off"));
    editor.initialize(json!({"processId": std::process::id(), "capabilities": {}}));
    editor.notify("initialized", json!({}));
    let uri = proposal.uri.clone();
    let mut second = Second { editor, uri };
    second.did_open("b\n");
    let said = second.message();
    assert!(said.contains("hub"), "{said}");
    assert!(second.actions().is_empty());
    // Nor is one decided whose editor has none.
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(["lsp"]);
    let mut editor = Editor::spawn(command.env("PILLION_HUB", "off"));
    editor.initialize(json!({"processId": std::process::id(), "capabilities": {}}));
    editor.notify("initialized", json!({}));
    let file = wait_served(&sandbox, std::process::id());
    let agent = TestAgent::connect(&file);
    let target = sandbox.home.file("a.rs", "a\n");
    let _call = agent.proposing(target.to_str().unwrap(), "b\n");
    let request = editor.next("window/showDocument");
    let path = super::super::world::path(request["params"]["uri"].as_str().unwrap());
    let (_second, said) = refused(&sandbox, &path);
    assert!(said.contains("hub"), "{said}");
}

/// Whatever lies where a proposal could.
#[test]
fn what_is_no_proposal_of_whoever_it_names_cannot_be_decided() {
    let mut world = World::new();
    let target = world.target("a.rs", "a\n");
    let proposal = shown_elsewhere(&mut world, &target, "b\n");
    let name = proposal.path.file_name().unwrap();
    let own = proposal.path.ancestors().nth(2).unwrap();
    let pid = own.file_name().unwrap();
    // In a folder of a workspace, which others may write.
    let planted = world.sandbox.home.workspace().join("pillion/proposals");
    let planted = planted.join(pid).join("1-1").join(name);
    fs::create_dir_all(planted.parent().unwrap()).unwrap();
    // Through a link, and of other numbers.
    let link = world.proposals().join("1");
    symlink(own, &link).unwrap();
    for (path, why) in [
        (planted, "where Pillion keeps proposals"),
        (link.join("1-1").join(name), "symbolic link"),
        (own.join("2-1").join(name), "no such diff"),
        (own.join("1-2").join(name), "a newer proposal"),
    ] {
        let (_second, said) = refused(&world.sandbox, &path);
        assert!(said.contains(why), "{said}");
    }
    Second::of_same_editor(&world, &proposal).choose("Reject");
    assert_eq!(world.agent.outcome(), rejected(&target));
}
