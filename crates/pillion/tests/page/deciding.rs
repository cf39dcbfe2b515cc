//! What is accepted and rejected, by keys and by clicks, is what the agent gets.

use std::thread::sleep;

use pillion_testkit::TestProgram;
use pillion_testkit::client::Update;
use pillion_view::LOOK;
use serde_json::json;

use crate::world::{MESSAGE, Web, click, key, numbers, shows};

/// Two hunks that are both on the screen.
fn two_hunks() -> (String, String) {
    let before = numbers(30);
    let proposed = before
        .replace("line 3\n", "line three\n")
        .replace("line 25\n", "line twenty-five\n");
    (before, proposed)
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn by_keys_a_hunk_is_excluded_the_file_edited_and_the_rest_accepted() {
    let web = Web::start();
    let mut agent = web.agent();
    let (before, proposed) = two_hunks();
    let path = web.propose(&agent, "src/a.txt", &before, &proposed);
    web.tab.press("Space");
    web.tab.wait_text(".strip", "excluded");
    web.tab.press("e");
    web.tab.wait_for(".file-text textarea");
    let edited = before.replace("line 25\n", "line XXV\n");
    web.tab.fill(".file-text textarea", &edited);
    web.tab.press("Control+Enter");
    web.tab.wait_text(".code.ins", "line XXV");
    let said = web.decide(key("a"));
    assert!(said.contains("accepted src/a.txt"), "{said}");
    assert_eq!(agent.outcome(), Update::accepted(path, edited));
    web.tab.wait_text(".empty", "Nothing to review");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn by_clicks_a_hunk_is_edited_another_excluded_and_the_rest_accepted() {
    let web = Web::start();
    let mut agent = web.agent();
    let (before, proposed) = two_hunks();
    let path = web.propose(&agent, "a.txt", &before, &proposed);
    web.tab.click(".strip >> nth=1 >> text=Edit");
    web.tab.fill(".writing textarea", "line 5x5\n");
    web.tab.click(".writing >> text=Save");
    web.tab.wait_text(".code.ins", "line 5x5");
    web.tab.click(".strip >> nth=0 >> text=Exclude");
    web.tab.wait_text(".strip", "excluded");
    web.decide(click("#acts >> text=Accept"));
    let expected = before.replace("line 25\n", "line 5x5\n");
    assert_eq!(agent.outcome(), Update::accepted(path, expected));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_note_on_a_range_and_a_reason_go_with_a_rejection() {
    let web = Web::start();
    let mut command = web.sandbox.command(["diff", "--json", "a.txt"]);
    let (before, proposed) = two_hunks();
    web.home().file("a.txt", &before);
    let run = std::thread::spawn(move || crate::sandbox::ran(&mut command, proposed.as_bytes()));
    shows(&web.tab, "a.txt");
    let number = |line: usize| format!(".number[data-side=right][data-line=\"{}\"]", line - 1);
    web.tab.drag(&number(3), &number(5));
    web.tab.wait_for(".writing textarea");
    web.tab.click(".writing >> text=Suggest other lines");
    web.tab.wait_until(
        "document.querySelector('.writing textarea').value.includes('line three\\nline 4')",
    );
    web.tab.type_text("as before");
    web.tab.press("Control+Enter");
    web.tab.wait_text(".note", "Your note on lines 3 to 5");
    web.tab.press("Shift+R");
    web.tab.wait_for("dialog textarea");
    web.tab.type_text("use v[0], not v[i]");
    web.decide(key("Control+Enter"));
    let ran = run.join().unwrap().expect(1);
    for words in ["use v[0], not v[i]", "```suggestion", "as before"] {
        assert!(ran.stdout.contains(words), "{}", ran.report());
    }
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_note_on_removed_lines_names_them_all_and_is_changed_in_its_place() {
    let web = Web::start();
    let mut command = web.sandbox.command(["diff", "--json", "a.txt"]);
    web.home().file("a.txt", "one\ntwo\nthree\nfour\n");
    let run = std::thread::spawn(move || crate::sandbox::ran(&mut command, b"one\nfour\n"));
    shows(&web.tab, "a.txt");
    let number = |line: usize| format!(".number[data-side=left][data-line=\"{}\"]", line - 1);
    web.tab.drag(&number(2), &number(3));
    web.tab.wait_for(".writing textarea");
    web.tab.type_text("why");
    web.tab.press("Control+Enter");
    web.tab
        .wait_text(".note", "Your note on 2 lines removed at line 2");
    web.tab.click(".edit-note");
    web.tab
        .wait_until("document.querySelector('.writing textarea').value === 'why'");
    web.tab.type_text(" gone?");
    web.tab.press("Control+Enter");
    web.tab.wait_text(".note", "why gone?");
    assert_eq!(web.tab.count(".note"), 1);
    web.decide(key("r"));
    let ran = run.join().unwrap().expect(1);
    let told = "(on 2 removed lines, `two` to `three`) why gone?";
    assert!(ran.stdout.contains(told), "{}", ran.report());
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn of_a_set_each_file_is_decided_on_its_own() {
    let web = Web::start();
    let mut program = TestProgram::propose(web.home(), &[("a", "a\n"), ("b", "b\n"), ("c", "c\n")]);
    shows(&web.tab, "a");
    web.decide(key("a"));
    assert_eq!(program.accepted(), (0, Some("a\n".to_owned())));
    shows(&web.tab, "b");
    web.decide(key("r"));
    assert_eq!(program.accepted(), (1, None));
    shows(&web.tab, "c");
    web.decide(key("a"));
    assert_eq!(program.accepted(), (2, Some("c\n".to_owned())));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_changes_on_disk_is_merged() {
    let web = Web::start();
    let mut agent = web.agent();
    let path = web.propose(&agent, "a.txt", "one\ntwo\n", "one\n2\n");
    web.home().file("a.txt", "zero\none\ntwo\n");
    web.tab.click("#acts >> text=Merge with disk");
    web.tab.wait_text(".code", "zero");
    web.decide(key("a"));
    assert_eq!(
        agent.outcome(),
        Update::accepted(path, "zero\none\n2\n".to_owned())
    );
    web.propose(&agent, "b.txt", "one\ntwo\n", "one\n2\n");
    web.home().file("b.txt", "one\nzwei\n");
    web.tab.click("#acts >> text=Merge with disk");
    web.tab
        .wait_text("#message", "1 hunk conflicts with it and is excluded");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn search_finds_lines_that_are_folded_or_in_other_diffs() {
    let web = Web::start();
    let agent = web.agent();
    let before = numbers(5000);
    let proposed = before.replace("line 10\n", "line ten\n");
    web.propose(&agent, "a.txt", &before, &proposed);
    let other = web.agent();
    other.propose(web.path("b.txt"), "a needle 4321\n");
    web.tab.wait_text("#lists", "b.txt");
    web.tab.press("/");
    web.tab.wait_for("dialog input");
    web.tab.type_text("4321");
    web.tab.press("Enter");
    web.tab.wait_text(".hit", "4321");
    web.tab.wait_text("#place", "hit 1/2");
    web.tab.press("n");
    web.tab.wait_text("#head h2", "b.txt");
    web.tab.wait_text(".hit", "4321");
    web.tab.press("Escape");
    web.tab.wait_gone(".hit");
    web.tab.press("?");
    web.tab.wait_text("dialog", "accept the proposal as shown");
    web.tab.press("Escape");
    web.tab.wait_gone("dialog");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_double_click_decides_once() {
    let web = Web::start();
    let mut program = TestProgram::propose(web.home(), &[("a", "a\n"), ("b", "b\n")]);
    shows(&web.tab, "a");
    let said = web.decide(|tab| {
        tab.click_as("#acts >> text=Accept", json!({ "clickCount": 2 }));
    });
    assert!(said.contains("accepted a"), "{said}");
    assert_eq!(program.accepted(), (0, Some("a\n".to_owned())));
    shows(&web.tab, "b");
    assert!(
        !web.tab.text(MESSAGE).contains("key"),
        "{}",
        web.tab.text(MESSAGE)
    );
    web.decide(key("r"));
    assert_eq!(program.accepted(), (1, None));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn the_sentence_below_is_of_the_file_that_is_shown() {
    let web = Web::start();
    let agent = web.agent();
    web.propose(&agent, "a.txt", "one\n", "two\n");
    web.tab.wait_text(MESSAGE, "proposes a.txt");
    let second = web.agent();
    second.propose(web.path("b.txt"), "b\n");
    web.tab.wait_text("#pending", "2 to review, 1 with news");
    assert!(web.tab.text(MESSAGE).contains("a.txt"));
    web.tab.press("Tab");
    web.tab.wait_text(MESSAGE, "proposes b.txt");
    web.tab
        .wait_until("document.querySelector('#pending').textContent === '2 to review'");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_question_stays_whatever_comes_and_its_key_means_nothing_else_once_it_is_lost() {
    let web = Web::start();
    let home = web.home();
    let mut agent = web.agent();
    let asked = home.file(".envrc", "a=1\n");
    let other = home.file("b.txt", "one\n");
    agent.propose(&asked, "a=2\n");
    shows(&web.tab, ".envrc");
    agent.propose(&other, "two\n");
    web.tab.wait_text("#pending", "2 to review");
    let said = web.decide(key("a"));
    assert!(said.contains("your shell runs this file"), "{said}");
    agent.close(&other).unwrap();
    web.tab.wait_text("#pending", "1 to review");
    web.tab.wait_text("#message", "your shell runs this file");
    agent.close(&asked).unwrap();
    web.tab.wait_text(".empty", "Nothing to review");
    // What waited for the question to go is said beside what has made it go.
    web.tab.wait_text(MESSAGE, "b.txt");
    web.tab.wait_text(MESSAGE, ".envrc");
    // The same key copies where nothing is asked.
    agent.propose(&other, "three\n");
    shows(&web.tab, "b.txt");
    web.tab.press("y");
    web.tab.wait_text("#message", "nothing is asked any more");
    agent.propose(&asked, "a=3\n");
    web.tab.wait_text("#pending", "2 to review");
    web.decide(key("a"));
    let path = other.to_str().unwrap().to_owned();
    assert_eq!(
        agent.outcome(),
        Update::accepted(path, "three\n".to_owned())
    );
    shows(&web.tab, ".envrc");
    web.decide(key("a"));
    web.decide(key("y"));
    let path = asked.to_str().unwrap().to_owned();
    assert_eq!(agent.outcome(), Update::accepted(path, "a=3\n".to_owned()));
}

/// Presses `A` until it asks about so many.
fn asks_about(web: &Web, count: &str) {
    loop {
        sleep(LOOK);
        web.tab
            .evaluate("document.querySelector('#message').replaceChildren()");
        web.tab.press("Shift+A");
        web.tab.wait_text(MESSAGE, "on the screen as a whole");
        if web.tab.text(MESSAGE).contains(count) {
            return;
        }
    }
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn all_diffs_that_were_shown_as_a_whole_are_accepted_at_once_and_no_others() {
    let web = Web::start();
    let mut agents = [web.agent(), web.agent(), web.agent()];
    let mut paths = Vec::new();
    for (agent, name) in agents.iter().zip(["a.txt", "b.txt", "c.txt"]) {
        let path = web.home().file(name, "one\n");
        agent.propose(&path, "two\n");
        paths.push(path.to_str().unwrap().to_owned());
    }
    web.tab.wait_text("#pending", "3 to review");
    shows(&web.tab, "a.txt");
    // Nothing was there for long enough at first; then one was, then two.
    for (count, next) in [("1 diff has", "b.txt"), ("2 diffs have", "c.txt")] {
        asks_about(&web, count);
        web.tab.press("Tab");
        shows(&web.tab, next);
    }
    asks_about(&web, "3 diffs have");
    for agent in &mut agents {
        agent.check_pending(web.home()).unwrap();
    }
    // A question is read before it is answered.
    sleep(LOOK);
    web.tab.press("y");
    web.tab.wait_text(MESSAGE, "accepted 3 diffs");
    for (agent, path) in agents.iter_mut().zip(paths) {
        assert_eq!(agent.outcome(), Update::accepted(path, "two\n".to_owned()));
    }
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_is_proposed_is_read_beside_what_was_looked_at_and_the_last_commit() {
    let web = Web::start();
    // What is written while an agent is there may be its own.
    web.home().file("a.txt", "one\n");
    let agent = web.agent();
    web.propose(&agent, "a.txt", "one\n", "two\n");
    web.tab.press("d");
    web.tab
        .wait_text(MESSAGE, "no other text of this file is known");
    // Once it was there for as long as a decision takes, it is what was looked at.
    asks_about(&web, "1 diff has");
    web.tab.press("Escape");
    let path = web.path("a.txt");
    agent.propose(&path, "three\n");
    web.tab.wait_text(".code.ins", "three");
    web.tab.press("d");
    web.tab
        .wait_text("dialog h2", "compared with what you looked at last");
    web.tab.wait_text("dialog .del", "-two");
    web.tab.wait_text("dialog .ins", "+three");
    web.tab.press("Escape");
    web.tab.wait_gone("dialog");
    web.tab.press("?");
    web.tab.wait_text(
        "dialog .keys",
        "edit the text of the file, here in the page",
    );
    assert!(!web.tab.text("dialog").contains("$VISUAL"));
    let shown = web
        .tab
        .evaluate("document.querySelector('dialog').scrollTop");
    assert_eq!(shown, 0);
}
