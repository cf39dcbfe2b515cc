//! What saves decides nothing, and what a save makes of a text is not the person's.

use pillion_testkit::client::Update;

use crate::stand_in::at_work;

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn saving_formatting_and_saving_by_itself_decide_and_change_nothing() {
    let (sandbox, mut window, mut agent, path) = at_work("a.txt", "one\n");
    let proposed = "one   \ntwo\t\n";
    agent.propose(&path, proposed);
    window.wait_for("a.txt", "two");
    window.run("settings.trims = true");
    window.run("person.save()");
    window.wait_for_sentence("Saving decides nothing");
    assert_eq!(window.text(), proposed);
    agent.check_pending(&sandbox.home).unwrap();

    window.run("person.type('mine ')");
    window.run("person.save()");
    assert_eq!(window.text(), format!("mine {proposed}"));
    agent.check_pending(&sandbox.home).unwrap();
    // What the person typed is saved by itself, so that closing asks nothing.
    window.run("person.type('more ')");
    window.wait_until("!active.document.isDirty");
    let outcome = window.insist("person.run('accept')", &mut agent);
    let expected = Update::accepted(path, format!("mine more {proposed}"));
    assert_eq!(outcome, expected);
}
