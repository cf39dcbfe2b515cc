//! What a person says to an agent is kept until the agent has it.

use std::sync::Arc;

use super::asking::status;
use super::sending::{World, answer, comes, prompt};
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
