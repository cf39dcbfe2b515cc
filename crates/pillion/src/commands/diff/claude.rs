//! A proposal to a companion that speaks Claude Code's protocol only.

use std::path::Path;
use std::pin::{Pin, pin};
use std::time::Duration;

use pillion_agent::ClientError;
use pillion_agent::claude::{Answer, Client};
use pillion_protocol::Outcome;

use super::{CLOSE_TIMEOUT, End, Stop, say_waiting};

/// Proposes, and waits for the decision or for `stop`.
pub(super) async fn decide(
    client: &Client,
    editor: &str,
    path: &str,
    text: &str,
    stop: Pin<&mut impl Future<Output = Stop>>,
) -> Result<End, ClientError> {
    let name = Path::new(path).file_name().unwrap_or_default();
    let tab = format!("[pillion diff] {} ({})", name.display(), std::process::id());
    let mut answer = pin!(client.open_diff(path, text, &tab));
    say_waiting(editor);
    let stop = tokio::select! {
        // Who decided in the same moment has decided.
        biased;
        answer = &mut answer => {
            // As the agent does after each answer; it was given, whatever becomes of the view.
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, client.close_tab(&tab)).await;
            return Ok(End::from(answer?));
        }
        stop = stop => stop,
    };
    let closed = tokio::time::timeout(CLOSE_TIMEOUT, client.close_tab(&tab)).await;
    // The answer may have been on its way: an acceptance counts.
    let late = tokio::time::timeout(Duration::ZERO, answer).await;
    Ok(match late {
        Ok(Ok(Answer::Saved(text))) => End::from(Answer::Saved(text)),
        _ => End::stopped(stop, matches!(closed, Ok(Ok(())))),
    })
}

impl From<Answer> for End {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Saved(text) => Self::new(Outcome::accepted(text), Vec::new()),
            // Claude Code writes its proposal when the view was closed; no person accepted it.
            Answer::Rejected | Answer::TabClosed => Self::new(Outcome::Rejected, Vec::new()),
        }
    }
}
