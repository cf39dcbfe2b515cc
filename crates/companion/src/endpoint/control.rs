//! The commands' side of the endpoint.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use hyper::body::Incoming;
use pillion_protocol::{Dialect, File};
use pillion_view::{DiffId, OpenFile, ProposalKey};
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use super::refusal::Refusal;
use super::response::{self, Response};
use super::{Shared, body};
use crate::control::on_disk::{self, Looked, OnDisk};
use crate::control::{
    COMMANDING_HEADER, DiffError, DiffRef, DiffSummary, DiffText, Mentioned, MentionedFile,
    PROCESS_HEADER, Settle, Settled,
};
use crate::diffs::{Answer, PendingDiff, SettleRequest, Settlement};
use crate::event::{Command, Event};
use crate::speaker::{self, Speaker};
use crate::wire::Wire;
use pillion_view::Refusal as Refused;

const PREFER: &str = "prefer";

/// How long the editor may take to tell what stands in a view.
const TEXT_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) async fn diffs(shared: &Shared, headers: &HeaderMap) -> Result<Response, Refusal> {
    let pending = shared.ask(headers, Command::Diffs).await?;
    let on_disk = shared.check(&pending).await;
    let summaries = pending.iter().zip(&on_disk);
    let summaries = summaries.map(|(diff, on_disk)| summary(diff, on_disk.as_ref()));
    Ok(response::json(&summaries.collect::<Vec<_>>()))
}

pub(super) async fn diff(
    shared: &Shared,
    headers: &HeaderMap,
    name: &str,
) -> Result<Response, Refusal> {
    let diff = name.parse::<DiffRef>();
    let found = match diff {
        Ok(diff) => {
            let found = shared.ask(headers, |answer| Command::Diff { diff, answer });
            found.await?
        }
        Err(error) => {
            shared.guard.admit_command(headers)?;
            return Err(Refusal::new(StatusCode::BAD_REQUEST, error.to_string()));
        }
    };
    let found = [found.map_err(refused)?];
    let on_disk = shared.check(&found).await.into_iter().next().flatten();
    let [found] = found;
    let (id, revision) = (found.id, found.revision);
    let proposal = ProposalKey { id, revision };
    let (answer, told) = oneshot::channel();
    shared.command(Command::Text { proposal, answer })?;
    let told = tokio::time::timeout(TEXT_TIMEOUT, told).await;
    let told = told.ok().and_then(Result::ok).flatten();
    // A long text takes long to quote.
    let quoting = tokio::task::spawn_blocking(move || {
        serde_json::to_vec(&DiffText {
            summary: summary(&found, on_disk.as_ref()),
            is_text_known: told.is_some(),
            edited: told.filter(|text| **text != *found.proposed),
            proposed: found.proposed.to_string(),
        })
    });
    let quoted = quoting.await.ok().and_then(Result::ok);
    let quoted = quoted.ok_or_else(Refusal::stopping)?;
    Ok(response::whole(StatusCode::OK, "application/json", quoted))
}

pub(super) async fn status(shared: &Shared, headers: &HeaderMap) -> Result<Response, Refusal> {
    let status = shared.ask(headers, Command::Status).await?;
    Ok(response::json(&status))
}

pub(super) async fn settle(
    shared: &Shared,
    headers: &HeaderMap,
    body: Incoming,
    wire: &Wire,
) -> Result<Response, Refusal> {
    let Settle {
        id,
        revision,
        mut verdict,
        despite_change,
    } = shared.heard(headers, body, wire).await?;
    if let Err(bytes) = verdict.tidy_notes() {
        let reason = Refused::too_long(bytes).message;
        return Err(refused(DiffError::Failed { reason }));
    }
    let diff = DiffRef::exactly(id, revision);
    let found = shared.ask(headers, |answer| Command::Diff { diff, answer });
    let looked = shared.look(found.await?.map_err(refused)?).await;
    let id = DiffId(id);
    let request = SettleRequest {
        key: ProposalKey { id, revision },
        verdict,
        despite_change,
        looked,
    };
    let (admitted, judged) = oneshot::channel();
    let (caller, answer) = oneshot::channel();
    shared.command(Command::Settle {
        request,
        admitted,
        caller,
    })?;
    let admitted = judged.await.map_err(|_| Refusal::stopping())?;
    admitted.map_err(refused)?;
    match answer.await.map_err(|_| Refusal::stopping())? {
        Ok(answer) => {
            let settlement = match answer {
                Answer::Settled(settlement) => settlement,
                _ => Settlement::default(),
            };
            Ok(response::json(&Settled {
                edited: settlement.is_edited,
                told: settlement.told,
            }))
        }
        Err(reason) => Err(refused(DiffError::Failed { reason })),
    }
}

pub(super) async fn focus(
    shared: &Shared,
    headers: &HeaderMap,
    body: Incoming,
    wire: &Wire,
) -> Result<Response, Refusal> {
    let file: OpenFile = shared.heard(headers, body, wire).await?;
    let file = File::from(file);
    let (sent, answered) = oneshot::channel();
    shared.command(Command::Focus { file, sent })?;
    // RFC 7240: who moves a cursor ten thousand times does not wait for each.
    if headers.get(PREFER).is_some_and(|it| it == "respond-async") {
        return Ok(response::empty(StatusCode::ACCEPTED));
    }
    answered.await.map_err(|_| Refusal::stopping())?;
    Ok(response::empty(StatusCode::NO_CONTENT))
}

pub(super) async fn mention(
    shared: &Shared,
    headers: &HeaderMap,
    body: Incoming,
    wire: &Wire,
) -> Result<Response, Refusal> {
    let MentionedFile { path, lines } = shared.heard(headers, body, wire).await?;
    let mentioned = shared.ask(headers, |reply| Command::Mention { path, lines, reply });
    let agent = mentioned.await?.map(|agent| agent.name().to_owned());
    Ok(response::json(&Mentioned { agent }))
}

impl Shared {
    /// Reads the JSON body of a command that speaks for the person: from no agent it is heard.
    async fn heard<T: DeserializeOwned>(
        &self,
        headers: &HeaderMap,
        body: Incoming,
        wire: &Wire,
    ) -> Result<T, Refusal> {
        self.guard.admit_command(headers)?;
        let speaker = speaker(headers, wire);
        let (connected, origin) = (self.mcp.processes(), Arc::clone(&self.origin));
        // It reads what processes have open.
        let judging = tokio::task::spawn_blocking(move || {
            speaker::agent_behind(&speaker, &connected, &origin)
        });
        if let Some(agent) = judging.await.map_err(|_| Refusal::stopping())? {
            tracing::info!(%agent, "a command of an agent's process is refused");
            let agent = agent.display_name().to_owned();
            return Err(refused(DiffError::ByAgent { agent }));
        }
        let bytes = body::read(headers, body, &self.unfinished).await?;
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
        let (answer, answered) = oneshot::channel();
        self.command(question(answer))?;
        answered.await.map_err(|_| Refusal::stopping())
    }

    /// What the paths of these diffs lead to, one by one.
    async fn check(&self, diffs: &[PendingDiff]) -> Vec<Option<OnDisk>> {
        let paths = diffs.iter().map(|diff| diff.file_path.clone());
        match on_disk::check(&self.checks, paths.collect()).await {
            Some(checked) => checked.into_iter().map(Some).collect(),
            None => vec![None; diffs.len()],
        }
    }

    /// What the file of a diff is now.
    async fn look(&self, diff: PendingDiff) -> Option<Looked> {
        on_disk::look(&self.checks, diff.opened?, diff.file_path).await
    }

    fn command(&self, command: Command) -> Result<(), Refusal> {
        let sent = self.events.send(Event::Command(command));
        sent.map_err(|_| Refusal::stopping())
    }
}

fn speaker(headers: &HeaderMap, wire: &Wire) -> Speaker {
    let names = text(headers, COMMANDING_HEADER).unwrap_or_default();
    let is_named = |agent: &Dialect| names.split(',').any(|name| name == agent.name());
    Speaker {
        connection: wire.connection(),
        claimed: text(headers, PROCESS_HEADER).and_then(|value| value.parse().ok()),
        commanding: Dialect::ALL.into_iter().filter(is_named).collect(),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn refused(error: DiffError) -> Refusal {
    let json = serde_json::to_vec(&error).unwrap_or_default();
    Refusal::json(StatusCode::CONFLICT, json)
}

fn summary(diff: &PendingDiff, on_disk: Option<&OnDisk>) -> DiffSummary {
    DiffSummary {
        id: diff.id.0,
        revision: diff.revision,
        agent: diff.agent.name().to_owned(),
        path: diff.file_path.clone(),
        leads_to: on_disk.and_then(|on_disk| on_disk.elsewhere(&diff.file_path)),
        set: diff.set,
    }
}
