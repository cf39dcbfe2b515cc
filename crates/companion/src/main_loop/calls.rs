//! The loop's work for agents that call a tool, in either protocol.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use pillion_changes::recorder::{Call, Coverage};
use pillion_protocol::held::HeldCall;
use pillion_protocol::runs_code::Runner;
use pillion_protocol::{Dialect, FileDiagnostics, ReviewMode};
use pillion_view::Reply;
use pillion_view::commands::{Guard, Guarded};
use serde_json::{Map, Value};

use super::MainLoop;
use crate::agents::hooks::{self, NO_DECISION};
use crate::agents::{self, Message, Open, Params, ToolCall};
use crate::diffs::{Action, Answer, Proposal};
use crate::event::{Caller, Event, GuardWay};
use crate::outbox::{Mention, Tab};
use crate::request_id::RequestId;
use crate::sessions::SessionId;
use crate::stand_in::StandIn;
use crate::subagents::Question;
use crate::target;

impl MainLoop {
    pub(super) fn parse_call(
        &self,
        session: &SessionId,
        tool: &str,
        arguments: Map<String, Value>,
        is_models: bool,
    ) -> Result<ToolCall, String> {
        let agent = self.sessions.agent(session);
        let agent = agent.ok_or("the session has ended")?;
        agents::of(agent).parse(agent, tool, arguments, is_models)
    }

    fn proposal(
        &self,
        session: &SessionId,
        request: RequestId,
        open: Open,
    ) -> Result<Proposal, String> {
        let agent = self.sessions.agent(session);
        let agent = agent.ok_or("the session has ended")?;
        target::validate(&open.path)?;
        let tab = open.tab.map(|name| Tab {
            name,
            request,
            drops_last_line_feed: self.sessions.does_drop_last_line_feed(session),
            question: None,
        });
        Ok(Proposal {
            session: Arc::clone(session),
            agent,
            agent_number: self.sessions.number(session),
            file_path: open.path,
            tab,
            set: open.set,
            deletes: open.deletes,
            on_behalf_of: open.on_behalf_of,
            stand_in: open.stand_in.map(Arc::new),
            proposed: Arc::new(open.content),
        })
    }

    /// Returns what a hook holds with this call until the person has decided.
    fn held(
        &self,
        session: &SessionId,
        request: RequestId,
        held: HeldCall,
    ) -> Result<Proposal, String> {
        let name = format!("{} {request:?}", held.path());
        let open = Open {
            path: held.path().to_owned(),
            content: held.proposed().to_owned(),
            tab: Some(name),
            set: None,
            deletes: false,
            on_behalf_of: None,
            stand_in: Some(StandIn::Held(held)),
        };
        let mut proposal = self.proposal(session, request, open)?;
        if let Some(tab) = &mut proposal.tab {
            tab.drops_last_line_feed = false;
        }
        Ok(proposal)
    }

    pub(super) fn called(
        &mut self,
        session: &SessionId,
        request: RequestId,
        call: Result<ToolCall, String>,
        caller: Caller,
        now: Instant,
    ) {
        match call {
            Ok(call) => {
                if let Some((request, call, caller)) = self.record(session, request, call, caller) {
                    self.serve(session, request, call, caller, now);
                }
            }
            Err(reason) => {
                let answer = Err(reason);
                self.perform(vec![Action::Answer { caller, answer }]);
            }
        }
    }

    /// Has kept what the call tells of changes. A call that is to wait for that comes back as an event.
    fn record(
        &mut self,
        session: &SessionId,
        request: RequestId,
        call: ToolCall,
        caller: Caller,
    ) -> Option<(RequestId, ToolCall, Caller)> {
        let agent = self.sessions.agent(session).unwrap_or(Dialect::Script);
        match call {
            ToolCall::BeforeTurn(hook) => {
                let prompt = hook.prompt.clone();
                let call = ToolCall::BeforeTurn(hook);
                let resume = resume(session, request, call, caller);
                self.recording.begin(session, agent.name(), prompt, resume);
                return None;
            }
            ToolCall::BeforeWrite(hook) => {
                self.guards.called(session, &hook.id);
                let running = running(&hook);
                let call = ToolCall::BeforeWrite(hook);
                let resume = resume(session, request, call, caller);
                self.recording
                    .before(session, agent.name(), running, resume);
                return None;
            }
            ToolCall::AfterWrite(ref hook) => {
                self.session_is_hooked(session);
                let accepted = self.turns.accepted_texts();
                self.recording.after(session, hook.id.clone(), accepted);
            }
            ToolCall::AfterTurn(ref hook) if hook.is_subagent() => {
                let subagent = hook.subagent.clone().unwrap_or_default();
                self.recording.subagent_ended(session, subagent);
            }
            ToolCall::AfterTurn(_) => {
                self.session_is_hooked(session);
                self.recording.end(session);
            }
            _ => {}
        }
        Some((request, call, caller))
    }

    /// Serves a call of which everything before it is kept.
    pub(super) fn serve(
        &mut self,
        session: &SessionId,
        request: RequestId,
        call: ToolCall,
        caller: Caller,
        now: Instant,
    ) {
        let actions = match call {
            ToolCall::Open(open) => match self.proposal(session, request, open) {
                Ok(proposal) => {
                    // One of the two is ever answered.
                    for asked in self.diffs.asked(&proposal) {
                        let actions = self.diffs.cancel(session, &asked);
                        self.perform(actions);
                    }
                    self.open(session, proposal, caller, now)
                }
                Err(reason) => {
                    let answer = Err(reason);
                    vec![Action::Answer { caller, answer }]
                }
            },
            ToolCall::Close(name) => self.close(session, &name, caller, now),
            ToolCall::CloseAll => return self.close_all(session, caller, now),
            ToolCall::Diagnostics(uri, is_programs) => {
                if let Some(path) = uri.as_deref().filter(|_| is_programs) {
                    self.about_to_write(session, path, now);
                }
                return self.diagnostics(uri, caller);
            }
            ToolCall::BeforeWrite(call) => {
                let coverage = Coverage::NotKept;
                return self.before_write(session, request, call, caller, coverage, now);
            }
            // It waits for the person's decision. A subagent proposes only once it is answered.
            ToolCall::Question(call) if call.is_subagent() => {
                if let Some(agent) = self.sessions.agent(session) {
                    let call_of = (Arc::clone(session), request, caller);
                    self.checks.read_question(agent, asked(call), call_of);
                }
                return;
            }
            ToolCall::Question(call) => {
                if let Some(path) = call.path {
                    self.questions.ask(session, request, path, caller);
                }
                return;
            }
            ToolCall::Selection => {
                let answer = Ok(Answer::Text(self.selection(session)));
                vec![Action::Answer { caller, answer }]
            }
            ToolCall::Told => {
                let answer = Ok(Answer::Text(String::new()));
                vec![Action::Answer { caller, answer }]
            }
            ToolCall::AfterWrite(_) => {
                let notes = self.feedback.take(session);
                let answer = Ok(told(hooks::POST_TOOL_USE, notes));
                vec![Action::Answer { caller, answer }]
            }
            ToolCall::BeforeTurn(call) => {
                self.note_hook(session, &call);
                self.turns.begins_and_ends_are_told(session, now);
                let notes = self.feedback.take_notes(session).map(|notes| notes.text());
                let answer = Ok(told(hooks::USER_PROMPT_SUBMIT, notes));
                vec![Action::Answer { caller, answer }]
            }
            ToolCall::AfterTurn(call) => {
                self.turns.ends(session, call.is_subagent(), now);
                let answer = Ok(Answer::Text(NO_DECISION.to_owned()));
                vec![Action::Answer { caller, answer }]
            }
        };
        self.perform(actions);
    }

    /// Serves the hook before a call, of which the text before is known so.
    pub(super) fn before_write(
        &mut self,
        session: &SessionId,
        request: RequestId,
        call: hooks::Call,
        caller: Caller,
        coverage: Coverage,
        now: Instant,
    ) {
        self.note_hook(session, &call);
        self.turns.works(session, call.is_subagent(), now);
        if let Some(path) = &call.path {
            drop(self.questions.end(session, path));
        }
        let path = call.path.as_deref().map(Path::new);
        let runs_code = path.and_then(Runner::of).is_some();
        let before = match self.asking.mode(session) {
            _ if call.is_command => match self.asking.shows_commands(session) {
                true => Before::Show,
                false => Before::Leave,
            },
            Some(ReviewMode::Always) => Before::Show,
            Some(ReviewMode::After) => match coverage {
                Coverage::Elsewhere => Before::Leave,
                _ if runs_code => Before::Leave,
                Coverage::Kept => Before::Let,
                // What cannot be taken back is shown first.
                Coverage::NotKept => Before::Show,
            },
            Some(ReviewMode::Asked) | None => Before::Leave,
        };
        let answer = match (before, call.held) {
            (Before::Show, Some(held)) => {
                let hook = HeldHook {
                    call: call.id,
                    request,
                    held,
                    caller,
                };
                let hook = match call.is_guarded {
                    true => {
                        let id = hook.call.clone();
                        self.guards.guarded(session, &id, hook, now)
                    }
                    false => Some(hook),
                };
                if let Some(hook) = hook {
                    self.hold(session, hook, now);
                }
                return;
            }
            (Before::Show, None) => Ok(Answer::Text(hooks::ask().to_string())),
            (Before::Let, _) => Ok(Answer::Text(hooks::let_write().to_string())),
            (Before::Leave, _) => Ok(Answer::Text(NO_DECISION.to_owned())),
        };
        self.answer_hook(session, &call.id, caller, answer);
    }

    fn answer_hook(
        &mut self,
        session: &SessionId,
        call: &str,
        caller: Caller,
        answer: Result<Answer, String>,
    ) {
        self.perform(vec![Action::Answer { caller, answer }]);
        for way in self.guards.answered(session, call) {
            let _ = way.send(Guarded::Answered);
        }
    }

    /// Shows a call whose hook waits for the person.
    pub(super) fn hold(&mut self, session: &SessionId, hook: HeldHook, now: Instant) {
        let HeldHook {
            call,
            request,
            held,
            caller,
        } = hook;
        // An agent that does not wait any more has cancelled it.
        if caller.is_closed() {
            return self.guards.unanswered(session, &call);
        }
        match self.held(session, request.clone(), held) {
            Ok(proposal) => {
                let name = proposal.name().to_owned();
                self.guards.held(session, call, request, name);
                let actions = self.open(session, proposal, caller, now);
                self.perform(actions);
            }
            Err(reason) => self.answer_hook(session, &call, caller, Err(reason)),
        }
    }

    /// A subagent asks whether it may make a change, which is shown as its proposal. Without a question it proposes itself.
    pub(super) fn subagent_asks(
        &mut self,
        session: &SessionId,
        request: RequestId,
        question: Option<Question>,
        caller: Caller,
        now: Instant,
    ) {
        // An agent that does not wait any more has cancelled it.
        let Some(question) = question.filter(|_| !caller.is_closed()) else {
            return;
        };
        let open = Open {
            path: question.path().to_owned(),
            content: question.proposed(),
            tab: Some(format!("{} {request:?}", question.path())),
            set: None,
            deletes: false,
            on_behalf_of: None,
            stand_in: None,
        };
        // With an error it is left to the agent.
        let Ok(mut proposal) = self.proposal(session, request, open) else {
            return;
        };
        if let Some(tab) = &mut proposal.tab {
            tab.drops_last_line_feed = false;
            tab.question = Some(Arc::new(question));
        }
        let actions = self.open(session, proposal, caller, now);
        self.perform(actions);
    }

    /// A process of ours stands beside the hook of this call.
    pub(super) fn guard(&mut self, guard: Guard, way: GuardWay, now: Instant) {
        let Guard { processes, call } = guard;
        let Some((session, _)) = self.sessions.of_process(&processes) else {
            let _ = way.send(Guarded::Elsewhere);
            return;
        };
        if let Some(way) = self.guards.wait(&session, call.clone(), way, now) {
            self.release(&session, way);
        }
        for hook in self.guards.take(&session, &call) {
            self.hold(&session, hook, now);
        }
    }

    /// Lets the calls go on that were decided, once their hooks have the answers.
    pub(super) fn release_guards(&mut self) {
        let diffs = &self.diffs;
        let decided = self
            .guards
            .decided(|session, proposal| diffs.has(session, proposal));
        for (session, way) in decided {
            self.release(&session, way);
        }
    }

    fn release(&self, session: &SessionId, way: GuardWay) {
        let Some(outbox) = self.sessions.outbox(session) else {
            return;
        };
        tokio::spawn(async move {
            outbox.delivered().await;
            let _ = way.send(Guarded::Answered);
        });
    }

    fn open(
        &mut self,
        session: &SessionId,
        proposal: Proposal,
        caller: Caller,
        now: Instant,
    ) -> Vec<Action<Caller>> {
        // Told now, the outcome before would settle this diff.
        let outbox = self.sessions.outbox(session);
        let former = outbox.and_then(|outbox| outbox.supersede(proposal.name()));
        if let Some(former) = &former {
            self.written.withdraw(session, &former.file_path);
        }
        // What was accepted as proposed needs no word: here is the newer proposal.
        let edited = former.filter(|former| former.is_edited);
        self.lose(proposal.agent, edited);
        if proposal.agent.repeats_selection() && self.feedback.proposes(session) {
            self.push_context(session, self.context.current());
        }
        self.asking.proposed(session, &proposal.file_path);
        let is_subagents = self.asking.is_of_subagent(session, &proposal.file_path);
        self.turns.works(session, is_subagents, now);
        self.diffs.open(proposal, caller, now)
    }

    fn close(
        &mut self,
        session: &SessionId,
        name: &str,
        caller: Caller,
        now: Instant,
    ) -> Vec<Action<Caller>> {
        let outbox = self.sessions.outbox(session);
        let undelivered = outbox.and_then(|outbox| outbox.withdraw(name));
        if let Some(undelivered) = &undelivered {
            self.written.withdraw(session, &undelivered.file_path);
        }
        let agent = self.sessions.agent(session);
        if let Some(agent) = agent.filter(|agent| !agents::of(*agent).closing_returns_text()) {
            let edited = undelivered.clone().filter(|delivery| delivery.is_edited);
            self.lose(agent, edited);
        }
        let undelivered = undelivered.map(|delivery| delivery.outcome);
        let waits = agent.is_some_and(|agent| agents::of(agent).waits_for_outcomes());
        // Nobody looks at the answer to the other call any more, but it is held open.
        let released = self.diffs.release(session, name, waits);
        let diffs = &mut self.diffs;
        let mut actions = diffs.close(session, name, undelivered, caller, now);
        actions.extend(released);
        actions
    }

    /// Returns what the agent was told last of what the person sees.
    fn selection(&mut self, session: &SessionId) -> String {
        let agent = self.sessions.agent(session).unwrap_or(Dialect::Script);
        let context = self.feedback.with_context(session, self.context.current());
        match agents::of(agent).context(context, agent) {
            Message::Notification(_, Params::Value(params)) => params.to_string(),
            _ => String::new(),
        }
    }

    /// Closes the views of this session: "all" means no others. With that a turn begins, and the
    /// prompt has used up the selection: what the person sees goes with the next one, too. Subagents wait
    /// for their decisions meanwhile, and their views are closed one by one.
    fn close_all(&mut self, session: &SessionId, caller: Caller, now: Instant) {
        self.turns.begins(session, now);
        self.unhooked_begins(session);
        let agent = self.sessions.agent(session);
        if agent.is_some_and(Dialect::announces_writes) && self.asking.turn_begins(session) {
            self.report_status();
        }
        let asking = &self.asking;
        // The path of a question may not be known: too many are, or it is too long.
        let is_over = |proposal: &Proposal| {
            !proposal.is_question() && !asking.is_of_subagent(session, &proposal.file_path)
        };
        let names = self.diffs.names(session, is_over);
        for name in &names {
            let (ignored, _) = tokio::sync::oneshot::channel();
            let actions = self.close(session, name, ignored, now);
            self.perform(actions);
        }
        let answer = Ok(Answer::ClosedAll(names.len()));
        self.perform(vec![Action::Answer { caller, answer }]);
        if self.feedback.turn_begins(session) {
            self.push_context(session, self.context.current());
        } else {
            self.repeat_context(session);
        }
    }

    /// Tells an agent again which file the person sees, if there is one.
    pub(super) fn repeat_context(&mut self, session: &SessionId) {
        let current = self.context.current();
        if current.active_file().is_some() {
            self.push_context(session, current);
        }
    }

    fn note_hook(&mut self, session: &SessionId, call: &hooks::Call) {
        // The recorder hears of the turn from the hook.
        self.unhooked.is_hooked(session);
        if self.asking.hooked(session, call) {
            self.report_status();
        }
    }

    fn about_to_write(&mut self, session: &SessionId, uri: &str, now: Instant) {
        let agent = self.sessions.agent(session);
        let announces = agent.is_some_and(Dialect::announces_writes);
        let path = uri.strip_prefix("file://").filter(|_| announces);
        if let Some(path) = path {
            let is_subagents = self.asking.is_of_subagent(session, path);
            self.turns.works(session, is_subagents, now);
        }
        if path.is_some_and(|path| self.asking.writes(session, path)) {
            self.report_status();
        }
    }

    fn diagnostics(&mut self, uri: Option<String>, caller: Caller) {
        let asked = uri.clone();
        let found = Reply::new(move |found: Result<Vec<FileDiagnostics>, String>| {
            let mut found = found.unwrap_or_default();
            // The agent passes over what it has not asked about.
            found.retain(|file| asked.as_ref().is_none_or(|asked| *asked == file.uri));
            let text = serde_json::to_string(&found).unwrap_or_else(|_| "[]".to_owned());
            let _ = caller.send(Ok(Answer::Text(text)));
        });
        self.views.ask_diagnostics(uri.as_deref(), found);
    }

    /// Mentions a file to the agent that was last active, of those whose prompt can name one.
    pub(super) fn mention(&self, path: &Path, lines: Option<(u32, u32)>) -> Option<Dialect> {
        let path = path.to_str()?.to_owned();
        let (session, agent) = self.sessions.latest(Dialect::knows_mentions)?;
        let outbox = self.sessions.outbox(&session)?;
        outbox.push_mention(Mention { path, lines });
        Some(agent)
    }
}

/// A call whose hook is to wait for the person.
#[derive(Debug)]
pub(super) struct HeldHook {
    /// The agent's name for it.
    call: String,
    request: RequestId,
    held: HeldCall,
    caller: Caller,
}

/// The decision about a call before it runs.
enum Before {
    /// The person sees it first.
    Show,
    /// It runs without a question.
    Let,
    /// It is as the agent itself has it.
    Leave,
}

/// The event with which a call goes on.
fn resume(
    session: &SessionId,
    request: RequestId,
    call: ToolCall,
    caller: Caller,
) -> impl FnOnce(Coverage) -> Event + Send + 'static {
    let session = Arc::clone(session);
    move |coverage| Event::Recorded {
        session,
        request,
        call,
        caller,
        coverage,
    }
}

/// A question, as the rules of hooks know it.
fn asked(hook: hooks::Call) -> pillion_hooks::Call {
    pillion_hooks::Call {
        event: pillion_hooks::Event::Question,
        session: String::new(),
        folder: Some(PathBuf::from(hook.folder)).filter(|folder| folder.is_absolute()),
        mode: hook.mode,
        tool: hook.tool,
        input: hook.input,
        id: hook.id,
        subagent: hook.subagent,
        prompt: String::new(),
        record: None,
    }
}

/// A call of a tool, as the recorder knows it.
fn running(hook: &hooks::Call) -> Call {
    let path = hook.path.as_deref().filter(|_| !hook.is_command);
    Call {
        id: hook.id.clone(),
        tool: hook.tool.clone(),
        path: path.map(PathBuf::from),
        subagent: hook.subagent.clone(),
    }
}

/// The answer of a hook at this event that tells the model this, if it is anything.
fn told(event: &str, text: Option<String>) -> Answer {
    let answer = text.map(|text| hooks::add_context(event, &text).to_string());
    Answer::Text(answer.unwrap_or_else(|| NO_DECISION.to_owned()))
}
