//! Mentions of lines, as agents hear of them, whatever the protocol.

use serde_json::Value;

use crate::agent::Agent;
use crate::files::some_file;
use crate::helper::Step;
use crate::moves::LINES;
use crate::observation::Mention;
use crate::rule::{Finding, Otherwise, Problem, blocked, broken, shown, unchecked};
use crate::shape::{Field, fits, is_in};
use crate::test_context::TestContext;

/// The lines that are mentioned, counted from 1.
const MENTIONED: (u32, u32) = (2, 3);

impl Mention {
    /// Has lines mentioned; the notifications of this method that come of it.
    pub(super) async fn hear(
        test: &TestContext,
        agent: &mut impl Agent,
        method: &str,
    ) -> Result<Self, Problem> {
        let roots = test.target.roots();
        let Some((file, true)) = some_file(&roots, None, LINES as usize) else {
            return unchecked("there is no text of several lines in the workspace to mention");
        };
        // The companion knows by then that this client is initialized.
        let _ = agent.is_served().await;
        let at = agent.messages().len();
        let step = Step::Mention {
            file: file.clone(),
            lines: MENTIONED,
        };
        let time = test.help(&step).await?;
        let is_mention = |message: &Value| message["method"] == method;
        agent.wait_from(at, time, is_mention).await;
        agent.listen(test.timeouts.quiet).await;
        let new = agent.heard().skip(at);
        Ok(Self {
            file,
            messages: new.filter(|it| is_mention(it)).cloned().collect(),
        })
    }

    /// Checks that the only message has these fields.
    pub(super) fn well_formed(&self, fields: &[Field]) -> Finding {
        let params = self.only().map_err(Problem::Broken)?;
        fits(params, fields).map_err(Problem::Broken)?;
        Ok(shown(params))
    }

    /// Checks that its lines, which it has at these places, are those that were mentioned, counted from 0. `row` is about its
    /// fields.
    pub(super) fn lines_from_0(
        &self,
        row: &'static [&'static str],
        fields: &[Field],
        places: [&str; 2],
    ) -> Finding {
        let params = self.only().or_blocked(row, "the mention")?;
        fits(params, fields).or_blocked(row, "the mention")?;
        if !is_in(params, &self.file) {
            let (file, path) = (&self.file, &params["filePath"]);
            return blocked(row, format!("{file} was mentioned, {path} arrived"));
        }
        let (first, last) = MENTIONED;
        let lines = places.map(|place| params.pointer(place).unwrap_or(&Value::Null));
        if *lines[0] == first - 1 && *lines[1] == last - 1 {
            return Ok(format!("lines {first} to {last}"));
        }
        broken(format!(
            "lines {first} to {last} (counted from 1) were mentioned, {} to {} arrived",
            lines[0], lines[1]
        ))
    }

    /// The only message.
    fn only(&self) -> Result<&Value, String> {
        match &self.messages[..] {
            [] => Err("none arrived".to_owned()),
            [message] if message.get("id").is_some() => {
                Err("it has an `id`, so it is a request, not a notification".to_owned())
            }
            [message] => Ok(&message["params"]),
            messages => Err(format!("{} arrived for one mention", messages.len())),
        }
    }
}
