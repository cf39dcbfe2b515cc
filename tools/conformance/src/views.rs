//! Views of new files, opened and closed by a session over HTTP.

use serde_json::Value;

use crate::agent::Agent;
use crate::message::ACCEPTED;
use crate::observation::once;
use crate::reply::ToolReply;
use crate::rule::{Otherwise, Problem, unchecked};
use crate::session::Session;
use crate::test_context::TestContext;

/// Why a view is gone that nobody closed.
pub(super) const ACCEPTS_ITSELF: &str =
    "the editor accepts diffs automatically: turn that off during the run";

impl Session<'_> {
    /// Checks that a view can be opened at all, for the checks that need one. No session is opened for
    /// that: there are companions that a second one disturbs (C1.4).
    pub(super) async fn has_views(&mut self) -> Result<(), Problem> {
        let test = self.test;
        let try_one = async {
            let path = test.names.path();
            let opened = self.open_diff(&path, "text\n").await;
            let opened = opened.and_then(ToolReply::success);
            opened.or_blocked(&["C5.2-open"], "openDiff opens no view")?;
            let _ = self.close_diff(&path, true).await;
            Ok(())
        };
        once(&test.observations.views, try_one).await.copied()
    }

    /// Opens a view of a new file.
    pub(super) async fn open_view(&mut self, text: &str) -> Result<String, Problem> {
        self.has_views().await?;
        let path = self.test.names.path();
        let reply = self.open_diff(&path, text).await?;
        reply.success().or_broken("openDiff refuses it")?;
        Ok(path)
    }

    /// Closes a view that was opened: the answer, if it is not a failure. A view that the editor
    /// accepts by itself is gone before it can be closed, and that is not a fault.
    pub(super) async fn close_view(
        &mut self,
        path: &str,
        suppress: bool,
    ) -> Result<ToolReply, Problem> {
        let reply = self.close_diff(path, suppress).await;
        let reply = reply.or_broken("closeDiff")?;
        if reply.is_error() && self.test.accepts_itself().await {
            return unchecked(ACCEPTS_ITSELF);
        }
        let by: &[&str] = match suppress {
            true => &["C5.2-open", "C5.4-suppress", "C5.5-shape"],
            false => &["C5.2-open", "C5.5-shape"],
        };
        let what = format_args!("closeDiff of {path:?} fails");
        reply.success().or_blocked(by, what)
    }

    /// Closes a view that was opened: the text that was in it (C5.5).
    pub(super) async fn closed_text(&mut self, path: &str) -> Result<String, Problem> {
        let reply = self.close_view(path, true).await?;
        let what = format_args!("closeDiff of {path:?}");
        reply.closed_content().or_blocked(&["C5.5-shape"], what)
    }
}

impl TestContext {
    /// Returns true if the editor accepts diffs without anybody's help. Looked at once, when a view is gone
    /// that nobody closed.
    pub(super) async fn accepts_itself(&self) -> bool {
        let try_one = || async {
            let Ok(mut session) = self.session().await else {
                return false;
            };
            let path = self.names.path();
            if session.open_diff(&path, "text\n").await.is_err() {
                return false;
            }
            let is_it = |it: &Value| it["method"] == ACCEPTED && it["params"]["filePath"] == *path;
            let accepted = session.wait_for(self.timeouts.answer, is_it).await;
            session.leave().await;
            accepted.is_some()
        };
        let known = &self.observations.accepts_itself;
        *known.get_or_init(try_one).await
    }
}
