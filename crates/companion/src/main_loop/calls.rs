//! The loop's work for agents that call a tool, in either protocol. What their hooks ask before a call is in `hooks`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use pillion_changes::recorder::Coverage;
use pillion_protocol::{FileDiagnostics, ProposedFile};
use pillion_view::Reply;
use pillion_view::ask::{self, WorkStep};
use serde_json::{Map, Value};

use super::{MainLoop, UPKEEP_INTERVAL};
use crate::agent::{AskedBeside, Asking, Signal};
use crate::agents::hooks::{self, NO_DECISION};
use crate::agents::{self, Message, Params, ToolCall};
use crate::diffs::{Action, Answer};
use crate::event::{Caller, Event};
use crate::ids::RequestId;
use crate::outbox::Tab;
use crate::proposal::Proposal;
use crate::sessions::SessionId;
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
        agents::of(agent).parse(tool, arguments, is_models)
    }

    pub(super) fn proposal(
        &self,
        session: &SessionId,
        request: RequestId,
        open: ProposedFile,
    ) -> Result<Proposal, String> {
        let agent = self.sessions.agent(session);
        let agent = agent.zip(self.sessions.number(session));
        let (agent, number) = agent.ok_or("the session has ended")?;
        target::validate(&open.path)?;
        let tab = open.tab.map(|name| Tab {
            name,
            request,
            drops_last_line_feed: self.sessions.does_drop_last_line_feed(session),
            question: None,
        });
        let running = self.agents.get(session).map(|it| &it.calls);
        let tool = running.and_then(|it| it.tool_on(Path::new(&open.path)));
        let session = Arc::clone(session);
        Ok(Proposal {
            number,
            tab,
            tool,
            ..Proposal::new(session, agent.into(), open.path, open.content)
        })
    }

    pub(super) fn called(
        &mut self,
        session: &SessionId,
        request: RequestId,
        call: Result<ToolCall, String>,
        caller: Caller,
        now: Instant,
    ) {
        let call = match call {
            Ok(call) => call,
            Err(reason) => return answer(caller, Err(reason)),
        };
        if goes_on(&call)
            && let Some(agent) = self.sessions.agent(session)
        {
            self.goes_on(agent);
        }
        self.signal(session, Signal::Calls(&call), now);
        let Some((agent, step)) = self.sessions.agent(session).zip(step_of(&call)) else {
            return self.serve(session, request, call, caller, Coverage::NotKept, now);
        };
        let whole = match &call {
            ToolCall::BeforeWrite(hook) if hook.input.get("content").is_some() => {
                Some(asked(hook.clone()))
            }
            _ => None,
        };
        let session_of_call = Arc::clone(session);
        let resume = move |coverage| {
            Event::Asked(Self::task("recorded call", move |it, now| {
                // An agent that does not wait any more has cancelled it, and is told nothing.
                if !caller.is_closed() || matches!(call, ToolCall::BeforeWrite(_)) {
                    it.serve(&session_of_call, request, call, caller, coverage, now);
                }
            }))
        };
        self.take_step(session, agent, step, whole, resume, now);
    }

    /// Serves a call of which everything before it is kept.
    pub(super) fn serve(
        &mut self,
        session: &SessionId,
        request: RequestId,
        call: ToolCall,
        caller: Caller,
        coverage: Coverage,
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
                Err(reason) => return answer(caller, Err(reason)),
            },
            ToolCall::Close(name) => {
                self.answered_elsewhere(session, &name, now);
                self.close(session, &name, caller, now)
            }
            ToolCall::CloseAll => return self.close_all(session, caller, now),
            ToolCall::Diagnostics(uri, _) => return self.diagnostics(uri, caller),
            ToolCall::BeforeWrite(call) => {
                let asking = Asking {
                    call,
                    request,
                    caller,
                    coverage,
                };
                return self.signal(session, Signal::Asks(Box::new(asking)), now);
            }
            // It waits for the person's decision.
            ToolCall::Question(call)
                if { self.agents.get(session) }.is_some_and(|it| it.only_asks(&call)) =>
            {
                if let Some(agent) = self.sessions.agent(session) {
                    let (session, call) = (Arc::clone(session), asked(call));
                    let read = move || Question::read(agent, call);
                    self.checks.read(agent, read, |question| {
                        Event::Asked(Self::task("a question", move |it, now| {
                            it.asks_alone(&session, request, question.flatten(), caller, now);
                        }))
                    });
                }
                return;
            }
            ToolCall::Question(call) => {
                if let Some(path) = call.path {
                    let input = call.input;
                    let asked = AskedBeside { caller, input };
                    self.signal(session, Signal::AsksBeside(request, path, asked), now);
                }
                return;
            }
            ToolCall::Selection => {
                let selection = self.selection(session);
                answer(caller, Ok(Answer::Text(selection)));
                return self.repeat_context(session);
            }
            ToolCall::Told => return answer(caller, Ok(Answer::Text(String::new()))),
            ToolCall::AfterWrite(call) => {
                let (subagent, tool) = (call.subagent.as_deref(), &*call.tool);
                let is_its = |tab: &Tab| {
                    let question = tab.question.as_ref();
                    question.is_some_and(|it| it.is_of_call(subagent, tool, &call.input))
                };
                self.question_is_over(session, is_its, now);
                let notes = self.agent(session).and_then(|it| it.notes.take());
                let event = match call.has_failed {
                    true => hooks::POST_TOOL_USE_FAILURE,
                    false => hooks::POST_TOOL_USE,
                };
                return answer(caller, Ok(told(event, notes)));
            }
            ToolCall::BeforeTurn(_) => {
                let notes = self.agent(session).and_then(|it| it.notes.hand());
                return answer(caller, Ok(told(hooks::USER_PROMPT_SUBMIT, notes)));
            }
            ToolCall::AfterTurn(_) => {
                return answer(caller, Ok(Answer::Text(NO_DECISION.to_owned())));
            }
        };
        self.perform(actions);
    }

    pub(super) fn open(
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
        self.lose(edited);
        self.signal(session, Signal::Proposes(&proposal.file_path), now);
        self.diffs.open(proposal, caller, now)
    }

    /// The person answers in the agent's own window, which closes its diff: what comes of that, the file tells.
    fn answered_elsewhere(&mut self, session: &SessionId, name: &str, now: Instant) {
        let Some(answered) = self.diffs.answered(session, name) else {
            return;
        };
        let agent = answered.proposer.display_name();
        self.last_decision
            .answered(answered.id, &answered.file_path, agent);
        self.report_status();
        let calls = self.agents.get(session).map(|it| &it.calls);
        let call = calls.and_then(|it| it.only_on(Path::new(&answered.file_path)));
        self.recording.answered(session, call, &answered);
        let former = self.written.follow(answered, now);
        self.came_of(former);
        self.upkeep = self.upkeep.min(now + UPKEEP_INTERVAL);
    }

    /// The person has answered the question that this is true of in the agent's own window. False if none is shown as its proposal.
    pub(super) fn question_is_over(
        &mut self,
        session: &SessionId,
        is_meant: impl Fn(&Tab) -> bool,
        now: Instant,
    ) -> bool {
        let names = self.diffs.names(session, |it| {
            it.question().is_some() && it.tab.as_ref().is_some_and(&is_meant)
        });
        for name in &names {
            self.answered_elsewhere(session, name, now);
            self.close_unasked(session, name, now);
        }
        !names.is_empty()
    }

    fn close_unasked(&mut self, session: &SessionId, name: &str, now: Instant) {
        let (ignored, _) = tokio::sync::oneshot::channel();
        let actions = self.close(session, name, ignored, now);
        self.perform(actions);
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
        if agent.is_some_and(|agent| !agents::of(agent).closing_returns_text()) {
            let edited = undelivered.clone().filter(|delivery| delivery.is_edited);
            self.lose(edited);
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
        let current = self.context.current();
        let Some(agent) = self.agent(session) else {
            return String::new();
        };
        let context = agent.notes.read(current);
        match agents::of(agent.kind).context(context, agent.kind) {
            Message::Notification(_, Params::Value(params)) => params.to_string(),
            _ => String::new(),
        }
    }

    /// Closes the views of this session: "all" means no others. With that a turn begins, and the
    /// prompt has used up the selection: what the person sees goes with the next one, too. Subagents wait
    /// for their decisions meanwhile, and their views are closed one by one.
    fn close_all(&mut self, session: &SessionId, caller: Caller, now: Instant) {
        let agent = self.agents.get(session);
        // The path of a question may not be known: too many are, or it is too long.
        let is_over = |proposal: &Proposal| {
            let path = &proposal.file_path;
            !proposal.is_of_subagent() && !agent.is_some_and(|it| it.mode.is_of_subagent(path))
        };
        let names = self.diffs.names(session, is_over);
        for name in &names {
            self.close_unasked(session, name, now);
        }
        answer(caller, Ok(Answer::ClosedAll(names.len())));
        self.signal(session, Signal::HasClosed, now);
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
}

/// Returns true if an agent that makes this call waits for no answer to a question from before.
fn goes_on(call: &ToolCall) -> bool {
    matches!(
        call,
        ToolCall::Open(_)
            | ToolCall::BeforeWrite(_)
            | ToolCall::AfterWrite(_)
            | ToolCall::BeforeTurn(_)
            | ToolCall::AfterTurn(_)
    )
}

/// Answers a call. An agent that does not wait any more needs no answer.
pub(super) fn answer(caller: Caller, answer: Result<Answer, String>) {
    let _ = caller.send(answer);
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

/// The step that an agent tells with this call of its hook, and the subagent that takes it.
fn step_of(call: &ToolCall) -> Option<(WorkStep, Option<String>)> {
    let (step, hook) = match call {
        ToolCall::BeforeTurn(hook) => (WorkStep::TurnBegins(hook.prompt.clone()), hook),
        ToolCall::BeforeWrite(hook) => {
            let path = hook.path.as_deref().filter(|_| !hook.is_command);
            let call = ask::ToolCall {
                id: hook.id.clone(),
                tool: hook.tool.clone(),
                path: path.map(PathBuf::from),
                ..ask::ToolCall::default()
            };
            (WorkStep::CallBegins(call), hook)
        }
        ToolCall::AfterWrite(hook) if hook.has_failed => {
            (WorkStep::CallFails(hook.id.clone()), hook)
        }
        ToolCall::AfterWrite(hook) => (WorkStep::CallEnds(hook.id.clone()), hook),
        ToolCall::AfterTurn(hook) => (WorkStep::TurnEnds, hook),
        _ => return None,
    };
    Some((step, hook.subagent.clone()))
}

/// The answer of a hook at this event that tells the model this, if it is anything.
fn told(event: &str, text: Option<String>) -> Answer {
    let answer = text.map(|text| hooks::add_context(event, &text).to_string());
    Answer::Text(answer.unwrap_or_else(|| NO_DECISION.to_owned()))
}
