//! A plugin that does not answer: agents get errors, and nothing is mixed up afterwards.

use serde_json::json;

use crate::agent::{self, accepted};
use crate::client::Editor;
use crate::sandbox::Sandbox;

#[test]
fn a_late_answer_does_no_harm() {
    let (_sandbox, mut editor, mut agent, path) = agent::at_work();
    let path = path.as_str();
    let call = agent.proposing(path, "one");
    let unanswered = editor.next("pillion/openDiff");
    let error = call.end().unwrap_err();
    assert!(
        error.contains("did not answer within 10 seconds"),
        "{error}"
    );
    let close = editor.next("pillion/closeDiff");
    assert_eq!(close["params"]["reason"], "notShown");

    let call = agent.proposing(path, "two");
    let request = editor.next("pillion/openDiff");
    editor.answer(&unanswered, json!({}));
    let late = editor.decide(&unanswered["params"], "accept", None);
    assert_eq!(late["result"]["code"], "notPending", "{late}");
    editor.answer(&close, json!({"content": "one"}));
    editor.answer(&close, json!({"content": "one"}));
    editor.send(json!({"jsonrpc": "2.0", "id": "never asked", "result": null}));
    editor.answer(&request, json!({}));
    call.end().unwrap();
    editor.settle(&request["params"], "accept", None);
    assert_eq!(agent.outcome(), accepted(path, "two"));
}

#[test]
fn a_view_that_is_not_closed_in_time_is_an_error_for_the_agent() {
    let (_sandbox, mut editor, agent, path) = agent::at_work();
    let path = path.as_str();
    agent::show(&agent, &mut editor, path, "one");
    let call = agent.closing(path);
    let close = editor.next("pillion/closeDiff");
    let error = call.end().unwrap_err();
    assert!(
        error.contains("did not answer within 10 seconds"),
        "{error}"
    );
    editor.answer(&close, json!({"content": "one"}));
    let diff = agent::show(&agent, &mut editor, path, "two");
    assert_eq!(diff["revision"], 1);
}

#[test]
fn a_plugin_that_never_sends_initialized_gets_no_requests() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start::<&str>(&sandbox, []);
    editor.initialize(crate::client::plugin_params());
    assert!(editor.passed().is_empty());
    editor.hang_up();
    assert_eq!(editor.ended().0, Some(0));
}
