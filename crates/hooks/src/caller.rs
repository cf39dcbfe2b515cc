//! Whose call it is that a hook gets. Other programs run the hooks of Claude Code's settings files, too, with fields of their own:
//! Copilot CLI those of a project, and agents of editors those of the user. A call of theirs is not taken for one of Claude Code's.

use pillion_protocol::Dialect;
use serde_json::{Map, Value};

/// Returns the agent that makes this call of a hook of `named`; none if it is another program than that, and not known.
/// `commanding` are the agents one of whose commands the hook is, or is below.
pub fn of(named: Dialect, input: &Map<String, Value>, commanding: &[Dialect]) -> Option<Dialect> {
    if named != Dialect::ClaudeCode || is_claude_codes(input) {
        return Some(named);
    }
    let mut others = commanding.iter().copied();
    others.find(|agent| *agent == Dialect::CopilotCli)
}

/// Returns true if Claude Code sends these fields. The programs that do as if they were it name neither its permission mode nor the
/// file of its session, or tell the time, too.
fn is_claude_codes(input: &Map<String, Value>) -> bool {
    let has = |field: &str| input.contains_key(field);
    let is_named = has("hook_event_name") && has("session_id");
    is_named && (has("permission_mode") || has("transcript_path") && !has("timestamp"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_of_another_program_is_not_claude_codes() {
        let claude = Some(Dialect::ClaudeCode);
        let copilot = Some(Dialect::CopilotCli);
        let named = |more: Value| {
            let mut input = json!({"hook_event_name": "Stop", "session_id": "s", "cwd": "/w"});
            let more = more.as_object().unwrap().clone();
            input.as_object_mut().unwrap().extend(more);
            input
        };
        let (file, time) = (
            ("transcript_path", "/t"),
            ("timestamp", "2026-11-28T18:07:06.396Z"),
        );
        for (input, expected) in [
            (
                named(json!({"permission_mode": "default", file.0: file.1})),
                [claude; 2],
            ),
            (named(json!({file.0: file.1})), [claude; 2]),
            // Copilot CLI, VS Code as it was and as it is, Cursor.
            (named(json!({time.0: time.1})), [None, copilot]),
            (
                named(json!({file.0: file.1, time.0: time.1})),
                [None, copilot],
            ),
            (
                json!({"hookEventName": "Stop", "sessionId": "s", file.0: file.1}),
                [None, copilot],
            ),
            (
                json!({"hook_event_name": "stop", "conversation_id": "c", file.0: file.1}),
                [None, copilot],
            ),
            (
                json!({"hookName": "permissionRequest", "sessionId": "s"}),
                [None, copilot],
            ),
            (json!({}), [None, copilot]),
        ] {
            let input = input.as_object().unwrap();
            let both = [Dialect::ClaudeCode, Dialect::CopilotCli];
            let called = [&both[..1], &both].map(|it| of(Dialect::ClaudeCode, input, it));
            assert_eq!(called, expected, "{input:?}");
            assert_eq!(of(Dialect::CodexCli, input, &both), Some(Dialect::CodexCli));
        }
    }
}
