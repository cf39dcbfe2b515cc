//! The records that agents keep of their sessions, as far as they tell what Pillion is not told: that a prompt was sent, and what went
//! with it. The companion contract has none; this is the form of the one agent with that protocol which says which session a
//! process has.

use serde_json::Value;

/// The folder below its own in which a file for each process says which session that has.
pub const PROCESSES: &str = "sessions";

/// The folder below its own in which each project has a folder.
pub const PROJECTS: &str = "projects";

/// What a line of a record tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// A prompt was sent, and this was selected in it.
    Selected(String),
    /// A prompt was sent, with all that the agent knew of.
    Prompt,
    /// Its model has answered.
    Answer,
}

/// The record of the session that the file of a process is about: its path below the folder of a project.
pub fn of_process(text: &[u8]) -> Option<String> {
    let process: Value = serde_json::from_slice(text).ok()?;
    let session = process["sessionId"].as_str()?;
    let is_name = session
        .bytes()
        .all(|it| it.is_ascii_alphanumeric() || it == b'-');
    is_name.then(|| format!("chats/{session}.jsonl"))
}

/// Returns what a line of the record tells, if it is any of that.
pub fn recorded(line: &str) -> Option<Recorded> {
    let entry: Value = serde_json::from_str(line).ok()?;
    match (entry["type"].as_str()?, entry["provenance"].as_str()?) {
        ("user", "real_user") => Some(Recorded::Prompt),
        ("assistant", _) => Some(Recorded::Answer),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_and_an_answer_are_told_and_nothing_else() {
        let line = |kind: &str, by: &str| format!(r#"{{"type":"{kind}","provenance":"{by}"}}"#);
        for (line, expected) in [
            (line("user", "real_user"), Some(Recorded::Prompt)),
            (
                line("assistant", "assistant_output"),
                Some(Recorded::Answer),
            ),
            (line("user", "system"), None),
            (line("tool_result", "tool_result"), None),
            ("[".to_owned(), None),
        ] {
            assert_eq!(recorded(&line), expected, "{line}");
        }
    }

    #[test]
    fn the_record_of_a_process_has_the_name_of_its_session() {
        let of = |session: &str| of_process(format!(r#"{{"sessionId":"{session}"}}"#).as_bytes());
        assert_eq!(of("a-1").as_deref(), Some("chats/a-1.jsonl"));
        assert_eq!((of("../x"), of_process(b"{")), (None, None));
    }
}
