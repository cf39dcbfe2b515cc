//! What agents have written is listed, kept and taken back.

use std::fs;
use std::time::Instant;

use pillion_testkit::SOON;

use crate::world::{MESSAGE, Web, decide, key, numbers, shows};

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_is_written_is_taken_back_by_hunk_and_the_rest_kept() {
    let web = Web::start();
    let home = web.home();
    let before = numbers(30);
    let path = home.file("a.txt", &before);
    let changed = before
        .replace("line 3\n", "line three\n")
        .replace("line 25\n", "line XXV\n");
    home.agents_turn("change it", |folder| {
        fs::write(folder.join("a.txt"), &changed).unwrap();
    });
    web.tab.press("Shift+S");
    web.tab.wait_text("#lists", "change it");
    web.tab.click(".item.change >> text=a.txt");
    shows(&web.tab, "a.txt");
    web.tab.wait_text("#head", "has written");
    // As the buttons are called.
    web.tab.wait_text("#head", "Keep leaves it there");
    assert!(!web.tab.text("#head").contains("Accept"));
    // By a script: all of it would be taken back.
    web.tab
        .evaluate("document.querySelector('#acts .reject').click()");
    decide(&web.tab, |tab| {
        tab.click(".strip >> nth=0 >> text=Take back")
    });
    let wanted = before.replace("line 25\n", "line XXV\n");
    let started = Instant::now();
    while fs::read_to_string(&path).unwrap() != wanted {
        assert!(
            started.elapsed() < SOON,
            "{}",
            fs::read_to_string(&path).unwrap()
        );
        std::thread::yield_now();
    }
    web.tab
        .wait_until("document.querySelectorAll('.strip').length === 1");
    let said = web.decide(key("a"));
    if web.tab.count("#message button") > 0 {
        web.decide(key("y"));
    }
    web.tab.wait_text(".empty", "Nothing to review");
    assert_eq!(fs::read_to_string(&path).unwrap(), wanted, "{said}");
    // The one key undoes what was kept, then what was taken back.
    web.tab.press("z");
    web.tab.wait_text("#message", "not kept any more");
    web.tab.press("z");
    while fs::read_to_string(&path).unwrap() != changed {
        assert!(started.elapsed() < SOON, "{}", web.tab.text("#message"));
        std::thread::yield_now();
    }
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn in_the_list_keys_keep_and_take_back_and_undo() {
    let web = Web::start();
    let home = web.home();
    let path = home.file("a.txt", "one\n");
    let turn = home.agents_turn("change it", |folder| {
        fs::write(folder.join("a.txt"), "two\n").unwrap();
    });
    // The turn is none of this hub, which tells nothing of it.
    web.tab.press("Shift+S");
    web.tab
        .wait_until("document.activeElement?.matches('.item.turn')");
    web.tab.press("ArrowDown");
    decide(&web.tab, key("r"));
    home.wait_state(turn, "taken back");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
    web.tab.wait_text("#lists", "taken back");
    decide(&web.tab, key("z"));
    home.wait_state(turn, "unseen");
    web.tab.wait_gone("#lists >> text=taken back");
    decide(&web.tab, key("a"));
    home.wait_state(turn, "kept");
    assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
    // What the tab has not done itself is undone as well.
    web.tab.reload();
    web.tab.wait_text("#lists", "kept");
    decide(&web.tab, key("z"));
    home.wait_state(turn, "unseen");
    web.tab.press("Shift+S");
    web.tab
        .wait_until("document.activeElement?.matches('.item.turn')");
    web.tab.press("n");
    web.tab
        .wait_until("document.activeElement?.matches('.item.change')");
    // A filter that nothing fits is still there to be changed.
    web.tab.click("#filter");
    web.tab.type_text("nothing");
    web.tab.wait_gone(".item");
    assert_eq!(web.tab.evaluate("document.activeElement.id"), "filter");
    web.tab.fill("#filter", "");
    web.tab.wait_for(".item.turn");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn words_on_a_row_of_the_list_are_about_that_row() {
    let web = Web::start();
    let home = web.home();
    let path = home.file("a.txt", "one\n");
    // With a session open, files that change are its agent's.
    for name in ["b.txt", "p.txt"] {
        home.file(name, "one\n");
    }
    let turn = home.agents_turn("change them", |folder| {
        fs::write(folder.join("a.txt"), "two\n").unwrap();
        fs::write(folder.join("b.txt"), "two\n").unwrap();
    });
    let mut agent = web.agent();
    let on_row = || {
        web.tab.press("Shift+S");
        web.tab
            .wait_until("document.activeElement?.matches('.item.turn')");
        web.tab.press("j");
        web.tab
            .wait_until("document.activeElement?.matches('.item.change')");
    };
    on_row();
    web.tab.press("Shift+C");
    web.tab.wait_text("dialog h2", "Note on a.txt");
    web.tab.type_text("a note");
    // What comes meanwhile takes no letter of it, also where nothing was shown before.
    agent.propose(web.path("p.txt"), "two\n");
    shows(&web.tab, "p.txt");
    web.tab.type_text(" on it");
    web.tab.press("Control+Enter");
    web.tab.wait_text(MESSAGE, "your note on a.txt");
    web.tab.wait_for(".item.change >> text=✎");
    on_row();
    web.tab.press("Shift+R");
    web.tab.wait_text("dialog h2", "Take back a.txt");
    web.tab.type_text("not so");
    web.tab
        .wait_until("document.querySelector('dialog textarea').value === 'not so'");
    web.tab.reload();
    web.tab.wait_for(".item.change >> text=✎");
    on_row();
    decide(&web.tab, |tab| {
        if tab.count("dialog") == 0 {
            on_row();
            tab.press("Shift+R");
        }
        tab.wait_until("document.querySelector('dialog textarea')?.value === 'not so'");
        tab.press("Control+Enter");
    });
    home.wait_state(turn, "taken back");
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
    web.tab.wait_gone(".item.change >> text=✎");
    agent.check_pending(home).unwrap();
    let said = (format!("{turn}.1"), "not so, a note on it".to_owned());
    assert_eq!(home.said_of(turn), [said]);
}

/// `r` is "Leave" on the button above the diff, and "take back" in the list.
#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_is_opened_from_the_list_has_the_keys_also_if_it_is_there_already() {
    let web = Web::start();
    let home = web.home();
    let path = home.file("a.txt", "one\n");
    home.file("b.txt", "one\n");
    home.file("c.bin", b"\0\x01");
    home.agents_turn("change them", |folder| {
        fs::write(folder.join("a.txt"), "two\n").unwrap();
        fs::write(folder.join("b.txt"), "two\n").unwrap();
        fs::write(folder.join("c.bin"), b"\0\x02").unwrap();
    });
    web.tab.press("Shift+S");
    web.tab.wait_text("#lists", "c.bin");
    let has_the_keys = "document.querySelector('#view').contains(document.activeElement)";
    for name in ["a.txt", "b.txt", "a.txt"] {
        web.tab.click(&format!(".item.change >> text={name}"));
        shows(&web.tab, name);
        web.tab.wait_until(has_the_keys);
    }
    web.decide(key("r"));
    web.tab
        .wait_until("document.querySelector('#head h2').textContent === 'b.txt'");
    assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
    web.tab.click(".item.change >> text=c.bin");
    web.tab.wait_text("#message", "c.bin");
    assert!(!web.tab.text("#message").contains("open"));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_was_saved_since_the_list_came_keeps_nothing_from_being_taken_back() {
    let web = Web::start();
    let home = web.home();
    let before = numbers(30);
    let path = home.file("a.txt", &before);
    let changed = before.replace("line 3\n", "line three\n");
    home.agents_turn("change it", |folder| {
        fs::write(folder.join("a.txt"), &changed).unwrap();
    });
    web.tab.press("Shift+S");
    web.tab.wait_text("#lists", "a.txt");
    let own = |text: &str| text.replace("line 25\n", "mine\n");
    fs::write(&path, own(&changed)).unwrap();
    web.tab.click(".item.change >> text=a.txt");
    shows(&web.tab, "a.txt");
    decide(&web.tab, |tab| tab.click("#acts .reject"));
    let started = Instant::now();
    while fs::read_to_string(&path).unwrap() != own(&before) {
        assert!(started.elapsed() < SOON, "{}", web.tab.text("#message"));
        std::thread::yield_now();
    }
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn former_decisions_are_there_to_be_read() {
    let web = Web::start();
    let agent = web.agent();
    web.propose(&agent, "a.txt", "one\n", "two\n");
    web.decide(key("r"));
    web.tab.press("Shift+H");
    web.tab.wait_text("dialog", "a.txt");
    web.tab.click("dialog .item >> nth=0");
    web.tab.wait_text("dialog pre", "+two");
}
