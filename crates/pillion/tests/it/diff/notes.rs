//! The notes of the reviewer with a decision.

use serde_json::{Value, json};

use super::Asking;
use crate::sandbox::Sandbox;

#[test]
fn what_the_reviewer_says_is_printed() {
    let sandbox = Sandbox::new();
    let _serve = sandbox.serve::<&str>([]);
    for (decision, args, code, printed) in [
        (
            "reject",
            ["--because", "no\t\u{1b}[31m"].as_slice(),
            1,
            "note: no    ␛[31m\n",
        ),
        (
            "accept",
            &["--note", "a.txt:1-2", "fine"],
            0,
            "note on lines 1 to 2: fine\n",
        ),
        (
            "reject",
            &["--note", "a.txt:2", "why?"],
            1,
            "note on line 2: why?\n",
        ),
    ] {
        let asking = Asking::start(&sandbox, &["a.txt"], b"one\ntwo\n");
        let id = asking.shown(&sandbox);
        let decided = sandbox
            .run([&[decision, id.as_str()], args].concat())
            .expect(0);
        let told = "note: your note is printed by the command that proposed the change.\n";
        assert_eq!(decided.stderr, told);
        let answer = asking.answer();
        answer.expect(code);
        assert!(answer.stderr.starts_with(printed), "{}", answer.stderr);
    }
    let asking = Asking::start(&sandbox, &["--json", "a.txt"], b"one\n");
    let id = asking.shown(&sandbox);
    sandbox.run(["reject", &id, "--because", "no"]).expect(0);
    let report: Value = serde_json::from_str(asking.answer().expect(1)).unwrap();
    assert_eq!(
        (&report["outcome"], &report["notes"]),
        (&json!("rejected"), &json!([{"text": "no"}]))
    );
}
