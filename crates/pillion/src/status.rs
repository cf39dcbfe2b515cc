//! What Pillion's companions say of themselves, all asked at the same time.

use std::collections::HashMap;
use std::time::Duration;

use pillion_companion::control::{Client, CompanionStatus};
use pillion_discovery::survey::Companion;
use tokio::task::JoinSet;

/// One that has not answered by then does not count: nothing should wait for a hung editor.
pub const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// The answers by port. A companion that was asked and is not here did not answer.
pub type Statuses = HashMap<u16, CompanionStatus>;

/// Asks those of `companions` that live and can be asked.
///
/// # Errors
/// When the system refuses what asking needs.
pub fn ask<'a>(companions: impl IntoIterator<Item = &'a Companion>) -> anyhow::Result<Statuses> {
    pillion_agent::runtime()?.block_on(async {
        let mut asked = JoinSet::new();
        for companion in companions.into_iter().filter(|it| it.is_alive()) {
            if let Some(state) = companion.state.clone() {
                let port = companion.port;
                asked.spawn(async move {
                    let client = Client::new(port, state.control_token);
                    let status = tokio::time::timeout(ANSWER_TIMEOUT, client.status()).await;
                    Some((port, status.ok()?.ok()?))
                });
            }
        }
        let answers = asked.join_all().await;
        Ok(answers.into_iter().flatten().collect())
    })
}
