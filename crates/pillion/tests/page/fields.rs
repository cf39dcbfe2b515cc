//! What is typed and not sent belongs to the proposal that it was typed on, and is never lost.

use std::fs;

use pillion_testkit::client::Update;
use pillion_testkit::{SOON, Tab};

use crate::world::{MESSAGE, Web, accept_in, decide, has_no_problems, key, numbers, shows};

const FIELD: &str = ".file-text textarea";

/// The text that this tab says is kept in a file.
#[track_caller]
fn kept(tab: &Tab) -> String {
    tab.wait_text(MESSAGE, "your text is kept in ");
    let said = tab.text(MESSAGE);
    let (_, place) = said.rsplit_once("kept in ").unwrap();
    fs::read_to_string(place.trim()).unwrap_or_else(|error| panic!("{said}: {error}"))
}

/// Opens the file's text, and types this at its beginning.
fn type_at_the_beginning(tab: &Tab, text: &str) {
    tab.to_front();
    tab.press("e");
    tab.wait_for(FIELD);
    tab.insert_text(text);
    tab.wait_until(&format!(
        "document.querySelector('{FIELD}').value.startsWith({text:?})"
    ));
}

#[track_caller]
fn browser_keeps_nothing(tab: &Tab) {
    let names =
        tab.evaluate("Object.keys(localStorage).filter((it) => it !== 'pillion key').length");
    assert_eq!(names, 0);
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_text_that_was_typed_on_another_proposal_is_named_and_not_put_in() {
    let web = Web::start();
    let mut agent = web.agent();
    let path = web.propose(&agent, "a.txt", "one\n", "two\n");
    type_at_the_beginning(&web.tab, "mine ");
    web.tab.press("Escape");
    web.tab.wait_gone(FIELD);
    web.tab.press("e");
    web.tab.wait_until(&format!(
        "document.querySelector('{FIELD}')?.value === 'mine two\\n'"
    ));
    web.tab.press("Escape");
    web.tab.wait_gone(FIELD);
    agent.propose(web.path("a.txt"), "three\n");
    web.tab.wait_text(".code.ins", "three");
    web.tab.press("e");
    web.tab.wait_until(&format!(
        "document.querySelector('{FIELD}')?.value === 'three\\n'"
    ));
    assert_eq!(kept(&web.tab), "mine two\n");
    web.tab.press("Escape");
    web.tab.wait_gone(FIELD);
    web.decide(key("a"));
    assert_eq!(
        agent.outcome(),
        Update::accepted(path, "three\n".to_owned())
    );
    browser_keeps_nothing(&web.tab);
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_decision_in_another_tab_keeps_the_text_and_ends_the_typing() {
    let web = Web::start();
    let mut agent = web.agent();
    let path = web.propose(&agent, "a.txt", "one\n", "two\n");
    let other = web.browser.open(&web.address);
    shows(&other, "a.txt");
    type_at_the_beginning(&web.tab, "mine ");
    other.to_front();
    decide(&other, key("a"));
    assert_eq!(agent.outcome(), Update::accepted(path, "two\n".to_owned()));
    web.tab.to_front();
    web.tab.wait_text("dialog", "You had not sent this");
    assert_eq!(
        web.tab
            .evaluate("document.querySelector('dialog textarea').value"),
        "mine two\n"
    );
    assert_eq!(kept(&web.tab), "mine two\n");
    // What is still typed means nothing.
    let second = web.path("b.txt");
    agent.propose(&second, "b\n");
    web.tab.wait_text("#head h2", "b.txt");
    web.tab.press("r");
    web.tab.press("Escape");
    web.tab.wait_gone("dialog");
    agent.check_pending(web.home()).unwrap();
    web.decide(key("a"));
    assert_eq!(agent.outcome(), Update::accepted(second, "b\n".to_owned()));
    browser_keeps_nothing(&web.tab);
    has_no_problems(&other);
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_decision_in_the_terminal_keeps_the_text_too() {
    let web = Web::start();
    let review = web.review();
    let mut agent = web.agent();
    let path = web.propose(&agent, "a.txt", "one\n", "two\n");
    review.wait_for("proposes a.txt", SOON);
    type_at_the_beginning(&web.tab, "mine ");
    accept_in(&review, || web.tab.count("dialog") == 1);
    assert_eq!(agent.outcome(), Update::accepted(path, "two\n".to_owned()));
    assert_eq!(kept(&web.tab), "mine two\n");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn of_two_tabs_that_edit_the_second_adds_to_the_first() {
    let web = Web::start();
    let mut agent = web.agent();
    let path = web.propose(&agent, "a.txt", "one\n2\n3\n4\n5\n", "two\n2\n3\n4\n5\n");
    let other = web.browser.open(&web.address);
    shows(&other, "a.txt");
    type_at_the_beginning(&other, "last ");
    other.fill(FIELD, "two\n2\n3\n4\nfive\n");
    type_at_the_beginning(&web.tab, "mine ");
    web.tab.press("Control+Enter");
    web.tab.wait_text(".code.ins", "mine two");
    other.to_front();
    other.press("Control+Enter");
    other.wait_text(".code.ins", "five");
    other.wait_text(".code.ins", "mine two");
    other.wait_text(MESSAGE, "became another text while you typed");
    decide(&other, key("a"));
    let both = "mine two\n2\n3\n4\nfive\n".to_owned();
    assert_eq!(agent.outcome(), Update::accepted(path, both));
    has_no_problems(&other);
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_was_left_and_not_sent_is_named_by_the_decision() {
    let web = Web::start();
    let mut agent = web.agent();
    let path = web.propose(&agent, "a.txt", "one\n", "two\n");
    web.tab.press("Shift+R");
    web.tab.wait_for("dialog textarea");
    web.tab.insert_text("use a table");
    web.tab.press("Escape");
    web.tab.wait_gone("dialog");
    web.tab.press("Shift+R");
    web.tab
        .wait_until("document.querySelector('dialog textarea')?.value === 'use a table'");
    web.tab.press("Escape");
    web.tab.wait_gone("dialog");
    web.decide(key("a"));
    assert_eq!(agent.outcome(), Update::accepted(path, "two\n".to_owned()));
    assert_eq!(kept(&web.tab), "use a table");
    web.propose(&agent, "a.txt", "two\n", "three\n");
    web.tab.press("Shift+R");
    web.tab.wait_for("dialog textarea");
    assert_eq!(
        web.tab
            .evaluate("document.querySelector('dialog textarea').value"),
        ""
    );
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_note_that_is_left_stands_below_its_line_also_after_a_reload() {
    let web = Web::start();
    let agent = web.agent();
    web.propose(&agent, "a.txt", "one\n", "two\n");
    web.tab.press("Shift+C");
    web.tab.wait_for(".writing textarea");
    web.tab.insert_text("left");
    web.tab.press("Escape");
    web.tab.wait_text(".note", "left");
    web.tab.press("Shift+C");
    web.tab.wait_for(".writing textarea");
    web.tab
        .wait_until("document.querySelector('.writing textarea').value === 'left'");
    web.tab.insert_text(" typed");
    web.tab
        .wait_until("document.querySelector('.writing textarea').value.includes('typed')");
    web.tab.reload();
    web.tab.wait_text(".note", "left typed");
}

/// What is typed in this tab is told to the program only once [`arrives`] says so, but for what is sent as the page goes.
fn is_on_its_way(tab: &Tab) {
    tab.evaluate(
        "fetch = ((fetch, way) => (path, how) => path.endsWith('/words') && !how.keepalive ? way.then(() => fetch(path, how)) : fetch(path, how))(
            fetch, new Promise((arrives) => { globalThis.arrives = arrives; }))",
    );
}

fn arrives(tab: &Tab) {
    tab.evaluate("arrives()");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_was_typed_in_the_last_moment_is_there_after_a_reload() {
    let web = Web::start();
    let agent = web.agent();
    web.propose(&agent, "a.txt", "one\n", "two\n");
    for (key, field) in [
        ("Shift+C", ".writing textarea"),
        ("Shift+R", "dialog textarea"),
        ("e", FIELD),
    ] {
        is_on_its_way(&web.tab);
        web.tab.press(key);
        web.tab.wait_for(field);
        web.tab.insert_text("mine ");
        web.tab.reload();
        shows(&web.tab, "a.txt");
        if key == "Shift+C" {
            web.tab.wait_text(".note", "mine");
        }
        // It may come after the page.
        let has = format!("document.querySelector('{field}').value.startsWith('mine')");
        let mut is_there = false;
        while !is_there {
            web.tab.press(key);
            web.tab.wait_for(field);
            is_there = web.tab.evaluate(&has) == true;
            web.tab.press("Escape");
            web.tab.wait_gone(field);
        }
    }
    // More than a browser sends of a page that is gone: it asks whether that is meant.
    let asks = "!dispatchEvent(new Event('beforeunload', { cancelable: true }))";
    is_on_its_way(&web.tab);
    web.tab.press("e");
    web.tab.wait_for(FIELD);
    assert_eq!(web.tab.evaluate(asks), false);
    web.tab.insert_text(&"long ".repeat(20_000));
    web.tab.wait_until(asks);
    arrives(&web.tab);
    web.tab.wait_until(&format!("!({asks})"));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_arrives_after_the_decision_is_kept_as_well() {
    let web = Web::start();
    let review = web.review();
    let agent = web.agent();
    web.propose(&agent, "a.txt", "one\n", "two\n");
    review.wait_for("proposes a.txt", SOON);
    is_on_its_way(&web.tab);
    type_at_the_beginning(&web.tab, "mine ");
    accept_in(&review, || web.tab.count("dialog") == 1);
    arrives(&web.tab);
    assert_eq!(kept(&web.tab), "mine two\n");
    web.tab.press("Escape");
    web.tab.wait_gone("dialog");
    let other = web.browser.open(&web.address);
    for (name, key, field) in [
        ("b.txt", "Shift+C", ".writing textarea"),
        ("c.txt", "Shift+R", "dialog textarea"),
    ] {
        web.tab.to_front();
        web.propose(&agent, name, "one\n", "two\n");
        is_on_its_way(&web.tab);
        web.tab.press(key);
        web.tab.wait_for(field);
        web.tab.insert_text(name);
        other.to_front();
        shows(&other, name);
        decide(&other, |tab| tab.press("r"));
        web.tab.to_front();
        web.tab.wait_text("dialog", "You had not sent this");
        arrives(&web.tab);
        web.tab.wait_text(MESSAGE, &format!("“{name}”"));
        assert_eq!(kept(&web.tab), name);
        web.tab.press("Escape");
        web.tab.wait_gone("dialog");
    }
    has_no_problems(&other);
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn who_types_goes_on_typing_while_the_rows_become_others() {
    let web = Web::start();
    let mut agent = web.agent();
    let proposed = numbers(40).replace("line 30\n", "line thirty\n");
    let path = web.propose(&agent, "a.txt", &numbers(40), &proposed);
    let other = web.browser.open(&web.address);
    shows(&other, "a.txt");
    web.tab.to_front();
    // The text becomes another before the first letter is there, and after it.
    web.tab.press("Shift+C");
    web.tab.wait_for(".writing textarea");
    for (key, out) in [("Space", true), ("z", false)] {
        let is_so = format!("document.querySelector('.strip').matches('.out') === {out}");
        other.to_front();
        other.press(key);
        other.wait_until(&is_so);
        web.tab.to_front();
        web.tab.wait_until(&is_so);
        web.tab.press("a");
        web.tab.press("b");
        web.tab
            .evaluate("document.querySelector('.writing textarea').setSelectionRange(1, 1)");
    }
    // A note above it, and other folds.
    other.to_front();
    other.press("Shift+F");
    other.wait_for(".writing textarea");
    other.insert_text("above");
    other.press("Control+Enter");
    other.wait_text(".note", "above");
    web.tab.to_front();
    web.tab.wait_text(".note", "above");
    web.tab.press("r");
    let value =
        "document.activeElement.matches('.writing textarea') && document.activeElement.value";
    assert_eq!(web.tab.evaluate(value), "arabb");
    web.tab.press("Control+Enter");
    web.tab.wait_text(".note", "arabb");
    web.tab.wait_text(".note", "line 30");
    web.decide(key("a"));
    assert_eq!(agent.outcome(), Update::accepted(path, proposed));
    has_no_problems(&other);
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn the_repeats_of_the_key_that_opens_a_field_are_not_in_it() {
    let web = Web::start();
    let agent = web.agent();
    web.propose(&agent, "a.txt", "one\n", "two\n");
    for (key, field, text) in [
        ("e", FIELD, "two\n"),
        ("R", "dialog textarea", ""),
        ("C", ".writing textarea", ""),
        ("/", "dialog input", ""),
    ] {
        web.tab.hold(key, 20);
        web.tab.wait_for(field);
        web.tab.insert_text("x");
        let has = format!("document.querySelector('{field}').value");
        web.tab.wait_until(&format!("{has}.includes('x')"));
        let text = format!("x{text}");
        assert_eq!(web.tab.evaluate(&has), *text, "{key}");
        web.tab.press("Escape");
        web.tab.wait_gone(field);
    }
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_cannot_be_seen_in_a_field_is_named_before_it_is_sent() {
    let web = Web::start();
    let mut agent = web.agent();
    let proposed = "two\nca\u{202e}b\n";
    let path = web.propose(&agent, "a.txt", "one\n", proposed);
    web.tab.press("e");
    let named = ".file-text .remark";
    web.tab
        .wait_text(named, "1 character cannot be seen in this field");
    web.tab.wait_text(named, "U+202E");
    web.tab.wait_text(named, "in line 2");
    web.tab.insert_text("x\u{200b}y ");
    web.tab
        .wait_text(named, "2 characters cannot be seen in this field");
    web.tab.fill(FIELD, "mine\n");
    web.tab
        .wait_until(&format!("document.querySelector('{named}').hidden"));
    // What comes with the last key is to be looked at first.
    web.tab
        .evaluate("window.fetch = ((fetch) => (...all) => new Promise((go) => setTimeout(go, 300)).then(() => fetch(...all)))(fetch)");
    web.tab.insert_text("\u{2066}");
    web.tab.press("Control+Enter");
    web.tab.wait_text(named, "U+2066");
    web.tab.wait_until(
        "!document.querySelector('.file-text button').disabled && document.querySelector('.file-text') !== null",
    );
    web.tab.press("Control+Enter");
    web.tab.wait_gone(FIELD);
    web.tab.wait_text(".code.ins", "U+2066");
    web.decide(key("a"));
    let update = agent.outcome();
    let has_it = |text: &str| text.contains('\u{2066}') && text.contains("mine");
    assert!(
        matches!(&update, Update::DiffAccepted { path: of, content } if *of == path && has_it(content)),
        "{update:?}"
    );
    // A note is read by a model, which sees it all the same.
    web.propose(&agent, "b.txt", "one\n", "two\n");
    web.tab.press("Shift+C");
    web.tab.wait_for(".writing textarea");
    web.tab.insert_text("a\u{202e}b");
    web.tab.wait_text(".writing .remark", "U+202E");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn of_a_large_file_the_lines_about_the_cursor_are_edited() {
    let web = Web::start();
    let mut agent = web.agent();
    let before: String = (1..=20_000)
        .map(|line| format!("{line}: forty characters, and\ta few\r\n"))
        .collect();
    let proposed = before
        .replace("\n15000: ", "\nfifteen: ")
        .replace("\n100: forty", "\none hundred:\r\nforty");
    let path = web.propose(&agent, "big.txt", &before, &proposed);
    // What is out of it stands above: the lines of both texts differ there.
    web.tab.press("Space");
    web.tab.wait_text(".strip", "excluded");
    web.tab.press("Shift+G");
    web.tab.wait_text("#place", "hunk 2/2");
    web.tab.press("p");
    web.tab.wait_for(".strip.here[data-strip='1']");
    web.tab.press("e");
    web.tab.wait_for(FIELD);
    web.tab.wait_text(".file-text h2", "Lines 14,900 to 17,6");
    web.tab.insert_text("mine ");
    web.tab.wait_until(&format!(
        "document.querySelector('{FIELD}').value.includes('mine fifteen')"
    ));
    web.tab.press("Control+Enter");
    web.tab.wait_gone(FIELD);
    web.tab.wait_text(".code.ins", "mine fifteen");
    web.decide(key("a"));
    let expected = before.replace("\n15000: ", "\nmine fifteen: ");
    assert_eq!(agent.outcome(), Update::accepted(path, expected));
}
