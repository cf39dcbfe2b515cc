//! Notes that go with a decision.

use pillion_protocol::Note;

use super::*;

#[test]
fn notes_go_with_any_decision_and_with_no_other() {
    let now = Instant::now();
    let told =
        " (Gemini CLI gets your note with your next prompt, unless you select something before)";
    let note = || vec![Note::on_all("why?")];

    let mut diffs = pending();
    diffs.note(DiffId(1), note());
    let settled = diffs.settle(DiffId(1), Decision::Reject, "command", now);
    assert!(
        matches!(&settled[0], Action::Notify { remark: Some(_), delivery, .. } if delivery.notes.is_empty())
    );
    let answer = lines(settled).pop().unwrap();
    assert!(
        answer.starts_with("command: Settled (Gemini CLI cannot be told"),
        "{answer}"
    );

    let mut diffs = pending();
    diffs.note(DiffId(1), note());
    diffs.settle(DiffId(1), ACCEPT, "command", now);
    let answer = lines(diffs.closed(DiffId(1), 1, Ok("edited".into())))
        .pop()
        .unwrap();
    assert_eq!(answer, format!("command: SettledWithEdits{told}"));

    let mut diffs = pending();
    diffs.note(DiffId(1), note());
    open(&mut diffs, proposal("s", "/a", "newer"), "again", now);
    diffs.shown(DiffId(1), 2, Ok(()));
    let settled = diffs.resolved(DiffId(1), 2, accepted("newer"));
    assert!(matches!(&settled[0], Action::Notify { remark: None, .. }));
}
