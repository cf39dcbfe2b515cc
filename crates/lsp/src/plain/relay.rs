//! Proposals of another `pillion lsp` that our editor has opened: an editor that starts a server for each
//! project starts a second one for a proposal, which lies outside of every project, and a person may open
//! one in another window. What the editor sends about such a document goes to its owner, and what the owner
//! sends about it comes back; nothing is decided here.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gen_lsp_types::{MessageType, ShowMessageParams};
use lsp_server::{Message, Notification, Request, RequestId, Response};
use pillion_text::visible;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::link::{End, Event};
use crate::plain::viewer::Caller;
use crate::plain::wire::About;
use crate::profile::Action;
use crate::proposal_path::{self, Owner};
use crate::{message, uri};

/// What an owner sends when a proposal is decided or withdrawn, with its `uri`.
pub const DID_SETTLE: &str = "pillion/didSettleProposal";

/// How long an owner may take to be reached.
const DIAL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long it may take to answer. It waits for a disk at most, and that for a shorter time.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// More than this waits only for an owner that hangs.
const MAX_WAITING: usize = 1000;

/// The documents that are others' proposals, and the connections to their owners.
#[derive(Debug, Default)]
pub struct Relay {
    /// Whose proposals are our own.
    pid: u32,
    /// What an owner is sent about the editor: the parameters of `initialize`.
    hello: Value,
    links: BTreeMap<u32, Link>,
    last_number: u32,
    documents: HashMap<PathBuf, Document>,
    /// Of the documents: whose had the focus last.
    focused: Option<u32>,
}

#[derive(Debug)]
struct Link {
    owner: Owner,
    /// While it is being reached.
    dialing: Option<Dialing>,
    /// The editor's requests that the owner has not answered, and until when.
    waiting: HashMap<RequestId, Instant>,
}

#[derive(Debug)]
struct Dialing {
    /// What is to be sent then.
    held: Vec<Message>,
    until: Instant,
}

#[derive(Debug)]
struct Document {
    uri: String,
    link: u32,
    /// It was decided or withdrawn, or its owner is gone.
    is_settled: bool,
}

impl Relay {
    /// Nothing is relayed yet. `hello` is what owners are sent about the editor.
    pub fn new(pid: u32, hello: Value) -> Self {
        Self {
            pid,
            hello,
            ..Self::default()
        }
    }

    /// Returns true if the editor has a proposal open that is another's.
    pub fn is_in_use(&self) -> bool {
        !self.documents.is_empty()
    }

    /// The document that a message is about, if it is the proposal of another.
    pub fn document(&self, method: &str, params: &Value) -> Option<PathBuf> {
        if !method.starts_with("textDocument/") {
            return None;
        }
        let About { text_document } = <About>::deserialize(params).ok()?;
        let path = uri::to_path(&text_document.uri)?;
        let owner = proposal_path::owner(&path)?;
        (owner.pid != self.pid).then_some(path)
    }

    /// The editor sends something about such a document.
    pub fn notification(
        &mut self,
        path: PathBuf,
        method: &str,
        params: Value,
        now: Instant,
    ) -> Vec<Action> {
        let mut actions = Vec::new();
        if method == "textDocument/didOpen" {
            actions.extend(self.open(&path, &params, now));
        }
        let Some(document) = self.documents.get(&path) else {
            return actions;
        };
        let (number, is_settled) = (document.link, document.is_settled);
        self.focused = Some(number);
        if !is_settled {
            let notification = Notification {
                method: method.to_owned(),
                params,
            };
            actions.extend(self.forward(number, notification.into()));
        }
        if method == "textDocument/didClose" {
            self.documents.remove(&path);
            actions.extend(self.hang_up_unused());
        }
        actions
    }

    fn open(&mut self, path: &Path, params: &Value, now: Instant) -> Option<Action> {
        let owner = proposal_path::owner(path)?;
        let About { text_document } = <About>::deserialize(params).ok()?;
        let mut known = self.links.iter();
        let known = known.find(|(_, link)| link.owner == owner);
        let known = known.map(|(number, _)| *number);
        let dial = known.is_none().then(|| self.dial(owner, now));
        let link = known.unwrap_or(self.last_number);
        let document = Document {
            uri: text_document.uri,
            link,
            is_settled: false,
        };
        self.documents.insert(path.to_owned(), document);
        dial
    }

    fn dial(&mut self, owner: Owner, now: Instant) -> Action {
        self.last_number += 1;
        let number = self.last_number;
        let hello = Request {
            id: RequestId::from("hello".to_owned()),
            method: "initialize".to_owned(),
            params: self.hello.clone(),
        };
        let link = Link {
            owner: owner.clone(),
            dialing: Some(Dialing {
                held: vec![hello.into()],
                until: now + DIAL_TIMEOUT,
            }),
            waiting: HashMap::new(),
        };
        self.links.insert(number, link);
        Action::Dial { number, owner }
    }

    /// The editor asks something about such a document.
    pub fn request(&mut self, path: &Path, request: Request, now: Instant) -> Vec<Action> {
        let document = self.documents.get(path).filter(|it| !it.is_settled);
        let Some(number) = document.map(|document| document.link) else {
            let nothing = match request.method.as_str() {
                "textDocument/codeAction" => json!([]),
                _ => Value::Null,
            };
            return vec![Caller::own(request.id).answer(Ok(nothing))];
        };
        self.focused = Some(number);
        self.ask(number, request, now)
    }

    /// A request of the editor, if it is a command about another's proposal: the third argument names the owner.
    /// Without arguments it is about what had the focus last, unless that can be two.
    pub fn command(
        &mut self,
        request: Request,
        is_own_pending: bool,
        now: Instant,
    ) -> Result<Vec<Action>, Request> {
        if request.method != "workspace/executeCommand" {
            return Err(request);
        }
        let arguments = request.params.get("arguments").and_then(Value::as_array);
        let arguments = arguments.map(Vec::as_slice).unwrap_or_default();
        match arguments {
            [] => {
                let Some(number) = self.focused.filter(|_| self.is_any_open()) else {
                    return Err(request);
                };
                if is_own_pending {
                    let why = "proposals of two editors are open here: use the code actions";
                    return Ok(vec![Caller::own(request.id).refuse(why)]);
                }
                Ok(self.ask(number, request, now))
            }
            [_, _, pid, ..] if pid.as_u64() != Some(u64::from(self.pid)) => {
                let owner = |link: &Link| Some(u64::from(link.owner.pid)) == pid.as_u64();
                let number = self.links.iter().find(|(_, link)| owner(link));
                let number = number.map(|(number, _)| *number);
                Ok(match number {
                    Some(number) => self.ask(number, request, now),
                    None => vec![Caller::own(request.id).refuse(GONE)],
                })
            }
            _ => Err(request),
        }
    }

    fn is_any_open(&self) -> bool {
        self.documents.values().any(|document| !document.is_settled)
    }

    fn ask(&mut self, number: u32, request: Request, now: Instant) -> Vec<Action> {
        let Some(link) = self.links.get_mut(&number) else {
            return vec![Caller::own(request.id).refuse(GONE)];
        };
        if link.waiting.len() >= MAX_WAITING {
            return vec![Caller::own(request.id).refuse(SILENT)];
        }
        link.waiting
            .insert(request.id.clone(), now + ANSWER_TIMEOUT);
        self.forward(number, request.into())
    }

    fn forward(&mut self, number: u32, message: Message) -> Vec<Action> {
        let end = End::Owner(number);
        match self.links.get_mut(&number).map(|link| &mut link.dialing) {
            None => Vec::new(),
            Some(None) => vec![Action::Link { end, message }],
            Some(Some(Dialing { held, .. })) if held.len() < MAX_WAITING => {
                held.push(message);
                Vec::new()
            }
            Some(Some(_)) => self.end(number, SILENT),
        }
    }

    /// Something happened to the connection to an owner.
    pub fn event(&mut self, number: u32, event: Event) -> Vec<Action> {
        match event {
            Event::Opened(_) => self.opened(number),
            Event::Message(message) => self.message(number, message),
            Event::Closed(why) => self.end(number, &why),
        }
    }

    fn opened(&mut self, number: u32) -> Vec<Action> {
        let end = End::Owner(number);
        let Some(link) = self.links.get_mut(&number) else {
            return vec![Action::HangUp(end)];
        };
        let dialing = link.dialing.take().into_iter();
        let held = dialing.flat_map(|dialing| dialing.held);
        held.map(|message| Action::Link { end, message }).collect()
    }

    fn message(&mut self, number: u32, message: Message) -> Vec<Action> {
        let Some(link) = self.links.get_mut(&number) else {
            return Vec::new();
        };
        match message {
            Message::Response(Response {
                id,
                response_result,
            }) => {
                let waited = link.waiting.remove(&id);
                let answer = waited.map(|_| Caller::own(id).answer(response_result));
                answer.into_iter().chain(self.hang_up_unused()).collect()
            }
            Message::Notification(Notification { method, params }) => {
                self.owner_message(number, &method, params)
            }
            // No owner asks anything of another's editor.
            Message::Request(request) => {
                let unknown = Err(message::unknown_method(&request.method));
                let message = message::answer(request.id, unknown);
                let end = End::Owner(number);
                vec![Action::Link { end, message }]
            }
        }
    }

    /// An owner sends something; only about its own proposals that are open here.
    fn owner_message(&mut self, number: u32, method: &str, params: Value) -> Vec<Action> {
        let uri = params.get("uri").and_then(Value::as_str).map(str::to_owned);
        let mut documents = self.documents.values_mut();
        let is_about = |document: &&mut Document| {
            document.link == number && Some(&document.uri) == uri.as_ref()
        };
        let document = documents.find(is_about);
        match (method, document) {
            ("textDocument/publishDiagnostics", Some(_)) => {
                vec![Action::Send(message::notification(method, params))]
            }
            (DID_SETTLE, Some(document)) => {
                document.is_settled = true;
                self.hang_up_unused()
            }
            ("window/showMessage", _) => match message::params::<ShowMessageParams>(params) {
                Ok(shown) => vec![Action::Send(message::show(shown.kind, shown.message))],
                Err(_) => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// When [`Relay::elapse`] wants to be called.
    pub fn due(&self) -> Option<Instant> {
        let links = self.links.values();
        let dues = links.flat_map(|link| link.waiting.values().copied().chain(link.dial_due()));
        dues.min()
    }

    /// Time has passed.
    pub fn elapse(&mut self, now: Instant) -> Vec<Action> {
        let is_late = |link: &Link| link.dial_due().is_some_and(|due| due <= now);
        let late = self.links.iter().filter(|(_, link)| is_late(link));
        let late: Vec<u32> = late.map(|(number, _)| *number).collect();
        let mut actions: Vec<_> = late
            .into_iter()
            .flat_map(|number| self.end(number, SILENT))
            .collect();
        for link in self.links.values_mut() {
            let late = link.waiting.extract_if(|_, until| *until <= now);
            actions.extend(late.map(|(id, _)| Caller::own(id).refuse(SILENT)));
        }
        actions
    }

    /// Connections that no document needs any more.
    fn hang_up_unused(&mut self) -> Vec<Action> {
        let used: Vec<u32> = self
            .documents
            .values()
            .filter(|document| !document.is_settled)
            .map(|document| document.link)
            .collect();
        let is_unused =
            |number: &u32, link: &mut Link| !used.contains(number) && link.waiting.is_empty();
        let unused = self.links.extract_if(.., is_unused);
        unused
            .map(|(number, _)| Action::HangUp(End::Owner(number)))
            .collect()
    }

    /// An owner is gone, or cannot be reached: the person gets a message if a proposal waits for them.
    fn end(&mut self, number: u32, why: &str) -> Vec<Action> {
        let Some(link) = self.links.remove(&number) else {
            return Vec::new();
        };
        tracing::info!(owner = link.owner.pid, why, "no longer relayed");
        let mut actions = vec![Action::HangUp(End::Owner(number))];
        let waiting = link.waiting.into_keys();
        actions.extend(waiting.map(|id| Caller::own(id).refuse(GONE)));
        let mut names = Vec::new();
        for (path, document) in &mut self.documents {
            if document.link != number || std::mem::replace(&mut document.is_settled, true) {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            names.push(visible::one_line(&name));
            let clear = message::diagnostics(&document.uri, Vec::new());
            actions.push(Action::Send(clear));
        }
        if names.is_empty() {
            return actions;
        }
        names.sort();
        let names = names.join(", ");
        let text = match link.dialing {
            Some(_) => format!("{names} cannot be decided here: {GONE} ({why})"),
            None => format!("{names} can no longer be decided: {GONE}"),
        };
        actions.push(Action::Send(message::show(MessageType::Warning, text)));
        actions
    }
}

impl Link {
    /// Until when it may be dialed, while it is.
    fn dial_due(&self) -> Option<Instant> {
        self.dialing.as_ref().map(|dialing| dialing.until)
    }
}

const GONE: &str = "the editor that the agent proposed it to is gone";

const SILENT: &str = "the editor that the agent proposed it to does not respond";

#[cfg(all(test, unix))]
mod tests;
