//! Whoever looks, on whatever screen: both themes, a phone, a screen reader's view of it. `PILLION_PICTURES` names a folder for pictures.

use std::path::PathBuf;
use std::thread::sleep;

use pillion_testkit::client::Update;
use pillion_testkit::{Tab, TestProgram};
use pillion_view::LOOK;
use serde_json::json;

use crate::world::{Web, click, key, numbers, shows};

fn picture(tab: &Tab, name: &str) {
    if let Some(folder) = std::env::var_os("PILLION_PICTURES") {
        tab.screenshot(&PathBuf::from(folder).join(name));
    }
}

/// No rule that matters is broken, in either theme.
#[track_caller]
fn is_accessible(tab: &Tab) {
    for scheme in ["light", "dark"] {
        tab.prefer(json!({ "colorScheme": scheme }));
        let broken = tab.axe().into_iter().filter(|it| {
            let impact = it.impact.as_deref();
            matches!(impact, Some("serious" | "critical"))
        });
        let broken: Vec<_> = broken.collect();
        assert!(broken.is_empty(), "{scheme}: {broken:#?}");
    }
}

const BEFORE: &str = r#"//! Reads orders.

use std::fs;

pub fn read(path: &str) -> Vec<Order> {
    let text = fs::read_to_string(path).unwrap();
    let mut orders = Vec::new();
    for line in text.lines() {
        let parts: Vec<&str> = line.split(',').collect();
        orders.push(Order { name: parts[0].to_owned(), count: parts[1].parse().unwrap() });
    }
    orders
}

/// All that was ordered.
pub fn total(orders: &[Order]) -> u32 {
    let mut total = 0;
    for order in orders {
        total += order.count;
    }
    total
}
"#;

fn proposed() -> String {
    BEFORE
        .replace("-> Vec<Order> {\n    let text = fs::read_to_string(path).unwrap();", "-> io::Result<Vec<Order>> {\n    let text = fs::read_to_string(path)?;")
        .replace("use std::fs;", "use std::{fs, io};")
        .replace("    orders\n}", "    Ok(orders)\n}")
        .replace("    let mut total = 0;\n    for order in orders {\n        total += order.count;\n    }\n    total\n", "    orders.iter().map(|order| order.count).sum()\n")
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn axe_finds_nothing_serious_in_either_theme() {
    let web = Web::start();
    is_accessible(&web.tab);
    web.home().agents_turn("Add a changelog", |folder| {
        std::fs::write(folder.join("CHANGELOG.md"), "# Changes\n").unwrap();
    });
    web.tab.press("Shift+S");
    web.tab.wait_text("#lists", "Add a changelog");
    web.tab.press("Escape");
    web.home().file("src/orders.rs", BEFORE);
    web.home().file(".envrc", "a=1\n");
    let _program = TestProgram::propose(
        web.home(),
        &[
            ("src/orders.rs", &proposed()),
            ("src/lib.rs", "pub mod orders;\n"),
            (".envrc", "a=2\n"),
        ],
    );
    shows(&web.tab, "src/orders.rs");
    web.tab.wait_for(".c-keyword");
    web.tab.wait_text("#place", "seen");
    web.tab.prefer(json!({ "colorScheme": "light" }));
    picture(&web.tab, "1-light.png");
    web.tab.press("n");
    web.tab.press("Space");
    web.tab.wait_text(".strip", "excluded");
    web.tab.press("Shift+C");
    web.tab.wait_for(".writing textarea");
    web.tab.type_text("Say which line is wrong, too.");
    is_accessible(&web.tab);
    web.tab.press("Control+Enter");
    web.tab.wait_text(".note", "which line");
    is_accessible(&web.tab);
    picture(&web.tab, "2-dark.png");
    // In words that are coloured, that change, and on lines that are excluded.
    web.tab.press("/");
    web.tab.wait_for("dialog input");
    web.tab.type_text("r");
    web.tab.press("Enter");
    web.tab.wait_for("mark .hit, mark.hit");
    web.tab
        .wait_for("[class*=c-] .hit, .hit [class*=c-], .hit[class*=c-]");
    is_accessible(&web.tab);
    picture(&web.tab, "8-hits.png");
    web.tab.press("Escape");
    web.tab.wait_gone(".hit");
    web.tab.press("Shift+R");
    web.tab.wait_for("dialog textarea");
    web.tab
        .type_text("Keep the loop: it is clearer to whoever comes next.");
    is_accessible(&web.tab);
    picture(&web.tab, "3-reason.png");
    web.tab.press("Escape");
    web.tab.press("?");
    web.tab.wait_for("dialog .keys");
    is_accessible(&web.tab);
    web.tab.prefer(json!({ "colorScheme": "light" }));
    picture(&web.tab, "4-keys.png");
    web.tab.press("Escape");
    web.tab.press("3");
    shows(&web.tab, ".envrc");
    let said = web.decide(key("a"));
    assert!(said.contains("your shell runs this file"), "{said}");
    is_accessible(&web.tab);
    web.tab.prefer(json!({ "colorScheme": "light" }));
    picture(&web.tab, "5-question.png");
    web.tab.prefer(json!({ "forcedColors": "active" }));
    web.tab.wait_for("#message button");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn on_a_phone_it_is_one_column_with_large_buttons_at_the_bottom() {
    let web = Web::start();
    web.tab.resize(390, 844);
    let mut agent = web.agent();
    let path = web.propose(&agent, "src/orders.rs", BEFORE, &proposed());
    web.tab.wait_for(".c-keyword");
    picture(&web.tab, "6-phone.png");
    assert_eq!(web.tab.count("#rows.unified"), 1);
    let small = web.tab.evaluate(
        "[...document.querySelectorAll('#phone button, .item, .strip button')].filter((it) => it.getBoundingClientRect().height < 44).length",
    );
    assert_eq!(small, 0);
    let wide = web.tab.evaluate("document.documentElement.scrollWidth");
    assert_eq!(wide, 390);
    is_accessible(&web.tab);
    web.tab.resize(844, 390);
    web.tab
        .wait_until("document.querySelector('#view').clientHeight >= 250");
    picture(&web.tab, "7-phone-aside.png");
    is_accessible(&web.tab);
    web.tab.resize(390, 844);
    web.tab.click("#phone >> text=Note");
    web.tab.wait_for(".writing textarea");
    web.tab.press("Escape");
    // What has a button beside the diff elsewhere, or a key alone.
    let menu = |word: &str| {
        web.tab.click("#phone >> text=⋯");
        is_accessible(&web.tab);
        web.tab.click(&format!("dialog >> text={word} >> nth=0"));
    };
    menu("Edit file");
    web.tab.wait_for(".file-text textarea");
    web.tab.press("Escape");
    menu("History");
    web.tab.wait_text("dialog h2", "What you decided");
    web.tab.press("Escape");
    menu("Filter files");
    web.tab
        .wait_until("document.activeElement === document.querySelector('#filter')");
    web.tab.press("Escape");
    web.tab
        .wait_until("document.querySelector('#filter').offsetHeight === 0");
    while web.tab.count(".strip:not(.seen)") > 0 {
        web.tab.press("n");
        sleep(LOOK);
    }
    web.decide(click("#phone >> text=Accept"));
    assert_eq!(agent.outcome(), Update::accepted(path, proposed()));
    let many = numbers(3);
    web.propose(&agent, "b.txt", &many, "b\n");
    let other = web.agent();
    other.propose(web.path("c.txt"), "c\n");
    web.tab.wait_text("#pending", "2 to review");
    for (from, to, name) in [
        ((300, 400), (100, 410), "c.txt"),
        ((100, 400), (130, 410), "c.txt"),
        ((300, 300), (200, 500), "c.txt"),
        ((100, 400), (300, 390), "b.txt"),
    ] {
        web.tab.swipe(from, to);
        shows(&web.tab, name);
    }
    // What comes too early closes the dialog, and keeps the words.
    web.decide(|tab| {
        if tab.count("dialog textarea") == 0 {
            tab.click("#phone >> text=Reject");
            tab.wait_for("dialog textarea");
        }
        tab.fill("dialog textarea", "no");
        tab.click("dialog >> text=Reject >> nth=-1");
    });
    assert!(matches!(agent.outcome(), Update::DiffRejected { .. }));
}
