//! One MCP session over HTTP, as an agent has it, and what it hears on its event stream.

use std::mem;
use std::time::{Duration, Instant};

use pillion_http::header::ACCEPT;
use pillion_http::{Error, Event, Events, Method};
use pillion_protocol::diff::{CLOSE_DIFF, OPEN_DIFF};
use pillion_protocol::json;
use serde_json::{Value, json};
use tokio::time::timeout_at;

use crate::agent::{Agent, initialized};
use crate::message::{NEWEST_VERSION, initialize_params, is_outcome, notification, request};
use crate::observation::{Record, once};
use crate::probe::{Answer, NoAnswer, Probe, SESSION, VERSION};
use crate::reply::ToolReply;
use crate::rule::{Otherwise, Problem};
use crate::test_context::TestContext;

/// The number of messages that one session takes in, of `MAX_ANSWER` bytes in all. One that sends more is not
/// listened to any longer.
const MAX_MESSAGES: usize = 10_000;

/// A session. What it leaves open is closed after the check, whatever happens.
#[derive(Debug)]
pub(super) struct Session<'a> {
    pub(super) test: &'a TestContext,
    record: Record,
    last_id: u64,
    /// The time limit for an answer.
    pub(super) limit: Duration,
    /// None before it is opened, and once it has ended.
    stream: Option<Events>,
    messages: Vec<(Instant, Value)>,
    /// The number of events that are no JSON-RPC messages, or have an id.
    odd_events: usize,
    /// The number of times that anything came.
    pub(super) signs: usize,
    end: Option<&'static str>,
}

/// A handshake, with the token or without.
pub(super) fn initialize(probe: Probe) -> Probe {
    probe.body(request(0, "initialize", initialize_params(NEWEST_VERSION)))
}

impl TestContext {
    /// A session with its event stream.
    pub(super) async fn session(&self) -> Result<Session<'_>, Problem> {
        let mut session = self.deaf_session().await?;
        session.needs_stream().await?;
        Ok(session)
    }

    /// A session without an event stream.
    pub(super) async fn deaf_session(&self) -> Result<Session<'_>, Problem> {
        self.has_sessions().await?;
        let opened = Session::open(self).await;
        opened.or_blocked(self.rows().two, "no second session can be opened")
    }

    /// Checks that sessions can be opened at all, which is tried once. None is left open.
    pub(super) async fn has_sessions(&self) -> Result<(), Problem> {
        let first = async {
            let opened = Session::open(self).await;
            let opened = opened.or_blocked(self.rows().session, "there is no session")?;
            opened.leave().await;
            Ok(())
        };
        once(&self.observations.handshake, first).await.copied()
    }

    /// Notes the session that an answer may have opened against all expectation.
    pub(super) fn opened_by(&self, answer: &Answer) {
        let mut left = self.observations.left.borrow_mut();
        left.push(Record::of(answer));
    }

    /// Closes every view and session that was left open. False when the companion did not answer: a
    /// view may be open still.
    pub(super) async fn close_sessions(&self) -> bool {
        let mut is_clean = true;
        for record in self.observations.left.take() {
            is_clean &= record.end(self).await;
        }
        is_clean
    }
}

impl Record {
    /// Of the session that an answer opens.
    fn of(answer: &Answer) -> Self {
        Self {
            id: answer.values(SESSION).first().map(ToString::to_string),
            version: NEWEST_VERSION.to_owned(),
            views: Vec::new(),
        }
    }

    fn dress(&self, probe: Probe) -> Probe {
        let probe = probe.session(self.id.as_deref());
        probe.header(VERSION, &self.version)
    }

    /// Closes its views and ends it, as far as the companion lets itself be talked to. False when it
    /// did not answer about a view.
    async fn end(&self, test: &TestContext) -> bool {
        let mut is_clean = true;
        for (_, closing) in &self.views {
            let body = request("clean-up", "tools/call", closing.clone());
            let close = self.dress(test.probe(Method::POST)).body(body);
            is_clean &= test.send(close).await.is_ok();
        }
        if self.id.is_some() {
            let _ = test.send(self.dress(test.probe(Method::DELETE))).await;
        }
        is_clean
    }
}

impl<'a> Session<'a> {
    /// Shakes hands; without an event stream as yet.
    pub(super) async fn open(test: &'a TestContext) -> Result<Self, NoAnswer> {
        let answer = test.send(initialize(test.probe(Method::POST))).await?;
        let mut session = Self {
            test,
            record: Record::of(&answer),
            last_id: 0,
            limit: test.timeouts.answer,
            stream: None,
            messages: Vec::new(),
            odd_events: 0,
            signs: 0,
            end: None,
        };
        let reply = initialized(answer.reply(&json!(0), session.limit).await?)?;
        if let Some(version) = reply["result"]["protocolVersion"].as_str() {
            session.record.version = version.to_owned();
        }
        let initialized = session.probe(Method::POST);
        let initialized = initialized.body(notification("notifications/initialized"));
        test.send(initialized).await?;
        Ok(session)
    }

    /// Its id, if the companion gave it one.
    pub(super) fn id(&self) -> Option<&str> {
        self.record.id.as_deref()
    }

    /// A request of this session.
    pub(super) fn probe(&self, method: Method) -> Probe {
        self.dress(self.test.probe(method))
    }

    /// A request with this session's headers.
    pub(super) fn dress(&self, probe: Probe) -> Probe {
        self.record.dress(probe)
    }

    /// Opens the event stream.
    pub(super) async fn open_stream(&mut self) -> Result<(), NoAnswer> {
        let get = self.probe(Method::GET).header(ACCEPT, "text/event-stream");
        let answer = self.test.send(get).await?;
        if !answer.status.is_success() {
            return NoAnswer::because(format!("GET: {}", answer.shown()));
        }
        self.stream = Some(answer.into_events());
        Ok(())
    }

    /// The same for rules that need it.
    pub(super) async fn needs_stream(&mut self) -> Result<(), Problem> {
        let opened = self.open_stream().await;
        opened.or_blocked(self.test.rows().stream, "there is no event stream")
    }

    /// Proposes a text; the view is closed when the check ends, whatever happens.
    pub(super) async fn open_diff(
        &mut self,
        path: &str,
        text: &str,
    ) -> Result<ToolReply, NoAnswer> {
        let arguments = json!({"filePath": path, "suppressNotification": true});
        self.opens(path, json!({"name": CLOSE_DIFF, "arguments": arguments}));
        let arguments = json!({"filePath": path, "newContent": text});
        self.call(OPEN_DIFF, arguments).await
    }

    pub(super) async fn close_diff(
        &mut self,
        path: &str,
        suppress: bool,
    ) -> Result<ToolReply, NoAnswer> {
        let mut arguments = json!({"filePath": path});
        if suppress {
            arguments["suppressNotification"] = true.into();
        }
        let reply = self.call(CLOSE_DIFF, arguments).await?;
        if !reply.is_error() {
            self.closed(path);
        }
        Ok(reply)
    }

    /// Notes the call that closes a view, whatever happens.
    pub(super) fn opens(&mut self, view: &str, closing: Value) {
        self.record.views.push((view.to_owned(), closing));
    }

    /// The view is closed.
    pub(super) fn closed(&mut self, view: &str) {
        self.record.views.retain(|(open, _)| open != view);
    }

    fn take_in(&mut self, events: Vec<Event>) {
        self.signs += 1;
        let now = Instant::now();
        for event in events {
            let message = json::value(event.data.as_bytes()).ok();
            let message = message.filter(|message| message["jsonrpc"] == "2.0");
            let is_odd = message.is_none() || event.has_id;
            self.odd_events += usize::from(is_odd);
            let mut heard = self.test.observations.events.borrow_mut();
            heard.count += 1;
            if is_odd {
                heard.odd.get_or_insert(event);
            }
            self.messages.extend(message.map(|message| (now, message)));
        }
    }

    /// The outcomes reported so far.
    pub(super) fn outcomes(&self) -> Vec<Value> {
        self.heard().filter(|it| is_outcome(it)).cloned().collect()
    }

    /// Is gone without a word: nothing is closed, and the session is not ended.
    pub(super) fn cut(mut self) {
        self.record = Record::default();
    }

    /// Closes the stream and ends the session.
    pub(super) async fn leave(mut self) {
        let (test, record) = (self.test, mem::take(&mut self.record));
        drop(self);
        record.end(test).await;
    }
}

impl Agent for Session<'_> {
    fn messages(&self) -> &[(Instant, Value)] {
        &self.messages
    }

    fn end(&self) -> Option<&str> {
        self.end
    }

    fn new_id(&mut self) -> Value {
        self.last_id += 1;
        self.last_id.into()
    }

    async fn ask_with_id(
        &mut self,
        id: &Value,
        method: &str,
        params: Value,
    ) -> Result<Value, NoAnswer> {
        let body = request(id.clone(), method, params);
        let probe = self.probe(Method::POST).body(body);
        let answer = self.test.send_within(self.limit, probe).await?;
        answer.reply(id, self.limit).await
    }

    async fn hear(&mut self, until: Instant) -> bool {
        let Some(stream) = &mut self.stream else {
            return false;
        };
        let end = match timeout_at(until.into(), stream.next()).await {
            Err(_) => return false,
            Ok(Ok(Some(new))) => {
                self.take_in(new);
                let count = self.messages.len() + self.odd_events;
                (count >= MAX_MESSAGES).then_some("it was closed because too many messages came")
            }
            Ok(Err(Error::TooLong(_))) => Some("it was closed because too many bytes came"),
            Ok(Ok(None) | Err(_)) => Some("it ended"),
        };
        if end.is_some() {
            (self.end, self.stream) = (end, None);
        }
        true
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let mut left = self.test.observations.left.borrow_mut();
        left.push(mem::take(&mut self.record));
    }
}
