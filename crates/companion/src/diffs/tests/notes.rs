//! Notes that go with a decision.

use pillion_protocol::Note;

use super::*;

#[test]
fn notes_go_with_any_decision_and_with_no_other() {
    let now = Instant::now();
    let note = || vec![Note::on_all("why?")];

    let mut diffs = pending();
    diffs.note(DiffId(1), note(), Vec::new());
    let settled = diffs.resolved(key(1, 1), Outcome::Rejected);
    assert!(
        matches!(&settled[0], Action::Notify { remark: Some(_), delivery, .. } if delivery.notes.is_empty())
    );

    let mut diffs = pending();
    diffs.note(DiffId(1), note(), Vec::new());
    let closed = diffs.resolved(key(1, 1), accepted("edited"));
    assert!(matches!(
        &closed[0],
        Action::Notify {
            remark: Some(_),
            ..
        }
    ));

    let mut diffs = pending();
    diffs.note(DiffId(1), note(), Vec::new());
    open(&mut diffs, proposal("s", "/a", "newer"), "again", now);
    diffs.shown(key(1, 2), Ok(()));
    let settled = diffs.resolved(key(1, 2), accepted("newer"));
    assert!(matches!(&settled[0], Action::Notify { remark: None, .. }));
}
