//! The calls of the agent: their arguments, and the words of the answers.

use serde_json::{Map, Value, json};

use crate::diff::{ProposedFile, schema_of_strings, take_content, take_string};
use crate::remarks;

/// Shows a proposal. Answered when the person has decided.
pub const OPEN_DIFF: &str = "open_diff";
/// Takes the view of one proposal away, by its tab's name.
pub const CLOSE_DIFF: &str = "close_diff";
/// Asks for the problems that the editor knows of.
pub const GET_DIAGNOSTICS: &str = "get_diagnostics";
/// Asks for what is selected.
pub const GET_SELECTION: &str = "get_selection";
/// Tells what its session is about.
pub const UPDATE_SESSION_NAME: &str = "update_session_name";

/// Every tool's name.
pub const NAMES: [&str; 5] = [
    OPEN_DIFF,
    CLOSE_DIFF,
    GET_DIAGNOSTICS,
    GET_SELECTION,
    UPDATE_SESSION_NAME,
];

/// Reads the arguments of [`OPEN_DIFF`]: the text is what the agent will write, with the file's own line ends. Fields that are not
/// known are ignored.
///
/// # Errors
/// Names the first field that is missing, has another type or is too long.
pub fn opened(mut arguments: Map<String, Value>) -> Result<ProposedFile, String> {
    let path = take_string(&mut arguments, OPEN_DIFF, "original_file_path")?;
    let content = take_content(&mut arguments, "new_file_contents")?;
    let tab = take_string(&mut arguments, OPEN_DIFF, "tab_name")?;
    Ok(ProposedFile::new(path, content).in_tab(tab))
}

/// The tab of a call of [`CLOSE_DIFF`], as it was [`opened`].
///
/// # Errors
/// As [`opened`].
pub fn closed_tab(mut arguments: Map<String, Value>) -> Result<String, String> {
    take_string(&mut arguments, CLOSE_DIFF, "tab_name")
}

/// The file that a call of [`GET_DIAGNOSTICS`] is about; all of them if there is none.
pub fn diagnosed_uri(mut arguments: Map<String, Value>) -> Option<String> {
    take_string(&mut arguments, GET_DIAGNOSTICS, "uri").ok()
}

/// The answer to [`OPEN_DIFF`]: the agent writes its own text, or ends its turn. It leaves the question to its terminal
/// if a field is missing.
pub fn decided(is_accepted: bool, tab_name: &str) -> String {
    let (result, trigger, message) = match is_accepted {
        true => ("SAVED", "accepted_via_button", remarks::ACCEPTED),
        false => ("REJECTED", "rejected_via_button", remarks::REJECTED),
    };
    json!({
        "success": true, "result": result, "trigger": trigger, "tab_name": tab_name, "message": message,
    })
    .to_string()
}

/// The answer to [`CLOSE_DIFF`].
pub fn closed(was_open: bool) -> String {
    let message = match was_open {
        true => "The diff is closed.",
        false => "No diff of this name is open.",
    };
    json!({"success": true, "already_closed": !was_open, "message": message}).to_string()
}

/// The answer to a call from which nothing is wanted but that it was heard.
pub fn heard() -> String {
    json!({"success": true}).to_string()
}

/// The tools as `tools/list` shows them: name, description, and the schema of the arguments. The agent gives its model
/// those for diagnostics and the selection as they are here.
pub fn listed() -> [(&'static str, &'static str, Value); 5] {
    let mut diagnostics = schema_of_strings(&["uri"]);
    diagnostics["required"] = json!([]);
    diagnostics["properties"]["uri"]["description"] =
        "The file, as `file://` and its absolute path; without it, all files.".into();
    [
        (
            OPEN_DIFF,
            "Shows the user proposed new content for a file, to accept or reject. Answers when the user has decided.",
            schema_of_strings(&["original_file_path", "new_file_contents", "tab_name"]),
        ),
        (
            CLOSE_DIFF,
            "Closes the view that open_diff opened under this name.",
            schema_of_strings(&["tab_name"]),
        ),
        (
            GET_DIAGNOSTICS,
            "The errors and warnings that the user's editor shows, of one file or of all. Lines and characters count from 0.",
            diagnostics,
        ),
        (
            GET_SELECTION,
            "The file that is active in the user's editor, and what is selected in it. Lines and characters count from 0.",
            schema_of_strings(&[]),
        ),
        (
            UPDATE_SESSION_NAME,
            "Tells the editor what this session is about.",
            schema_of_strings(&["name"]),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(change: impl FnOnce(&mut Map<String, Value>)) -> Result<ProposedFile, String> {
        let arguments = json!({
            "original_file_path": "/a", "new_file_contents": "x\r\n", "tab_name": "t", "more": 1
        });
        let mut arguments: Map<_, _> = serde_json::from_value(arguments).unwrap();
        change(&mut arguments);
        opened(arguments)
    }

    #[test]
    fn wrong_arguments_name_the_field() {
        assert_eq!(open(|_| {}).unwrap().content, "x\r\n");
        for field in ["original_file_path", "tab_name"] {
            let error = open(|it| drop(it.remove(field))).unwrap_err();
            assert_eq!(error, format!("open_diff: {field} is missing"));
        }
        let error = open(|it| it["new_file_contents"] = json!(1)).unwrap_err();
        assert!(error.contains("new_file_contents is a number"), "{error}");
    }

    #[test]
    fn every_tool_is_listed_and_requires_what_parsing_requires() {
        assert_eq!(listed().map(|(name, ..)| name), NAMES);
        let required = listed().map(|(_, _, schema)| schema["required"].as_array().unwrap().len());
        assert_eq!(required, [3, 1, 0, 0, 1]);
    }

    #[test]
    fn a_decision_has_every_field_that_the_agent_looks_for() {
        for (is_accepted, result) in [(true, "SAVED"), (false, "REJECTED")] {
            let answer: Value = serde_json::from_str(&decided(is_accepted, "a \"tab\"")).unwrap();
            assert_eq!(answer["result"], result);
            assert_eq!(answer["tab_name"], "a \"tab\"");
            assert!(answer["trigger"].is_string() && answer["message"].is_string());
        }
    }
}
