//! The problems that the plugin's editor shows, as agents read them.

use lsp_server::{ErrorCode, Message, ResponseError};
use pillion_protocol::{Diagnostic, FileDiagnostics, Severity};
use pillion_view::Reply;
use serde_json::{Value, json};

use super::messages::{self, Asked, DIAGNOSTICS, Requests};
use crate::position::Encoding;
use crate::{message, uri};

/// As many as are sent to an agent, of all files together.
const MAX_DIAGNOSTICS: usize = 1000;

/// The state of the plugin's diagnostics.
#[derive(Debug)]
pub struct Diagnostics {
    encoding: Encoding,
    /// An older plugin cannot be asked.
    is_unknown: bool,
}

impl Diagnostics {
    /// Nothing yet.
    pub fn new(encoding: Encoding) -> Self {
        Self {
            encoding,
            is_unknown: false,
        }
    }

    /// The request, if the plugin may know an answer.
    pub fn ask(
        &self,
        uri: Option<String>,
        found: Reply<Vec<FileDiagnostics>>,
        requests: &mut Requests,
    ) -> Option<Message> {
        if self.is_unknown {
            found.done(Vec::new());
            return None;
        }
        let params = json!({"uri": uri});
        let asked = Asked::Diagnostics { uri, found };
        Some(requests.ask(DIAGNOSTICS, params, asked))
    }

    pub fn answered(
        &mut self,
        asked: Option<&str>,
        found: Reply<Vec<FileDiagnostics>>,
        result: Result<Value, ResponseError>,
    ) {
        let files = match result {
            Ok(value) => message::params(value).map_err(|why| format!("invalid answer: {why}")),
            Err(error) => {
                self.is_unknown |= error.code == ErrorCode::MethodNotFound as i32;
                Err(error.message)
            }
        };
        let files = files.unwrap_or_else(|why| {
            tracing::debug!(why, "no diagnostics");
            messages::Diagnostics { files: Vec::new() }
        });
        found.done(for_agents(files, asked, self.encoding));
    }
}

/// No more than [`MAX_DIAGNOSTICS`], by the names of files that agents expect.
fn for_agents(
    found: messages::Diagnostics,
    asked: Option<&str>,
    encoding: Encoding,
) -> Vec<FileDiagnostics> {
    let mut room = MAX_DIAGNOSTICS;
    let files = found.files.into_iter().filter_map(|file| {
        let uri = match asked {
            Some(asked) if asked == file.uri => file.uri,
            // Agents encode nothing.
            _ => format!("file://{}", uri::to_path(&file.uri)?.to_str()?),
        };
        let diagnostics = file.diagnostics.into_iter().take(room);
        let diagnostics: Vec<_> = diagnostics
            .map(|problem| for_agent(problem, encoding))
            .collect();
        room -= diagnostics.len();
        (!diagnostics.is_empty()).then_some(FileDiagnostics { uri, diagnostics })
    });
    files.collect()
}

fn for_agent(problem: messages::Diagnostic, encoding: Encoding) -> Diagnostic {
    Diagnostic {
        message: problem.message,
        severity: match problem.severity {
            Some(2) => Severity::Warning,
            Some(3) => Severity::Info,
            Some(4) => Severity::Hint,
            _ => Severity::Error,
        },
        range: problem.range.as_agents_count(encoding),
        source: problem.source,
        code: problem.code,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn range(line: u32, from: u32, to: u32) -> Value {
        let place = |character| json!({"line": line, "character": character});
        json!({"start": place(from), "end": place(to)})
    }

    /// The agent's answer when it asked for `uri`.
    fn told(
        diagnostics: &mut Diagnostics,
        uri: Option<&str>,
        answer: Result<Value, ResponseError>,
    ) -> Value {
        let (sender, receiver) = crossbeam_channel::unbounded();
        let found = Reply::new(move |files| drop(sender.send(files)));
        diagnostics.answered(uri, found, answer);
        let files = receiver.recv().expect("an answer").expect("a good one");
        serde_json::to_value(files).expect("it is JSON")
    }

    #[test]
    fn agents_read_names_of_severities_and_utf16_columns() {
        let mut diagnostics = Diagnostics::new(Encoding::Utf8);
        let mut place = range(2, 4, 7);
        place["startLineText"] = "\u{1f600}ab".into();
        place["endLineText"] = "\u{1f600}abc".into();
        let found = json!({"files": [{"uri": "file:///a b", "diagnostics": [
            {"range": place, "severity": 2, "message": "m", "source": "tsc", "code": 2304},
            {"range": range(0, 0, 0), "message": "n", "code": "E1", "severity": null},
        ]}]});
        let told = told(&mut diagnostics, Some("file:///a b"), Ok(found));
        assert_eq!(
            told,
            json!([{"uri": "file:///a b", "diagnostics": [
                {"message": "m", "severity": "Warning", "range": range(2, 2, 5), "source": "tsc", "code": 2304},
                {"message": "n", "severity": "Error", "range": range(0, 0, 0), "code": "E1"},
            ]}])
        );
    }

    #[test]
    fn a_file_is_named_as_it_was_asked_for_and_otherwise_without_encoding() {
        let mut diagnostics = Diagnostics::new(Encoding::Utf16);
        let file = |uri: &str| {
            let one = json!({"range": range(0, 0, 1), "message": "m"});
            json!({"uri": uri, "diagnostics": [one]})
        };
        let mut names = |asked, given: &str| {
            let answer =
                json!({"files": [file(given), {"uri": "file:///none", "diagnostics": []}]});
            let told = told(&mut diagnostics, asked, Ok(answer));
            let files = told.as_array().unwrap().clone();
            files
                .into_iter()
                .map(|file| file["uri"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(Some("file:///50%25"), "file:///50%25"),
            ["file:///50%25"]
        );
        assert_eq!(names(None, "file:///50%25%20x"), ["file:///50% x"]);
        assert_eq!(names(None, "untitled:1"), Vec::<Value>::new());
    }

    #[test]
    fn no_more_than_a_thousand_are_passed_on() {
        let one = json!({"range": range(0, 0, 1), "message": "m"});
        let file = |name: &str, count: usize| json!({"uri": format!("file:///{name}"), "diagnostics": vec![&one; count]});
        let answer = json!({"files": [file("a", 600), file("b", 600), file("c", 600)]});
        let told = told(&mut Diagnostics::new(Encoding::Utf16), None, Ok(answer));
        let counts: Vec<_> = told
            .as_array()
            .unwrap()
            .iter()
            .map(|file| file["diagnostics"].as_array().unwrap().len())
            .collect();
        assert_eq!(counts, [600, 400]);
    }

    #[test]
    fn what_cannot_be_read_is_none_and_a_plugin_that_cannot_be_asked_is_asked_once() {
        let mut diagnostics = Diagnostics::new(Encoding::Utf16);
        let wrong = [json!(null), json!([]), json!({"files": [{"uri": 1}]})];
        for answer in wrong {
            assert_eq!(told(&mut diagnostics, None, Ok(answer)), json!([]));
        }
        let failed = message::error(ErrorCode::InternalError, "it failed");
        assert_eq!(told(&mut diagnostics, None, Err(failed)), json!([]));
        let asks = |diagnostics: &Diagnostics| {
            let found = Reply::new(|_| {});
            diagnostics
                .ask(None, found, &mut Requests::default())
                .is_some()
        };
        assert!(asks(&diagnostics));
        let unknown = message::unknown_method(DIAGNOSTICS);
        assert_eq!(told(&mut diagnostics, None, Err(unknown)), json!([]));
        assert!(!asks(&diagnostics));
    }
}
