//! A person with `pillion web` in a terminal, and its page in a browser.

use std::thread::sleep;

use pillion_protocol::Dialect;
use pillion_testkit::{Browser, Home, Pane, SOON, Size, Tab, TestAgent, Tmux};
use pillion_view::LOOK;

use crate::sandbox::Sandbox;

/// The answers to a decision that came too early all the same.
const TOO_EARLY: [&str; 3] = ["look at it", "key repeat ignored", "this came too soon"];

/// The sentence below.
pub const MESSAGE: &str = "#message";

pub struct Web {
    // The page goes before its program does, whose end it would log.
    pub tab: Tab,
    pub browser: Browser,
    _pane: Pane,
    pub tmux: Tmux,
    pub sandbox: Sandbox,
    /// The address, without the token.
    pub address: String,
}

impl Web {
    /// With a page that no screen shows, which is enough where nothing is hidden.
    pub fn start() -> Self {
        Self::start_with(Sandbox::new(), Browser::headless())
    }

    pub fn start_with(sandbox: Sandbox, browser: Browser) -> Self {
        let command = [env!("CARGO_BIN_EXE_pillion"), "web", "--no-open"];
        Self::start_by(sandbox, browser, &command, |_, url| url.to_owned())
    }

    /// The program is started by this command; the browser opens what `there` makes of the screen and of the address that is printed.
    pub fn start_by(
        sandbox: Sandbox,
        browser: Browser,
        command: &[&str],
        there: impl FnOnce(&str, &str) -> String,
    ) -> Self {
        let home = &sandbox.home;
        let tmux = Tmux::start();
        let size = Size::new(160, 30);
        let pane = tmux.spawn("web", size, &home.env(), &home.workspace(), command);
        let screen = pane.wait_for("/#", SOON);
        let mut words = screen.split_whitespace();
        let url = words.find(|word| word.starts_with("http://127.0.0.1:"));
        let url = there(&screen, url.expect("it prints the address"));
        let tab = browser.open(&url);
        tab.wait_text(".empty", "Nothing to review");
        let address = url.split('#').next().unwrap_or_default().to_owned();
        Self {
            sandbox,
            _pane: pane,
            tmux,
            browser,
            tab,
            address,
        }
    }

    pub fn home(&self) -> &Home {
        &self.sandbox.home
    }

    /// An agent, as soon as it is published.
    pub fn agent(&self) -> TestAgent {
        TestAgent::find(self.home(), Dialect::GeminiCli)
    }

    /// The review in a terminal beside the page.
    pub fn review(&self) -> Pane {
        let command = [env!("CARGO_BIN_EXE_pillion")];
        let (home, size) = (self.home(), Size::new(110, 30));
        let review = self
            .tmux
            .spawn("review", size, &home.env(), &home.workspace(), &command);
        review.wait_for("Waiting for an agent", SOON);
        review
    }

    /// The absolute path of a file of the workspace.
    pub fn path(&self, name: &str) -> String {
        let path = self.home().workspace().join(name);
        path.to_str().expect("the home is UTF-8").to_owned()
    }

    /// Has a file of the workspace with this text, and an agent propose another one. Returns once its rows are there.
    pub fn propose(&self, agent: &TestAgent, name: &str, before: &str, proposed: &str) -> String {
        let path = self.home().file(name, before);
        agent.propose(&path, proposed);
        shows(&self.tab, name);
        path.to_str().expect("the home is UTF-8").to_owned()
    }

    /// See [`decide`].
    pub fn decide(&self, by: impl Fn(&Tab)) -> String {
        decide(&self.tab, by)
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            has_no_problems(&self.tab);
        }
    }
}

/// Nothing went wrong in this tab. A request about a text that has just become another, or about a diff that is gone, is answered so,
/// which the browser logs.
#[track_caller]
pub fn has_no_problems(tab: &Tab) {
    let mut problems = tab.take_problems();
    let is_late = |it: &String| {
        it.contains("status of 409") || it.contains("status of 404") && it.contains("/diffs/")
    };
    problems.retain(|it| !is_late(it));
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Waits until the rows of this file are on the screen.
pub fn shows(tab: &Tab, name: &str) {
    tab.wait_text("#head h2", name);
    let label = format!("Changes of {name}");
    tab.wait_until(&format!(
        "document.querySelector('#rows')?.getAttribute('aria-label') === {label:?} && !!document.querySelector('#rows .row')"
    ));
}

/// Decides once the person has looked, and not too early. Returns what the page says to it.
pub fn decide(tab: &Tab, by: impl Fn(&Tab)) -> String {
    loop {
        sleep(LOOK);
        tab.evaluate("document.querySelector('#message').replaceChildren()");
        by(tab);
        tab.wait_until("document.querySelector('#message').textContent");
        let said = tab.text(MESSAGE);
        if !TOO_EARLY.iter().any(|text| said.contains(text)) {
            return said;
        }
    }
}

/// Accepts in that review, as somebody who presses the key again if it came too early, and not so soon that it seems to be held down.
pub fn accept_in(review: &Pane, is_accepted: impl Fn() -> bool) {
    let accepts = |_: &str| {
        review.send_keys(["a"]);
        sleep(LOOK);
        is_accepted()
    };
    review.wait_until("it is accepted", SOON, accepts);
}

/// Presses a key.
pub fn key(key: &str) -> impl Fn(&Tab) {
    move |tab| tab.press(key)
}

/// Clicks a button.
pub fn click(at: &str) -> impl Fn(&Tab) {
    move |tab| tab.click(at)
}

/// `count` lines, each with its number.
pub fn numbers(count: usize) -> String {
    (1..=count)
        .map(|number| format!("line {number}\n"))
        .collect()
}
