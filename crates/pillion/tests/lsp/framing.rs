//! Input that is no protocol.

use serde_json::json;

use crate::client::{Editor, plugin_params};
use crate::sandbox::Sandbox;

#[test]
fn what_cannot_be_trusted_ends_pillion_with_a_sentence_and_leaves_no_files() {
    for (bytes, reason) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "header line"),
        (b"Content-Type: text\r\n\r\n{}", "no Content-Length"),
        (
            b"Content-Length: 9999999999999999\r\n\r\n",
            "9999999999999999 bytes",
        ),
        (
            b"Content-Length: 99999999999999999999999999\r\n\r\n",
            "header line",
        ),
        (b"Content-Length: 6\r\n\r\nsecret", "not JSON"),
        (b"Content-Length: 3\r\n\r\n\"\xff\"", "not UTF-8"),
    ] {
        let sandbox = Sandbox::new();
        let mut editor = Editor::plugin(&sandbox);
        let files = crate::agent::files(&mut editor);
        assert!(files[0].exists());
        editor.send_raw(bytes);
        let (code, errors) = editor.ended();
        assert_eq!(code, Some(1), "{errors}");
        assert!(
            errors.starts_with("error: cannot parse the editor's messages\n"),
            "{errors}"
        );
        assert!(
            errors.contains(reason) && errors.contains("\nhint: "),
            "{errors}"
        );
        assert!(!errors.contains("secret"), "{errors}");
        assert!(!files.iter().any(|file| file.exists()), "C6.2");
    }
}

#[test]
fn it_is_the_same_before_the_handshake() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start::<&str>(&sandbox, []);
    editor.send_raw("hello\n");
    let (code, errors) = editor.ended();
    assert_eq!(code, Some(1));
    assert!(errors.contains("hint: "), "{errors}");
}

#[test]
fn a_message_that_is_cut_off_is_an_end() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::plugin(&sandbox);
    editor.send_raw("Content-Length: 2000000000\r\n\r\n{");
    editor.hang_up();
    assert_eq!(editor.ended(), (Some(0), String::new()));
}

#[test]
fn half_a_character_does_not_end_pillion() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::plugin(&sandbox);
    let params = r#"{"openFiles":[],"note":"\ud83d"}"#;
    let body =
        format!(r#"{{"jsonrpc":"2.0","method":"pillion/didChangeContext","params":{params}}}"#);
    editor.send_raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    editor.passed();
}

#[test]
fn json_that_is_no_message_is_passed_over() {
    let sandbox = Sandbox::new();
    let mut editor = Editor::start::<&str>(&sandbox, []);
    for other in [
        json!([]),
        json!({}),
        json!({"id": null, "error": {"code": 1, "message": ""}}),
    ] {
        editor.send(other);
    }
    editor.initialize(plugin_params());
}
