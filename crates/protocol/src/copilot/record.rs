//! Copilot CLI's record of its session: what it has sent with each prompt, of which it tells nobody.

use serde_json::Value;

use crate::record::Recorded;

/// The folder below its own in which each session has a folder.
pub const SESSIONS: &str = "session-state";

/// The record's name there.
pub const NAME: &str = "events.jsonl";

const PROMPT: &str = "user.message";

/// The name of the file beside the record of the session that is open in this process.
pub fn open_in(process: u32) -> String {
    format!("inuse.{process}.lock")
}

/// Returns what is selected in the prompt that a line of it is about, if it is about one.
pub fn recorded(line: &str) -> Option<Recorded> {
    let line = line.contains(PROMPT).then_some(line)?;
    let entry: Value = serde_json::from_str(line).ok()?;
    let attached = entry["data"]["attachments"].as_array()?;
    let mut attached = attached.iter().filter(|it| it["type"] == "selection");
    let text = attached.find_map(|it| it["text"].as_str())?;
    (entry["type"] == PROMPT).then(|| Recorded::Selected(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_prompt_with_a_selection_has_one() {
        let entry = |kind: &str, attached: Value| {
            json!({"type": kind, "data": {"attachments": attached}}).to_string()
        };
        let file = json!({"type": "file", "text": "no"});
        let selection = json!({"type": "selection", "text": "why"});
        for (line, expected) in [
            (entry(PROMPT, json!([file, selection])), Some("why")),
            (entry(PROMPT, json!([file])), None),
            (entry(PROMPT, Value::Null), None),
            (entry("assistant.message", json!([selection, PROMPT])), None),
            (format!("{PROMPT} {selection}"), None),
        ] {
            let expected = expected.map(|it| Recorded::Selected(it.to_owned()));
            assert_eq!(recorded(&line), expected, "{line}");
        }
    }
}
