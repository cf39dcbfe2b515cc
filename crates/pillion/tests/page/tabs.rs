//! Several tabs, and a terminal beside them, have one truth.

use pillion_testkit::SOON;
use pillion_testkit::client::Update;

use crate::world::{MESSAGE, Web, accept_in, decide, has_no_problems, key, numbers, shows};

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn an_edit_survives_a_reload_and_is_in_another_tab_too() {
    let web = Web::start();
    let mut agent = web.agent();
    let path = web.propose(&agent, "a.txt", "one\n", "two\n");
    let other = web.browser.open(&web.address);
    shows(&other, "a.txt");
    web.tab.to_front();
    web.tab.press("e");
    web.tab.wait_for(".file-text textarea");
    web.tab.fill(".file-text textarea", "mine\n");
    web.tab.press("Control+Enter");
    web.tab.wait_text(".code.ins", "mine");
    other.to_front();
    other.wait_text(".code.ins", "mine");
    other.reload();
    other.wait_text(".code.ins", "mine");
    let said = decide(&other, key("a"));
    assert!(said.contains("accepted"), "{said}");
    assert_eq!(agent.outcome(), Update::accepted(path, "mine\n".to_owned()));
    web.tab.wait_text(".empty", "Nothing to review");
    has_no_problems(&other);
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn the_first_decision_counts_and_the_other_tab_keeps_its_words() {
    let web = Web::start();
    let mut agent = web.agent();
    web.propose(&agent, "a.txt", "one\n", "two\n");
    web.tab.press("Shift+C");
    web.tab.wait_for(".writing textarea");
    web.tab.type_text("not sent yet");
    let other = web.browser.open(&web.address);
    shows(&other, "a.txt");
    decide(&other, key("r"));
    assert!(matches!(agent.outcome(), Update::DiffRejected { .. }));
    has_no_problems(&other);
    web.tab.to_front();
    web.tab.wait_text("dialog", "You had not sent this");
    web.tab
        .wait_text(MESSAGE, "you had not sent “not sent yet”");
    web.tab.wait_text(MESSAGE, "your text is kept in");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_terminal_beside_it_decides_and_the_page_says_so() {
    let web = Web::start();
    let review = web.review();
    let mut agent = web.agent();
    let path = web.propose(&agent, "a.txt", "one\n", "two\n");
    review.wait_for("proposes a.txt", SOON);
    accept_in(&review, || web.tab.count(".empty") == 1);
    assert_eq!(agent.outcome(), Update::accepted(path, "two\n".to_owned()));
    // The other way round.
    let path = web.propose(&agent, "b.txt", &numbers(3), "b\n");
    review.wait_for("proposes b.txt", SOON);
    web.decide(key("a"));
    assert_eq!(agent.outcome(), Update::accepted(path, "b\n".to_owned()));
    review.wait_for("Nothing to review", SOON);
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_another_tab_does_takes_neither_the_keyboard_nor_the_place() {
    let web = Web::start();
    let agent = web.agent();
    let before = numbers(600);
    let proposed = before.replace("0\n", "zero\n");
    web.propose(&agent, "a.txt", &before, &proposed);
    let other = web.browser.open(&web.address);
    shows(&other, "a.txt");
    web.tab.to_front();
    // Two rows are selected, and those that are looked at are far below.
    web.tab.press("Shift+V");
    web.tab.press("j");
    web.tab
        .evaluate("document.querySelector('#view').scrollTop = 6000");
    web.tab.wait_for(".block:nth-child(2) .row");
    let first = "(() => {
        const top = document.querySelector('#view').getBoundingClientRect().top;
        const row = [...document.querySelectorAll('.row')].find((it) => it.getBoundingClientRect().bottom > top + 1);
        return `${row.innerText} ${Math.round((row.getBoundingClientRect().top - top) / 4)}`;
    })()";
    let selected =
        "[...document.querySelectorAll('.row.selected')].map((it) => it.innerText).join()";
    let (was_first, was_selected) = (web.tab.evaluate(first), web.tab.evaluate(selected));
    web.tab.evaluate(
        "document.querySelector('[data-key=note-file]').focus(); globalThis.item = document.querySelector('.item')",
    );
    other.to_front();
    other.press("Shift+F");
    other.wait_for(".writing textarea");
    other.insert_text("all of it");
    other.press("Control+Enter");
    web.tab.to_front();
    web.tab
        .wait_until("document.querySelector('.item').innerText.includes('✎')");
    web.tab.wait_until("document.querySelector('#rows').ariaRowCount > 0 && document.querySelector('.row.selected')");
    web.tab.wait_until(&format!("{first} === {was_first}"));
    assert_eq!(web.tab.evaluate(selected), was_selected);
    let has = "document.activeElement?.dataset.key";
    assert_eq!(web.tab.evaluate(has), "note-file");
    // What is the same is not drawn again: a click on it may have begun.
    assert_eq!(web.tab.evaluate("item.isConnected"), true);
    // In the list, what comes in its place has the keyboard.
    let second = web.agent();
    second.propose(web.path("b.txt"), "b\n");
    web.tab.wait_text("#lists", "b.txt");
    web.tab
        .evaluate("document.querySelector('.item[aria-current=true]').focus()");
    other.to_front();
    decide(&other, key("r"));
    web.tab.to_front();
    web.tab
        .wait_until("document.querySelectorAll('.item[data-diff]').length === 1");
    assert_eq!(
        web.tab.evaluate("document.activeElement?.matches('.item')"),
        true
    );
    has_no_problems(&other);
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn closing_all_tabs_rejects_nothing() {
    let web = Web::start();
    let mut agent = web.agent();
    let path = web.propose(&agent, "a.txt", "one\n", "two\n");
    let blank = web.browser.open("about:blank");
    web.tab.close();
    agent.check_pending(web.home()).unwrap();
    blank.goto(&web.address);
    shows(&blank, "a.txt");
    decide(&blank, key("a"));
    assert_eq!(agent.outcome(), Update::accepted(path, "two\n".to_owned()));
}
