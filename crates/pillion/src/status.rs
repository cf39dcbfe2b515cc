//! What Pillion's companions say of themselves, all asked at the same time.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::join_all;
use pillion_companion::control::{Client, CompanionStatus};
use pillion_discovery::survey::Companion;
use tokio::time::timeout;

/// One that has not answered by then does not count: nothing should wait for a hung editor.
pub const ANSWER_TIMEOUT: Duration = Duration::from_millis(500);

/// The answers by port. A companion that was asked and is not here did not answer.
pub type Statuses = HashMap<u16, CompanionStatus>;

/// Asks those of `companions` that live and can be asked.
///
/// # Errors
/// When the system refuses what asking needs.
pub fn ask<'a>(companions: impl IntoIterator<Item = &'a Companion>) -> anyhow::Result<Statuses> {
    let living = companions.into_iter().filter(|it| it.is_alive());
    let asked = living.filter_map(|companion| {
        let token = companion.state.as_ref()?.control_token.clone();
        let client = Client::new(companion.port, token);
        Some(async move {
            let status = timeout(ANSWER_TIMEOUT, client.status()).await;
            Some((companion.port, status.ok()?.ok()?))
        })
    });
    let answers = pillion_agent::runtime()?.block_on(join_all(asked));
    Ok(answers.into_iter().flatten().collect())
}
