//! Codex CLI's question for what an editor shows (`/ide`), learnt by watching the program: one frame in, one frame out, on a
//! socket that all editors of a user share. A frame is the length of its JSON as a little-endian `u32`, and the JSON.
//!
//! Lines and characters count from 0, as in the Language Server Protocol.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::context::{File, IdeContext, Position, Range};

/// The longest question that is read, in bytes of JSON.
pub const MAX_QUESTION: usize = 64 * 1024;

/// The longest answer that is read, in bytes of JSON.
pub const MAX_ANSWER: u64 = 1024 * 1024;

const METHOD: &str = "ide-context";

/// The name that it gives itself.
const CLIENT: &str = "pillion";

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The answer has the same.
    id: Value,
    /// The folder that the agent works in; none if it asks for something that nobody here knows.
    pub folder: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    #[serde(rename = "type")]
    kind: String,
    request_id: Value,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Params,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    workspace_root: Option<PathBuf>,
}

/// The number of bytes of JSON that follow the four bytes in which a frame begins.
pub fn length(start: [u8; 4]) -> Option<usize> {
    let length = usize::try_from(u32::from_le_bytes(start)).ok()?;
    (length <= MAX_QUESTION).then_some(length)
}

impl Question {
    /// Reads the JSON of a frame. None if it is no request.
    pub fn read(json: &[u8]) -> Option<Self> {
        let request: Request = serde_json::from_slice(json).ok()?;
        let folder = request.params.workspace_root;
        let is_ours = request.method == METHOD;
        (request.kind == "request").then(|| Self {
            id: request.request_id,
            folder: folder.filter(|folder| is_ours && folder.is_absolute()),
        })
    }

    /// The frame that answers it: what the editor of its folder shows, or that there is none.
    pub fn answer(&self, context: Option<&IdeContext>) -> Vec<u8> {
        let mut answer = json!({"type": "response", "requestId": self.id});
        match context.zip(self.folder.as_deref()) {
            None => {
                answer["resultType"] = "error".into();
                answer["error"] = "no-client-found".into();
            }
            Some((context, folder)) => {
                answer["resultType"] = "success".into();
                answer["method"] = METHOD.into();
                answer["handledByClientId"] = CLIENT.into();
                answer["result"] = json!({"ideContext": shown(context, folder)});
            }
        }
        frame(&answer)
    }
}

/// The frame in which Codex asks what the editor of this folder shows.
pub fn question(folder: &Path) -> Vec<u8> {
    frame(&json!({
        "type": "request",
        "requestId": CLIENT,
        "sourceClientId": CLIENT,
        "version": 0,
        "method": METHOD,
        "params": {"workspaceRoot": folder.to_string_lossy()},
    }))
}

/// Returns true if the JSON of an answer says what an editor shows.
pub fn is_context(answer: &[u8]) -> bool {
    let answer: Option<Value> = serde_json::from_slice(answer).ok();
    answer.is_some_and(|answer| answer["resultType"] == "success")
}

fn frame(json: &Value) -> Vec<u8> {
    let json = json.to_string();
    let length = u32::try_from(json.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes()[..], json.as_bytes()].concat()
}

fn shown(context: &IdeContext, folder: &Path) -> Value {
    let state = context.workspace_state.as_ref();
    let files = state.and_then(|state| state.open_files.as_deref());
    let files = files.unwrap_or_default();
    let active = files.iter().find(|file| file.is_active == Some(true));
    let tabs: Vec<Value> = files.iter().map(|file| descriptor(file, folder)).collect();
    json!({
        "activeFile": active.map(|file| active_file(file, folder)),
        "openTabs": tabs,
    })
}

/// A file by its path from the folder, if it lies there: the model reads it.
fn descriptor(file: &File, folder: &Path) -> Value {
    let path = Path::new(&file.path);
    let name = path.file_name().unwrap_or_default();
    let below = path.strip_prefix(folder).unwrap_or(path);
    json!({
        "label": name.to_string_lossy(),
        "path": below.to_string_lossy(),
        "fsPath": file.path,
    })
}

fn active_file(file: &File, folder: &Path) -> Value {
    let mut active = descriptor(file, folder);
    let text = file.selected_text.as_deref().unwrap_or_default();
    let selection = file.selection.filter(|_| !text.is_empty());
    let cursor = || {
        let cursor = file.cursor?;
        let [line, character] = [cursor.line, cursor.character].map(|it| it.saturating_sub(1));
        let place = Position { line, character };
        Some(Range {
            start: place,
            end: place,
        })
    };
    let range = selection.or_else(cursor).unwrap_or_default();
    let place = |place: Position| json!({"line": place.line, "character": place.character});
    let range = json!({"start": place(range.start), "end": place(range.end)});
    active["activeSelectionContent"] = text.into();
    active["selections"] = json!([range]);
    active["selection"] = range;
    active
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cursor, WorkspaceState};

    fn question(root: &str) -> Value {
        json!({
            "type": "request", "requestId": "a-b", "sourceClientId": "codex-tui", "version": 0,
            "method": "ide-context", "params": {"workspaceRoot": root},
        })
    }

    fn read(question: &Value) -> Option<Question> {
        Question::read(question.to_string().as_bytes())
    }

    fn answer(question: &Question, context: Option<&IdeContext>) -> Value {
        let frame = question.answer(context);
        let start = [frame[0], frame[1], frame[2], frame[3]];
        assert_eq!(length(start), Some(frame.len() - 4));
        serde_json::from_slice(&frame[4..]).unwrap()
    }

    #[test]
    fn a_question_names_a_folder() {
        let known = read(&question("/w")).unwrap();
        assert_eq!(known.folder.as_deref(), Some(Path::new("/w")));
        let mut other = question("/w");
        other["method"] = json!("initialize");
        for unknown in [question("w"), question(""), other] {
            let question = read(&unknown).unwrap();
            assert_eq!(question.folder, None, "{unknown}");
            let answer = answer(&question, Some(&IdeContext::default()));
            assert_eq!(answer["error"], "no-client-found");
        }
        for none in [
            json!({}),
            json!([]),
            json!({"type": "response", "requestId": 1}),
        ] {
            assert_eq!(read(&none), None, "{none}");
        }
        assert_eq!(length([0, 0, 1, 0]), Some(MAX_QUESTION));
        assert_eq!(length([1, 0, 1, 0]), None);
    }

    #[test]
    fn the_answer_has_the_active_file_and_all_others() {
        let place = |line, character| Position { line, character };
        let active = File {
            is_active: Some(true),
            selected_text: Some("two".to_owned()),
            selection: Some(Range {
                start: place(1, 0),
                end: place(1, 3),
            }),
            ..File::open("/w/src/a.rs", 2)
        };
        let context = |files: Vec<File>| IdeContext {
            workspace_state: Some(WorkspaceState {
                open_files: Some(files),
                is_trusted: None,
            }),
        };
        let asked = read(&question("/w")).unwrap();
        let both = context(vec![active.clone(), File::open("/other/b.rs", 1)]);
        let answered = answer(&asked, Some(&both));
        assert_eq!(answered["requestId"], "a-b");
        let shown = &answered["result"]["ideContext"];
        let range =
            json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}});
        assert_eq!(
            shown["activeFile"],
            json!({
                "label": "a.rs", "path": "src/a.rs", "fsPath": "/w/src/a.rs", "activeSelectionContent": "two",
                "selection": range, "selections": [range],
            })
        );
        assert_eq!(
            shown["openTabs"],
            json!([
                {"label": "a.rs", "path": "src/a.rs", "fsPath": "/w/src/a.rs"},
                {"label": "b.rs", "path": "/other/b.rs", "fsPath": "/other/b.rs"},
            ])
        );
        // Without a selection: where the cursor is.
        let cursor = File {
            selected_text: None,
            selection: None,
            cursor: Some(Cursor {
                line: 3,
                character: 5,
            }),
            ..active
        };
        let answered = answer(&asked, Some(&context(vec![cursor])));
        let file = &answered["result"]["ideContext"]["activeFile"];
        assert_eq!(file["activeSelectionContent"], "");
        assert_eq!(file["selection"]["end"], json!({"line": 2, "character": 4}));
        let nothing = answer(&asked, Some(&IdeContext::default()));
        let expected = json!({"activeFile": null, "openTabs": []});
        assert_eq!(nothing["result"]["ideContext"], expected);
    }

    #[test]
    fn a_question_is_read_as_codexs_and_its_answer_says_whether_there_is_context() {
        for folder in ["/w", "/with \"quotes\"", "/ä"] {
            let frame = super::question(Path::new(folder));
            let (start, json) = frame.split_at(4);
            assert_eq!(length(start.try_into().unwrap()), Some(json.len()));
            let question = Question::read(json).unwrap();
            assert_eq!(question.folder.as_deref(), Some(Path::new(folder)));
            let context = IdeContext::for_agents(Vec::new(), None);
            assert!(is_context(&question.answer(Some(&context))[4..]));
            assert!(!is_context(&question.answer(None)[4..]));
        }
        assert!(!is_context(b"{") && !is_context(b"[]"));
    }
}
