//! What a person says to an agent is kept until the agent has it.

use std::sync::Arc;

use pillion_protocol::Verdict;

use super::asking::{
    AFTER_TURN, AFTER_WRITE, BEFORE_WRITE, ask, change, decide_because, propose, status,
};
use super::sending::{World, aborted_prompt, answer, comes, prompt};
use crate::support::{Other, TestCompanion};

/// The agent's connection ends, as when its person clears the conversation, and it connects again; or another one comes once it has
/// ended; but none that runs beside it.
#[tokio::test]
async fn a_note_waits_for_the_agent_to_connect_again() {
    for (ends, is_same, arrives) in [
        (false, true, true),
        (false, false, false),
        (true, false, true),
    ] {
        let mut world = World::start().await;
        world.reject("use the table").await;
        let said = world.said("use the table");
        status(&mut world.test, |status| {
            status.waiting == [format!("Claude Code has not read yet: {said}")]
        })
        .await;
        world.claude.socket.close(None).await.unwrap();
        if ends {
            drop(world.process.0.kill());
            world.process.0.wait().unwrap();
        }
        let other = Other::start();
        let process = if is_same { &world.process } else { &other };
        let mut next = comes(&world.test, process).await;
        let expected = arrives.then(|| said.clone());
        assert_eq!(prompt(&mut next).await, expected, "{ends} {is_same}");
        assert_eq!(prompt(&mut next).await, None, "once");
        match arrives {
            true => drop(status(&mut world.test, |it| it.waiting.is_empty()).await),
            false => {
                let waits = format!("Claude Code is not here and has yet to read: {said}");
                status(&mut world.test, |it| it.waiting == [waits.clone()]).await;
            }
        }
    }
}

#[tokio::test]
async fn a_note_waits_in_the_store_when_the_companion_ends() {
    let mut world = World::start().await;
    world.reject("use the table").await;
    let said = world.said("use the table");
    let folder = Arc::clone(&world.test.folder);
    drop(world.test);
    let mut test = TestCompanion::start_in(Arc::clone(&folder));
    let waits = [format!(
        "Claude Code is not here and has yet to read: {said}"
    )];
    status(&mut test, |status| status.waiting == waits).await;
    let mut next = comes(&test, &world.process).await;
    assert_eq!(prompt(&mut next).await, Some(said));
    status(&mut test, |status| status.waiting.is_empty()).await;
    drop(test);
    // Nor does it come again.
    let test = TestCompanion::start_in(folder);
    let mut next = comes(&test, &world.process).await;
    assert_eq!(prompt(&mut next).await, None);
}

#[tokio::test]
async fn who_sends_notes_hears_that_they_wait_for_an_agent_that_is_gone() {
    let mut world = World::start().await;
    world.reject("use the table").await;
    world.claude.socket.close(None).await.unwrap();
    status(&mut world.test, |status| status.agents.is_empty()).await;
    let (is_done, said) = answer(world.send()).await;
    let expected = "no agent is connected: 1 note waits for Claude Code to come back";
    assert_eq!((is_done, &*said), (false, expected));
}

/// What a person takes back with the prompt that carries it, or with the agent, waits again: it is read once the agent goes on.
#[tokio::test]
async fn a_note_is_read_only_when_the_agent_goes_on() {
    for goes_on in [AFTER_TURN, BEFORE_WRITE, AFTER_WRITE] {
        let mut world = World::start().await;
        world.reject("use the table").await;
        let said = world.said("use the table");
        for _ in 0..2 {
            let carried = aborted_prompt(&mut world.claude).await;
            assert_eq!(carried.as_ref(), Some(&said), "{goes_on}");
            let waits = [format!("Claude Code has not read yet: {said}")];
            status(&mut world.test, |it| it.waiting == waits).await;
        }
        // What a subagent does is no sign.
        ask(&mut world.claude, AFTER_TURN, change("always", "sub", "")).await;
        assert_eq!(aborted_prompt(&mut world.claude).await, Some(said));
        ask(&mut world.claude, goes_on, change("always", "", "/x")).await;
        status(&mut world.test, |it| it.waiting.is_empty()).await;
        assert_eq!(prompt(&mut world.claude).await, None, "{goes_on}");
    }
}

/// The reason of a rejection answers the agent's question, and the agent is killed right then, or goes on.
#[tokio::test]
async fn a_reason_that_an_agent_is_answered_with_is_kept_until_it_goes_on() {
    for is_killed in [true, false] {
        let mut world = World::start().await;
        world.claude.begin_turn().await;
        let path = world.path.clone();
        let (question, _, diff) = propose(&mut world.test, &mut world.claude, &path, "tab").await;
        let told = decide_because(&world.test, &diff, Verdict::reject(), "why?").await;
        assert_eq!(told, "your note was sent to Claude Code with the answer");
        world.claude.blocks(question).await;
        let said = world.said("why?");
        if is_killed {
            world.claude.socket.close(None).await.unwrap();
            drop(world.process.0.kill());
            world.process.0.wait().unwrap();
            let waits = [format!(
                "Claude Code is not here and has yet to read: {said}"
            )];
            status(&mut world.test, |it| it.waiting == waits).await;
            let mut next = comes(&world.test, &world.process).await;
            assert_eq!(prompt(&mut next).await, Some(said));
        } else {
            ask(&mut world.claude, AFTER_TURN, change("always", "", "")).await;
            assert_eq!(prompt(&mut world.claude).await, None);
        }
        status(&mut world.test, |it| it.waiting.is_empty()).await;
    }
}
