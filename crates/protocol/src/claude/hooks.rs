//! Hooks that call a tool of the companion over the agent's own connection: with them Claude Code asks before
//! each change, in every permission mode. They come with its command line ([`hooks`]).

use serde_json::{Map, Value, json};

use crate::diff::take_string;
use crate::held::{HeldCall, RUNS_COMMANDS};
use crate::review::ReviewMode;

/// The tool that is called before a file is changed, or a shell command run. It is in no list, and a model that calls it is refused.
pub const BEFORE_WRITE: &str = "pillionBeforeWrite";

/// The tool that is called when the agent asks the person whether to change a file, at the same time as `openDiff`. The one
/// that answers first has answered for both.
pub const QUESTION: &str = "pillionQuestion";

/// The tool that is called when it has changed a file.
pub const AFTER_WRITE: &str = "pillionAfterWrite";

/// The tool that is called when the person has sent a prompt.
pub const BEFORE_TURN: &str = "pillionBeforeTurn";

/// The tool that is called when the agent has ended its turn, or a subagent its work.
pub const AFTER_TURN: &str = "pillionAfterTurn";

/// Before a tool runs.
pub const PRE_TOOL_USE: &str = "PreToolUse";

/// The event that the agent asks the person whether a tool may run.
pub const PERMISSION_REQUEST: &str = "PermissionRequest";

/// After a tool has run.
pub const POST_TOOL_USE: &str = "PostToolUse";

/// After a tool has failed.
pub const POST_TOOL_USE_FAILURE: &str = "PostToolUseFailure";

/// The event that the agent has ended its turn.
pub const STOP: &str = "Stop";

/// The event that the person has sent a prompt.
pub const USER_PROMPT_SUBMIT: &str = "UserPromptSubmit";

/// The time for which the agent waits for the person: a day, in seconds.
pub const PERSONS_TIMEOUT: u32 = 86_400;

/// The text on its screen meanwhile.
pub const STATUS: &str = "Waiting for your review in Pillion";

/// The time limit for an answer that needs no person, in seconds.
const TIMEOUT: u32 = 10;

/// The value from a hook beside which a process stands, or one after a tool has failed.
const YES: &str = "yes";

/// An answer that leaves everything to the agent.
pub const NO_DECISION: &str = "{}";

/// The arguments of a hook's call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The cases in which it asks, as it was started.
    pub review: ReviewMode,
    /// Its permission mode now: "default", "acceptEdits", "auto", "plan", "bypassPermissions" or "dontAsk".
    pub mode: String,
    /// The subagent that makes the change, if it is one.
    pub subagent: Option<String>,
    /// The file that it is about to change.
    pub path: Option<String>,
    /// The call that it is about to make, if that can be held.
    pub held: Option<HeldCall>,
    /// True if it is about to run a shell command, and changes no file itself.
    pub is_command: bool,
    /// The agent's name for this call of a tool; empty if it did not say.
    pub id: String,
    /// True if a process stands beside this hook ([`CommandsBeside::guard`]).
    pub is_guarded: bool,
    /// True if the tool has failed.
    pub has_failed: bool,
    /// The tool; empty if there is none.
    pub tool: String,
    /// The tool's whole input; null if there is none.
    pub input: Value,
    /// The folder that the agent works in; empty if it did not say.
    pub folder: String,
    /// The person's prompt, at the beginning of a turn.
    pub prompt: String,
}

impl Call {
    /// Returns true if a subagent makes the change.
    pub fn is_subagent(&self) -> bool {
        self.subagent.is_some()
    }

    /// Reads the arguments of a hook's call. A missing one is as it is with a hook that says nothing.
    pub fn from_arguments(mut arguments: Map<String, Value>) -> Self {
        let mut take = |name| take_string(&mut arguments, BEFORE_WRITE, name).unwrap_or_default();
        let review = ReviewMode::named(&take("review"));
        let (mode, agent) = (take("mode"), take("agent"));
        let (tool, folder) = (take("tool"), take("folder"));
        let (id, prompt) = (take("id"), take("prompt"));
        let is_guarded = take("guarded") == YES;
        let has_failed = take("failed") == YES;
        let input: Value = serde_json::from_str(&take("input")).unwrap_or_default();
        let held = HeldCall::from_input(&tool, &folder, &input);
        let path = input.get("file_path").and_then(Value::as_str);
        let path = path.or(held.as_ref().map(HeldCall::path));
        let path = path.map(str::to_owned);
        Self {
            review,
            mode,
            subagent: Some(agent).filter(|agent| !agent.is_empty()),
            path,
            held,
            is_command: tool == RUNS_COMMANDS,
            id,
            is_guarded,
            has_failed,
            tool,
            input,
            folder,
            prompt,
        }
    }
}

/// Shell commands that the agent runs beside the hooks that call the companion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandsBeside {
    /// Started with each prompt, and not waited for: if it ends with exit code 2, the model reads its standard error at once,
    /// also when the agent is idle.
    pub wait: String,
    /// Started before each call of a tool that the companion is asked about: it answers if the companion does not.
    pub guard: String,
}

/// The hooks, as a settings file has them, with these commands beside them.
pub fn hooks(review: ReviewMode, beside: Option<&CommandsBeside>) -> Value {
    let hook = |tool, timeout, input: Value| {
        let mut hook = json!({
            "type": "mcp_tool", "server": "ide", "tool": tool, "timeout": timeout, "input": input,
        });
        if timeout == PERSONS_TIMEOUT {
            hook["statusMessage"] = STATUS.into();
        }
        hook
    };
    let common = json!({
        "review": review.name(), "mode": "${permission_mode}", "agent": "${agent_id}",
    });
    let mut change = common.clone();
    change["tool"] = "${tool_name}".into();
    change["input"] = "${tool_input}".into();
    change["id"] = "${tool_use_id}".into();
    change["folder"] = "${cwd}".into();
    let mut turn = common.clone();
    turn["prompt"] = "${prompt}".into();
    let mut at_prompt = vec![json!({"hooks": [hook(BEFORE_TURN, TIMEOUT, turn)]})];
    at_prompt.extend(beside.map(|beside| {
        json!({"hooks": [{
            "type": "command", "command": beside.wait, "asyncRewake": true, "timeout": PERSONS_TIMEOUT,
        }]})
    }));
    let mut before = change.clone();
    if beside.is_some() {
        before["guarded"] = YES.into();
    }
    let mut before_tool = vec![hook(BEFORE_WRITE, PERSONS_TIMEOUT, before)];
    before_tool.extend(beside.map(|beside| {
        json!({
            "type": "command", "command": beside.guard, "timeout": PERSONS_TIMEOUT, "statusMessage": STATUS,
        })
    }));
    let mut failure = change.clone();
    failure["failed"] = YES.into();
    json!({
        PRE_TOOL_USE: [{"matcher": "Edit|Write|NotebookEdit|Bash", "hooks": before_tool}],
        PERMISSION_REQUEST: [
            {"matcher": "Edit|Write", "hooks": [hook(QUESTION, PERSONS_TIMEOUT, change.clone())]},
        ],
        POST_TOOL_USE: [{"matcher": "Edit|Write|NotebookEdit|Bash", "hooks": [hook(AFTER_WRITE, TIMEOUT, change)]}],
        POST_TOOL_USE_FAILURE: [{"matcher": "Edit|Write|NotebookEdit|Bash", "hooks": [hook(AFTER_WRITE, TIMEOUT, failure)]}],
        USER_PROMPT_SUBMIT: at_prompt,
        STOP: [{"hooks": [hook(AFTER_TURN, TIMEOUT, common.clone())]}],
        "SubagentStop": [{"hooks": [hook(AFTER_TURN, TIMEOUT, common)]}],
    })
}

/// Settings with these hooks beside those that they have.
///
/// # Errors
/// If they are not an object, or have hooks of another form.
pub fn add(mut settings: Value, hooks: Value) -> Result<Value, String> {
    let wrong = |what: &str| format!("{what} is not an object");
    let all = settings.as_object_mut().ok_or_else(|| wrong("it"))?;
    let own = all.entry("hooks").or_insert_with(|| json!({}));
    let own = own.as_object_mut().ok_or_else(|| wrong("`hooks`"))?;
    let Value::Object(hooks) = hooks else {
        return Err(wrong("the hooks"));
    };
    for (event, hooks) in hooks {
        let list = own.entry(event.clone()).or_insert_with(|| json!([]));
        let list = list.as_array_mut();
        let list = list.ok_or_else(|| format!("`hooks.{event}` is not a list"))?;
        list.extend(hooks.as_array().into_iter().flatten().cloned());
    }
    Ok(settings)
}

/// The answer before a tool runs: "allow", "deny" or "ask", and what the person or the model reads of it.
pub fn decision(decision: &str, why: &str) -> Value {
    output(
        PRE_TOOL_USE,
        json!({"permissionDecision": decision, "permissionDecisionReason": why}),
    )
}

/// Why the agent asks before a change: the person then gets its `openDiff`.
const SHOWS_EVERY: &str = "Pillion shows every change first";

/// The answer that has the agent ask the person.
pub fn ask() -> Value {
    decision("ask", SHOWS_EVERY)
}

/// The permission mode in which it asks nobody about the files that it protects itself, whatever a hook says.
const BYPASS: &str = "bypassPermissions";

/// Returns true if nobody is asked about such a file in this mode.
pub fn asks_nobody(mode: &str) -> bool {
    mode == BYPASS
}

/// The answer that has the agent ask the person in this mode about a file that it may protect itself. Where it would ask nobody, the
/// change is refused, as `refused` says.
pub fn ask_in(mode: &str, why: &str, refused: &str) -> Value {
    match asks_nobody(mode) {
        true => refuse(&format!(
            "Nothing was written: {refused}. In this permission mode they would not be asked. Tell the user: in another mode \
             (Shift+Tab) they see it before it is written, or they make the change themselves."
        )),
        false => decision("ask", why),
    }
}

/// The same about a file that runs code by itself.
pub fn ask_of_code(mode: &str) -> Value {
    let refused = "this file runs code by itself, and Pillion, the user's review tool, shows such a change to them first";
    ask_in(mode, SHOWS_EVERY, refused)
}

/// The same about a file whose path leads through a link: in that mode a hook is not heard about it either, but about the file itself.
pub fn ask_of_link(mode: &str) -> Value {
    match asks_nobody(mode) {
        true => refuse(
            "Nothing was written: this path leads through a symbolic link, and in this permission mode the user would not be asked, \
             though Pillion, their review tool, shows every change to them first. Write to the path to which the link leads instead.",
        ),
        false => ask(),
    }
}

/// The answer before a tool runs that lets it without a question: the person looks at what it has changed afterwards.
pub fn let_write() -> Value {
    decision("allow", "Pillion shows what was changed afterwards")
}

/// The answer before a tool runs that lets it, perhaps with another input. The model reads `context` after its result.
pub fn allow(input: Option<Value>, context: Option<&str>) -> Value {
    let mut fields = json!({"permissionDecision": "allow"});
    if let Some(input) = input {
        fields["updatedInput"] = input;
    }
    if let Some(context) = context {
        fields["additionalContext"] = context.into();
    }
    output(PRE_TOOL_USE, fields)
}

/// The answer before a tool runs that refuses it. The model reads why, and goes on with its turn.
pub fn refuse(why: &str) -> Value {
    decision("deny", why)
}

/// The answer to the agent's own question that lets the change be made, perhaps with another input.
pub fn approve(input: Option<Value>) -> Value {
    let mut decision = json!({"behavior": "allow"});
    if let Some(input) = input {
        decision["updatedInput"] = input;
    }
    output(PERMISSION_REQUEST, json!({"decision": decision}))
}

/// The answer to the agent's own question that refuses the change. The model reads why, and goes on with its turn.
pub fn deny(why: &str) -> Value {
    output(
        PERMISSION_REQUEST,
        json!({"decision": {"behavior": "deny", "message": why}}),
    )
}

/// The answer at this event with something that the model reads after the tool's result, or with the prompt.
pub fn add_context(event: &str, text: &str) -> Value {
    output(event, json!({"additionalContext": text}))
}

fn output(event: &str, mut fields: Value) -> Value {
    fields["hookEventName"] = event.into();
    json!({"hookSpecificOutput": fields})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_stand_beside_those_of_the_person() {
        let own =
            json!({"model": "x", "hooks": {"PreToolUse": [{"matcher": "Bash"}], "Stop": [1]}});
        let both = add(own, hooks(ReviewMode::Always, None)).unwrap();
        assert_eq!(both["model"], "x");
        assert_eq!(both["hooks"]["PreToolUse"][0]["matcher"], "Bash");
        assert_eq!(
            both["hooks"]["PreToolUse"][1]["matcher"],
            "Edit|Write|NotebookEdit|Bash"
        );
        assert_eq!(both["hooks"]["Stop"][0], 1);
        for broken in [
            json!(1),
            json!({"hooks": 1}),
            json!({"hooks": {"PreToolUse": {}}}),
        ] {
            let refused = add(broken.clone(), hooks(ReviewMode::Always, None));
            assert!(refused.is_err(), "{broken}");
        }
    }

    #[test]
    fn an_answer_names_the_event_that_it_is_for() {
        for (answer, event) in [
            (ask(), "PreToolUse"),
            (allow(None, None), "PreToolUse"),
            (refuse("no"), "PreToolUse"),
            (approve(None), "PermissionRequest"),
            (deny("no"), "PermissionRequest"),
            (add_context(POST_TOOL_USE, "so"), "PostToolUse"),
            (add_context(USER_PROMPT_SUBMIT, "so"), "UserPromptSubmit"),
        ] {
            assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
            assert!(
                hooks(ReviewMode::Asked, None)[event].is_array(),
                "{event} is asked for"
            );
        }
    }

    #[test]
    fn a_call_says_mode_file_and_who() {
        let read = |arguments: Value| Call::from_arguments(arguments.as_object().unwrap().clone());
        let call = read(json!({
            "review": "always", "mode": "auto", "agent": "", "input": r#"{"file_path":"/a","content":""}"#,
        }));
        assert_eq!(
            call,
            Call {
                review: ReviewMode::Always,
                mode: "auto".into(),
                subagent: None,
                path: Some("/a".into()),
                held: None,
                is_command: false,
                id: String::new(),
                is_guarded: false,
                has_failed: false,
                tool: String::new(),
                input: json!({"file_path": "/a", "content": ""}),
                folder: String::new(),
                prompt: String::new(),
            }
        );
        let call =
            read(json!({"review": "asked", "mode": "plan", "agent": "a1", "input": "no JSON"}));
        assert_eq!(
            (call.review, call.is_subagent(), call.path),
            (ReviewMode::Asked, true, None)
        );
        assert_eq!(read(json!({"mode": 1})).review, ReviewMode::Asked);
        for mode in [ReviewMode::Always, ReviewMode::Asked, ReviewMode::After] {
            assert_eq!(read(json!({"review": mode.name()})).review, mode);
        }
    }
}
