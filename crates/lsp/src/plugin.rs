//! The plugin profile: `docs/editor-protocol.md` as a state machine.

mod asked;
mod changes;
mod comparing;
mod context;
mod diagnostics;
mod diffs;
mod messages;

use std::path::PathBuf;

use gen_lsp_types::{MessageType, ServerCapabilities};
use lsp_server::{Request, RequestId, Response, ResponseError};
use pillion_discovery::version::{self, VERSION};
use pillion_protocol::discovery::join_roots;
use pillion_protocol::{Dialect, ReviewChoice};
use pillion_view::ask::{self, Refused, SendNotes};
use pillion_view::{Chosen, EditorEvent, Status, TurnNews};
use serde_json::{Value, json};

use self::asked::{Asked, Requests};
use self::diagnostics::Diagnostics;
use self::diffs::Diffs;
pub use self::messages::DidChangeWorkspace;
use self::messages::{
    CHANGES, Choose, DECIDE, DID_CHANGE_CONTEXT, DID_CHANGE_DIFF, DID_CHANGE_NOTES,
    DID_CHANGE_STATUS, DID_CHANGE_WORKSPACE, DID_SYNC, DidChangeContext, DidChangeStatus, DidSync,
    ENVIRONMENT, Environment, HUNKS, KEEP, MENTION, MERGE, Mention, Mentioned, Profile, REVIEW,
    SEND_NOTES, TAKE_BACK, UNDO, WORKSPACE,
};
use crate::asking::Asking;
use crate::disk::Done;
use crate::position::Encoding;
use crate::profile::{Action, ClientProfile, Published};
use crate::{message, uri};

/// The profile of a plugin.
#[derive(Debug)]
pub struct Plugin {
    encoding: Encoding,
    /// The plugin's name for its version.
    version: Option<String>,
    diffs: Diffs,
    diagnostics: Diagnostics,
    requests: Requests,
    status: Status,
    turn_news: TurnNews,
    reported: DidChangeStatus,
}

impl Plugin {
    /// A profile that nobody has seen yet.
    pub fn new(encoding: Encoding, version: Option<String>) -> Self {
        Self {
            encoding,
            version,
            diffs: Diffs::default(),
            diagnostics: Diagnostics::new(encoding),
            requests: Requests::default(),
            status: Status::default(),
            turn_news: TurnNews::default(),
            reported: DidChangeStatus::default(),
        }
    }

    fn change_context(&self, params: DidChangeContext) -> Vec<Action> {
        let files = context::files(params.open_files, self.encoding);
        let is_trusted = params.is_trusted;
        vec![Action::ReportContext { files, is_trusted }]
    }

    /// Reports it if it is a file; anything else has been no agent's, either.
    fn synced(DidSync { uri, saved }: DidSync) -> Vec<Action> {
        let path = uri::to_path(&uri);
        let synced = path.map(|path| Action::ReportSync {
            path,
            is_saved: saved,
        });
        synced.into_iter().collect()
    }

    /// The person decides.
    fn decide(&mut self, request: RequestId, params: Value) -> Action {
        match message::params(params) {
            Ok(params) => match self.diffs.decide(request, params) {
                Ok(decide) => Action::Decide(decide),
                Err(answer) => Action::Send(answer),
            },
            Err(why) => Action::invalid(request, why),
        }
    }

    /// The person points an agent to a file.
    fn mention(request: RequestId, params: Value) -> Action {
        let Mention { uri, lines } = match message::params(params) {
            Ok(params) => params,
            Err(why) => return Action::invalid(request, why),
        };
        let Some(path) = uri::to_path(&uri) else {
            return Action::invalid(request, "uri: not a file".to_owned());
        };
        if lines.is_some_and(|lines| lines.last < lines.first) {
            return Action::invalid(request, "lines: the last comes before the first".to_owned());
        }
        let lines = lines.map(|lines| (lines.first, lines.last));
        let mention = ask::Mention { path, lines };
        Action::Ask(Asking::new(request, mention, |agent| {
            // One that goes away in between has named nothing.
            let agent = agent.unwrap_or_default().map(Into::into);
            Ok(serde_json::to_value(Mentioned { agent }).unwrap_or_default())
        }))
    }

    /// The person chooses when agents ask.
    fn review(request: RequestId, params: Value) -> Action {
        let Choose { choice } = match message::params(params) {
            Ok(params) => params,
            Err(why) => return Action::invalid(request, why),
        };
        match choice.as_deref().map(ReviewChoice::named).transpose() {
            Ok(choice) => Action::Ask(Asking::review(request, choice, chosen)),
            // The person typed it.
            Err(why) => Action::answer(request, chosen(Err(why.into()))),
        }
    }

    /// The status message, if it differs from the last one.
    fn status(&mut self) -> Option<Action> {
        let agents = &self.status.agents;
        let knowing = Dialect::ALL
            .into_iter()
            .filter(|agent| agent.knows_mentions() && agents.contains(agent));
        let mentions = knowing.map(Dialect::name).collect();
        let status = DidChangeStatus {
            agents: agents.iter().map(|agent| (*agent).into()).collect(),
            mentions,
            pending_diffs: self.diffs.pending(),
            warnings: [&*self.status.warnings, &*self.status.unasked].concat(),
            notes: self.status.asking.clone(),
            review: self.status.review.clone().map(Into::into),
            unseen: self.status.unseen,
            changes: self.status.changes,
        };
        if status == self.reported {
            return None;
        }
        self.reported = status;
        Some(self.status_report())
    }

    fn status_report(&self) -> Action {
        Action::Send(message::notification(DID_CHANGE_STATUS, &self.reported))
    }
}

/// The answer about the outcome of a choice.
fn chosen(chosen: Result<Chosen, Refused>) -> Result<Value, ResponseError> {
    let chosen = chosen.unwrap_or_else(Chosen::refused);
    Ok(serde_json::to_value(chosen).unwrap_or_default())
}

impl ClientProfile for Plugin {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities {
            position_encoding: Some(self.encoding.kind()),
            experimental: Some(json!({"pillion": Profile { version: VERSION }})),
            ..ServerCapabilities::default()
        }
    }

    fn initialized(&mut self, published: &Published) -> Vec<Action> {
        let version = self.version.as_deref();
        let mismatch = version.and_then(|plugin| version::of_plugin(plugin, VERSION));
        let warning = mismatch.map(|mismatch| Action::Send(message::mismatch(&mismatch)));
        warning
            .into_iter()
            .chain([environment(published), self.status_report()])
            .collect()
    }

    fn published(&mut self, published: &Published) -> Vec<Action> {
        vec![environment(published)]
    }

    fn request(&mut self, Request { id, method, params }: Request) -> Vec<Action> {
        vec![match method.as_str() {
            DECIDE => self.decide(id, params),
            HUNKS => comparing::find_hunks(id, params),
            MERGE => comparing::merge(id, params),
            MENTION => Self::mention(id, params),
            REVIEW => Self::review(id, params),
            SEND_NOTES => Action::Ask(Asking::new(id, SendNotes::default(), chosen)),
            WORKSPACE => match message::params(params) {
                Ok(workspace) => change_workspace(Some(id), workspace),
                Err(why) => Action::invalid(id, why),
            },
            CHANGES => Action::Changes { request: Some(id) },
            KEEP => changes::keep(id, params),
            TAKE_BACK => changes::take_back(id, params),
            UNDO => changes::undo(id, params),
            _ => Action::answer(id, Err(message::unknown_method(&method))),
        }]
    }

    fn done(&mut self, done: Done) -> Vec<Action> {
        let answer = match done {
            Done::Ruled { key, ruling } => self.diffs.ruled(key, ruling).map(Action::Send),
            Done::Listed { request, list } => changes::listed(request, &list),
            Done::Acted { request, done } => changes::acted(request, done),
            _ => None,
        };
        answer.into_iter().chain(self.status()).collect()
    }

    fn is_deciding(&self) -> bool {
        self.diffs.is_deciding()
    }

    fn notification(&mut self, method: &str, params: Value) -> Vec<Action> {
        let handled = match method {
            DID_CHANGE_CONTEXT => message::params(params).map(|it| self.change_context(it)),
            DID_CHANGE_WORKSPACE => {
                message::params(params).map(|it| vec![change_workspace(None, it)])
            }
            DID_SYNC => message::params(params).map(Self::synced),
            DID_CHANGE_DIFF => message::params(params).map(|it| self.diffs.changed(it)),
            DID_CHANGE_NOTES => message::params(params).map(|it| self.diffs.noted(it)),
            // A language-server client sends more than a plugin needs.
            _ => return Vec::new(),
        };
        handled.unwrap_or_else(|why| vec![Action::Send(message::ignored(method, &why))])
    }

    fn response(&mut self, response: Response) -> Vec<Action> {
        let result = response.response_result;
        match self.requests.answered(&response.id) {
            None => tracing::debug!(id = %response.id, "nothing is waiting for this answer"),
            Some(Asked::Open { key, shown }) => self.diffs.opened(key, shown, result),
            Some(Asked::Close {
                key,
                reason,
                closed,
            }) => {
                let requests = &mut self.requests;
                self.diffs.closed(key, reason, closed, result, requests);
            }
            Some(Asked::Text { told }) => Diffs::told(told, result),
            Some(Asked::Diagnostics { uri, found }) => {
                self.diagnostics.answered(uri.as_deref(), found, result);
            }
        }
        self.status().into_iter().collect()
    }

    fn event(&mut self, event: EditorEvent) -> Vec<Action> {
        let requests = &mut self.requests;
        let message = match event {
            EditorEvent::Open(diff, shown) => Some(self.diffs.open(diff, shown, requests)),
            EditorEvent::Close(id, reason, closed) => {
                self.diffs.close(id, reason, closed, requests)
            }
            EditorEvent::Text(key, told) => self.diffs.ask_text(key, told, requests),
            EditorEvent::Diagnostics(uri, found) => self.diagnostics.ask(uri, found, requests),
            EditorEvent::Status(status) => {
                let ended = self.turn_news.of(&status);
                let known = std::mem::replace(&mut self.status, status).unasked;
                let mut unasked = self.status.unasked.iter();
                let new = unasked.find(|sentence| !known.contains(sentence));
                let new = new.map(|it| message::show(MessageType::Warning, it.clone()));
                new.or(ended.map(|it| message::show(MessageType::Info, it)))
            }
            EditorEvent::Draft(key, text) => self.diffs.offer(key, text),
            EditorEvent::Shared(_)
            | EditorEvent::Notes(..)
            | EditorEvent::Lost(_)
            | EditorEvent::Moved(_)
            | EditorEvent::Stopped => None,
        };
        let message = message.map(Action::Send);
        message.into_iter().chain(self.status()).collect()
    }
}

fn change_workspace(request: Option<RequestId>, said: DidChangeWorkspace) -> Action {
    let workspace = said.into();
    Action::ChangeWorkspace { request, workspace }
}

fn environment(published: &Published) -> Action {
    // The roots were checked when they came.
    let workspace = join_roots(&published.roots).unwrap_or_default();
    let variables = Dialect::ALL
        .into_iter()
        .flat_map(|dialect| dialect.environment(published.port, &workspace))
        .collect();
    let named = |path: &PathBuf| path.to_string_lossy().into_owned();
    let params = Environment {
        variables,
        port: published.port,
        pid: std::process::id(),
        discovery_files: published.discovery_files.iter().map(named).collect(),
        roots: published.roots.iter().map(named).collect(),
        start_folder: published.start.as_ref().map(named),
        agents: Dialect::ALL.map(Into::into).into(),
    };
    Action::Send(message::notification(ENVIRONMENT, params))
}

#[cfg(test)]
mod tests;
