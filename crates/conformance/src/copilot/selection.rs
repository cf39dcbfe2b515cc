//! How the selections of the first seconds and those of moves are received, once each, and a mention.

use pillion_protocol::copilot::notifications::{ADD_FILE_REFERENCE, SELECTION_CHANGED};
use serde_json::Value;

use crate::agent::{Agent, params_since};
use crate::copilot_observation::Selections;
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

/// What one session received about selections.
pub(super) async fn selections(test: &TestContext) -> Result<&Selections, Problem> {
    once(&test.copilot.selections, Selections::hear(test)).await
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

impl Selections {
    async fn hear(test: &TestContext) -> Result<Self, Problem> {
        let mut session = test.session().await?;
        session.wait_for(test.timeouts.answer, is_selection).await;
        session.listen(test.timeouts.quiet).await;
        let of_start = params_since(&session, 0, SELECTION_CHANGED);
        let of_cursor = CursorMoved::hear(test, &mut session, &CURSOR).await;
        session.leave().await;
        Ok(Self {
            of_start,
            of_cursor,
        })
    }
}
