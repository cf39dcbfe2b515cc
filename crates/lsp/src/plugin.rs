//! The plugin profile: `docs/editor-protocol.md` as a state machine.

mod codec;
mod context;
mod diagnostics;
mod diffs;
mod messages;

use lsp_server::{Request, RequestId, Response, ResponseError};
use pillion_discovery::version::{self, VERSION};
use pillion_text::endings::comparable;
use pillion_text::{Text, hunks, merge};
use pillion_view::ask::{Changes, Mention, Refused};
use pillion_view::changes::{ActDone, ChangesAct, ChangesList};
use pillion_view::{Choice, Chosen, EditorEvent, FileChange, Status, TurnNews};
use serde_json::{Value, json};

use self::diagnostics::Diagnostics;
use self::diffs::Diffs;
use self::messages::{
    Agent, Asked, CHANGES, Choose, DECIDE, DID_CHANGE_CONTEXT, DID_CHANGE_DIFF, DID_CHANGE_NOTES,
    DID_CHANGE_STATUS, DID_CHANGE_WORKSPACE, DID_SYNC, DidChangeContext, ENVIRONMENT, FindHunks,
    HUNKS, KEEP, LOOK, MENTION, MERGE, MergeTexts, Named, RESTORE, REVIEW, Requests, RestoreText,
    SEND_NOTES, TAKE_BACK, UNDO, WATCH, WORKSPACE, Watch,
};
pub use self::messages::{DidChangeWorkspace, LEAVE, changed_file};
use crate::asking::Asking;
use crate::disk::Done;
use crate::message::{self, MessageType};
use crate::position::Encoding;
use crate::profile::{Action, ClientProfile, Published, Work};
use pillion_text::restore;

/// The profile of a plugin.
#[derive(Debug)]
pub struct Plugin {
    encoding: Encoding,
    version: Option<String>,
    diffs: Diffs,
    diagnostics: Diagnostics,
    requests: Requests,
    status: Status,
    turn_news: TurnNews,
    reported: Value,
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
            reported: messages::status(&Status::default(), 0),
        }
    }

    fn change_context(&self, params: DidChangeContext) -> Vec<Action> {
        let files = context::files(params.open_files, self.encoding);
        let is_trusted = params.is_trusted;
        vec![Action::ReportContext { files, is_trusted }]
    }

    fn decide(&mut self, request: RequestId, params: Value) -> Action {
        match codec::read(params) {
            Ok(params) => match self.diffs.decide(request, params) {
                Ok(decide) => Action::Decide(decide),
                Err(answer) => Action::Send(answer),
            },
            Err(why) => Action::invalid(request, why),
        }
    }

    /// The plugin asks what two changes of one text make together.
    fn merge(&self, request: RequestId, params: Value) -> Action {
        let MergeTexts {
            key,
            original,
            proposed,
            content,
        } = match codec::read(params) {
            Ok(params) => params,
            Err(why) => return Action::invalid(request, why),
        };
        let (path, merged) = match self.diffs.merged(key) {
            Ok(found) => found,
            Err(stale) => return Action::answer(request, Err(message::failed(stale.to_string()))),
        };
        let original = original.unwrap_or_default();
        work(request, move || {
            let found = if let Some(content) = content {
                let like_proposed = |text| comparable(Text::new(text), &proposed);
                let [original, content] = [original, content].map(like_proposed);
                merge::texts(&original, &Text::new(proposed), &content)
            } else {
                let (change, found) = FileChange::merge(&path, original.as_bytes(), &proposed)?;
                merged.set(change);
                found
            };
            // All three texts are UTF-8, and what is merged is whole lines of them.
            let content = String::from_utf8_lossy(&found.text);
            Ok(json!({"content": content, "hunks": found.hunks, "conflicts": found.conflicts}))
        })
    }

    fn mention(request: RequestId, params: Value) -> Action {
        match codec::read::<Mention>(params) {
            Ok(mention) => Action::Ask(Asking::new(request, mention, |agent| {
                // One that goes away in between has named nothing.
                let agent = agent.unwrap_or_default().map(Agent::from);
                Ok(json!({"agent": agent}))
            })),
            Err(why) => Action::invalid(request, why),
        }
    }

    /// The person chooses something for all agents.
    fn choose(request: RequestId, method: &str, word: Option<&str>) -> Action {
        match Choice::named(method, word) {
            Ok(choice) => Action::Ask(Asking::choice(request, choice, chosen)),
            // The person typed it.
            Err(why) => Action::answer(request, chosen(Err(why.into()))),
        }
    }

    /// The person does something with what agents have written.
    fn act(request: RequestId, act: Result<ChangesAct, String>) -> Action {
        match act {
            Ok(act) => Action::Ask(Asking::new(request, act, |done| {
                Ok(codec::written(done.unwrap_or_else(ActDone::from)))
            })),
            Err(why) => Action::invalid(request, why),
        }
    }

    /// The plugin tells what views tell companions by this name.
    fn tell(&self, name: &str, params: Value) -> Result<Vec<Action>, String> {
        let tell = codec::read(json!({ name: params }))?;
        Ok(self.diffs.told_of(tell).into_iter().collect())
    }

    /// The status message, if it differs from the last one.
    fn status(&mut self) -> Option<Action> {
        let status = messages::status(&self.status, self.diffs.pending());
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
    let chosen = chosen.unwrap_or_else(Chosen::from);
    Ok(serde_json::to_value(chosen).unwrap_or_default())
}

impl ClientProfile for Plugin {
    fn capabilities(&self) -> Value {
        json!({
            "positionEncoding": self.encoding.name(),
            "experimental": {"pillion": {"version": VERSION}},
        })
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
            HUNKS => find_hunks(id, params),
            RESTORE => restore_text(id, params),
            MERGE => self.merge(id, params),
            MENTION => Self::mention(id, params),
            REVIEW => match codec::read(params) {
                Ok(Choose { choice }) => Self::choose(id, REVIEW, choice.as_deref()),
                Err(why) => Action::invalid(id, why),
            },
            SEND_NOTES => Self::choose(id, SEND_NOTES, None),
            WORKSPACE => match message::params(params) {
                Ok(workspace) => change_workspace(Some(id), workspace),
                Err(why) => Action::invalid(id, why),
            },
            CHANGES => Action::Ask(Asking::new(id, Changes, |list| {
                Ok(codec::written(list.unwrap_or_else(ChangesList::from)))
            })),
            KEEP => Self::act(id, codec::read(params).map(ChangesAct::Keep)),
            TAKE_BACK => Self::act(id, codec::read(params).map(ChangesAct::TakeBack)),
            UNDO => Self::act(
                id,
                codec::read(params).map(|Named { id }| ChangesAct::Undo(id)),
            ),
            LOOK => Self::act(
                id,
                codec::read(params).map(|Named { id }| ChangesAct::Look(id)),
            ),
            _ => Action::answer(id, Err(message::unknown_method(&method))),
        }]
    }

    fn done(&mut self, done: Done) -> Vec<Action> {
        let answer = match done {
            Done::Ruled { key, ruling } => self.diffs.ruled(key, ruling).map(Action::Send),
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
            WATCH => message::params(params).map(|Watch { files }| vec![Action::Watch(files)]),
            DID_SYNC => self.tell("synced", params),
            DID_CHANGE_DIFF => self.tell("draft", params),
            DID_CHANGE_NOTES => self.tell("notes", params),
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
    let environment = messages::environment(published);
    Action::Send(message::notification(ENVIRONMENT, environment))
}

fn find_hunks(request: RequestId, params: Value) -> Action {
    match codec::read(params) {
        Ok(FindHunks { original, content }) => work(request, move || {
            let [original, content] = [original.unwrap_or_default(), content].map(Text::new);
            Ok(json!({"hunks": hunks::between(&original, &content)}))
        }),
        Err(why) => Action::invalid(request, why),
    }
}

fn restore_text(request: RequestId, params: Value) -> Action {
    match codec::read::<RestoreText>(params) {
        Ok(it) => work(request, move || {
            let content = restore::restore(&it.proposed, &it.shown, &it.content);
            Ok(json!({ "content": content }))
        }),
        Err(why) => Action::invalid(request, why),
    }
}

/// Answers with what is worked out beside the loop.
fn work(
    request: RequestId,
    answer: impl FnOnce() -> Result<Value, String> + Send + 'static,
) -> Action {
    let answer = Work(Box::new(answer));
    Action::WorkOut { request, answer }
}

#[cfg(test)]
mod tests;
