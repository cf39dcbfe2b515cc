//! What counts as seen, and which keys decide.

use std::fs;

use pillion_testkit::client::Update;
use pillion_testkit::{Browser, Tab};

use crate::sandbox::Sandbox;
use crate::shared_doubts::doubted;
use crate::world::{MESSAGE, Web, decide, key, numbers, shows};

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_doubt_is_asked_about_once_and_then_the_person_is_obeyed() {
    let web = Web::start();
    let workspace = web.home().workspace();
    for row in doubted() {
        row.write(&workspace);
    }
    let mut agent = web.agent();
    for row in doubted() {
        let path = row.path(&workspace);
        agent.propose(&path, &row.proposed);
        web.tab.wait_text("#head h2", row.file);
        web.tab.wait_for("#rows .row.changed");
        if let Some(text) = row.meanwhile {
            fs::write(&path, text).unwrap();
        }
        web.decide(key("a"));
        web.tab.wait_text(MESSAGE, row.question);
        web.tab.wait_for("#message button");
        web.decide(key("y"));
        let path = path.to_str().unwrap().to_owned();
        assert_eq!(agent.outcome(), Update::accepted(path, row.proposed));
        web.tab.wait_text(".empty", "Nothing to review");
    }
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_n_has_shown_is_seen_and_accepted_without_a_question() {
    let web = Web::start();
    // Not all of it fits.
    web.tab.resize(1400, 420);
    let mut agent = web.agent();
    let before = numbers(400);
    let proposed = before.replace("50\n", "fifty\n");
    let path = web.propose(&agent, "a.txt", &before, &proposed);
    for seen in 1..=4 {
        web.tab.press("n");
        web.tab.wait_until(&format!(
            "Number(document.querySelector('#place').textContent.match(/seen (\\d+)/)?.[1]) >= {seen}"
        ));
    }
    let said = web.decide(key("a"));
    assert!(said.contains("accepted a.txt"), "{said}");
    assert_eq!(agent.outcome(), Update::accepted(path, proposed));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_was_seen_is_seen_after_a_reload_and_in_no_other_tab() {
    let web = Web::start();
    web.tab.resize(1400, 420);
    let mut agent = web.agent();
    let before = numbers(400);
    let proposed = before.replace("50\n", "fifty\n");
    let path = web.propose(&agent, "a.txt", &before, &proposed);
    let sees = |tab: &Tab, least: usize| {
        tab.wait_until(&format!(
            "Number(document.querySelector('#place').textContent.match(/seen (\\d+)/)?.[1]) >= {least}"
        ));
    };
    for seen in 1..=4 {
        web.tab.press("n");
        sees(&web.tab, seen);
    }
    // What a tab that is duplicated gets of it: nothing.
    assert_eq!(web.tab.evaluate("sessionStorage.length"), 0);
    for _ in 0..2 {
        web.tab.reload();
        shows(&web.tab, "a.txt");
        sees(&web.tab, 4);
    }
    let other = web.browser.open(&web.address);
    shows(&other, "a.txt");
    sees(&other, 1);
    assert!(!other.text("#place").contains("seen 4/4"));
    let said = decide(&other, key("a"));
    assert!(said.contains("not been on the screen"), "{said}");
    web.tab.to_front();
    let said = web.decide(key("a"));
    assert!(said.contains("accepted a.txt"), "{said}");
    assert_eq!(agent.outcome(), Update::accepted(path, proposed));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_hidden_tab_sees_and_decides_nothing() {
    let web = Web::start_with(Sandbox::new(), Browser::on_screen());
    let front = web.browser.open("about:blank");
    let mut agent = web.agent();
    let path = web.home().file("a.txt", "one\n");
    agent.propose(&path, "two\n");
    web.tab
        .wait_until("document.querySelector('#head h2')?.textContent === 'a.txt'");
    assert_eq!(web.tab.evaluate("document.visibilityState"), "hidden");
    // By a script, as an extension might: nothing comes of it, and nothing was seen.
    web.tab
        .evaluate("document.querySelector('#acts button').click()");
    web.tab
        .evaluate("dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }))");
    assert!(!web.tab.text("#place").contains("seen 1/1"));
    agent.check_pending(web.home()).unwrap();
    front.close();
    web.tab.to_front();
    web.tab.wait_text("#place", "seen 1/1");
    web.decide(key("a"));
    let path = path.to_str().unwrap().to_owned();
    assert_eq!(agent.outcome(), Update::accepted(path, "two\n".to_owned()));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_key_that_is_held_down_while_a_diff_comes_decides_nothing() {
    let web = Web::start();
    let mut agent = web.agent();
    let path = web.home().file("a.txt", "one\n");
    let path = path.to_str().unwrap().to_owned();
    let call = agent.proposing(&path, "two\n");
    web.tab.hold("a", 40);
    call.end().unwrap();
    shows(&web.tab, "a.txt");
    agent.check_pending(web.home()).unwrap();
    decide(&web.tab, key("a"));
    assert_eq!(agent.outcome(), Update::accepted(path, "two\n".to_owned()));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_line_that_is_cut_is_not_seen_and_can_be_shown_whole() {
    let web = Web::start();
    let agent = web.agent();
    let proposed = format!("{}\n", "long ".repeat(4000));
    web.propose(&agent, "a.txt", "one\n", &proposed);
    let said = web.decide(key("a"));
    assert!(said.contains("not been on the screen"), "{said}");
    web.tab.click(".whole");
    web.tab.wait_gone(".whole");
}
