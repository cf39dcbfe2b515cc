//! The commands' side of the endpoint.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use pillion_protocol::File;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use super::refusal::Refusal;
use super::{Shared, body};
use crate::control::{Command, CompanionStatus, DiffSummary, Settle};
use crate::diffs::{Decision, PendingDiff};
use crate::editor::DiffId;
use crate::event::Event;

pub(super) async fn diffs(
    State(shared): State<Shared>,
    headers: HeaderMap,
) -> Result<Json<Vec<DiffSummary>>, Refusal> {
    let pending = shared.ask(&headers, Command::Diffs).await?;
    Ok(Json(pending.into_iter().map(summary).collect()))
}

pub(super) async fn status(
    State(shared): State<Shared>,
    headers: HeaderMap,
) -> Result<Json<CompanionStatus>, Refusal> {
    shared.ask(&headers, Command::Status).await.map(Json)
}

pub(super) async fn settle(
    State(shared): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let settle: Settle = shared.read(&headers, body).await?;
    let decision = match (settle.accept, settle.content) {
        (true, None) => Decision::Accept,
        (true, Some(content)) => Decision::AcceptAs(content),
        (false, _) => Decision::Reject,
    };
    let (caller, answer) = oneshot::channel();
    shared.command(Command::Settle {
        id: DiffId(settle.id),
        decision,
        caller,
    })?;
    match answer.await.map_err(|_| Refusal::stopping())? {
        Ok(_) => Ok(StatusCode::NO_CONTENT),
        Err(reason) => Err(Refusal::new(StatusCode::CONFLICT, reason)),
    }
}

pub(super) async fn focus(
    State(shared): State<Shared>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refusal> {
    let file: File = shared.read(&headers, body).await?;
    shared.command(Command::Focus(file))?;
    Ok(StatusCode::NO_CONTENT)
}

impl Shared {
    /// Reads the JSON body of a command.
    async fn read<T: DeserializeOwned>(
        &self,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<T, Refusal> {
        self.guard.admit_command(headers)?;
        let bytes = body::read(headers, body).await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error.to_string()))
    }

    /// Asks the loop for something.
    async fn ask<T>(
        &self,
        headers: &HeaderMap,
        question: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Refusal> {
        self.guard.admit_command(headers)?;
        let (answer, told) = oneshot::channel();
        self.command(question(answer))?;
        told.await.map_err(|_| Refusal::stopping())
    }

    fn command(&self, command: Command) -> Result<(), Refusal> {
        let sent = self.events.send(Event::Command(command));
        sent.map_err(|_| Refusal::stopping())
    }
}

fn summary(diff: PendingDiff) -> DiffSummary {
    DiffSummary {
        id: diff.id.0,
        agent: diff.agent.name().to_owned(),
        path: diff.file_path,
        proposed: diff.proposed.to_string(),
    }
}
