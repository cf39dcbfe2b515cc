//! Decisions about views of which no message reports that they are open.

use std::time::{Duration, Instant};

use crate::agent::Agent;
use crate::helper::Step;
use crate::rule::{Finding, Problem, broken, unchecked};
use crate::test_context::TestContext;

/// The time for which a command that fails is run again, in times of an answer: it may have come before the view.
const RETRY_ANSWERS: u32 = 3;
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// Has a decision made. Returns the time limit for its effect, and true if it is made already.
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

/// Checks that a view whose agent is gone is closed: then the command that decides about it fails, as it does where there has
/// been no view. `cut_off` opens one, cuts its agent off and returns its path.
pub(super) async fn lost(
    test: &TestContext,
    cut_off: impl AsyncFnOnce() -> Result<String, Problem>,
) -> Finding {
    match test.help(&Step::AcceptAgain(test.names.path())).await {
        Err(Problem::Broken(_)) => {}
        Err(other) => return Err(other),
        Ok(_) => {
            return unchecked(
                "it cannot be seen: the command of --accept-with succeeds although there is no view to accept",
            );
        }
    }
    let path = cut_off().await?;
    // As long as the companion may take to see it.
    tokio::time::sleep(2 * test.timeouts.quiet).await;
    match test.help(&Step::AcceptAgain(path)).await {
        Err(Problem::Broken(_)) => Ok("there is nothing left to accept".to_owned()),
        Err(other) => Err(other),
        Ok(_) => broken("the view could be accepted after its connection was cut"),
    }
}
