//! Decisions about views of which no message reports that they are open.

use std::time::{Duration, Instant};

use crate::agent::Agent;
use crate::helper::Step;
use crate::rule::Problem;
use crate::test_context::TestContext;

/// How long a command that fails is run again, in times of an answer: it may have come before the view.
const RETRY_ANSWERS: u32 = 3;
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// Has a decision made; how long to wait for its effect, and whether it is made already.
pub(super) async fn decide(
    test: &TestContext,
    agent: &mut impl Agent,
    step: &Step,
) -> Result<(Duration, bool), Problem> {
    let until = Instant::now() + RETRY_ANSWERS * test.timeouts.answer;
    let is_command_broken = &test.observations.is_command_broken;
    loop {
        match agent.listening(test.done_or_asked(step)).await {
            Err(Problem::Broken(_)) if !is_command_broken.get() && Instant::now() < until => {
                agent.listen(RETRY_INTERVAL).await;
            }
            Err(Problem::Broken(why)) => {
                is_command_broken.set(true);
                return Err(Problem::Broken(why));
            }
            other => return other,
        }
    }
}
