//! The harness itself: the browser starts, obeys, and shows what it should.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pillion_testkit::Browser;
use serde_json::json;

/// As strict as ours, with an error whenever its button is clicked.
const PAGE: &str = r#"<!doctype html><html lang="en"><title>A page</title><main><h1>A page</h1>
<button>Accept</button><p id="said"></p><input aria-label="note"></main><script src="/app.js"></script>"#;

const SCRIPT: &str = "
const said = document.getElementById('said');
const tell = (text) => { said.textContent = text; };
document.querySelector('button').onclick = (event) => tell(`clicked ${event.isTrusted}`);
document.onkeydown = (event) => tell(`${event.key} ${event.isTrusted} ${event.repeat}`);
let frames = 0;
const draw = () => { frames += 1; requestAnimationFrame(draw); };
draw();
";

const RULES: &str = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn the_browser_does_what_it_is_told() {
    let browser = Browser::headless();
    let tab = browser.open(&serve());
    tab.click("role=button[name=\"Accept\"]");
    tab.wait_text("#said", "clicked true");
    tab.press("j");
    assert_eq!(tab.text("#said"), "j true false");
    tab.hold("x", 3);
    assert_eq!(tab.text("#said"), "x true true");
    tab.fill("input", "one\u{2028}two");
    let value = tab.wait_until("document.querySelector('input').value");
    assert_eq!(value, "one\u{2028}two");
    assert_eq!(
        tab.evaluate("Promise.resolve([innerWidth > 0, null])"),
        json!([true, null])
    );
    tab.resize(390, 844);
    tab.wait_until("innerWidth === 390");
    tab.prefer(json!({ "colorScheme": "dark" }));
    tab.wait_until("matchMedia('(prefers-color-scheme: dark)').matches");
    assert_eq!(tab.axe().len(), 0, "{:#?}", tab.axe());
    tab.evaluate("document.querySelector('input').removeAttribute('aria-label')");
    let violations = tab.axe();
    assert_eq!(violations.len(), 1, "{violations:#?}");
    assert_eq!(violations[0].impact.as_deref(), Some("critical"));
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("page.png");
    tab.screenshot(&file);
    let picture = std::fs::read(file).expect("it was written");
    assert!(picture.starts_with(b"\x89PNG"));
    let second = browser.open("about:blank");
    assert_eq!((second.count("button"), tab.count("button")), (0, 1));
    second.close();
    assert_eq!(tab.text("h1"), "A page");
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn a_tab_behind_another_one_is_hidden_and_draws_nothing() {
    let browser = Browser::on_screen();
    let address = serve();
    let first = browser.open(&address);
    first.wait_until("document.visibilityState === 'visible' && frames > 2");
    let second = browser.open(&address);
    first.wait_until("document.visibilityState === 'hidden'");
    let frames = first.evaluate("frames");
    second.wait_until("frames > 5");
    assert_eq!(first.evaluate("frames"), frames);
    first.to_front();
    second.wait_until("document.visibilityState === 'hidden'");
    first.wait_until(&format!("frames > {frames}"));
}

#[test]
#[ignore = "needs the browser: cargo xtask test"]
fn what_goes_wrong_in_a_page_fails_its_test() {
    let breaks = [
        ("missing()", "missing is not defined"),
        (
            "document.body.setAttribute('style', 'color: red')",
            "style-src",
        ),
        ("document.body.innerHTML = '<b>x</b>'", "TrustedHTML"),
        ("fetch('https://example.com')", "connect-src"),
    ];
    for (code, expected) in breaks {
        let told = complaint(|| {
            let browser = Browser::headless();
            let tab = browser.open(&serve());
            let both = format!("setTimeout(() => {{ setTimeout(done); {code} }})");
            tab.evaluate(&format!("new Promise((done) => {both})"));
        });
        assert!(told.contains(expected), "{code}: {told}");
    }
    let told = complaint(|| {
        let browser = Browser::headless();
        browser.open(&serve()).evaluate("missing()")
    });
    let is_whole = told.contains("missing is not defined") && told.contains("A page");
    assert!(is_whole, "{told}");
}

/// The address of a server that lives as long as this process.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().expect("it is open")).lines();
            let first = lines.next().and_then(Result::ok).unwrap_or_default();
            let _ = { lines }.find(|line| line.as_ref().is_ok_and(String::is_empty));
            let (kind, body) = match first.split(' ').nth(1) {
                Some("/app.js") => ("text/javascript", SCRIPT),
                Some("/") => ("text/html", PAGE),
                _ => ("image/x-icon", ""),
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
                Content-Security-Policy: {RULES}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    format!("http://{address}/")
}

/// The message of the panic.
fn complaint<T>(work: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(work)).err();
    let text = panic.expect("this panics").downcast::<String>();
    *text.expect("what it says is made up of several things")
}
