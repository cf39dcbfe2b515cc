//! The selections of the first seconds and those of moves, received once each, and a mention.

use pillion_protocol::copilot::notifications::{ADD_FILE_REFERENCE, SELECTION_CHANGED};
use serde_json::Value;

use crate::observation::{Mention, Selections, once};
use crate::rule::Problem;
use crate::test_context::TestContext;

/// The messages that one session received about selections.
pub(super) async fn selections(test: &TestContext) -> Result<&Selections, Problem> {
    let hear = async {
        let mut session = test.session().await?;
        let selections = Selections::hear(test, &mut session, SELECTION_CHANGED).await;
        session.leave().await;
        Ok(selections)
    };
    once(&test.copilot.selections, hear).await
}

/// A mention that was brought about.
pub(super) async fn mention(test: &TestContext) -> Result<&Mention, Problem> {
    let hear = async { Mention::hear(test, &mut test.session().await?, ADD_FILE_REFERENCE).await };
    once(&test.copilot.mention, hear).await
}

/// Returns true if a message reports a selection.
pub(super) fn is_selection(message: &Value) -> bool {
    message["method"] == SELECTION_CHANGED
}
