//! How the selections of the first seconds and those of moves are received, once each, and a mention.

use pillion_discovery::is_same;
use pillion_protocol::claude::notifications::{AT_MENTIONED, SELECTION_CHANGED};
use serde_json::Value;

use super::client::Client;
use crate::agent::{Agent, params_since};
use crate::claude_observation::{Mention, Selections};
use crate::files::some_file;
use crate::helper::Step;
use crate::moves::{Cursor, LINES};
use crate::observation::{CursorMoved, once};
use crate::rule::{Problem, unchecked};
use crate::test_context::TestContext;

/// The lines that are mentioned, counted from 1.
pub(super) const MENTIONED: (u32, u32) = (2, 3);

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
    once(&test.claude.mention, Mention::hear(test)).await
}

/// Returns true if a message reports a selection.
pub(super) fn is_selection(message: &Value) -> bool {
    message["method"] == SELECTION_CHANGED
}

/// Returns true if a selection is in this file, however it is spelt.
pub(super) fn is_in(params: &Value, file: &str) -> bool {
    let path = params["filePath"].as_str();
    path.is_some_and(|path| is_same(path.as_ref(), file.as_ref()))
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

impl Mention {
    async fn hear(test: &TestContext) -> Result<Self, Problem> {
        let roots = test.target.roots();
        let Some((file, true)) = some_file(&roots, None, LINES as usize) else {
            return unchecked("there is no text of several lines in the workspace to mention");
        };
        let mut client = test.client().await?;
        // The companion knows by then that this client is initialized.
        let _ = client.is_served().await;
        let at = client.messages().len();
        let step = Step::Mention {
            file: file.clone(),
            lines: MENTIONED,
        };
        let time = test.help(&step).await?;
        let is_mention = |message: &Value| message["method"] == AT_MENTIONED;
        client.wait_from(at, time, is_mention).await;
        client.settle().await;
        let new = client.heard().skip(at);
        Ok(Self {
            file,
            messages: new.filter(|it| is_mention(it)).cloned().collect(),
        })
    }
}
