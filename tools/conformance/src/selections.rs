//! Notifications of the selection, in the protocols that have them.

use serde_json::Value;

use crate::agent::{Agent, params_since};
use crate::moves::Cursor;
use crate::observation::{CursorMoved, Selections};
use crate::rule::{Finding, Problem, blocked, broken, unchecked};
use crate::shape::is_in;
use crate::test_context::TestContext;

const NONE: &str = "no `selection_changed` arrived";

/// The way in which selections show the cursor; `method` is the notification that reports them.
fn cursor(method: &'static str) -> Cursor {
    Cursor {
        method,
        file: |params| params["filePath"].as_str(),
        is_at: |params, file, line| {
            is_in(params, file) && params["selection"]["start"]["line"] == line - 1
        },
    }
}

impl Selections {
    /// Hears the messages to an agent that has just connected, unasked and when the cursor moves.
    pub(super) async fn hear(
        test: &TestContext,
        agent: &mut impl Agent,
        method: &'static str,
    ) -> Self {
        let is_selection = |message: &Value| message["method"] == method;
        agent.wait_for(test.timeouts.answer, is_selection).await;
        agent.listen(test.timeouts.quiet).await;
        Self {
            of_start: params_since(agent, 0, method),
            of_cursor: CursorMoved::hear(test, agent, &cursor(method)).await,
        }
    }

    /// The params of all of them.
    fn all(&self) -> impl Iterator<Item = &Value> {
        let all = self.of_start.iter().chain(self.of_cursor.contexts());
        all.map(|(_, params)| params)
    }

    /// The same, if there are any; `rows` are about whether any come.
    pub(super) fn received(&self, rows: &'static [&'static str]) -> Result<&Self, Problem> {
        match self.all().next() {
            Some(_) => Ok(self),
            None if self.of_cursor.place().is_ok() => blocked(rows, NONE),
            None => no_file(),
        }
    }

    /// Checks that any came at the start.
    pub(super) fn at_start(&self) -> Finding {
        match self.of_start.len() {
            // A companion without an open file has nothing to report.
            0 if self.all().next().is_none() && self.of_cursor.place().is_err() => no_file(),
            0 => broken("none came"),
            count => Ok(format!("{count} came")),
        }
    }

    /// For rules about what comes at the start: some came. `row` is about that, and `why` says that none did.
    pub(super) fn comes_at_start(
        &self,
        row: &'static [&'static str],
        why: &str,
    ) -> Result<(), Problem> {
        match (self.of_start.is_empty(), self.all().next()) {
            (false, _) => Ok(()),
            (true, Some(_)) => blocked(row, why),
            (true, None) => no_file(),
        }
    }

    /// Every one of them keeps a rule.
    pub(super) fn each(&self, look: fn(&Value) -> Result<(), String>) -> Finding {
        for params in self.all() {
            look(params).map_err(Problem::Broken)?;
        }
        Ok(format!("{} selections", self.all().count()))
    }
}

fn no_file<T>() -> Result<T, Problem> {
    unchecked(format!("{NONE}: focus a file in the editor"))
}
