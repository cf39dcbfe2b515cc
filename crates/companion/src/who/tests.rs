//! What is known of agents and views, and who is judged how by it.

use super::*;

fn own() -> AgentProcess {
    process(std::process::id()).unwrap()
}

fn asker(pid: u32) -> Asker {
    Asker {
        pid: Some(pid),
        lineage: Lineage::of(pid),
        ..Asker::default()
    }
}

#[test]
fn an_agent_is_known_until_the_machine_ends_also_to_companions_to_come() {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::from_pairs([("HOME", home.path())]);
    let who = Who::default().at(&environment);
    let this = || asker(std::process::id());
    assert_eq!(who.judge(&this()), Ok(()), "nobody is known");
    let _view = who.seat(Asker::default());
    who.learn(Dialect::GeminiCli, vec![own()], process::now());
    let refused = Err(Stranger::Agent(Dialect::GeminiCli));
    assert_eq!(who.judge(&this()), refused);
    let later = Who::default().at(&environment);
    assert_eq!(later.judge(&this()), refused);
    let command = ThisProcess::look(&environment);
    assert_eq!(command.is_no_known_agents(), refused);
    assert_eq!(command.is_the_persons(), refused);
}

#[test]
fn an_agent_that_has_started_all_views_is_not_noted() {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::from_pairs([("HOME", home.path())]);
    let who = Who::default().at(&environment);
    let this = || asker(std::process::id());
    let view = who.seat(this());
    who.learn(Dialect::GeminiCli, vec![own()], process::now());
    assert_eq!(who.judge(&this()), Ok(()));
    assert_eq!(view.judge(), Ok(()));
    drop(view);
    assert_eq!(Store::of(&environment).unwrap().agents().unwrap(), []);
}

#[test]
fn an_agent_that_connects_while_the_last_view_leaves_is_not_noted() {
    let home = tempfile::tempdir().unwrap();
    let environment = Environment::from_pairs([("HOME", home.path())]);
    let who = Who::default().at(&environment);
    drop(who.seat(asker(std::process::id())));
    who.learn(Dialect::GeminiCli, vec![own()], process::now());
    assert_eq!(Store::of(&environment).unwrap().agents().unwrap(), []);
}

#[test]
fn a_view_that_comes_after_the_agent_which_is_above_it_is_the_agents() {
    let who = Who::default();
    who.learn(Dialect::GeminiCli, vec![own()], process::now());
    let view = who.seat(asker(std::process::id()));
    let refused = Err(Stranger::Agent(Dialect::GeminiCli));
    assert_eq!(view.judge(), refused);
    assert_eq!(who.judge(&asker(std::process::id())), refused);
}

/// Where an agent was before, what is in a session of its own could have been left behind by that.
#[cfg(target_os = "linux")]
#[test]
fn what_has_started_a_view_in_another_session_is_no_agent_that_it_starts_later() {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    let sleep = || {
        let mut sleep = Command::new("sleep");
        sleep.arg("600");
        sleep
    };
    let who = Who::default();
    let mut former = sleep().spawn().unwrap();
    let agent = process(former.id()).unwrap();
    former.kill().unwrap();
    former.wait().unwrap();
    who.learn(Dialect::ClaudeCode, vec![agent], process::now());
    let begin = || {
        rustix::process::setsid()?;
        Ok(())
    };
    let mut view = sleep();
    // SAFETY: it makes one system call.
    let mut view = unsafe { view.pre_exec(begin) }.spawn().unwrap();
    let _seat = who.seat(asker(view.id()).with_editor(view.id()));
    let mut hook = sleep().spawn().unwrap();
    who.hooked(Dialect::KimiCode, &asker(hook.id()), &[]);
    let known = who.lock().agents.clone();
    let known: Vec<_> = known.into_iter().map(|it| it.process).collect();
    assert_eq!(known, [agent]);
    for child in [&mut view, &mut hook] {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn whoever_has_ended_is_nobody() {
    let who = Who::default();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    assert_eq!(who.judge(&asker(pid)), Err(Stranger::Unknown));
    let hidden = Asker::new(None, Some(std::process::id()), Vec::new());
    let expected = match peer::TELLS_PROCESSES {
        true => Err(Stranger::Unknown),
        false => Ok(()),
    };
    assert_eq!(
        who.judge(&hidden),
        expected,
        "what it claims counts for nothing"
    );
}

#[test]
fn the_first_agent_is_remembered_when_there_is_no_room() {
    let mut state = State::default();
    let ended = |started_at| Agent {
        agent: Some(Dialect::GeminiCli),
        process: AgentProcess {
            pid: u32::MAX,
            started_at,
        },
        login: None,
        session: None,
        since: 500,
        is_everybodys: false,
        above: None,
    };
    for started_at in 0..MAX_AGENTS as u64 + 3 {
        assert!(state.add(ended(started_at)));
    }
    assert_eq!(state.agents.len(), MAX_AGENTS);
    let started = state.agents.iter().map(|it| it.process.started_at);
    assert_eq!(started.min(), Some(0));
    assert!(!state.add(ended(0)), "it is known");
}

/// What is typed in one of an editor's windows is not told from what is typed in another.
#[cfg(target_os = "linux")]
#[test]
fn while_an_agent_is_connected_to_the_editor_its_view_decides_nothing() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::{UnixListener, UnixStream};

    let folder = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(folder.path().join("editor")).unwrap();
    let client = UnixStream::connect(folder.path().join("editor")).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    let cat = |end: UnixStream| {
        let mut cat = std::process::Command::new("cat");
        cat.stdin(OwnedFd::from(end))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let (mut editor, mut child) = (cat(accepted), cat(client));
    let who = Who::default();
    let own = std::process::id();
    let view = who.seat(asker(own).with_editor(editor.id()));
    assert_eq!(view.judge_typed(), Ok(()), "nobody is known");
    let agent = process(child.id()).unwrap();
    who.learn(Dialect::GeminiCli, vec![agent], process::now());
    assert_eq!(view.judge_typed(), Err(Stranger::Beside));
    assert_eq!(view.judge(), Ok(()), "it is the person's view all the same");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(view.judge_typed(), Ok(()), "it has left");
    editor.kill().unwrap();
    editor.wait().unwrap();
}
