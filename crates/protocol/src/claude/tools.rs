//! The calls of the agent: their arguments, and the words of the answers.

use serde_json::{Map, Value, json};

use crate::diff::{OPEN_DIFF, ProposedFile, schema_of_strings, take_content, take_string};

/// Takes the view of one proposal away, by its tab's name.
pub const CLOSE_TAB: &str = "close_tab";
/// Takes the views of this connection's proposals away: "all" means no others. The agent calls it at
/// the start of each turn.
pub const CLOSE_ALL_DIFF_TABS: &str = "closeAllDiffTabs";
/// Asks for the problems that the editor knows of.
pub const GET_DIAGNOSTICS: &str = "getDiagnostics";

/// Every tool's name.
pub const NAMES: [&str; 4] = [OPEN_DIFF, CLOSE_TAB, CLOSE_ALL_DIFF_TABS, GET_DIAGNOSTICS];

/// The first block of an acceptance; the second is the whole final text.
pub const FILE_SAVED: &str = "FILE_SAVED";
/// The block of a rejection.
pub const DIFF_REJECTED: &str = "DIFF_REJECTED";
/// The block that answers [`CLOSE_TAB`]. As an answer to `openDiff` it would accept the proposal.
pub const TAB_CLOSED: &str = "TAB_CLOSED";

/// Reads the arguments of `openDiff`, which is answered when the person has decided. Fields that are not known are ignored.
///
/// # Errors
/// Names the first field that is missing, has another type or is too long, or says that the two
/// paths differ: moving a file cannot be reviewed.
pub fn opened(mut arguments: Map<String, Value>) -> Result<ProposedFile, String> {
    let old = take_string(&mut arguments, OPEN_DIFF, "old_file_path")?;
    let path = take_string(&mut arguments, OPEN_DIFF, "new_file_path")?;
    let content = take_content(&mut arguments, "new_file_contents")?;
    let tab = take_string(&mut arguments, OPEN_DIFF, "tab_name")?;
    if old != path {
        return Err(format!(
            "{OPEN_DIFF}: old_file_path {old:?} and new_file_path {path:?} differ"
        ));
    }
    Ok(ProposedFile::new(path, content).in_tab(tab))
}

/// The tab of a call of [`CLOSE_TAB`], as it was [`opened`].
///
/// # Errors
/// As [`opened`].
pub fn closed_tab(mut arguments: Map<String, Value>) -> Result<String, String> {
    take_string(&mut arguments, CLOSE_TAB, "tab_name")
}

/// The file that a call of [`GET_DIAGNOSTICS`] is about; all of them if there is none. A value that is not a string
/// counts as none.
pub fn diagnosed_uri(mut arguments: Map<String, Value>) -> Option<String> {
    take_string(&mut arguments, GET_DIAGNOSTICS, "uri").ok()
}

/// The tools as `tools/list` shows them: name, description, and the schema of the arguments.
pub fn listed() -> [(&'static str, &'static str, Value); 4] {
    let open = [
        "old_file_path",
        "new_file_path",
        "new_file_contents",
        "tab_name",
    ];
    let mut diagnostics = schema_of_strings(&["uri"]);
    diagnostics["required"] = json!([]);
    [
        (
            OPEN_DIFF,
            "Shows the user proposed new content for a file, to edit, accept or reject. Answers when the user has decided.",
            schema_of_strings(&open),
        ),
        (
            CLOSE_TAB,
            "Closes the view that openDiff opened under this name.",
            schema_of_strings(&["tab_name"]),
        ),
        (
            CLOSE_ALL_DIFF_TABS,
            "Closes all views that openDiff opened on this connection.",
            schema_of_strings(&[]),
        ),
        (
            GET_DIAGNOSTICS,
            "The errors and warnings that the editor shows, of one file or of all.",
            diagnostics,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::MAX_CONTENT;

    fn open(change: impl FnOnce(&mut Map<String, Value>)) -> Result<ProposedFile, String> {
        let arguments = json!({
            "old_file_path": "/a", "new_file_path": "/a", "new_file_contents": "x", "tab_name": "t", "more": 1
        });
        let mut arguments: Map<_, _> = serde_json::from_value(arguments).unwrap();
        change(&mut arguments);
        opened(arguments)
    }

    #[test]
    fn wrong_arguments_name_the_field() {
        assert_eq!(open(|_| {}).unwrap().tab.as_deref(), Some("t"));
        for field in [
            "old_file_path",
            "new_file_path",
            "new_file_contents",
            "tab_name",
        ] {
            let error = open(|it| drop(it.remove(field))).unwrap_err();
            assert_eq!(error, format!("openDiff: {field} is missing"));
            let error = open(|it| it[field] = json!(1)).unwrap_err();
            assert_eq!(
                error,
                format!("openDiff: {field} is a number, not a string")
            );
        }
        let error = open(|it| it["new_file_path"] = json!("/b")).unwrap_err();
        assert!(
            error.contains("\"/a\"") && error.contains("\"/b\""),
            "{error}"
        );
        let long = "x".repeat(MAX_CONTENT + 1);
        let error = open(|it| it["new_file_contents"] = json!(long)).unwrap_err();
        assert!(
            error.contains("new_file_contents has 67108865 bytes"),
            "{error}"
        );
    }

    #[test]
    fn every_tool_is_listed() {
        assert_eq!(listed().map(|(name, ..)| name), NAMES);
    }

    #[test]
    fn schemas_require_what_parsing_requires() {
        let required = listed().map(|(_, _, schema)| schema["required"].as_array().unwrap().len());
        assert_eq!(required, [4, 1, 0, 0]);
    }
}
