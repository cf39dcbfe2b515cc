//! Proposals to a companion that speaks Claude Code's protocol only, and knows no sets: one after the other.

use std::path::Path;
use std::pin::{Pin, pin};
use std::time::Duration;

use pillion_agent::ClientError;
use pillion_agent::claude::{Answer, Client};
use pillion_agent::set::{End, NOT_SHOWN, ProposedFile, Reviewed};
use pillion_protocol::Outcome;

/// The time limit for the editor to close the view when this command is to end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Proposes, and waits for the decisions or for `stop`.
pub(super) async fn review(
    client: &Client,
    files: &[ProposedFile],
    shown: impl FnOnce(),
    mut stop: Pin<&mut impl Future<Output = ()>>,
) -> Reviewed {
    shown();
    let mut ends = Vec::new();
    let mut error = None;
    for file in files {
        match decide(client, file, stop.as_mut()).await {
            Ok(end) => ends.push(end),
            Err(cause) => error = Some(cause),
        }
        if !matches!(ends.last(), Some(End::Decided { .. })) || error.is_some() {
            break;
        }
    }
    ends.resize(files.len(), NOT_SHOWN);
    Reviewed { ends, error }
}

async fn decide(
    client: &Client,
    file: &ProposedFile,
    stop: Pin<&mut impl Future<Output = ()>>,
) -> Result<End, ClientError> {
    let ProposedFile { path, content, .. } = file;
    let name = Path::new(path).file_name().unwrap_or_default();
    let tab = format!("[pillion diff] {} ({})", name.display(), std::process::id());
    let mut answer = pin!(client.open_diff(path, content, &tab));
    tokio::select! {
        // Who decided in the same moment has decided.
        biased;
        answer = &mut answer => {
            // As the agent does after each answer; it was given, whatever becomes of the view.
            let _ = tokio::time::timeout(CLOSE_TIMEOUT, client.close_tab(&tab)).await;
            return Ok(decided(answer?));
        }
        () = stop => {}
    }
    let closed = tokio::time::timeout(CLOSE_TIMEOUT, client.close_tab(&tab)).await;
    // The answer may have been on its way: an acceptance counts.
    let late = tokio::time::timeout(Duration::ZERO, answer).await;
    Ok(match late {
        Ok(Ok(Answer::Saved(text))) => decided(Answer::Saved(text)),
        _ => End::Withdrawn {
            edited: None,
            is_closed: matches!(closed, Ok(Ok(()))),
        },
    })
}

fn decided(answer: Answer) -> End {
    let outcome = match answer {
        Answer::Saved(text) => Outcome::accepted(text),
        // Claude Code writes its proposal when the view was closed; no person accepted it.
        Answer::Rejected | Answer::TabClosed => Outcome::Rejected,
    };
    End::Decided {
        outcome,
        notes: Vec::new(),
    }
}
