//! The selections of the first seconds and those of moves, received once each, and a mention.

use pillion_protocol::claude::notifications::{AT_MENTIONED, SELECTION_CHANGED};
use serde_json::Value;

use super::client::Client;
use crate::agent::Agent;
use crate::claude_observation::Heard;
use crate::observation::{Mention, Selections, once};
use crate::rule::Problem;
use crate::test_context::TestContext;

/// The messages that one client received from its start on.
pub(super) async fn heard(test: &TestContext) -> Result<&Heard, Problem> {
    once(&test.claude.heard, Heard::hear(test)).await
}

/// The messages that it received about selections.
pub(super) async fn selections(test: &TestContext) -> Result<&Selections, Problem> {
    Ok(&heard(test).await?.selections)
}

/// A mention that was brought about.
pub(super) async fn mention(test: &TestContext) -> Result<&Mention, Problem> {
    let hear = async { Mention::hear(test, &mut test.client().await?, AT_MENTIONED).await };
    once(&test.claude.mention, hear).await
}

/// Returns true if a message reports a selection.
pub(super) fn is_selection(message: &Value) -> bool {
    message["method"] == SELECTION_CHANGED
}

impl Heard {
    async fn hear(test: &TestContext) -> Result<Self, Problem> {
        // Whether there are sessions at all is other rules' matter.
        test.has_clients().await?;
        let mut client = test.another(Client::connect).await?;
        client.initialize().await?;
        client.settle().await;
        let early = client.heard().find(|it| it.get("method").is_some());
        let early = early.cloned();
        client.initialized().await?;
        let selections = Selections::hear(test, &mut client, SELECTION_CHANGED).await;
        client.leave().await;
        Ok(Self { early, selections })
    }
}
