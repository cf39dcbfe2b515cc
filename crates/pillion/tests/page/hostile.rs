//! Texts and names that are made to be taken for something else are shown as what they are, and large ones are shown at all.

use pillion_testkit::client::Update;

use crate::world::{Web, decide, key, shows};

const SCRIPT: &str =
    "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">";

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn markup_and_invisible_characters_are_text() {
    let web = Web::start();
    let mut agent = web.agent();
    let name = "<img src=x onerror=alert(1)>.txt";
    let proposed = format!("{SCRIPT}\n\u{202e}abc\u{200b}\u{1b}[31m\n</div>&amp;\n");
    let path = web.home().file(name, "one\n");
    agent.propose(&path, &proposed);
    shows(&web.tab, name);
    web.tab.wait_text(".code.ins", SCRIPT);
    web.tab.wait_text(".code.ins", "U+202E");
    web.tab.wait_text(".code.ins", "&amp;");
    assert!(web.tab.count(".raw") >= 3);
    assert_eq!(web.tab.count("#view img, #view script, #lists img"), 0);
    assert_ne!(web.tab.evaluate("document.title"), "taken");
    web.tab.press("Shift+C");
    web.tab.wait_for(".writing textarea");
    web.tab.insert_text(SCRIPT);
    web.tab.press("Control+Enter");
    web.tab.wait_text(".note", SCRIPT);
    web.decide(key("a"));
    let path = path.to_str().unwrap().to_owned();
    assert_eq!(agent.outcome(), Update::accepted(path, proposed));
}

#[test]
#[ignore = "in --all: needs the browser: cargo xtask test --all"]
fn a_file_of_ten_megabytes_is_shown_edited_and_accepted() {
    let web = Web::start();
    let mut agent = web.agent();
    let text = |changed: &[usize]| -> String {
        let lines = (0..200_000).map(|line| match changed.contains(&line) {
            true => format!("{line} is changed: forty characters and a few more\n"),
            false => format!("{line}: forty characters and a few more\n"),
        });
        lines.collect()
    };
    // Over more lines they would be compared against the clock, which a busy machine does not meet: all of it is one hunk then.
    let changed: Vec<_> = (180_100..200_000).step_by(100).collect();
    let (before, proposed) = (text(&[]), text(&changed));
    let path = web.propose(&agent, "big.txt", &before, &proposed);
    web.tab.press("Shift+G");
    web.tab.wait_text("#place", "hunk 199/199");
    web.tab.press("Space");
    web.tab.wait_text(".strip", "excluded");
    let said = web.decide(key("a"));
    assert!(said.contains("not been on the screen"), "{said}");
    decide(&web.tab, key("y"));
    let expected = text(&changed[..198]);
    assert_eq!(agent.outcome(), Update::accepted(path, expected));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn sixty_thousand_lines_are_a_few_thousand_elements() {
    let web = Web::start();
    let agent = web.agent();
    let before: String = (0..60_000).map(|line| format!("line {line}\n")).collect();
    let proposed = before.replace("00\n", "hundred\n");
    web.propose(&agent, "big.txt", &before, &proposed);
    web.tab.press("x");
    web.tab.wait_until(
        "Number(document.querySelector('#rows').getAttribute('aria-rowcount')) === 60000",
    );
    web.tab.press("Shift+G");
    web.tab.wait_text(".code", "line 59999");
    web.tab
        .wait_until("document.querySelectorAll('*').length < 20_000");
    // Rows that come when their place is out of sight again are not drawn.
    web.tab.evaluate(
        "(async () => {
            const pane = document.querySelector('#rows').parentElement;
            for (let at = 0; at <= 60; at += 1) {
                pane.scrollTop = pane.scrollHeight * at / 60;
                await new Promise(requestAnimationFrame);
                await new Promise(requestAnimationFrame);
            }
        })()",
    );
    web.tab.press("g");
    web.tab.wait_text(".code", "line 0");
    web.tab
        .wait_until("document.querySelectorAll('*').length < 20_000");
}
