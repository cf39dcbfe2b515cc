//! How the selections of the first seconds and those of moves are received, once each, and a mention.

use pillion_protocol::claude::notifications::{AT_MENTIONED, SELECTION_CHANGED};
use serde_json::Value;

use super::client::Client;
use crate::agent::{Agent, params_since};
use crate::claude_observation::Selections;
use crate::moves::Cursor;
use crate::observation::{CursorMoved, Mention, once};
use crate::rule::Problem;
use crate::shape::is_in;
use crate::test_context::TestContext;

/// How selections show the cursor.
const CURSOR: Cursor = Cursor {
    method: SELECTION_CHANGED,
    file: |params| params["filePath"].as_str(),
    is_at: |params, file, line| {
        is_in(params, file) && params["selection"]["start"]["line"] == line - 1
    },
};

/// What one client received about selections.
pub(super) async fn selections(test: &TestContext) -> Result<&Selections, Problem> {
    once(&test.claude.selections, Selections::hear(test)).await
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

impl Selections {
    async fn hear(test: &TestContext) -> Result<Self, Problem> {
        // Whether there are sessions at all is other rules' matter.
        test.has_clients().await?;
        let mut client = test.another(Client::connect).await?;
        client.initialize().await?;
        client.settle().await;
        let early = client.heard().find(|it| it.get("method").is_some());
        let early = early.cloned();
        client.initialized().await?;
        client.wait_for(test.timeouts.answer, is_selection).await;
        client.settle().await;
        let selections = Self {
            early,
            of_start: params_since(&client, 0, SELECTION_CHANGED),
            of_cursor: CursorMoved::hear(test, &mut client, &CURSOR).await,
        };
        client.leave().await;
        Ok(selections)
    }
}
