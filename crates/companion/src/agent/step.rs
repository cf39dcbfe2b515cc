//! Owns what each fact about an agent means: a signal comes in, and what is to be done goes out. Agents that are connected and those of
//! which only hooks tell take the same steps. A state machine without I/O.

use std::path::Path;
use std::time::Instant;

use pillion_changes::recorder::Coverage;
use pillion_view::ask::WorkStep;

use super::guards::Held;
use super::looks::{Found, Record};
use super::{Agent, Agents, AskedBeside, Before, Does, HeldHook};
use crate::agents::ToolCall;
use crate::agents::hooks::{self, NO_DECISION};
use crate::event::{Caller, GuardWay};
use crate::ids::RequestId;
use crate::sessions::SessionId;

/// A fact about an agent.
#[derive(Debug)]
pub(crate) enum Signal<'a> {
    /// It listens, and what it changes is to be recorded.
    Listens,
    /// It calls a tool.
    Calls(&'a ToolCall),
    /// The diffs are closed that it has closed with a prompt.
    HasClosed,
    /// It proposes a change of this file.
    Proposes(&'a str),
    /// A change of this file is decided.
    IsDecided { path: &'a str, is_accepted: bool },
    /// A hook of it tells a step of its work; true for a subagent's.
    Takes(&'a WorkStep, bool),
    /// A command in its hooks tells of its process; true if a turn begins with that.
    IsHooked(bool),
    /// It asks the person in its own terminal, and this waits for the answer, too.
    AsksBeside(RequestId, String, AskedBeside),
    /// The hook before a call asks whether that may run. The texts before it are kept.
    Asks(Box<Asking>),
    /// A process of ours stands beside the hook of this call.
    IsGuarded(String, GuardWay),
    /// The hook of a call waits for the person.
    Holds(Held),
    /// The hook of this call is answered.
    IsAnswered(&'a str),
    /// It waits no more for the answer to this call, whose hook it is.
    GivesUp(&'a str),
    /// It waits no more for the answer to this request.
    Cancels(&'a RequestId),
}

/// The hook before a call asks whether that may run.
#[derive(Debug)]
pub(crate) struct Asking {
    pub(crate) call: hooks::Call,
    pub(crate) request: RequestId,
    pub(crate) caller: Caller,
    /// The way in which the text is known of the file that it is to change.
    pub(crate) coverage: Coverage,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Effect {
    /// People see something else of it.
    Report,
    /// It is sent the context again, if the person sees a file or it is told something.
    PushContext { is_told: bool },
    /// The recorder hears of it.
    Record(Record),
    /// The person is shown this call.
    Hold(HeldHook),
    /// The hook that asks gets this answer.
    Answer(Caller, String),
    /// The process beside a call that is answered lets it go on.
    Release(GuardWay),
}

impl Agents {
    /// This is so of the agent of this session. Returns what is to be done, in this order.
    pub(crate) fn step(
        &mut self,
        session: &SessionId,
        signal: Signal<'_>,
        now: Instant,
    ) -> Vec<Effect> {
        let agent = self.agents.get_mut(session);
        let effects = agent.map_or_else(Vec::new, |agent| agent.step(signal, now));
        for effect in &effects {
            if let Effect::Record(record) = effect {
                self.note_looked_for(*record, now);
            }
        }
        effects
    }
}

impl Agent {
    /// This is so. Returns what is to be done, in this order.
    pub(crate) fn step(&mut self, signal: Signal<'_>, now: Instant) -> Vec<Effect> {
        let mut effects = Vec::new();
        match signal {
            Signal::Listens if self.found == Found::Unknown => {
                self.found = Found::ByLooks { has_changed: false };
                effects.push(Effect::Record(Record::Attend));
            }
            Signal::Listens => {}
            Signal::Calls(call) => effects = self.calls(call, now),
            Signal::HasClosed => {
                let is_told = self.notes.turn_begins();
                effects.push(Effect::PushContext { is_told });
            }
            Signal::Proposes(path) => {
                self.mode.proposed(path);
                self.turn.works(self.mode.is_of_subagent(path), now);
            }
            Signal::IsDecided { path, is_accepted } => {
                if !is_accepted {
                    self.mode.settle(path);
                    self.calls.rejected(Path::new(path));
                }
                self.questions.end(path);
            }
            Signal::Takes(step, is_subagent) => {
                effects.extend(self.takes(step, is_subagent, now));
            }
            Signal::IsHooked(true) => effects.extend(self.is_found_by_hooks(Record::HadNoTurn)),
            Signal::IsHooked(false) => effects.extend(self.is_found_by_hooks(Record::Left)),
            Signal::AsksBeside(request, path, asked) => self.questions.ask(request, path, asked),
            Signal::Asks(asking) => effects = self.asks(*asking, now),
            Signal::IsGuarded(call, way) => {
                let waiting = self.guards.take(&call);
                let answered = self.guards.wait(call, way, now);
                effects.extend(answered.map(Effect::Release));
                effects.extend(waiting.into_iter().map(Effect::Hold));
            }
            Signal::Holds(held) => self.guards.held(held),
            Signal::IsAnswered(call) => effects.extend(self.is_answered(call)),
            Signal::GivesUp(call) => self.guards.unanswered(call),
            Signal::Cancels(request) => {
                self.questions.cancel(request);
                self.guards.cancel(request);
            }
        }
        effects
    }

    fn calls(&mut self, call: &ToolCall, now: Instant) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.is_looked_for() {
            effects.push(Effect::Record(Record::Heard));
        }
        // If it asks for what is selected, it has all of that then.
        let asks = matches!(call, ToolCall::Selection);
        if self.kind.cuts_selection().is_some() && !asks && self.notes.works(now) {
            effects.push(Effect::PushContext { is_told: true });
        }
        self.opens_diffs |= matches!(call, ToolCall::CloseAll | ToolCall::Open(_));
        // Its model has answered: it has what hooks were handed for it.
        let goes_on = match call {
            ToolCall::Open(_) => true,
            ToolCall::Question(call) => !call.is_subagent(),
            _ => false,
        };
        if goes_on {
            self.notes.goes_on();
        }
        let is_news = match call {
            ToolCall::BeforeTurn(call) | ToolCall::BeforeWrite(call) => {
                self.found = Found::ByHooks;
                self.mode.hooked(call, self.is_recorded)
            }
            ToolCall::CloseAll => {
                if self.is_looked_for() {
                    self.found = Found::ByLooks { has_changed: false };
                    effects.push(Effect::Record(Record::Begins));
                }
                self.turn.begins(now);
                self.kind.announces_writes() && self.mode.turn_begins()
            }
            ToolCall::Diagnostics(Some(uri), true) => self.announces(uri, now),
            _ => false,
        };
        effects.extend(is_news.then_some(Effect::Report));
        effects
    }

    /// It is about to write a file. Returns true if people see something else of it.
    fn announces(&mut self, uri: &str, now: Instant) -> bool {
        let path = uri.strip_prefix("file://");
        let Some(path) = path.filter(|_| self.kind.announces_writes()) else {
            return false;
        };
        self.turn.works(self.mode.is_of_subagent(path), now);
        self.mode.writes(path)
    }

    fn takes(&mut self, step: &WorkStep, is_subagent: bool, now: Instant) -> Option<Effect> {
        match step {
            _ if is_subagent => {}
            WorkStep::TurnBegins(_) => self.notes.is_prompted_again(),
            // Its model hears of the call once that is over.
            WorkStep::CallEnds(_) | WorkStep::CallFails(_) => self.notes.has_prompt(),
            WorkStep::CallBegins(call) if call.is_shown => self.notes.has_prompt(),
            WorkStep::CallBegins(_) | WorkStep::TurnEnds => self.notes.goes_on(),
        }
        self.calls.note(step, is_subagent);
        match step {
            WorkStep::TurnBegins(_) => self.turn.begins_and_ends_are_told(now),
            WorkStep::CallBegins(call) => {
                self.guards.called(&call.id);
                self.turn.works(is_subagent, now);
            }
            WorkStep::CallEnds(_) | WorkStep::CallFails(_) => self.turn.works(is_subagent, now),
            WorkStep::TurnEnds => self.turn.ends(is_subagent, now),
        }
        let begins = matches!(step, WorkStep::TurnBegins(_) | WorkStep::CallBegins(_));
        match step {
            WorkStep::TurnEnds if is_subagent => None,
            _ => self.is_found_by_hooks(Record::Left).filter(|_| !begins),
        }
    }

    /// Hooks tell what it changes. If that was looked for until now, the recorder hears this.
    fn is_found_by_hooks(&mut self, record: Record) -> Option<Effect> {
        let was_looked_for = self.is_looked_for();
        self.found = Found::ByHooks;
        was_looked_for.then_some(Effect::Record(record))
    }

    fn asks(&mut self, asking: Asking, now: Instant) -> Vec<Effect> {
        let Asking {
            call,
            request,
            caller,
            coverage,
        } = asking;
        // An agent that does not wait any more has cancelled it.
        if caller.is_closed() {
            self.guards.unanswered(&call.id);
            return Vec::new();
        }
        if let Some(path) = &call.path {
            self.questions.end(path);
        }
        if coverage == Coverage::Unchanged {
            // It writes the file all the same, and says so.
            call.path.iter().for_each(|path| self.mode.proposed(path));
        }
        let mut effects = Vec::new();
        let does = match call.is_command {
            true => Does::RunCommand,
            false => Does::Change(coverage),
        };
        let answer = match (self.mode.before(does), call.held) {
            (Before::Show, Some(held)) => {
                let hook = HeldHook {
                    call: call.id.clone(),
                    request,
                    held,
                    caller,
                };
                let hook = match call.is_guarded {
                    true => self.guards.guarded(&call.id, hook, now),
                    false => Some(hook),
                };
                return hook.map(Effect::Hold).into_iter().collect();
            }
            (Before::Show, None) if coverage == Coverage::RunsCode => {
                let path = { call.path.as_ref() }.filter(|_| hooks::asks_nobody(&call.mode));
                path.into_iter().for_each(|path| self.mode.refuses(path));
                effects.extend(path.map(|_| Effect::Report));
                hooks::ask_of_code(&call.mode).to_string()
            }
            (Before::Show, None) if coverage == Coverage::Leads => {
                hooks::ask_of_link(&call.mode).to_string()
            }
            (Before::Show, None) => hooks::ask().to_string(),
            (Before::Let, _) => hooks::let_write().to_string(),
            (Before::Leave, _) => NO_DECISION.to_owned(),
        };
        effects.push(Effect::Answer(caller, answer));
        effects.extend(self.is_answered(&call.id));
        effects
    }

    fn is_answered(&mut self, call: &str) -> impl Iterator<Item = Effect> + use<> {
        self.guards.answered(call).into_iter().map(Effect::Release)
    }
}

#[cfg(test)]
mod tests {
    use pillion_protocol::{Dialect, ReviewChoice};
    use pillion_view::ask::{self, Guarded};
    use serde_json::{Value, json};
    use tokio::sync::oneshot;

    use super::*;

    fn call(tool: &str, input: &Value, more: &Value) -> hooks::Call {
        let mut arguments = json!({
            "review": "asked", "mode": "auto", "id": "1", "tool": tool, "input": input.to_string(), "folder": "/w",
        });
        let all = arguments.as_object_mut().unwrap();
        all.extend(more.as_object().unwrap().clone());
        hooks::Call::from_arguments(all.clone())
    }

    fn edit(path: &str) -> hooks::Call {
        call(
            "Edit",
            &json!({"file_path": path, "old_string": "a", "new_string": "b"}),
            &json!({}),
        )
    }

    fn shell(more: &Value) -> hooks::Call {
        call("Bash", &json!({"command": "make"}), more)
    }

    fn request() -> RequestId {
        RequestId::new(json!(1)).unwrap()
    }

    /// The words for what is to be done; that people see something else, and what is sent again, goes without saying.
    fn words(effects: Vec<Effect>) -> Vec<String> {
        let words = effects.into_iter().filter_map(|effect| match effect {
            Effect::Report | Effect::PushContext { .. } => None,
            Effect::Record(record) => Some(format!("{record:?}")),
            Effect::Hold(hook) => Some(format!("hold {}", hook.call)),
            Effect::Release(way) => way
                .send(Guarded::Answered)
                .ok()
                .map(|()| "release".to_owned()),
            Effect::Answer(_, answer) => {
                let answer: Value = serde_json::from_str(&answer).unwrap();
                let decision = &answer["hookSpecificOutput"]["permissionDecision"];
                Some(decision.as_str().unwrap_or("leave").to_owned())
            }
        });
        words.collect()
    }

    /// The hook before this call asks, and then a process comes that stands beside it.
    fn asks(agent: &mut Agent, call: hooks::Call, coverage: Coverage, now: Instant) -> Vec<String> {
        agent.step(Signal::Calls(&ToolCall::BeforeWrite(call.clone())), now);
        let (caller, _waits) = oneshot::channel();
        let asking = Asking {
            call,
            request: request(),
            caller,
            coverage,
        };
        let mut all = words(agent.step(Signal::Asks(Box::new(asking)), now));
        let (way, _waits) = oneshot::channel();
        all.push("guard".to_owned());
        all.extend(words(
            agent.step(Signal::IsGuarded("1".to_owned(), way), now),
        ));
        all
    }

    /// Each mode, each kind of call, each agent: one that has just come, one whose turn began before its hooks had said anything,
    /// and one of which commands in its hooks tell.
    #[test]
    fn whether_it_asks_now() {
        use Coverage::{Elsewhere, Kept, Leads, NotKept, RunsCode};
        use ReviewChoice::{After, Always, Asked, Commands};
        type Comes = fn(&mut Agent, Instant);
        let agents: [Comes; 3] = [
            |_, _| {},
            |agent, now| drop(agent.step(Signal::Calls(&ToolCall::CloseAll), now)),
            |agent, now| {
                let begins = WorkStep::TurnBegins("go".to_owned());
                agent.step(Signal::Takes(&begins, false), now);
            },
        ];
        let (leave, go_on) = (
            &["leave", "guard", "release"][..],
            &["allow", "guard", "release"],
        );
        let ask = &["ask", "guard", "release"][..];
        for (choices, of_edits, of_shell) in [
            (&[][..], [leave; 4], leave),
            (&[Asked], [leave; 4], leave),
            (&[Always], [ask; 4], leave),
            (&[After], [go_on, ask, leave, ask], leave),
            (&[Commands], [leave; 4], &["hold 1", "guard"]),
            (&[Always, Commands], [ask; 4], &["hold 1", "guard"]),
            (
                &[After, Commands],
                [go_on, ask, leave, ask],
                &["hold 1", "guard"],
            ),
        ] {
            for comes in agents {
                let now = Instant::now();
                let edits = [
                    ("/w/a", Kept),
                    ("/w/a", NotKept),
                    ("/w/a", Elsewhere),
                    ("/w/.git/hooks/pre-commit", RunsCode),
                ];
                let of_edits = edits.into_iter().zip(of_edits);
                let of_edits = of_edits.map(|((path, it), expected)| (edit(path), it, expected));
                let of_shell = [(shell(&json!({})), NotKept, of_shell)];
                for (call, coverage, expected) in of_edits.chain(of_shell) {
                    let mut agent = Agent::new(Dialect::ClaudeCode, false, true);
                    choices.iter().for_each(|choice| agent.mode.choose(*choice));
                    comes(&mut agent, now);
                    let path = call.path.clone();
                    let done = asks(&mut agent, call, coverage, now);
                    assert_eq!(done, expected, "{choices:?} {path:?} {coverage:?}");
                }
            }
        }
        // A question would not be heard.
        for (choice, coverage, expected) in [
            (Always, RunsCode, "deny"),
            (After, RunsCode, "deny"),
            (Always, Leads, "deny"),
            (After, Leads, "leave"),
            (Always, Kept, "ask"),
            (After, Elsewhere, "leave"),
            (Asked, RunsCode, "leave"),
        ] {
            let mut agent = Agent::new(Dialect::ClaudeCode, false, true);
            agent.mode.choose(choice);
            let call = hooks::Call {
                mode: "bypassPermissions".to_owned(),
                ..edit("/w/.envrc")
            };
            let done = asks(&mut agent, call, coverage, Instant::now());
            assert_eq!(
                done,
                [expected, "guard", "release"],
                "{choice:?} {coverage:?}"
            );
        }
    }

    #[test]
    fn a_call_that_is_held_waits_for_the_process_beside_it() {
        let now = Instant::now();
        let mut agent = Agent::new(Dialect::ClaudeCode, false, true);
        agent.mode.choose(ReviewChoice::Commands);
        let guarded = || shell(&json!({"guarded": "yes"}));
        let done = asks(&mut agent, guarded(), Coverage::NotKept, now);
        assert_eq!(done, ["guard", "hold 1"]);
        // One that nobody waits for any more is shown to nobody.
        let (caller, waits) = oneshot::channel();
        drop(waits);
        let asking = Asking {
            call: guarded(),
            request: request(),
            caller,
            coverage: Coverage::NotKept,
        };
        assert_eq!(
            words(agent.step(Signal::Asks(Box::new(asking)), now)),
            [""; 0]
        );
    }

    /// What it was told with a prompt it has once its model has answered, by whichever hook that is known; a subagent's answer is
    /// not its own.
    #[test]
    fn what_it_was_handed_it_has_once_it_goes_on() {
        let begins = |subagent: Option<&str>| {
            WorkStep::CallBegins(ask::ToolCall {
                id: "1".to_owned(),
                tool: "Edit".to_owned(),
                subagent: subagent.map(str::to_owned),
                ..ask::ToolCall::default()
            })
        };
        let turn = || WorkStep::TurnBegins("go".to_owned());
        for (step, is_subagent, has_it) in [
            (begins(None), false, true),
            (begins(Some("a")), true, false),
            (WorkStep::CallEnds("1".to_owned()), false, true),
            (WorkStep::CallFails("1".to_owned()), true, false),
            (WorkStep::TurnEnds, false, true),
            (WorkStep::TurnEnds, true, false),
            (turn(), false, false),
        ] {
            let (mut agent, now) = (Agent::new(Dialect::ClaudeCode, true, true), Instant::now());
            let told = pillion_protocol::remarks::FileRemark::new(
                "/a".to_owned(),
                "no".to_owned(),
                &[],
                false,
            );
            let remark = crate::remark::Remark::written(Dialect::ClaudeCode, &[told]);
            agent.notes.add_for_hook(remark);
            agent.step(Signal::Takes(&turn(), false), now);
            assert!(agent.notes.hand().is_some());
            agent.step(Signal::Takes(&step, is_subagent), now);
            assert_eq!(agent.notes.wait(), !has_it, "{step:?}");
        }
    }
}
