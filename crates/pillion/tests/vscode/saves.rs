//! What saves decides nothing, and what a save makes of a text is not the person's.

use pillion_testkit::client::Update;

use crate::stand_in::at_work;

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn saving_formatting_and_saving_by_itself_decide_and_change_nothing() {
    for trims in ["before", "after"] {
        saving_decides_and_changes_nothing(trims);
    }
}

fn saving_decides_and_changes_nothing(trims: &str) {
    let (sandbox, mut window, mut agent, path) = at_work("a.txt", "one\n");
    let proposed = "one   \ntwo\t\n";
    agent.propose(&path, proposed);
    window.wait_for("a.txt", "two");
    window.run(&format!("settings.trims = '{trims}'"));
    window.run("person.save()");
    window.wait_for_sentence("Saving decides nothing");
    window.wait_until(&format!("person.text() === {proposed:?}"));
    agent.check_pending(&sandbox.home).unwrap();

    // What is put back is saved as it is, or VS Code saves and trims it once more, and so on.
    window.run("void (settings.lags = true)");
    window.run("person.save()");
    window.wait_until(&format!(
        "!active.document.isUnsaved && person.text() === {proposed:?}"
    ));
    window.run("void (settings.lags = false)");

    window.run("person.type('mine ')");
    window.run("person.save()");
    window.wait_until(&format!("person.text() === 'mine ' + {proposed:?}"));
    agent.check_pending(&sandbox.home).unwrap();
    // What the person typed is saved by itself, so that closing asks nothing.
    window.run("person.type('more ')");
    window.wait_until("!active.document.isDirty");
    let outcome = window.insist("person.run('accept')", &mut agent);
    let expected = Update::accepted(path, format!("mine more {proposed}"));
    assert_eq!(outcome, expected);
}

#[test]
#[ignore = "needs Node: cargo xtask test"]
fn what_is_typed_while_a_save_trims_the_text_is_all_that_is_accepted_of_it() {
    for trims in ["before", "after"] {
        let (_sandbox, mut window, mut agent, path) = at_work("a.txt", "one\n");
        agent.propose(&path, "one   \ntwo\t\n");
        window.wait_for("a.txt", "two");
        window.run("person.type('mine ')");
        window.run(&format!("settings.trims = '{trims}'"));
        // A key that comes before the text is written, and nothing after it.
        window.run(
            "settings.meanwhile = () => { settings.meanwhile = undefined; person.type('more '); }",
        );
        window.run("person.save()");
        let expected = "mine more one   \ntwo\t\n";
        window.wait_until(&format!("person.text() === {expected:?}"));
        let outcome = window.insist("person.run('accept')", &mut agent);
        assert_eq!(outcome, Update::accepted(path, expected));
    }
}
